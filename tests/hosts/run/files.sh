# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# files.sh - Open MPI's shared memory lies in files; whoever is killed, they go.  Sourced, never run.
#
# start_waiting RANKS ARGS...: `shmix run` of progs/wait_mpi.c as $job; its ranks' $work/pids, $work/files
start_waiting() {
    rm -f "$work/out"
    ranks=$1
    shift
    "$SHMIX" run $limit "$@" >"$work/out" 2>"$work/err" &
    job=$!
    await "$ranks ranks" lines_are "$work/out" $ranks
    cut -d ' ' -f 1 "$work/out" >"$work/pids"
    cut -d ' ' -f 2- "$work/out" | tr ' ' '\n' | grep segment | sort -u >"$work/files"
    [ -s "$work/files" ] || fail "the ranks share no memory"
}
files_are_gone() {
    for file in $(cat "$work/files"); do
        [ ! -e "$file" ] || return 1
    done
}
