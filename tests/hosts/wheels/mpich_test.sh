# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# mpich_test.sh - MPICH and mpi4py 4 as pip gives them, unmodified, under `shmix run`: they speak PMI-1.
#
# VENV names the virtual environment, which is made where it is missing and stays.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${VENV:?names the virtual environment}"
skip() {
    echo "skipped: $*"
    exit 77
}
pip() {
    timeout -k 5 300 "$VENV/bin/python3" -m pip --disable-pip-version-check -q --timeout 15 --retries 1 "$@"
}

if ! [ -x "$VENV/bin/mpicc" ] || ! "$VENV/bin/python3" -c 'import mpi4py' 2>"$work/err"; then
    rm -rf "$VENV"
    python3 -m venv "$VENV" >"$work/err" 2>&1 || skip "no virtual environment: $(tail -1 "$work/err")"
    pip install mpich 'mpi4py==4.*' >"$work/err" 2>&1 ||
        skip "pip finds no mpich and mpi4py: $(tail -1 "$work/err")"
fi
"$VENV/bin/mpicc" -O1 -o "$work/hello" "$here/../progs/hello_mpi.c" >"$work/err" 2>&1 ||
    skip "the wheel's mpicc does not compile: $(tail -1 "$work/err")"

limit="--timeout 240"
for count in 1 2 8; do
    run $limit -n $count "$work/hello"
    expect_code 0 "hello of $count"
    sum=$((count * (count + 1) / 2))
    [ "$(grep -c "of $count, sum $sum ok" "$work/out")" -eq $count ] || fail "hello of $count"
done

# Two jobs beside each other are two worlds.
run $limit --separate-jobs -n 2 "$work/hello" : -n 3 "$work/hello"
expect_code 0 "two jobs"
[ "$(grep -c 'of 2, sum 3 ok' "$work/out")" -eq 2 ] || fail "two jobs: the first"
[ "$(grep -c 'of 3, sum 6 ok' "$work/out")" -eq 3 ] || fail "two jobs: the second"

cat >"$work/many.py" <<'PYTHON'
from mpi4py import MPI
world = MPI.COMM_WORLD
rank, size = world.rank, world.size
assert MPI.Get_library_version().startswith("MPICH")
assert world.Get_attr(MPI.UNIVERSE_SIZE) == 4
assert world.Get_attr(MPI.APPNUM) == rank // 2
for turn in range(100):  # ping-pong
    if rank < 2:
        other = 1 - rank
        if rank == 0:
            world.send(turn, dest=other)
        assert world.recv(source=other) == turn
        if rank == 1:
            world.send(turn, dest=other)
assert world.allreduce(rank + 1) == size * (size + 1) // 2
assert world.alltoall([(rank, to) for to in range(size)]) == [(of, rank) for of in range(size)]
node = world.Split_type(MPI.COMM_TYPE_SHARED)
assert node.size == size
window = MPI.Win.Allocate_shared(8 if node.rank == 0 else 0, comm=node)
window.Free()
port = world.bcast(MPI.Open_port() if rank == 0 else None)
if rank == 0:
    MPI.Publish_name("service", port)
world.barrier()
assert MPI.Lookup_name("service") == port
world.barrier()
if rank == 0:
    MPI.Unpublish_name("service", port)
print("rank", rank, "ok")
PYTHON
run $limit -n 2 "$VENV/bin/python3" "$work/many.py" : -n 2 "$VENV/bin/python3" "$work/many.py"
expect_code 0 "collectives and names of 4"
[ "$(grep -c ' ok$' "$work/out")" -eq 4 ] || fail "collectives and names of 4"

run $limit -n 3 "$VENV/bin/python3" -c 'from mpi4py import MPI
MPI.COMM_WORLD.rank == 1 and MPI.COMM_WORLD.Abort(7)
MPI.COMM_WORLD.barrier()'
expect_code 7 "an abort"
expect_err 'rank 1 .* called abort with status 7' "an abort"

# mpi4py's own tests, of its source package: those that are quick, none of spawned jobs.
if [ ! -d "$VENV/mpi4py-tests" ]; then
    if pip download --no-deps --no-binary mpi4py 'mpi4py==4.*' -d "$work/sdist" >"$work/err" 2>&1; then
        mkdir "$VENV/mpi4py-tests" && tar -xzf "$work"/sdist/mpi4py*.tar.gz -C "$VENV/mpi4py-tests" --strip-components=1
    else
        echo "SKIP mpi4py's own tests: pip finds no source package"
    fi
fi
if [ -d "$VENV/mpi4py-tests" ]; then
    cd "$VENV/mpi4py-tests" || exit 1
    run $limit -n 4 "$VENV/bin/python3" test/main.py -f -i \
        '^test_(attributes|cart|cco_obj|comm|comm_inter|comm_topo|environ|group|info|p2p_obj|request|session|win)'
    expect_code 0 "mpi4py's tests"
    [ "$(grep -c '^OK' "$work/err")" -eq 4 ] || fail "mpi4py's tests: $(grep -h '^FAILED\|^Ran' "$work/err")"
fi

finish
