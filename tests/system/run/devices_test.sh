# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# devices_test.sh - ranks are started while the machine's devices are looked at, and connect when
# they are known.
. "$(dirname "$0")/lib.sh"

machine=$(dirname "$0")/../two_packages.xml

# The description of the machine comes through a fifo: first for the launcher, then for the process
# that looks at the devices.
# begin NAME: a job whose ranks have been started, while that process waits
begin() {
    mkfifo "$work/$1"
    HWLOC_XMLFILE="$work/$1" "$SHMIX" run --verbose -n 2 sh -c 'echo up; exec "$0" fence' "$RANK" \
        >"$work/out" 2>"$work/err" &
    job=$!
    cat "$machine" >"$work/$1"
    await "$1: both ranks are up" sh -c "[ \$(grep -cx up '$work/out') = 2 ]"
    grep -q "have been started" "$work/err" || fail "$1: not all have been started"
    if grep -q "devices are known\|have connected" "$work/err"; then
        fail "$1: ranks have connected before the devices were known"
    fi
}

# both_met NAME: they have connected, and met in a fence
both_met() {
    [ "$(grep -c PMIX_SUCCESS "$work/out")" = 2 ] || fail "$1: the ranks have not met"
}

begin known
cat "$machine" >"$work/known"
wait $job || fail "the job ended with $?"
expect_err "devices are known" "known"
both_met known

# Without a description that can be read, the CPUs that the launcher knows have to do.
begin broken
echo "no machine" >"$work/broken"
wait $job || fail "the job without devices ended with $?"
both_met broken

# A job whose ranks do not ask does not wait; nor does the end of one that is killed.
mkfifo "$work/unasked"
HWLOC_XMLFILE="$work/unasked" "$SHMIX" run -n 2 true 2>"$work/err" &
job=$!
cat "$machine" >"$work/unasked"
wait $job || fail "the job that does not ask ended with $?"

# lookers PARENT: the processes that look at devices for it
lookers() {
    for status in /proc/[0-9]*/status; do
        if grep -qs "^Name:[[:space:]]*shmix-look" "$status" &&
            grep -qs "^PPid:[[:space:]]*$1\$" "$status"; then
            basename "$(dirname "$status")"
        fi
    done
}
begin killed
lookers $job >"$work/looker"
[ -s "$work/looker" ] || fail "there is no process that looks"
kill -9 $job
wait $job 2>/dev/null
await "the process that looks is gone" all_gone "$work/looker"
await "nothing is left" nothing_left
finish
