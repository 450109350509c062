# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# levels_test.sh - SHMIX_LOG=info and debug say what happens in a run that goes well.
. "$(dirname "$0")/lib.sh"

# logged LEVEL PATTERN WHAT
logged() {
    grep -Eq "^[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z shmix\\[[0-9]+[a-z0-9 ]*\\] $1: $2" "$work/err" ||
        fail "$3: no line '$1: $2'"
}
not_logged() {
    grep -q -e "$1" "$work/err" && fail "$2: a line '$1'"
    return 0
}

name='shmix-[0-9]+-[0-9a-f]+'
engine=io_uring
[ "${SHMIX_LOOP:-}" = epoll ] && engine=epoll

# The default has nothing to say of it.
run -n 2 "$RANK" fence
expect_code 0 "a run"
[ -s "$work/err" ] && fail "a run that goes well writes to stderr"

# info: the lives of the server, the job and its ranks, in lines that a person can read.
SHMIX_LOG=info run -n 2 "$RANK" fence
expect_code 0 "info"
[ "$(wc -l <"$work/err")" -le 15 ] || fail "info: more than 15 lines for two ranks"
logged info "server $name\\.server\\.0 has started: $engine, listens at unix:" info
logged info "namespace $name is registered: size 2, of which 2 here" info
for rank in 0 1; do
    logged info "rank $rank of $name has connected: pid [0-9]+, user $(id -u)" info
    logged info "rank $rank of $name is connected to server $name\\.server\\.0, pid [0-9]+" info
    logged info "rank $rank of $name has finalized" info
done
grep -Eq 'shmix\[[0-9]+ rank 1\] info: rank 1 ' "$work/err" || fail "info: a rank has no name"
grep -Eq 'shmix\[[0-9]+ server\] info: ' "$work/err" || fail "info: the server has no name"
logged info "job $name has ended after [0-9.]+ s: PMIX_SUCCESS, code 0" info
logged info "server $name\\.server\\.0 has ended" info
not_logged 'debug:' info

# How a job ends that fails, and who made it fail.
SHMIX_LOG=info run -n 2 "$RANK" kill
expect_code 137 "a rank that is killed"
logged info "rank [01] of $name is lost: it ended without PMIx_Finalize" "a lost rank"
logged info "job $name has ended after [0-9.]+ s: PMIX_ERR_JOB_ABORTED_BY_SIG, code 137" "a lost rank"

# Groups are few, and so of interest.
touch "$work/go.leave" "$work/go.end"
SHMIX_LOG=info run -n 2 "$RANK" group "$work/go"
expect_code 0 "a group"
logged info "group construct 1 of lake ends after [0-9.]+ ms: 2 of 2 ranks here, PMIX_SUCCESS" "a group"

# debug: each operation.
SHMIX_LOG=debug run -n 2 "$RANK" fence
expect_code 0 "debug"
logged debug "rank 0 of $name starts: pid [0-9]+, " debug
logged debug "has found its server by SHMIX_SERVER_" debug
logged debug "fence 1 begins: 2 ranks here" debug
logged debug "fence 1 ends after [0-9.]+ ms: 2 of 2 ranks here, PMIX_SUCCESS" debug
logged debug "the host is called: client_connected for $name\\.1, " debug
logged debug "asks the server: FINALIZE, 0 bytes" debug
logged debug "the server has answered FINALIZE: PMIX_SUCCESS" debug
logged debug "rank 1 of $name sends FINALIZE, 0 bytes" debug
logged debug "rank 1 of $name has ended: pid [0-9]+, PMIX_PROC_STATE_TERMINATED, code 0" debug
SHMIX_LOG=debug run -n 2 "$RANK" log
logged debug "rank [01] of $name sends LOG, [0-9]+ bytes" "a request"
logged debug "the host is called: log for $name\\.[01], " "a request"
logged debug "the host has answered log: PMIX_" "a request"

# A thousand lines that clients cause in a run are not too many for one user.
SHMIX_LOG=debug run -n 4 "$RANK" log-much 1000
expect_code 0 "much"
not_logged 'lines in 60 s' "much"

# More than that are counted, and warnings have a share of their own.
SHMIX_LOG=debug SHMIX_LOG_LINES=1 run -n 2 "$RANK" log-much 10000
expect_code 0 "too much"
logged warn "user $(id -u) has caused 256 lines in 60 s: more are counted \(SHMIX_LOG_LINES\)" "too much"
logged warn "[0-9]+ lines that user $(id -u) caused were left out" "too much"

# What the pages say of these levels: the server names a tool, and a command that only reads logs nothing.
rm "$work/err" # the lines of the run before
SHMIX_LOG=debug "$SHMIX" run -n 2 "$RANK" fence "$work/wait" 2>"$work/err" >"$work/out" &
job=$!
await "the job" grep -q 'rank 1 of .* is connected' "$work/err"
server=$(sed -n 's/.*shmix\[\([0-9]*\) server.*/\1/p' "$work/err" | head -1)
"$SHMIX" events inject -1 "$server" >"$work/injected" 2>&1 || fail "inject: $(cat "$work/injected")"
touch "$work/wait"
wait $job
logged info "tool [0-9]+ of shmix-tool-$server[-0-9]* has connected: pid [0-9]+, user $(id -u)" "a tool"
logged debug "event PMIX_ERROR of shmix-tool-$server[-0-9]*\\.[0-9]+, range PMIX_RANGE_CUSTOM, is published to [0-9]+ namespaces" "an event"

expect_clean "at the end"
finish
