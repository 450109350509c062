# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# mpich_test.sh - MPICH and mpi4py 4 as pip gives them, unmodified, under `shmix run`: they speak PMI-1.
. "$(dirname "$0")/wheels.sh"

wheels_make mpich
wheels_compile hello "$(dirname "$0")/../progs/hello_mpi.c"
wheels_compile spawn "$(dirname "$0")/../progs/spawn_mpi.c"

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

# Three MPIs beside each other: each takes the protocol that is its own, of the two that all are offered.
if mpicc --showme:version 2>/dev/null | grep -q 'Open MPI 4\.' && [ -x "$VENV5/bin/mpicc" ] &&
    mpicc -O1 -o "$work/hello4" "$(dirname "$0")/../progs/hello_mpi.c" &&
    OPAL_PREFIX=$VENV5 "$VENV5/bin/mpicc" -O1 -o "$work/hello5" "$(dirname "$0")/../progs/hello_mpi.c"; then
    run $limit --separate-jobs -n 2 "$work/hello4" : -n 3 --env OPAL_PREFIX="$VENV5" "$work/hello5" : -n 4 "$work/hello"
    expect_code 0 "three MPIs"
    for want in 'of 2, sum 3 ok, libpmix /' 'of 3, sum 6 ok, libpmix /' 'of 4, sum 10 ok, libpmix none'; do
        [ "$(grep -c "$want" "$work/out")" -eq "$(echo "$want" | cut -c4)" ] || fail "three MPIs: $want"
    done
else
    echo "SKIP three MPIs: no Open MPI 4 in PATH, or no Open MPI 5 in $VENV5"
fi

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

# Jobs that programs start.  What cannot be is an error in all ranks that have asked for it.
# spawns COUNT SCENARIO...
spawns() {
    run $limit -n "$1" "$work/spawn" "$2" "$3"
    expect_code 0 "spawn: $*"
    grep -qx "$2: ok" "$work/out" || fail "spawn: $*"
}
spawns 3 world 4
spawns 2 self 2
spawns 2 many
spawns 1 nested 3
spawns 1 wdir /tmp
spawns 1 info host=localhost
spawns 2 error host=elsewhere
expect_err "node 'elsewhere'" "spawn: another node"
spawns 2 missing
expect_err "cannot spawn '/nowhere/program' for rank 0 of shmix-[^:]*: there is no program" "spawn: missing"

mpi4py_tests "of one job" 4 "$plain"
mpi4py_tests "of spawned jobs" 1 '^test_(spawn|dynproc)'

finish
