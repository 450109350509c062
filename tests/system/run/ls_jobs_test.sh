# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_jobs_test.sh - `shmix ls servers` and `shmix ls jobs`: what runs here, also when it is stopped.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

expect_shows() { # PATTERN LINES ARGS...: as many lines, and one that matches
    pattern=$1 lines=$2
    shift 2
    "$SHMIX" ls "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "shmix ls $*"
    grep -q -e "$pattern" "$work/out" || fail "no '$pattern' in: shmix ls $*"
    [ "$(grep -c '' "$work/out")" = "$lines" ] || fail "not $lines lines: shmix ls $*"
}

# The others wait for the last rank in their fence.
await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
await "three clients" sh -c '"$1" ls servers --json "$2" | grep -q "\"clients\":3,"' - "$SHMIX" "$server"
expect_shows "^ *$server runs  *[0-9.]* s  *1  *3  *[1-9][0-9]*  shmix-[^ ]*\\.server\$" 2 servers "$server"
expect_shows "^[^ ]*  *0:[0-9][0-9]  *3  *$server runs  *shmix-[^ ]*: " 2 jobs "$server"
job=$(sed -n 's/^.* \(shmix-[^ ]*\): .*$/\1/p' "$work/out")
expect_shows "^{\"nspace\":\"$job\",\"server\":$server,\"server_state\":\"runs\",\"size\":3,\"local_size\":3,\"apps\":2,\"uid\":[0-9]*,\"user\":\"[^\"]*\",\"up_ns\":[0-9]*,\"command\":\"" 1 jobs --json "$job"
expect_shows "^ *$server runs" 2 servers "$job"

# A tool is no job, though it has a namespace.
PMIX_SERVER_PIDINFO=$server "$PULLER" -s "$job" -r 0 -g "$work/pulls" >"$work/told" 2>&1 &
tool=$!
await "a tool is there" [ -e "$work/pulls" ]
expect_shows "^[^ ]*  *0:[0-9][0-9]  *3  *$server runs  *shmix-[^ ]*: " 2 jobs "$server"
expect_shows "^ *$server runs  *[0-9.]* s  *1  *4  *[1-9][0-9]*  shmix-" 2 servers "$server"
kill "$tool"

# Stopped: nobody is asked.
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_shows "^ *$server stopped " 2 servers "$server"
expect_shows "\"server_state\":\"stopped\"" 1 jobs --json "$server"
kill -CONT "$server"
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
for thing in servers jobs; do
    "$SHMIX" ls "$thing" "$server" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "$thing of a server that has gone"
    expect_err "process $server does not exist" "$thing of a server that has gone"
done
finish
