# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# devices_test.sh - ranks are started, and connect, while the machine's devices are looked at; who asks
# for the topology gets it when they are known.
. "$(dirname "$0")/lib.sh"

machine=$(dirname "$0")/../two_packages.xml

# The description of the machine comes through a fifo: first for the launcher, then for the process
# that looks at the devices.
# begin NAME: a job whose ranks are clients and have asked, while that process waits
begin() {
    mkfifo "$work/$1"
    HWLOC_XMLFILE="$work/$1" "$SHMIX" run --verbose -n 2 "$RANK" devices >"$work/out" 2>"$work/err" &
    job=$!
    cat "$machine" >"$work/$1"
    await "$1: both ranks have asked" asked || return
    if grep -q "devices are known" "$work/err"; then
        fail "$1: the devices are known already"
    fi
    if [ "$(grep -c 'PMIX_ERR_TIMEOUT in a second' "$work/out")" != 2 ] ||
        grep -q "whole\|load\|distances" "$work/out"; then
        fail "$1: who asks does not wait"
    fi
}

# Or the job has ended: then there is nothing to wait for.
asked() {
    [ "$(grep -cx asked "$work/out")" = 2 ] || ! kill -0 $job
}

# end NAME DISTANCES: the ranks have got what they asked for
end() {
    wait $job || fail "$1: the job ended with $?"
    expect_err "devices are known" "$1"
    [ "$(grep -c "whole whole whole whole $2 whole" "$work/out")" = 2 ] || fail "$1: not all came"
    grep -q "load: PMIX_SUCCESS" "$work/out" || fail "$1: no topology"
    [ "$2" != whole ] || grep -q "distances: PMIX_SUCCESS" "$work/out" || fail "$1: no distances"
}

begin known
timeout 60 cat "$machine" >"$work/known"
end known whole

# Without a description that can be read, the CPUs that the launcher knows have to do.
begin broken
timeout 60 sh -c 'echo "no machine" >"$0"' "$work/broken"
end broken PMIX_ERR_NOT_FOUND # there are no devices

# A job whose ranks do not ask does not wait; nor does the end of one that is killed.
mkfifo "$work/unasked"
HWLOC_XMLFILE="$work/unasked" "$SHMIX" run -n 2 true 2>"$work/err" &
job=$!
cat "$machine" >"$work/unasked"
wait $job || fail "the job that does not ask ended with $?"

# What one launcher has seen another one need not look for, while the first one is there.
if [ -z "${HWLOC_PLUGINS_BLACKLIST:-}" ]; then
    "$SHMIX" run --verbose -n 1 sleep 1000 2>"$work/first" &
    job=$!
    await "the first launcher has looked" grep -q "devices are known" "$work/first"
    run --verbose -n 1 "$RANK" load
    expect_code 0 "the second launcher"
    expect_out "load: PMIX_SUCCESS" "the second launcher's rank"
    expect_err "process $job has looked" "the second launcher"
    kill $job
    wait $job
    run --verbose -n 1 "$RANK" load
    expect_err "devices are known" "a launcher alone"
    if grep -q "has looked" "$work/err"; then
        fail "the text has outlived its launcher"
    fi
fi

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
