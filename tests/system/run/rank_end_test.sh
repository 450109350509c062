# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# rank_end_test.sh - the end of a rank is an event at every other one that has a handler, before the job
# is ended; and nobody waits for handlers longer than has to be (EV60).
. "$(dirname "$0")/lib.sh"

# heard HOW CODE RUNS EVENT...: all of them reach both survivors, in each run.  The moment would
# last longer than this test may: on a busy machine 0.1 s can be too short, and it ends early anyway.
heard() {
    how=$1 want=$2 runs=$3
    shift 3
    while [ "$runs" -gt 0 ]; do
        run --event-grace 1000 -n 3 "$RANK" hear "$how"
        expect_code "$want" "hear $how"
        for event in "$@"; do
            [ "$(grep -c "^rank [02] heard $event of 1\$" "$work/out")" -eq 2 ] ||
                fail "hear $how: $event has not reached both"
        done
        runs=$((runs - 1))
    done
}
heard kill 137 20 PMIX_ERR_LOST_CONNECTION PMIX_ERR_PROC_ABORTED_BY_SIG
heard exit 5 5 PMIX_ERR_LOST_CONNECTION PMIX_ERR_EXIT_NONZERO_TERM
heard leave 1 5 PMIX_ERR_LOST_CONNECTION PMIX_ERR_PROC_TERM_WO_SYNC
heard abort 7 5 PMIX_ERR_PROC_REQUESTED_ABORT

run --event-grace 1000 -n 3 "$RANK" deaf kill
expect_code 137 "nobody wants to hear"
run --event-grace 1000 -n 1 "$RANK" deaf : "$RANK" deaf kill
expect_code 137 "nobody is left"
run --event-grace 1000 --timeout 8 -n 3 "$RANK" hang kill
expect_code 137 "the timeout ends the moment"

# A handler that does not return is not waited for; nor is any without a moment.
run -n 3 "$RANK" hang kill
expect_code 137 "a handler that hangs"
run --event-grace 0 -n 3 "$RANK" hear kill
expect_code 137 "no moment"
run --event-grace soon true
expect_code 2 "not a number"
expect_err "--event-grace does not take 'soon': it wants seconds, from 0 " "not a number"

# The user does not wait either: the first signal ends the moment.
"$SHMIX" run --event-grace 1000 -n 3 "$RANK" hang kill >"$work/out" 2>"$work/err" &
pid=$!
await "handlers that hang" grep -q "ending the job" "$work/err"
kill -TERM $pid
wait $pid
code=$?
expect_code 137 "a signal in the moment"

expect_clean "at the end"
finish
