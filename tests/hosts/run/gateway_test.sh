# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# gateway_test.sh - Debian's mpirun over our library, whose ranks have Debian's own: `shmix gateway`
# starts each of them, or the server serves them as SHMIX_GATEWAY says.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${LIBPMIX:?names the library of this build}"
ours=$(dirname "$LIBPMIX")
FOREIGN=1
. "$here/foreign.sh" # LIBPMIX is theirs from here on
mpirun=$(command -v mpirun.openmpi) && mpicc=$(command -v mpicc.openmpi) || {
    echo "skipped: there is no mpirun.openmpi (Debian: libopenmpi-dev, openmpi-bin)"
    exit 77
}
for name in hello ring; do
    "$mpicc" -O1 -D_GNU_SOURCE -o "$work/$name" "$here/../progs/${name}_mpi.c" || exit 1
done
cd "$work" || exit 1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# launch [VARIABLE=VALUE...] COMMAND...: with our library
launch() {
    LD_LIBRARY_PATH=$ours timeout 120 env "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
for n in 1 4; do
    launch "$mpirun" -n $n --oversubscribe "$SHMIX" gateway -- env LD_PRELOAD="$LIBPMIX" ./hello
    expect_code 0 "hello of $n by shmix gateway"
    [ "$(grep -c "of $n, sum $((n * (n + 1) / 2)) ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" -eq $n ] ||
        fail "hello of $n by shmix gateway: a rank, the sum or the library is wrong"
    launch SHMIX_GATEWAY=1 "$mpirun" -n $n --oversubscribe env LD_PRELOAD="$LIBPMIX" ./hello
    expect_code 0 "hello of $n by the server"
    [ "$(grep -c "of $n, sum $((n * (n + 1) / 2)) ok, libpmix $(realpath "$LIBPMIX")" "$work/out")" -eq $n ] ||
        fail "hello of $n by the server: a rank, the sum or the library is wrong"
done
# Some ranks have ours, and some theirs.
launch SHMIX_GATEWAY=1 "$mpirun" --oversubscribe -n 2 env LD_PRELOAD="$LIBPMIX" ./ring : -n 2 ./ring
expect_code 0 "a mixed ring"
grep -q 'ok$' "$work/out" || fail "a mixed ring"
launch SHMIX_GATEWAY=1 "$mpirun" -n 2 --oversubscribe env LD_PRELOAD="$LIBPMIX" sh -c './hello; exit 3'
expect_code 3 "an exit code"
finish
