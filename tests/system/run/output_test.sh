# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# output_test.sh - whole lines, all of them, and nothing for ever when nobody reads.
. "$(dirname "$0")/lib.sh"

run -n 8 sh -c 'i=0; while [ $i -lt 500 ]; do echo "$PMIX_RANK the quick brown fox $i"; i=$((i+1)); done'
expect_code 0 "many lines"
lines_are "$work/out" 4000 || fail "many lines: $(wc -l <"$work/out")"
grep -v -q -E '^[0-7] the quick brown fox [0-9]+$' "$work/out" && fail "many lines: mixed"

run -n 2 --tag-output sh -c 'echo out; echo err >&2'
grep -q -E '^\[shmix-[0-9]+-[0-9a-f]{6},1\]<stdout>: out$' "$work/out" || fail "tags on stdout"
grep -q -E '^\[shmix-[0-9]+-[0-9a-f]{6},0\]<stderr>: err$' "$work/err" || fail "tags on stderr"

run -n 2 --output tag-detailed,timestamp,merge sh -c 'echo out; echo $$ >&2'
[ ! -s "$work/err" ] || fail "merged: there is something on stderr"
lines_are "$work/out" 4 || fail "merged: $(wc -l <"$work/out") lines"
stamp='20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9:]*[+-][0-9]*'
grep -q "^$stamp \[shmix-[0-9a-f-]*,1\]\[$(uname -n):[0-9]*\]<stdout>: out\$" "$work/out" || fail "all marks"
sed -n 's/.*:\([0-9]*\)\]<stderr>: \([0-9]*\)$/\1 \2/p' "$work/out" >"$work/pids.seen"
[ "$(awk '$1 == $2' "$work/pids.seen" | wc -l)" = 2 ] || fail "the process in a mark is another"

run -n 2 --output xml sh -c 'echo "a<b"'
grep -q '^<stdout nspace="shmix-[0-9a-f-]*" rank="1">a&lt;b</stdout>$' "$work/out" || fail "XML"

# ---- files ----

cd "$work" || exit 1
told='echo out $PMIX_RANK; echo err >&2'
is() { # FILE TEXT
    [ "$(cat $1 2>/dev/null)" = "$2" ] || fail "'$1' is not '$2' but '$(cat $1 2>&1)'"
}
run -n 2 --output dir=a/b sh -c "$told"
expect_code 0 "into a directory"
is a/b/1/rank.1/stdout "out 1"
is a/b/1/rank.0/stderr "err"
[ "$(ls a/b)" = 1 ] || fail "into a directory: there is more than 1: $(ls a/b)"
lines_are "$work/out" 2 || fail "into a directory: stdout has nothing as well"
run --separate-jobs -n 2 --output dir=jobs,nocopy sh -c "$told" : sh -c "$told"
is jobs/1/rank.1/stdout "out 1"
is jobs/2/rank.0/stdout "out 0"
run -n 2 --output file=c,nocopy,rank sh -c "$told"
is 'c.shmix-*.1.stdout' "[1]<stdout>: out 1"
is 'c.shmix-*.0.stderr' "[0]<stderr>: err"
[ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail "nocopy: there is a copy"
run -n 2 --output file=d/%%%r:pattern,merge,nocopy sh -c "$told"
is 'd/%1.stdout' "out 1
err"
[ ! -e d/%1.stderr ] || fail "merged: there are two files"

# One file for all: whole lines.
run -n 4 --output file=all,pattern,nocopy sh -c 'i=0; while [ $i -lt 500 ]; do echo "the quick brown fox $i"; i=$((i+1)); done; printf x'
[ "$(grep -c -x -E 'the quick brown fox [0-9]+' all.stdout)" = 2000 ] || fail "one file for all: lines are lost or mixed"
[ "$(grep -c -x x all.stdout)" = 4 ] || fail "one file for all: unfinished lines"

# A full disk is told of once, and the job goes on; its exit code says that something is lost.
ln -s /dev/full full0.stdout
run -n 2 --output file=full%r,pattern,nocopy sh -c 'seq 100000; seq 100000; echo alive >&2'
expect_code 1 "a full disk"
expect_err "cannot write to 'full0.stdout': No space left on device" "a full disk"
lines_are "$work/err" 1 || fail "a full disk is told of more than once"
is full0.stderr alive
lines_are full1.stdout 200000 || fail "a full disk takes others' output away"

# A file that may not get larger is no end of the launcher either.
if command -v prlimit >/dev/null; then
    run -n 2 --output file=large%r,pattern,nocopy \
        sh -c 'if [ $PMIX_RANK = 0 ]; then prlimit --fsize=65536 --pid $PPID; seq 100000; fi; echo alive >&2'
    expect_code 1 "a file that is too large"
    expect_err "cannot write to 'large0.stdout': File too large" "a file that is too large"
    is large1.stderr alive
fi

# Files that cannot be.
mkfifo pipe.stdout
run --output file=pipe,pattern sh -c "echo started >$work/started"
expect_code 1 "a pipe as file"
expect_err "cannot start rank 0: its output cannot go to 'pipe.stdout'" "a pipe as file"
run --output file=all.stdout/x sh -c "echo started >$work/started"
expect_err "cannot go to 'all.stdout/x.shmix-[^']*': Not a directory" "a file as directory"
[ ! -e "$work/started" ] || fail "a program was started without its file"

run printf 'no newline'
expect_out "no newline" "an unfinished line"
[ "$(wc -c <"$work/out")" -eq 10 ] || fail "an unfinished line: bytes were added"

run -n 4 printf 'x'
lines_are "$work/out" 3 || fail "unfinished lines of several ranks share one"

run head -c 3000000 /dev/zero
[ "$(wc -c <"$work/out")" -eq 3000000 ] || fail "binary output"

# What a killed rank had written is not lost, and comes before the message.
"$SHMIX" run -n 2 sh -c 'echo last words; kill -9 $$' >"$work/out" 2>&1
head -1 "$work/out" | grep -q 'last words' || fail "the last words of a killed rank"

# A reader that has gone ends the job, with a message.
{ "$SHMIX" run -n 2 yes 2>"$work/err"; echo $? >"$work/code"; } | head -1 >/dev/null
code=$(cat "$work/code")
expect_code 141 "the reader has gone"
expect_err "its reader has gone" "the reader has gone"

# What a rank asks is seen while it waits for the answer, and the file that all write to gets whole lines.
mkfifo "$work/answer"
"$SHMIX" run -n 2 --output file=asked,pattern sh -c '[ $PMIX_RANK = 0 ] || { until [ -e asked ]; do sleep 0.05; done; exit 0; }
    printf "Enter n : "; read n; echo "entered $n"; : >asked' <"$work/answer" >"$work/out" 2>"$work/err" &
job=$!
exec 9>"$work/answer"
await "the question" grep -q '^Enter n : $' "$work/out"
[ ! -s asked.stdout ] || fail "a question: the file has a part of a line"
echo 42 >&9
exec 9>&-
wait $job
code=$?
expect_code 0 "a question"
expect_out "Enter n : entered 42" "a question"
is asked.stdout "Enter n : entered 42"

# A reader that does not read holds the ranks back, not the launcher's signals.
mkfifo "$work/fifo"
sleep 1000 <"$work/fifo" &
reader=$!
"$SHMIX" run -n 2 sh -c 'echo $$ >>'"$work/pids"'; exec yes' >"$work/fifo" 2>"$work/err" &
job=$!
await "both ranks write" lines_are "$work/pids" 2
kill -INT $job
wait $job
code=$?
expect_code 130 "interrupted while nobody reads"
kill $reader

run sh -c 'echo x >&2' 
expect_err '^x$' "stderr"

"$SHMIX" run sh -c 'echo a; echo b >&2' >"$work/out" 2>&1
[ "$(sort "$work/out" | tr '\n' ' ')" = "a b " ] || fail "stdout and stderr in one file"

"$SHMIX" run true >&- 2>"$work/err" || fail "stdout closed"
"$SHMIX" run true <&- 2>&- || fail "stdin and stderr closed"

expect_clean "at the end"
finish
