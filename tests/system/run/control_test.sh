# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# control_test.sh - what PMIx_Job_control does to the ranks of `shmix run`.
. "$(dirname "$0")/lib.sh"

run -n 2 "$RANK" control signals
expect_code 0 "pause, resume and a signal"
expect_out "rank 1 heard SIGUSR1" "pause, resume and a signal"

for how in "kill 137" "terminate 143"; do
    run -n 2 "$RANK" control ${how% *}
    expect_code ${how#* } "a rank is ended: $how"
    expect_out "rank 0 goes on" "a rank is ended: $how"
    expect_err "rank 0 (pid [0-9]*) on .* asked for the end of rank 1; the others go on" "$how"
done

run -n 2 "$RANK" control end
expect_code 143 "the job is ended"
expect_err "rank 0 (pid [0-9]*) on .* asked for the end of the job" "the job is ended"

run -n 2 "$RANK" control not
expect_code 0 "what cannot be"
for line in "two: PMIX_ERR_BAD_PARAM" "cancel: PMIX_ERR_NOT_FOUND" \
    "checkpoint: PMIX_ERR_NOT_SUPPORTED" "nobody: PMIX_ERR_NOT_FOUND"; do
    grep -q "^$line\$" "$work/out" || fail "no '$line'"
done

# Of two jobs only the one that is named.
run --separate-jobs -n 2 "$RANK" control end : -n 1 sh -c 'sleep 0.2; echo the other goes on'
expect_code 143 "one of two jobs"
grep -q "the other goes on" "$work/out" || fail "one of two jobs: the other was ended too"

expect_clean "at the end"
finish
