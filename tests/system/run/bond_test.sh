# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# bond_test.sh - jobs that are connected, and one that fails: who ends with it.
. "$(dirname "$0")/lib.sh"

run "$SPAWNER" -- true
if grep -qx 'spawn: PMIX_ERR_NOT_SUPPORTED' "$work/out"; then
    echo "skipped: PMIx_Spawn is not supported by this library"
    exit 77
fi

run --timeout 120 "$BOND" stay
expect_code 137 "connected"
expect_err 'job 1, rank 1 .* was killed by signal 9' "connected"
expect_err 'the job goes with job 1, with which it is connected' "connected"
expect_clean "connected"

run --timeout 120 "$BOND" part
expect_code 137 "parted"
expect_out "the parent goes on" "parted"
grep -q 'goes with' "$work/err" && fail "parted: somebody goes with the dead"
expect_clean "parted"

# One that ends for its connection takes along those who are connected with it in turn.
run --timeout 120 "$BOND" tree
expect_code 137 "a chain"
expect_err 'job 2, rank 1 .* was killed by signal 9' "a chain"
expect_err 'job 1 goes with job 2, with which it is connected' "a chain"
expect_err 'the job goes with job 1, with which it is connected' "a chain"
expect_clean "a chain"

run --timeout 120 "$BOND" cut
expect_code 137 "a chain that was cut"
expect_err 'job 1 goes with job 2, with which it is connected' "a chain that was cut"
expect_out "the parent goes on" "a chain that was cut"
grep -q 'goes with job 1' "$work/err" && fail "a chain that was cut: the parent goes with it"
expect_clean "a chain that was cut"

# For whatever reason it ends.
goes() { # CODE WHAT PATTERN
    run --timeout 120 "$BOND" "$2"
    expect_code "$1" "$2"
    expect_err "$3" "$2"
    expect_err 'the job goes with job 1, with which it is connected' "$2"
    expect_clean "$2"
}
goes 1 lost 'job 1, rank 1 .* has lost its PMIx client'
goes 143 ctrl 'asked for the end of job 1'
goes 124 late 'job 1 has not ended in its time (PMIX_JOB_TIMEOUT)'
goes 137 two 'asked for the end of job 1'

# Who does not want to go with others stays, and whoever was spawned apart takes nobody along.
stays() { # WHAT ARGS...
    what=$1
    shift
    run --timeout 120 "$@"
    expect_code 137 "$what"
    expect_out "the parent goes on" "$what"
    grep -q 'goes with' "$work/err" && fail "$what: somebody goes with the dead"
    expect_clean "$what"
}
stays "its user lets it go on" --on-failure notify "$BOND" keep
stays "a separate job" "$BOND" apart

finish
