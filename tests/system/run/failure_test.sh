# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# failure_test.sh - a rank fails, or is aborted: who ends, who hears of it, who goes on, what is said
# (EV60: a lost client is an event).
. "$(dirname "$0")/lib.sh"

# ---- --on-failure notify ----

# has LINE WHAT: a line of the output
has() {
    grep -qxF -e "$1" "$work/out" || fail "$2: no line '$1'"
}

host=$(uname -n)
survivors() { # HOW CODE EVENT MESSAGE: rank 1 of 4 ends, the others finish
    run --timeout 120 --on-failure notify -n 4 "$RANK" survive "$1"
    expect_code "$2" "survive $1"
    for rank in 0 2 3; do
        has "rank $rank: heard $3, exit code $2" "survive $1"
    done
    expect_err "rank 1 (pid [0-9]*) on $host $4; the job goes on without it" "survive $1"
    [ "$(grep -c 'shmix run:' "$work/err")" -eq 1 ] || fail "survive $1: more than one message"
    expect_clean "survive $1"
}
survivors kill 137 PMIX_ERR_PROC_ABORTED_BY_SIG 'was killed by signal 9 (Killed)'
survivors exit 5 PMIX_ERR_EXIT_NONZERO_TERM 'exited with status 5'
survivors exit 5 PMIX_ERR_PROC_TERM_WO_SYNC 'exited with status 5'
survivors leave 1 PMIX_ERR_PROC_TERM_WO_SYNC 'exited without PMIx_Finalize (MPI_Finalize)'

# A rank that never became a client is not waited for.
run --timeout 120 --on-failure notify -n 2 "$RANK" fence : sh -c 'kill -9 $$'
expect_code 137 "dead before PMIx_Init"
[ "$(grep -c 'rank [01]: PMIX_ERR_LOST_CONNECTION' "$work/out")" -eq 2 ] ||
    fail "dead before PMIx_Init: the fence of the others"

# The first failure decides the exit code, and the rest is reported too.
run --on-failure notify sh -c "while [ ! -e $work/first ]; do sleep 0.01; done; exit 4" : \
    sh -c 'exit 3' : sh -c "while ! grep -q 'status 3' $work/err; do sleep 0.01; done; touch $work/first"
expect_code 3 "two failures"
expect_err "rank 0 .* exited with status 4" "two failures"
[ "$(grep -c 'goes on' "$work/err")" -ge 1 ] || fail "two failures: the first one is not survived"

run --on-failure notify sh -c 'exit 6'
expect_code 6 "nobody is left"
expect_err "exited with status 6\$" "nobody is left"

run --on-failure ignore true
expect_code 2 "an unknown way"
expect_err "--on-failure does not take 'ignore': it wants abort .* or notify" "an unknown way"

# ---- PMIx_Abort of a part ----

for way in abort notify; do
    run --timeout 120 --on-failure $way -n 4 "$RANK" abort 1 3
    expect_code 7 "abort of two ($way)"
    has "abort: PMIX_SUCCESS" "abort of two ($way)"
    has "rank 0 goes on" "abort of two ($way)"
    has "rank 2 goes on" "abort of two ($way)"
    expect_err "rank 0 (pid [0-9]*) on $host called abort with status 7 for ranks 1 and others: not needed; the others go on" \
        "abort of two ($way)"
    [ "$(grep -c 'shmix run:' "$work/err")" -eq 1 ] || fail "abort of two ($way): who is killed is no news"
done

run --timeout 120 -n 2 "$RANK" abort 0
expect_code 7 "abort of oneself"
has "rank 1 goes on" "abort of oneself"
run --timeout 120 -n 2 "$RANK" abort 99
expect_code 0 "abort of a rank that is not there"
has "abort: PMIX_ERR_NOT_FOUND" "abort of a rank that is not there"
run --timeout 120 -n 2 "$RANK" abort 1 0
expect_code 7 "abort of all by name"
expect_err "called abort with status 7: not needed; ending the job" "abort of all by name"

# Who does not hear SIGTERM is killed.
run --timeout 120 -n 2 "$RANK" abort 2 : "$RANK" wait
expect_code 7 "abort of a rank that ignores SIGTERM"
has "rank 1 goes on" "abort of a rank that ignores SIGTERM"

# ---- wrappers ----

run --timeout 120 -n 2 sh -c 'test $PMIX_RANK = 1 || exec sleep 1000; "$RANK" kill; sleep 1000'
expect_code 1 "a wrapper lives on"
expect_err "rank 1 on $host has lost its PMIx client" "a wrapper lives on"
# One that passes the failure on may say more itself, if it is soon enough.
run --timeout 120 -n 2 sh -c 'test $PMIX_RANK = 1 || exec sleep 1000; "$RANK" kill; exit $?'
case $code in 1 | 137) ;; *) fail "a wrapper passes it on: exit code $code" ;; esac
expect_err "rank 1 .*on $host" "a wrapper passes it on"
# Two programs, one after the other, are no loss.
run --timeout 120 -n 2 sh -c '"$RANK" fence && "$RANK" fence'
expect_code 0 "a wrapper of two programs"
# ... also when the other rank waits in the second one while the first one ends.
waits='"$RANK" fence; { sleep 0.2; touch "$0"; } & "$RANK" fence'
all_met() {
    [ "$(grep -c 'PMIX_SUCCESS' "$work/out")" -eq 4 ] || fail "$1: a fence was cut short"
}
run --timeout 120 sh -c "$waits" "$work/waits" : sh -c '"$RANK" fence "$0"; "$RANK" fence' "$work/waits"
all_met "a wrapper of two programs"
# ... and when they cannot see who has started them.
if unshare -fp true 2>/dev/null; then
    run --timeout 120 sh -c "$waits" "$work/apart" : \
        sh -c 'unshare -fp "$RANK" fence "$0"; unshare -fp "$RANK" fence' "$work/apart"
    all_met "a wrapper of two pid namespaces"
else
    echo "not tested: pid namespaces are refused here"
fi
# The wrapper's own end is the end; nobody waits for who is gone.
run --timeout 120 "$RANK" fence : sh -c '"$RANK" pass; true'
has "rank 0: PMIX_ERR_PARTIAL_SUCCESS" "a wrapper that has left"
run --timeout 120 "$RANK" fence : "$RANK" pass
has "rank 0: PMIX_ERR_PARTIAL_SUCCESS" "a rank that has left"
run --timeout 120 "$RANK" fence : true
has "rank 0: PMIX_ERR_LOST_CONNECTION" "a program without PMIx"

expect_clean "at the end"
finish
