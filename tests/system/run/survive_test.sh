# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# survive_test.sh - no process survives its job: twice forked, in sessions of their own, forking on.
. "$(dirname "$0")/lib.sh"

if [ ! -e /proc/self/task/$$/children ] && [ ! -e /proc/thread-self/children ]; then
    echo "skipped: this kernel does not show a process its children"
    exit 77
fi
cp "$BOMB" "$work/bomb"
none_left() {
    [ -z "$(find /proc/[0-9]*/exe -maxdepth 0 -lname "$work/bomb*" 2>/dev/null)" ]
}

for kind in daemon chain crowd; do
    run --timeout 120 -n 2 "$work/bomb" $kind "$work/$kind"
    expect_code 0 "$kind"
    none_left || fail "$kind: some of it is left"
    expect_clean "$kind"
done

# Who has no environment any more belongs to the launcher in any case.
run --timeout 120 env -i "$work/bomb" daemon "$work/bare"
expect_code 0 "without an environment"
none_left || fail "without an environment: it is left"

# A rank is killed while it forks on.
run --timeout 120 sh -c '"$0" crowd "$1"; kill -9 $$' "$work/bomb" "$work/killed"
expect_code 137 "killed"
none_left || fail "killed: some of it is left"

# The launcher is told to end, and is killed.
for signal in TERM KILL; do
    "$SHMIX" run sh -c '"$0" daemon "$1"; sleep 60' "$work/bomb" "$work/by.$signal" >"$work/out" 2>"$work/err" &
    launcher=$!
    await "a daemon" test -s "$work/by.$signal"
    kill -$signal $launcher
    wait $launcher 2>/dev/null
    await "the end of the daemon ($signal)" none_left
    await "the janitor" nothing_left
done

# Of several jobs each has its own, and what another job has left goes on.
run --timeout 120 --separate-jobs sh -c '"$0" daemon "$1"; until [ -s "$2" ]; do sleep 0.01; done; read -r its <"$2"; while kill -0 $its 2>/dev/null; do sleep 0.01; done; read -r own <"$1"; kill -0 $own && echo lives' \
    "$work/bomb" "$work/first" "$work/second" : \
    sh -c 'until [ -s "$1" ]; do sleep 0.01; done; "$0" daemon "$2"' "$work/bomb" "$work/first" "$work/second"
expect_code 0 "two jobs"
expect_out lives "two jobs"
none_left || fail "two jobs: some of it is left"

# What the shell had started before it became the launcher is not a rank's.
sh -c 'sleep 60 & echo $! >"$2"; exec "$0" run "$1" daemon "$3"' "$SHMIX" "$work/bomb" "$work/guest" "$work/host" >"$work/out" 2>"$work/err" ||
    fail "a child that was there before: exit code $?"
none_left || fail "a child that was there before: the rank's is left"
read -r guest <"$work/guest"
runs "$guest" || fail "a child that was there before has gone"
kill "$guest"

finish
