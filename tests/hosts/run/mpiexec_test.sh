# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# mpiexec_test.sh - others call the launcher by its usual names: CMake's FindMPI through ctest, and
# Python's mpi4py.
#
# MPIEXEC_DIR names the folder of these names; it is put into PATH.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${MPIEXEC_DIR:?names the folder of mpiexec and mpirun}"
if [ -n "${RANK_PRELOAD:-}" ]; then
    echo "skipped: ctest and Python do not hand the sanitizer's runtime on to the ranks"
    exit 77
fi
for tool in mpicc cmake ctest; do
    command -v $tool >/dev/null || { echo "skipped: there is no $tool"; exit 77; }
done
PATH=$MPIEXEC_DIR:$PATH
export PATH

# A project as anybody has one: it asks for MPI, and its test runs by what CMake has found.
mkdir "$work/project"
cp "$here/../progs/hello_mpi.c" "$work/project/hello.c"
cat >"$work/project/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.22)
project(user C)
find_package(MPI REQUIRED COMPONENTS C)
add_executable(hello hello.c)
target_compile_definitions(hello PRIVATE _GNU_SOURCE)
target_link_libraries(hello MPI::MPI_C)
enable_testing()
add_test(NAME hello COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 3 ${MPIEXEC_PREFLAGS}
                            $<TARGET_FILE:hello> ${MPIEXEC_POSTFLAGS})
C
cmake -S "$work/project" -B "$work/build" >"$work/out" 2>"$work/err" &&
    cmake --build "$work/build" >>"$work/out" 2>>"$work/err" || fail "a project that finds MPI"
grep -q "^MPIEXEC_EXECUTABLE:FILEPATH=$MPIEXEC_DIR/mpiexec\$" "$work/build/CMakeCache.txt" ||
    fail "FindMPI has another mpiexec: $(grep MPIEXEC_EXECUTABLE "$work/build/CMakeCache.txt")"
(cd "$work/build" && ctest -V >"$work/out" 2>"$work/err") || fail "ctest"
[ "$(grep -c 'of 3, sum 6 ok' "$work/out")" -eq 3 ] || fail "ctest: three ranks of one world"

# Debian's python3-mpi4py.
if /usr/bin/python3 -c 'import mpi4py' 2>/dev/null; then
    mpiexec -n 2 /usr/bin/python3 -m mpi4py.bench helloworld >"$work/out" 2>"$work/err" ||
        fail "mpi4py"
    [ "$(grep -c 'process [01] of 2 on' "$work/out")" -eq 2 ] || fail "mpi4py: two ranks of one world"
else
    echo "left out: mpi4py is not installed (Debian: python3-mpi4py)"
fi

expect_clean "mpiexec"
finish
