# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# stop_test.sh - ranks that stop for a debugger: the lines that `shmix run` writes say how to attach and how to go on, and both
# work as they are written.
. "$(dirname "$0")/lib.sh"

# begin OPTIONS...: two ranks in the background, until both lines are there; $out and $err
begin() {
    "$SHMIX" run -n 2 "$@" "$RANK" fence >"$work/out" 2>"$work/err" &
    job=$!
    await "both ranks stop: $*" both_stop
    pid0=$(sed -n 's/.*rank 0 (pid \([0-9]*\)).*/\1/p' "$work/err")
}
both_stop() {
    [ "$(grep -c 'attach with .gdb -p [0-9]*.' "$work/err")" -eq 2 ]
}
ends_well() {
    wait $job
    code=$?
    expect_code 0 "$1"
    [ "$(grep -c ': PMIX_SUCCESS$' "$work/out")" -eq 2 ] || fail "$1: not both ranks have fenced"
}
# The command between quotes behind "$1" in the lines.
told() {
    sed -n "s/.*$1 '\([^']*\)'.*/\1/p" "$work/err" | sed "s|^shmix |$SHMIX |" | head -1
}

# Before the first instruction: each by a signal.
begin --stop-on-exec
is_stopped "$pid0" || fail "rank 0 is not stopped"
[ -s "$work/out" ] && fail "a stopped rank has run"
sed -n "s/.*let it go on with '\([^']*\)'.*/\1/p" "$work/err" >"$work/go"
lines_are "$work/go" 2 || fail "not each rank has its line"
sh "$work/go"
ends_well "each by a signal"

# The same, all by one command.
begin --stop-on-exec
$(sed -n 's/.*(all: shmix \(.*\)).*/\1/p' "$work/err" | head -1 | sed "s|^|$SHMIX |") >/dev/null || fail "ctl resume"
ends_well "all by one command"

# In PMIx_Init, once for each rank.
begin --stop-in-init
[ -s "$work/out" ] && fail "a rank has not waited in PMIx_Init"
is_stopped "$pid0" && fail "a rank in PMIx_Init is stopped"
$(told 'go on with') >/dev/null || fail "events inject"
ends_well "in PMIx_Init"
[ "$(grep -c 'waits for a debugger' "$work/err")" -eq 2 ] || fail "not one line for each rank"

# Ctrl-C ends ranks that are stopped.
begin --stop-on-exec
kill -INT $job
wait $job
code=$?
expect_code 130 "a job that is stopped is ended"

expect_clean "at the end"
finish
