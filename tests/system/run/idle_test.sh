# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# idle_test.sh - a launcher looks at the machine's devices once: when the first rank or tool has
# connected, or a while after the last rank was started if none does.
. "$(dirname "$0")/lib.sh"

[ -z "${SANITIZED:-}" ] || { echo "skipped: what looks for leaks can not be traced"; exit 77; }
cd "$work" || exit 1
job=
trap 'touch "$work/over"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

# begin RANKS COMMAND...: a job in which nobody looks before there is the file go
begin() {
    rm -f go over said out err
    "$LOOKER" go said "$SHMIX" run --verbose -n "$@" >out 2>err &
    job=$!
}
# end WHAT WHY: one process has looked, and has told the launcher once.  WHY: a pattern
end() {
    ! grep -q "devices are known" err || fail "$1: it has looked already"
    touch go
    await "$1: the devices are known" grep -q "devices are known" err
    touch over
    wait $job
    code=$?
    job=
    expect_code 0 "$1"
    grep -qx "$2" said || fail "$1: it looks, '$(cat said)', not '$2'"
    [ "$(grep -c . said)" = 1 ] || fail "$1: it waits more than once"
    [ "$(grep -c "devices are known" err)" = 1 ] || fail "$1: it has looked more than once"
}
# there: the rank is, or ptrace is refused and the job has ended
there() {
    [ -s out ] || ! kill -0 $job
}

begin 1 "$RANK" late over
await "the rank has connected" there
if ! kill -0 $job 2>/dev/null; then
    cat out
    exit 77
fi
end "a rank that has connected" "asked .*"

waits='while [ ! -e over ]; do sleep 0.02; done'
# Before the ranks, the launcher has started the janitor and the one that looks.
begin 16 sh -c "echo here; $waits"
await "a rank is there" there
end "ranks that never connect" "idle 18"

# The launcher is the tracer's child.
begin 1 sh -c "echo \$PPID; $waits"
await "the rank is there" there
PMIX_SERVER_PIDINFO=$(cat out) "$PULLER" -s nobody.has.it >told
grep -q PMIX_ERR_NOT_FOUND told || fail "a tool: $(cat told)"
end "a tool that has connected" "asked .*"

expect_clean "at the end"
finish
