# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# dynamic_test.sh - Debian's Open MPI, unmodified, under `shmix run`: jobs that programs start, and how
# worlds meet at ports.
#
# MPICC is the compiler's wrapper; FIRST_ARGS are further arguments of `shmix run`.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"
. "$here/foreign.sh"

mpicc=${MPICC:-mpicc.openmpi}
if ! command -v "$mpicc" >/dev/null; then
    echo "skipped: there is no $mpicc (Debian: libopenmpi-dev, openmpi-bin)"
    exit 77
fi
case $("$mpicc" --showme:version 2>/dev/null) in
*'Open MPI 4.'*) version=4 ;;
*) version=5 ;;
esac
for name in spawn_mpi ports_mpi; do
    "$mpicc" -O1 -o "$work/$name" "$here/../progs/$name.c" || exit 1
done
mkdir "$work/other"
cd "$work" || exit 1
own=${RANK_PRELOAD:+--env LD_PRELOAD=$RANK_PRELOAD}
limit="--timeout 120 $own $FIRST_ARGS"

# scenario RANKS WORDS..., of $program: the last word is "ok", and nothing stays.
scenario() {
    ranks=$1
    shift
    run $limit -n $ranks "$work/$program" "$@"
    expect_code 0 "$*, $ranks ranks"
    grep -qx "$1: ok" "$work/out" || fail "$*, $ranks ranks: no '$1: ok'"
    expect_clean "$*, $ranks ranks"
}

program=ports_mpi
scenario 2 names
scenario 3 line 4
scenario 5 halves
# ... and two jobs, of which one finds the other by its name.
run $limit --separate-jobs -n 3 ./ports_mpi server here : -n 2 $own $FIRST_ARGS ./ports_mpi client here
expect_code 0 "two jobs"
[ "$(sort "$work/out" | tr '\n' ' ')" = "client: ok server: ok " ] || fail "two jobs"

program=spawn_mpi
scenario 1 world 1
scenario 3 world 4
scenario 3 self 2
scenario 2 many
scenario 1 nested 3
scenario 2 again 5
scenario 2 meet
scenario 1 plain

# MPI_Info: the keys of the MPI standard, then those of Open MPI.
scenario 1 wdir "$work/other"
scenario 1 env 'FOO=a b=c'
for pair in host=localhost npernode=1 pernode=true ppr=1:node map_by=core ompi_stdin_target=none; do
    case $version,$pair in
    5,ppr=*) ;; # Open MPI 5 itself takes none
    *) scenario 1 info $pair ;;
    esac
done

# What cannot be started is an error that the parent survives; of several parents Open MPI 4.1 tells
# the root alone, and the others wait in MPI_Comm_spawn.
scenario 1 missing
expect_err "there is no program '/nowhere/program'" "a program that there is not"
case $version in
5) ;; # Open MPI 5 says MPI_ERR_UNKNOWN
*) grep -q MPI_ERR_SPAWN "$work/out" || fail "a program that there is not: the error's class" ;;
esac
scenario 1 error wdir=/nowhere
expect_err '/nowhere' "a folder that there is not"
scenario 1 error host=elsewhere.example
expect_err 'elsewhere.example' "a node that there is not"

# Who waits for a dead child would wait for ever, and ends with it; who has parted from it goes on.
run $limit -n 2 "$work/spawn_mpi" dies
expect_code 137 "a child that dies"
case $version in
5) ;; # Open MPI 5 ends itself when a connection ends, of whichever process
*)
    expect_err 'the job goes with job 1, with which it is connected' "a child that dies"
    run $limit -n 2 "$work/spawn_mpi" apart
    expect_code 137 "a child that dies apart"
    grep -qx 'apart: ok' "$work/out" || fail "a child that dies apart: its parents have not gone on"
    grep -q 'goes with' "$work/err" && fail "a child that dies apart: who goes with it"
    ;;
esac

finish
