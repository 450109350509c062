# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# pidns_test.sh - a job in a pid namespace of its own, as in a container: with the /proc of its parent,
# where processes have other numbers, and with its own.  `unshare` makes the launcher process 1 there.
. "$(dirname "$0")/lib.sh"

user=
[ "$(id -u)" = 0 ] || user='--user --map-current-user'
if ! unshare $user --pid --fork --mount-proc true 2>"$work/err"; then
    echo "skipped: no pid namespace can be made here: $(tail -1 "$work/err")"
    exit 77
fi

# The ranks shall have numbers that no process has in the parent's /proc.
apart='for try in $(seq 5000); do
    last=$(sh -c "echo \$\$") free=0
    while [ $free -lt 20 ] && [ ! -e /proc/$((last + free + 1)) ]; do free=$((free + 1)); done
    [ $free -lt 20 ] || break
done
exec "$@"'
# LeakSanitizer looks for its threads there, under the numbers that they have here.
ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0
export ASAN_OPTIONS

# inside COMMAND...: in a new namespace; $proc says with which /proc
inside() {
    unshare $user --pid --fork $proc sh -c "$apart" sh "$@" >"$work/out" 2>"$work/err"
    code=$?
}
# same LINES WHAT: the output, in whichever order
same() {
    [ "$(sort "$work/out")" = "$1" ] || fail "$2: the output is not '$1'"
}

for proc in '' --mount-proc; do
    what="with the ${proc:-parent} /proc"
    inside "$SHMIX" run --timeout 120 -n 2 "$RANK" thread
    expect_code 0 "a job $what"
    same "rank 0: PMIX_SUCCESS
rank 1: PMIX_SUCCESS" "a job $what"
    expect_clean "a job $what"

    inside "$SHMIX" run --timeout 120 --on-failure notify -n 3 "$RANK" survive kill
    expect_code 137 "a killed rank $what"
    same "rank 0: heard PMIX_ERR_PROC_ABORTED_BY_SIG, exit code 137
rank 2: heard PMIX_ERR_PROC_ABORTED_BY_SIG, exit code 137" "a killed rank $what"
    expect_err 'rank 1 (pid [0-9]*) .* was killed by signal 9' "a killed rank $what"
    expect_clean "a killed rank $what"

    # Process 1 is not the launcher here and outlives it, and so does the janitor.
    inside timeout 120 sh -c '
        "$SHMIX" run -n 2 sh -c "touch $0; exec sleep 1000" & job=$!
        while [ ! -e "$0" ]; do sleep 0.05; done
        kill -9 $job
        while [ -n "$(ls "$TMPDIR")" ]; do sleep 0.05; done' "$work/begun"
    expect_code 0 "a killed launcher $what"
    expect_clean "a killed launcher $what"
    rm -f "$work/begun"
done

finish
