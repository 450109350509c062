# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# standard_tools_test.sh - a tool that knows the Standard alone asks what runs, while another one stops it.
. "$(dirname "$0")/lib.sh"

go=$work/go
server=
trap 'touch "$go"; [ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

asks() { # what TOOLQRY prints, in a word
    "$TOOLQRY" "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "toolqry $*"
    expect_out "abi before: PMIX_SUCCESS, 1
namespaces before: PMIX_ERR_INIT, 0
job: $job
status: PMIX_SUCCESS, 1
namespace info: $job
rank 0, process $first, PMIX_PROC_STATE_CONNECTED, here, $RANK
rank 1, process $second, PMIX_PROC_STATE_CONNECTED, here, $RANK
peers: PMIX_SUCCESS, 2
nodes: PMIX_SUCCESS
size: 2
servers: PMIX_SUCCESS, 1
status of nobody: PMIX_ERR_NOT_FOUND, 0
nonsense: PMIX_ERR_NOT_FOUND, 0
connected: 0
after: PMIX_ERR_UNREACH, 0" "toolqry $*"
}
controls() { # STATUS ARGS...
    want=$1
    shift
    [ "$("$JCTRL" "$@" 2>"$work/err")" = "$want" ] || fail "jctrl $*: not $want"
}

"$SHMIX" run -n 2 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "both ranks have said who they are" lines_are "$work/job" 2 || finish
job=$("$SHMIX" ls procs --json "$server" | sed -n 's/^{"rank":0,.*"nspace":"\([^"]*\)"}$/\1/p')
first=$("$SHMIX" ls procs --json "$server" | sed -n 's/^{"rank":0,"pid":\([0-9]*\),.*/\1/p')
second=$("$SHMIX" ls procs --json "$server" | sed -n 's/^{"rank":1,"pid":\([0-9]*\),.*/\1/p')

asks
asks nonblocking

controls PMIX_SUCCESS "$job" all pmix.jctrl.pause
await "rank 0 is stopped" is_stopped "$first"
await "rank 1 is stopped" is_stopped "$second"
asks # who is stopped is asked nothing
controls PMIX_SUCCESS "$job" all pmix.jctrl.resume
touch "$go"
wait "$server"
server=
expect_clean "at the end"
finish
