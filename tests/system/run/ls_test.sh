# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_test.sh - `shmix ls collectives`: who is missing in a fence, and how it is, also when the server
# is stopped; nothing is left once all have come.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
late=
trap 'touch "$go"; kill -CONT "$server" $late 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

ls_all() {
    "$SHMIX" ls collectives "$@" >"$work/out" 2>"$work/err"
    code=$?
}
shows() { # PATTERN [ARGS...]: a line of the output
    pattern=$1
    shift
    ls_all "$@"
    [ $code -eq 0 ] && grep -q -e "$pattern" "$work/out"
}
expect_shows() {
    shows "$@" || fail "no '$1' in: shmix ls collectives $*"
}

await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
late=$(sed -n 's/^late //p' "$work/job")
await "two of three are in the fence" shows '^fence  *2 of 3 .* no limit  *'"$server"'  shmix-[^ ]*\.\*$'
expect_shows '^  missing: shmix-[^ ]*\.2, process '"$late"'$'
expect_shows '^KIND .*PROCESSES$' "$server"
job=$(sed -n 's/^fence .*  \(shmix-[^ ]*\)\.\*$/\1/p' "$work/out")
expect_shows '^fence ' "$job"
[ "$(grep -c '' "$work/out")" = 3 ] || fail "three lines"

# Stopped, and then the server as well: nobody is asked.
kill -STOP "$late"
await "the rank is stopped" is_stopped "$late"
expect_shows "missing: $job\\.2, process $late, is stopped\$"
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_shows "^server $server is stopped: "
expect_shows "missing: $job\\.2, process $late, is stopped\$"
expect_shows '^{"kind":"fence","server":'"$server"',"server_state":"stopped","open_ns":[0-9]*,"process_count":1,"processes":\[{"nspace":"'"$job"'","rank":"\*"}\],"expected":3,"arrived":2,"with_host":false,"told":false,"missing":\[{"proc":{"nspace":"'"$job"'","rank":2},"pid":'"$late"',"state":"stopped"}\]}$' --json "$server"
[ "$(grep -c '' "$work/out")" = 1 ] || fail "one object"

# All go on, and the fence ends.
kill -CONT "$server" "$late"
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
"$SHMIX" ls collectives "$server" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a server that has gone"
expect_err "process $server does not exist" "a server that has gone"
expect_clean "after the job"

# One that has not begun when the others wait already; it dies while its server cannot hear of it.
rm -f "$go"
"$SHMIX" run -n 2 "$RANK" fence : -n 1 sh -c 'until [ -e "$0" ]; do sleep 0.05; done; exec "$@"' \
    "$work/begin" "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "rank 2 has not begun" shows 'missing: .*\.2, process [0-9]*, which has not called PMIx_Init$' "$server"
touch "$work/begin"
await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
late=$(sed -n 's/^late //p' "$work/job")
await "two of three are in the fence" shows "missing: .*process $late\$" "$server"
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
kill -KILL "$late"
await "the rank has ended" is_gone "$late"
expect_shows "missing: .*process $late, has ended\$" "$server"
kill -CONT "$server"
wait "$server"
late=
expect_clean "after a rank was killed"
finish
