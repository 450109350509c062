# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# open_mpi_test.sh - Debian's Open MPI, unmodified, under `shmix run`: programs that work, programs
# that die, and what is left in /dev/shm.
#
# LIBPMIX names the library that the ranks must have loaded; MPICC the compiler's wrapper.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"
. "$here/foreign.sh"

: "${LIBPMIX:?names the library of this build}"
mpicc=${MPICC:-mpicc.openmpi}
if ! command -v "$mpicc" >/dev/null; then
    echo "skipped: there is no $mpicc (Debian: libopenmpi-dev, openmpi-bin)"
    exit 77
fi
for source in "$here"/../progs/*_mpi.c; do
    "$mpicc" -O1 -D_GNU_SOURCE -o "$work/$(basename "$source" .c)" "$source" -lm || exit 1
done
cd "$work" || exit 1

# A machine with few CPUs does not say how long this takes; a job that hangs does not end at all.
# RANK_PRELOAD names the runtime of a sanitizer, which a sanitized library leaves to the program.
own=${RANK_PRELOAD:+--env LD_PRELOAD=$RANK_PRELOAD} # of every program
limit="--timeout 120 $own"

for n in 1 2 4 16; do
    run $limit -n $n ./hello_mpi
    expect_code 0 "hello of $n"
    [ "$(grep -c "of $n, sum $((n * (n + 1) / 2)) ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" \
        -eq $n ] || fail "hello of $n: a rank, the sum or the library is wrong"
done

for n in 2 3 8; do
    run $limit -n $n ./ring_mpi
    expect_code 0 "ring of $n"
    grep -q 'ok$' "$work/out" || fail "ring of $n"
done

for btl in vader,self tcp,self; do
    for n in 2 4; do
        run $limit -n $n --env OMPI_MCA_btl=$btl ./alltoall_mpi
        expect_code 0 "all-to-all of $n over $btl"
        expect_out "all-to-all of $n: ok" "all-to-all of $n over $btl"
    done
done

# A name service, and two worlds that meet at a port.
run $limit -n 2 ./names_mpi
expect_code 0 "names and ports"
[ "$(grep -c 'rank [01] met rank [01]: ok' "$work/out")" -eq 2 ] || fail "names and ports: who met whom"

# Programs that trap floating point exceptions, or ask for them at their end.
for traps in '' trap; do
    run $limit -n 2 ./traps_mpi $traps
    expect_code 0 "floating point exceptions: ${traps:-flags}"
    [ "$(grep -c ': none raised$' "$work/out")" -eq 2 ] || fail "floating point exceptions: ${traps:-flags}"
done

run $limit -n 2 --bind-to numa ./hello_mpi
expect_code 0 "bound"

# Two programs in one world: MPI_APPNUM says which is whose.
cp apps_mpi other_mpi
run $limit -n 2 ./apps_mpi : -n 3 $own ./other_mpi
expect_code 0 "two programs"
sort "$work/out" >"$work/sorted"
for line in 0:0:0:2 1:0:1:2 2:1:0:3 3:1:1:3 4:1:2:3; do
    echo $line | sed 's/\(.*\):\(.*\):\(.*\):\(.*\)/rank \1 of 5, app \2, \3 of \4 in it, universe 5, sum ok/'
done | cmp -s - "$work/sorted" || fail "two programs: who is who"

# ... and in a world each.
run $limit --separate-jobs -n 2 ./apps_mpi : -n 3 $own ./other_mpi
expect_code 0 "two jobs"
sort "$work/out" >"$work/sorted"
for line in 0:2 0:3 1:2 1:3 2:3; do
    echo $line | sed 's/\(.*\):\(.*\)/rank \1 of \2, app 0, \1 of \2 in it, universe 5, sum ok/'
done | cmp -s - "$work/sorted" || fail "two jobs: who is who"

run $limit -n 3 ./abort_mpi 9
expect_code 9 "MPI_Abort"
expect_err 'rank 2 (pid [0-9]*) on .* called abort with status 9; ending' "MPI_Abort"
run $limit -n 2 ./abort_mpi 300
expect_code 44 "MPI_Abort(300)"
expect_err 'called abort with status 300 (the shell sees 44); ending' "MPI_Abort(300)"

run $limit -n 3 ./segv_mpi
expect_code 139 "a segfault"
expect_err 'rank 2 (pid [0-9]*) on .* signal 11' "a segfault"

# A wrapper hides how its program ended; that it left without finalize shows.
run --timeout 120 -n 2 sh -c 'LD_PRELOAD=$RANK_PRELOAD ./segv_mpi; exit 0'
expect_code 1 "a segfault inside a wrapper"
expect_err 'without PMIx_Finalize' "a segfault inside a wrapper"

# Inside of other launchers' jobs the ranks are still ours.
SLURM_JOBID=1 SLURM_JOB_ID=1 SLURM_NODELIST=$(uname -n) SLURM_STEP_ID=0 OMPI_COMM_WORLD_RANK=3 \
    OMPI_MCA_ess=^singleton OMPI_MCA_orte_launch=1 PMIX_RANK=3 run $limit -n 2 ./hello_mpi
[ "$(grep -c 'of 2, sum 3 ok' "$work/out")" -eq 2 ] || fail "inside of another job"

run $limit -n 2 ./abort_mpi 0
expect_code 1 "an abort with status 0 is a failure"

. "$here/files.sh"
start_waiting 2 -n 2 ./wait_mpi
kill -9 "$(head -1 "$work/pids")"
wait $job
code=$?
expect_code 137 "a rank is killed"
files_are_gone || fail "a rank is killed: its files in /dev/shm stay"
expect_clean "a rank is killed"

start_waiting 4 --separate-jobs -n 2 ./wait_mpi : -n 2 $own ./wait_mpi
kill -9 $job
wait $job 2>/dev/null
await "the launcher is killed: the ranks end" all_gone "$work/pids"
await "the launcher is killed: the directory goes" nothing_left
await "the launcher is killed: the files go" files_are_gone

finish
