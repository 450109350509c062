# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# get_test.sh - `shmix get`: what is stored, by key, also when the server is stopped.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

get() { # ARGS...
    "$SHMIX" get "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_gets() { # CODE PATTERN LINES ARGS...: as many lines, and one that matches
    want=$1 pattern=$2 lines=$3
    shift 3
    get "$@"
    expect_code "$want" "shmix get $*"
    grep -q -e "$pattern" "$work/out" "$work/err" || fail "no '$pattern' in: shmix get $*"
    [ "$(grep -c '' "$work/out")" = "$lines" ] || fail "not $lines lines: shmix get $*"
}

await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
get PMIX_JOB_SIZE "$server"
job=$(sed -n 's/^\(.*\)\.\* PMIX_JOB_SIZE 3$/\1/p' "$work/out")
[ -n "$job" ] || fail "the size of the job"

# By key and by its name, a rank, a realm, a pattern; another job's and nobody's.
expect_gets 0 "^$job\.2 PMIX_APPNUM 1\$" 5 pmix.appnum "$job"
expect_gets 0 "^$job\.1 PMIX_LOCAL_RANK 1\$" 1 --rank 1 PMIX_LOCAL_RANK "$server"
expect_gets 0 "^$job app 1 PMIX_APP_SIZE 1\$" 2 --realm app 'PMIX_APP_S?ZE' "$server"
expect_gets 0 "^$job node 0 PMIX_LOCAL_PEERS \"0,1,2\"\$" 1 --realm node PMIX_LOCAL_PEERS "$server"
expect_gets 1 "nothing is stored under no.such.key; 'shmix get \"\*\"' prints all that is" 0 no.such.key "$server"
expect_gets 1 "no job nobody's" 0 PMIX_JOB_SIZE "nobody's"
expect_gets 2 "the key stands first, and then the job" 0 "$job" PMIX_JOB_SIZE
expect_gets 2 "try: shmix get 'PMIX_JOB_SIZE' $server" 0 "$server" PMIX_JOB_SIZE
expect_gets 1 "process $$ is no server with a job" 0 PMIX_JOB_SIZE $$
expect_gets 2 "proc, node, app and session" 0 --realm nowhere PMIX_JOB_SIZE
expect_gets 2 "the rank of a process" 0 --rank -1 PMIX_JOB_SIZE

# Stopped: nobody is asked.
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_gets 0 '^{"nspace":"'"$job"'","realm":"job","key":"pmix.job.size","name":"PMIX_JOB_SIZE","type":"PMIX_UINT32","value":3}$' 1 --json PMIX_JOB_SIZE "$server"
expect_gets 0 '"realm":"proc","rank":1,"key":"pmix.lrank",.*"value":1}$' 3 --json PMIX_LOCAL_RANK "$job"
expect_gets 0 '"value":\[{"nspace":"'"$job"'","rank":0},' 1 --json PMIX_LOCAL_PROCS "$job"
kill -CONT "$server"
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
finish
