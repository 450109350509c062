# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# jobs_test.sh - --separate-jobs: ranks that begin at 0 in each job, and jobs that end alone.
. "$(dirname "$0")/lib.sh"

# has LINE WHAT: a line of the output
has() {
    grep -qxF -e "$1" "$work/out" || fail "$2: no line '$1'"
}

host=$(uname -n)
jobs() {
    run --timeout 120 --separate-jobs "$@"
}

# A script for a rank of another job: it waits until the launcher has said PATTERN.
when() {
    echo "until grep -q '$1' '$work/err'; do sleep 0.01; done; $2"
}

# ---- who is who ----

jobs -n 2 "$RANK" place : -n 3 "$RANK" place : "$RANK" place
expect_code 0 "three jobs"
has "rank 1 of 2 local 2 offset 0 global 1 node rank 1 of 6 universe 6 peers '0,1' others 4" "job 0"
has "rank 0 of 3 local 3 offset 2 global 2 node rank 2 of 6 universe 6 peers '0,1,2' others 3" "job 1"
has "rank 2 of 3 local 3 offset 2 global 4 node rank 4 of 6 universe 6 peers '0,1,2' others 3" "job 1"
has "rank 0 of 1 local 1 offset 5 global 5 node rank 5 of 6 universe 6 peers '0' others 5" "job 2"
lines_are "$work/out" 6 || fail "three jobs: not six ranks"

run "$RANK" place
has "rank 0 of 1 local 1 offset 0 global 0 node rank 0 of 1 universe 1 peers '0' others 0" "one job"

says='echo "$PMIX_NAMESPACE $PMIX_RANK $OMPI_COMM_WORLD_RANK/$OMPI_COMM_WORLD_SIZE $OMPI_NUM_APP_CTX $OMPI_COMM_WORLD_NODE_RANK/$OMPI_UNIVERSE_SIZE $A"'
jobs -n 2 --env A=one sh -c "$says" : --env A=two sh -c "$says"
expect_code 0 "the environment"
for line in ' 0 0/2 1 0/3 one' ' 1 1/2 1 1/3 one' '\.1 0 0/1 1 2/3 two'; do
    grep -q "^shmix-[0-9]*-[0-9a-f]*$line\$" "$work/out" || fail "the environment: no '$line'"
done

jobs --pset ocean "$RANK" apps : --pset ocean "$RANK" apps : "$RANK" apps
[ "$(grep -c ' set ocean$' "$work/out")" -eq 2 ] || fail "a process set over two jobs"
[ "$(grep -c ' no sets$' "$work/out")" -eq 1 ] || fail "a job outside of the process set"

# ---- many ----

set -- -n 4 "$RANK" fence
while [ $# -lt $((16 * 5 - 1)) ]; do
    set -- "$@" : -n 4 "$RANK" fence
done
jobs "$@"
expect_code 0 "64 ranks in 16 jobs"
[ "$(grep -c '^rank [0-3]: PMIX_SUCCESS$' "$work/out")" -eq 64 ] || fail "64 ranks in 16 jobs"
expect_clean "64 ranks in 16 jobs"

# ---- connected ----

# connected WHAT FIRST THIRD: $CONNECT, examples/connect.c, has run as four ranks; what the ranks 0
# and 2 of the new namespace were before
connected() {
    expect_code 0 "$1"
    for rank in 0 1 2 3; do
        grep -q "^rank $rank reads of rank 0: $2\$" "$work/out" || fail "$1: rank $rank reads of rank 0"
        grep -q "^rank $rank reads of rank 2: $3\$" "$work/out" || fail "$1: rank $rank reads of rank 2"
    done
    [ "$(sed -n 's/.* is rank [0-3] of //p' "$work/out" | sort -u | wc -l)" -eq 1 ] ||
        fail "$1: they are not in one namespace"
}
jobs -n 2 "$CONNECT" : -n 2 "$CONNECT"
connected "two jobs" 'rank 0 of shmix-[0-9]*-[0-9a-f]*' 'rank 0 of shmix-[0-9]*-[0-9a-f]*\.1'
run --timeout 120 -n 2 "$CONNECT" : -n 2 "$CONNECT"
connected "one job" 'rank 0 of shmix-[0-9]*-[0-9a-f]*' 'rank 2 of shmix-[0-9]*-[0-9a-f]*'
expect_clean "connected"

# ---- places ----

export HWLOC_SYNTHETIC="pack:2 core:2 pu:1"
jobs --map-by core --bind-to none --display map -n 2 true : -n 2 true
expect_err 'map: job 0, rank 1, app 0 (true), core 1, ' "the first job's cores"
expect_err 'map: job 1, rank 0, app 0 (true), core 2, ' "the second job's cores come behind them"
jobs --bind-to core -n 2 true : -n 3 true
expect_code 1 "too few cores for all jobs"
expect_err "5 ranks want a core each, and this machine has 4" "too few cores for all jobs"
unset HWLOC_SYNTHETIC
if [ "$(nproc)" -ge 2 ]; then
    jobs --bind-to hwthread --display bindings grep Cpus_allowed_list /proc/self/status : \
        grep Cpus_allowed_list /proc/self/status
    [ "$(sort -u "$work/out" | wc -l)" -eq 2 ] || fail "two jobs share a CPU"
    expect_err 'bindings: job 1, rank 0, app 0 (grep), pid [0-9]*, hardware thread 1' "--display"
else
    echo "not tested: two jobs bound apart need two CPUs"
fi

# ---- input and output ----

jobs --tag-output -n 2 echo a : echo b
for line in ',0\]<stdout>: a' ',1\]<stdout>: a' '\.1,0\]<stdout>: b'; do
    grep -q "^\[shmix-[0-9]*-[0-9a-f]*$line\$" "$work/out" || fail "--tag-output: no '$line'"
done
echo text | jobs --stdin 2 -n 2 cat : -n 2 sh -c 'echo "$PMIX_RANK $(cat)"'
sort "$work/out" | tr '\n' ' ' | grep -qx '0 text 1  ' || fail "the input of the third of all ranks"
echo text | jobs --stdin all -n 2 cat : cat
[ "$(grep -cx text "$work/out")" -eq 3 ] || fail "--stdin all reaches all jobs"

# ---- one job fails, the others go on ----

jobs -n 2 sh -c 'test $PMIX_RANK = 1 || exec sleep 1000; exit 3' : \
    sh -c "$(when 'status 3; ending job 0' 'echo goes on')"
expect_code 3 "the first job fails"
expect_out "goes on" "the first job fails"
expect_err "job 0, rank 1 (pid [0-9]*) on $host exited with status 3; ending job 0" "the message"
[ "$(grep -c 'shmix run:' "$work/err")" -eq 1 ] || fail "the first job fails: more than one message"

jobs -n 2 sh -c "$(when 'killed by signal 9' 'exec "$RANK" fence')" : -n 2 "$RANK" hear kill
expect_code 137 "the second job is killed"
[ "$(grep -c '^rank [01]: PMIX_SUCCESS$' "$work/out")" -eq 2 ] || fail "fences of the first job"
has "rank 0 heard PMIX_ERR_LOST_CONNECTION of 1" "those of the killed one's job hear of it"

# The first failure decides.
jobs sh -c "$(when 'status 5' 'exit 4')" : sh -c 'exit 5'
expect_code 5 "both jobs fail"
expect_err "job 0, rank 0 .* exited with status 4\$" "the second failure is said as well"

jobs --on-failure notify -n 4 "$RANK" survive kill : -n 2 "$RANK" fence
expect_code 137 "--on-failure notify"
expect_err "job 0, rank 1 (pid [0-9]*) on $host was killed .*; job 0 goes on without it" "notify"
has "rank 3: heard PMIX_ERR_PROC_ABORTED_BY_SIG, exit code 137" "--on-failure notify"
has "rank 1: PMIX_SUCCESS" "--on-failure notify: the other job"

# A file that somebody writes to cannot be executed, and nobody knows before.
cp /bin/sh "$work/script"
exec 9>>"$work/script"
jobs sh -c "$(when 'cannot start' 'echo goes on')" : -n 2 "$work/script"
exec 9>&-
expect_code 126 "a program that cannot be executed"
expect_err "cannot start job 1, rank [01]: could not execute '$work/script'" "it is named"
expect_out "goes on" "a program that cannot be executed"
jobs true : nosuch-program
expect_code 127 "a program that is missing"

# ---- aborts ----

jobs -n 2 "$RANK" hear abort : sh -c "$(when 'ending job 0' 'exec "$RANK" fence')"
expect_code 7 "an abort"
expect_err "job 0, rank 1 (pid [0-9]*) on $host called abort with status 7; ending job 0" "an abort"
has "rank 0: PMIX_SUCCESS" "an abort ends the job of its caller alone"

jobs "$RANK" abort-others : -n 2 "$RANK" wait : "$RANK" wait
expect_code 7 "an abort of other jobs"
has "abort: PMIX_SUCCESS" "an abort of other jobs is answered when all have ended"
has "rank 0: PMIX_SUCCESS" "the caller goes on"
for number in 1 2; do
    expect_err "job 0, rank 0 .* called abort with status 7: not needed; ending job $number" \
        "an abort of job $number"
done
[ "$(grep -c 'shmix run:' "$work/err")" -eq 2 ] || fail "an abort of other jobs: said once a job"

jobs "$RANK" abort-first : \
    -n 2 sh -c "test \$PMIX_RANK = 1 || exec sleep 1000; $(when 'called abort' 'echo goes on')"
expect_code 7 "an abort of a part of another job"
has "abort: PMIX_SUCCESS" "an abort of a part of another job"
has "goes on" "the rest of that job"
expect_err "job 0, rank 0 .* called abort with status 7 for job 1, rank 0: not needed; the others" \
    "an abort of a part of another job"

# ---- a job that is over ----

# Its store and its ring are gone, while the other job still runs.
leaves='echo "$PMIX_NAMESPACE" >"$0.new"; mv "$0.new" "$0"'
# What a descriptor was may be gone while it is listed.
until_it_is_over='
    until [ -e "$0" ]; do sleep 0.01; done
    while ls -l /proc/$PPID/fd 2>/dev/null | grep -q "shmix:[a-z]*:$(cat "$0") "; do sleep 0.01; done'
jobs sh -c "$leaves" "$work/first" : \
    sh -c "$until_it_is_over"'; ls -l /proc/$PPID/fd | grep -c "shmix:.*:$PMIX_NAMESPACE "' "$work/first"
expect_code 0 "a job that is over"
[ "$(cat "$work/out")" -gt 0 ] || fail "the data of the job that still runs"

jobs sh -c "$leaves" "$work/second" : sh -c "$until_it_is_over"'; exec "$RANK" abort-others' "$work/second"
expect_code 0 "an abort of a job that is over"
has "abort: PMIX_SUCCESS" "an abort of a job that is over"
[ ! -s "$work/err" ] || fail "an abort of a job that is over is no news"

# ---- all of them end ----

listens='trap "echo usr1" USR1; echo $$ >>"$0"; while :; do sleep 0.05; done'
"$SHMIX" run --separate-jobs -n 2 sh -c "$listens" "$work/pids" : sh -c "$listens" "$work/pids" \
    >"$work/out" 2>"$work/err" &
job=$!
await "three ranks" lines_are "$work/pids" 3
kill -USR1 $job
await "three ranks hear SIGUSR1" lines_are "$work/out" 3
kill -TERM $job
wait $job
code=$?
expect_code 143 "SIGTERM"
expect_err 'got signal 15 (Terminated); ending all jobs' "SIGTERM"
all_gone "$work/pids" || fail "SIGTERM: a rank lives"

jobs --timeout 0.3 sleep 1000 : -n 2 sleep 1000 : true
expect_code 124 "--timeout"
expect_err 'not ended within 0.3 s (--timeout), --get-stack-traces shows where it hangs; ending all jobs' "--timeout"
[ "$(grep -c 'shmix run:' "$work/err")" -eq 1 ] || fail "--timeout: more than one message"

{ "$SHMIX" run --separate-jobs yes : yes 2>"$work/err"; echo $? >"$work/code"; } | head -1 >/dev/null
code=$(cat "$work/code")
expect_code 141 "the reader has gone"
expect_err "its reader has gone; ending all jobs" "the reader has gone"

# A launcher that is killed leaves nothing of any job.
rm -f "$work/pids"
"$SHMIX" run --separate-jobs -n 2 sh -c 'echo $$ >>"$0"; exec sleep 1000' "$work/pids" : \
    sh -c 'echo $$ >>"$0"; exec sleep 1000' "$work/pids" 2>"$work/err" &
job=$!
await "three ranks again" lines_are "$work/pids" 3
kill -KILL $job
await "the ranks of a killed launcher are gone" all_gone "$work/pids"
await "its directory is gone" nothing_left

expect_clean "at the end"
finish
