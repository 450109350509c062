# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# log_test.sh - what ranks log comes out of `shmix run`, or goes into the file of --log.
. "$(dirname "$0")/lib.sh"

# TQ89, TQ94: both streams, plain and marked; without --log there are no records (TQ97).
run "$RANK" log
expect_code 0 "streams"
tag='^\[shmix-[0-9]*-[0-9a-f]*,0\]'
[ "$(grep -c '^to stdout$' "$work/out")" = 1 ] || fail "a line on stdout"
[ "$(grep -c '^to stderr$' "$work/err")" = 1 ] || fail "a line on stderr"
[ "$(grep -c "$tag<stdout>: to stdout\$" "$work/out")" = 1 ] || fail "a tagged line on stdout"
[ "$(grep -c "$tag<stderr>: to stderr\$" "$work/err")" = 1 ] || fail "a tagged line on stderr"
grep -q '^plain: PMIX_SUCCESS$' "$work/out" || fail "the answer to both"
grep -q '^record: PMIX_ERR_NOT_SUPPORTED$' "$work/out" || fail "a record without a file"

# Records, two ranks into one file that is there already.
echo before >"$work/log"
run -n 2 --log "$work/log" "$RANK" log
expect_code 0 "records"
lines_are "$work/log" 5 || fail "records: $(cat "$work/log")"
[ "$(head -1 "$work/log")" = before ] || fail "the file was not added to"
for rank in 0 1; do
    grep -q "^{\"time\":\"[^\"]*\",\"channel\":\"job-record\",\"nspace\":\"shmix-[^\"]*\",\"rank\":$rank,\"text\":\"a \\\\\"text\\\\\"\"}\$" \
        "$work/log" || fail "the text of rank $rank: $(cat "$work/log")"
    grep -q "\"channel\":\"global-datastore\",.*\"rank\":$rank,\"data\":{\"my.key\":\"my value\"}}\$" \
        "$work/log" || fail "the data of rank $rank: $(cat "$work/log")"
done
[ "$(grep -c '^record: PMIX_SUCCESS$' "$work/out")" = 2 ] || fail "the answers to records"

run -n 1 --log "$work/none/log" "$RANK" log
expect_code 1 "a file that cannot be"
expect_err "cannot open '$work/none/log' for --log: No such file" "a file that cannot be"

# A full disk is told of once, to the user and to whoever logs; the job goes on.
ln -s /dev/full "$work/full"
run -n 2 --log "$work/full" "$RANK" log
expect_code 1 "a full disk"
expect_err "cannot write to '$work/full' (--log): No space left on device; what comes" "a full disk"
[ "$(grep -c 'cannot write' "$work/err")" = 1 ] || fail "a full disk is told of more than once"
[ "$(grep -c '^plain: PMIX_SUCCESS$' "$work/out")" = 2 ] || fail "a full disk takes the streams away"
grep -q '^record: PMIX_SUCCESS$' "$work/out" && fail "a lost record is a success"

# A pipe that nobody reads is refused, and one whose reader takes nothing is given up: the job goes on.
mkfifo "$work/record"
run -n 1 --log "$work/record" "$RANK" log
expect_code 1 "a pipe without a reader"
expect_err "cannot open '$work/record' for --log: no process reads this pipe" "a pipe without a reader"
exec 9<>"$work/record"
dd if=/dev/zero of="$work/record" bs=65536 oflag=nonblock 2>/dev/null
run -n 1 --log "$work/record" "$RANK" log
expect_code 1 "a pipe that is full"
expect_err "cannot write to '$work/record' (--log)" "a pipe that is full"
exec 9<&-

# --tag-output marks what is logged as well.
run --tag-output "$RANK" log
[ "$(grep -c "$tag<stdout>: to stdout\$" "$work/out")" = 2 ] || fail "--tag-output"

# Whole lines, all of them, in the order of each rank, beside what the ranks print.
run -n 4 "$RANK" log-much 5000
expect_code 0 "many lines"
lines_are "$work/out" 20000 || fail "many lines: $(wc -l <"$work/out")"
for rank in 0 1 2 3; do
    awk -v rank=$rank '$1 == rank { if ($2 != n) bad = 1; n++ } END { exit bad || n != 5000 }' \
        "$work/out" || fail "the order of rank $rank"
done

# A reader that does not read holds back who logs, and then gets all of it.
mkfifo "$work/fifo"
"$SHMIX" run -n 2 "$RANK" log-much 20000 >"$work/fifo" 2>"$work/err" &
job=$!
exec 9<"$work/fifo"
cat <&9 >"$work/out"
exec 9<&-
wait $job
code=$?
expect_code 0 "a late reader"
lines_are "$work/out" 40000 || fail "a late reader: $(wc -l <"$work/out")"

# A terminal that is read late, and then in small pieces.
if command -v script >/dev/null; then
    script -qec "'$SHMIX' run -n 2 '$RANK' log-much 5000" /dev/null </dev/null >"$work/fifo" &
    job=$!
    exec 9<"$work/fifo"
    dd bs=100 status=none <&9 | tr -d '\r' >"$work/out"
    exec 9<&-
    wait $job
    code=$?
    expect_code 0 "a slow terminal"
    lines_are "$work/out" 10000 || fail "a slow terminal: $(wc -l <"$work/out")"
    for rank in 0 1; do
        awk -v rank=$rank '$1 == rank { if ($2 != n) bad = 1; n++ } END { exit bad || n != 5000 }' \
            "$work/out" || fail "the order of rank $rank at a slow terminal"
    done
else
    echo "skipped: a slow terminal needs script (bsdutils)"
fi

# One that has gone ends the job, with a message.
{ "$SHMIX" run -n 2 "$RANK" log-much 1000000 2>"$work/err"; echo $? >"$work/code"; } |
    head -1 >/dev/null
code=$(cat "$work/code")
expect_code 141 "the reader has gone"
expect_err "its reader has gone" "the reader has gone"

expect_clean "at the end"
finish
