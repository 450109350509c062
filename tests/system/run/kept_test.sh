# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# kept_test.sh - the end of a rank that a tracer does not take is noticed, and judged as any other.
. "$(dirname "$0")/lib.sh"

# launch ARGS...: as run, but killed when the launcher waits for the tracer
launch() {
    timeout -k 1 40 "$SHMIX" run "$@" >"$work/out" 2>"$work/err"
    code=$?
}
launch -n 1 "$KEPT" 5
if [ "$code" = 77 ]; then
    echo "skipped: a process may not trace its parent here"
    exit 77
fi
expect_code 5 "alone"

line='has ended, and process [0-9]* (.*kept .*), which traces it, has not taken its end for 5 s'

launch -n 1 "$KEPT" 0
expect_code 0 "a rank that ends well"
expect_err "rank 0 (pid [0-9]*) $line" "a rank that ends well"
[ "$(grep -c . "$work/err")" = 1 ] || fail "a rank that ends well: more than its line"
expect_clean "a rank that ends well"

launch -n 1 sleep 1000 : -n 1 "$KEPT" 3
expect_code 3 "a rank that exits"
expect_err "rank 1 (pid [0-9]*) $line" "a rank that exits"
expect_err 'rank 1 .* exited with status 3; ending the job' "a rank that exits"
expect_clean "a rank that exits"

launch --on-failure notify -n 1 sh -c 'while ! grep -q "status 3" "$1"; do sleep 0.02; done' - "$work/err" : -n 1 "$KEPT" 3
expect_code 3 "the others go on"
expect_err 'rank 1 .* exited with status 3; the job goes on without it' "the others go on"

launch -n 1 "$KEPT" 0 "$work/waits" : -n 1 sh -c 'while [ ! -e "$1" ]; do sleep 0.02; done; exit 4' - "$work/waits"
expect_code 4 "a rank that is killed"
expect_err "rank 0 (pid [0-9]*) $line" "a rank that is killed"
[ "$(grep -c 'SIGKILL\|cannot be killed' "$work/err")" = 0 ] || fail "a rank that is killed: more than its line"
expect_clean "a rank that is killed"

# Where descriptors are short, ranks are not watched, and start.
(ulimit -n 72; "$SHMIX" run -n 4 true >"$work/out" 2>"$work/err"; echo $? >"$work/code")
code=$(cat "$work/code")
expect_code 0 "few descriptors"
finish
