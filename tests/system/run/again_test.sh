# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# again_test.sh - ranks that fail and are started again, as often as they may be.
. "$(dirname "$0")/lib.sh"

# A program that ends badly in its first $1 lives, as $2 says.
cat >"$work/mortal" <<'SH'
life=$(cat "$LIVES" 2>/dev/null || echo 0)
echo $((life + 1)) >"$LIVES"
echo "life $life"
[ "$life" -ge "$1" ] || eval "$2"
SH
lives() { # forget them, and say where they are counted
    rm -f "$work/lives"
    LIVES=$work/lives
    export LIVES
}
lines_of() { # COUNT PATTERN WHAT
    [ "$(grep -c -e "$2" "$work/err")" -eq "$1" ] || fail "$3: not $1 lines '$2'"
}

for end in 'kill -9 $$' 'exit 3'; do
    lives
    run --timeout 120 --max-restarts 2 sh "$work/mortal" 2 "$end" : sh -c 'until grep -qx 3 "$LIVES"; do sleep 0.01; done'
    expect_code 0 "the third life after '$end'"
    expect_out "life 0
life 1
life 2" "the third life after '$end'"
    lines_of 2 'shmix run: rank 0 (pid [0-9]*) on [^ ]* .*; it is started again (restart [12] of 2)$' "after '$end'"
done
lives
run --timeout 120 --max-restarts 2 sh "$work/mortal" 9 'exit 3'
expect_code 3 "the limit"
expect_err 'rank 0 .* exited with status 3, and was started again 2 times, which is the limit (--max-restarts)$' "the limit"
lives
run --timeout 120 --on-failure notify --max-restarts 1 sh "$work/mortal" 9 'exit 3' : sh -c 'until grep -q limit "'"$work/err"'"; do sleep 0.01; done'
expect_code 3 "the limit, and others"
expect_err 'which is the limit (--max-restarts); the job goes on without it$' "the limit, and others"
expect_clean "the limit"

# What it writes goes where it went before; what it reads does not.
lives
echo once | "$SHMIX" run --timeout 120 --max-restarts 1 --output file="$work/f" sh "$work/mortal" 1 'cat; exit 3' >"$work/out" 2>"$work/err"
[ "$(cat "$work"/f.*.0.stdout)" = "life 0
once
life 1" ] || fail "into a file: $(cat "$work"/f.*.0.stdout)"

# Many restarts: some lines, which count the others.
lives
run --timeout 120 --max-restarts 3 -n 40 sh -c 'LIVES=$LIVES.$PMIX_RANK; export LIVES; exec sh "$0" 3 "exit 3"' "$work/mortal"
expect_code 0 "many restarts"
lines_of 33 'it is started again' "many restarts"
lines_of 1 'restart . of 3); 31 restarts before it have no line$' "many restarts"
lines_of 1 'shmix run: the job: 56 more restarts have had no line, 120 have been in all$' "many restarts"

# Pauses that double leave a second room for some nine lives; a slower machine has fewer.
lives
run --timeout 1 --max-restarts 1000000 sh "$work/mortal" 1000000 'exit 3'
expect_code 124 "a rank that dies at once"
[ "$(cat "$work/lives")" -le 20 ] || fail "a rank that dies at once: $(cat "$work/lives") lives in a second"

# A program that is not there any more.
lives
cp "$work/mortal" "$work/gone"
chmod +x "$work/gone"
run --timeout 120 --max-restarts 5 "$work/gone" 1 'rm "$0"; exit 3'
expect_code 127 "a program that has gone"
lines_of 1 "started again" "a program that has gone"
expect_err "could not execute '$work/gone'" "a program that has gone"

# Clients: all find the last life, and its data.
run --timeout 120 --max-restarts 3 -n 3 "$RANK" lives 2
expect_code 0 "a client"
[ "$(grep -c '^rank . sees life 2 of 2$' "$work/out")" -eq 3 ] || fail "a client: not seen by all"
[ "$(grep -c '^rank 1 dies' "$work/out")" -eq 2 ] || fail "a client: it has not died twice"
run --timeout 120 --max-restarts 3 -n 3 "$RANK" lives 2 cut
expect_code 0 "a client that was cut off"
[ "$(grep -c '^rank . sees life 2 of 2$' "$work/out")" -eq 3 ] || fail "cut off: not seen by all"
run --timeout 120 --max-restarts 1 -n 3 "$RANK" lives 2
expect_code 137 "a client's limit"
expect_err 'which is the limit (--max-restarts); ending the job$' "a client's limit"

# Whoever is wanted to go goes.
run --timeout 120 --max-restarts 3 -n 4 "$RANK" abort 1 3
expect_code 7 "an abort of two"
lines_of 0 "started again" "an abort of two"

# Its client is a process that lives on: it does not come before the server knows that one's end.
cat >"$work/heir" <<'SH'
life=$(cat "$LIVES" 2>/dev/null || echo 0)
if [ "$life" -gt 0 ] && grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$(cat "$LIVES.pid")/status"; then
    echo "not alone"
fi
echo $((life + 1)) >"$LIVES"
[ "$life" -lt "$1" ] || exit 0
setsid "$RANK" late "$LIVES.never" >"$LIVES.$life" 2>&1 &
echo $! >"$LIVES.pid"
until grep -q late "$LIVES.$life"; do sleep 0.01; done
exit 3
SH
export RANK
# The client is killed when rank 1 has come again several times: by then the launcher has looked at
# rank 0 as often.
cat >"$work/killer" <<'SH'
life=$(cat "$LIVES.killer" 2>/dev/null || echo 0)
echo $((life + 1)) >"$LIVES.killer"
case $life in
0) until grep -q 'rank 0 .*(restart 1' "$ERR"; do sleep 0.01; done ;;
3) kill -9 "$(cat "$LIVES.pid")"
   until grep -q 'rank 0 .*(restart 2' "$ERR"; do sleep 0.01; done ;;
6) kill -9 "$(cat "$LIVES.pid")"
   exit 0 ;;
esac
exit 3
SH
ERR=$work/err
export ERR
lives
run --timeout 120 --max-restarts 2 sh "$work/heir" 2 : --max-restarts 6 sh "$work/killer"
expect_code 0 "a client that lives on"
expect_out "" "a client that lives on"
lines_of 2 'rank 0 .* it is started again' "a client that lives on"
# Meanwhile it can be aborted, which is answered; and the job can end.
lives
has_failed='until grep -q "it is started again" "$ERR"; do sleep 0.01; done'
run --timeout 120 sh -c "$has_failed; exec '$RANK' abort-now 1" : --max-restarts 1 sh "$work/heir" 9
expect_code 7 "an abort of one that has not come yet"
expect_out "abort: PMIX_SUCCESS" "an abort of one that has not come yet"
lines_of 0 'cannot be started' "an abort of one that has not come yet"
lives
run --timeout 120 --max-restarts 1 sh "$work/heir" 9 : sh -c "$has_failed; exit 5"
expect_code 5 "an end before it comes"
expect_clean "a client that lives on"

# The launcher closes what was of the lives before, also what somebody may still write to; two more
# are those through which a start that fails is reported.
lives
cat >"$work/counts" <<'SH'
count() { ls "/proc/$PPID/fd" | wc -l; }
life=$(cat "$LIVES" 2>/dev/null || echo 0)
[ "$life" -gt 0 ] || count >"$LIVES.count"
echo $((life + 1)) >"$LIVES"
if [ "$life" -lt 5 ]; then
    setsid sh -c "touch '$LIVES.left$life'; until [ -e '$LIVES.end' ]; do sleep 0.1; done" &
    until [ -e "$LIVES.left$life" ]; do sleep 0.01; done
    exit 3
fi
until [ "$(count)" -le $(($(cat "$LIVES.count") + 2)) ]; do sleep 0.01; done
SH
run --timeout 120 --max-restarts 5 sh "$work/counts"
expect_code 0 "descriptors"
lines_of 5 'it is started again' "descriptors"
touch "$work/lives.end"

# The others hear of each end.
lives
cat >"$work/heard" <<'SH'
[ -e "$LIVES" ] || { >"$LIVES"; exec "$RANK" hear kill; }
until grep -q 'rank 0 heard PMIX_ERR_PROC_ABORTED_BY_SIG of 1' "$OUT"; do sleep 0.01; done
exit 5
SH
OUT=$work/out
export OUT
run --timeout 120 "$RANK" hear : --max-restarts 1 sh "$work/heard"
expect_code 5 "the others hear of it"
lines_of 1 'it is started again' "the others hear of it"

# What it has written comes, also where its reader is slow: it writes until nothing is taken any more.
lives
cat >"$work/floods" <<'SH'
[ ! -e "$LIVES" ] || exit 0
>"$LIVES"
refused=0 written=0
while [ $refused -lt 50 ]; do
    if head -c 4096 /dev/zero | dd bs=4096 iflag=fullblock oflag=nonblock status=none 2>/dev/null; then
        refused=0 written=$((written + 4096))
    else
        refused=$((refused + 1))
    fi
done
echo $written >"$LIVES.written"
exit 3
SH
"$SHMIX" run --timeout 120 --no-pty --max-restarts 1 sh "$work/floods" 2>"$work/err" | sh -c "until [ -e '$LIVES.written' ]; do sleep 0.01; done; wc -c" >"$work/out"
[ "$(cat "$work/out")" -eq "$(cat "$LIVES.written")" ] || fail "a slow reader: $(cat "$work/out") bytes of $(cat "$LIVES.written")"
lines_of 1 'it is started again' "a slow reader"

# A spawn says the same.
run "$SPAWNER" -- true
if ! grep -qx 'spawn: PMIX_ERR_NOT_SUPPORTED' "$work/out"; then
    lives
    run --timeout 120 "$SPAWNER" pmix.maxrestarts=#2 pmix.notecomp -- sh "$work/mortal" 2 'kill -9 $$'
    grep -qx 'end of PMIX_SUCCESS code 0' "$work/out" || fail "a spawned job: it has not ended well"
    lines_of 2 'job 1, rank 0 .* it is started again' "a spawned job"
    lives
    run --timeout 120 "$SPAWNER" pmix.maxrestarts=#1 pmix.notecomp -- sh "$work/mortal" 9 'exit 3'
    grep -qx 'end of PMIX_ERR_JOB_NON_ZERO_TERM rank 0 code 3' "$work/out" || fail "a spawned job's limit: how it ends"
    expect_err 'started again 1 time, which is the limit (PMIX_MAX_RESTARTS)' "a spawned job's limit"
fi
expect_clean "restarts"

finish
