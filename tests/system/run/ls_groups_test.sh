# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_groups_test.sh - `shmix ls groups`: who is in which list, also when the server is stopped.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 --pset ocean "$RANK" fence : -n 1 --pset 'ice\' "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

expect_shows() { # PATTERN [ARGS...]: a line of the output
    pattern=$1
    shift
    "$SHMIX" ls groups "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "shmix ls groups $*"
    grep -q -e "$pattern" "$work/out" || fail "no '$pattern' in: shmix ls groups $*"
}

await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
expect_shows "^set  *2 of 2  *1  *none  *[0-9.]* s  *$server  ocean: \\(shmix-[^ ]*\\)\\.0 \\1\\.1\$"
job=$(sed -n "s/^set .* $server  ocean: \(shmix-[^ ]*\)\.0 .*/\1/p" "$work/out")
expect_shows '^KIND ' "$server"
[ "$(grep -c '' "$work/out")" = 3 ] || fail "three lines"
expect_shows '^set .*ice' "$job"

# Stopped: nobody is asked.
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_shows '^{"kind":"set","name":"ocean","server":'"$server"',"generation":1,"age_ns":[0-9]*,"size":2,"member_count":2,"members":\[{"rank":0,"proc":{"nspace":"'"$job"'","rank":0}},{"rank":1,"proc":{"nspace":"'"$job"'","rank":1}}\]}$' --json "$server"
expect_shows '"name":"ice\\\\"' --json "$server"
[ "$(grep -c '' "$work/out")" = 2 ] || fail "two objects"
kill -CONT "$server"
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
"$SHMIX" ls groups "$server" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a server that has gone"
expect_err "process $server does not exist" "a server that has gone"
finish
