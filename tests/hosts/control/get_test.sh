# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# get_test.sh - Gets that miss end here as they do with Debian's library under its mpirun.
#
# LIBPMIX names the library of this build; CC the compiler, INCLUDE the headers.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${LIBPMIX:?names the library of this build}"
mpirun=$(command -v mpirun.openmpi)
if [ -z "$mpirun" ]; then
    echo "skipped: there is no mpirun.openmpi (Debian: openmpi-bin)"
    exit 77
fi
"$CC" -O1 -I"$INCLUDE" -o "$work/get_pmix" "$here/../progs/get_pmix.c" "$LIBPMIX" || exit 1
cd "$work" || exit 1

# The name that the program asks for is the one that every library has.
if ! env -u LD_LIBRARY_PATH ldd ./get_pmix | grep -q 'libpmix.so.2 => /'; then
    echo "skipped: the system has no libpmix.so.2 of its own (Debian: libpmix2)"
    exit 77
fi
env -u LD_LIBRARY_PATH OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    timeout 100 "$mpirun" --oversubscribe -n 3 ./get_pmix >control 2>control.err </dev/null
code=$?
if [ $code -ne 0 ] || ! [ -s control ]; then
    echo "skipped: $mpirun gives $code here: $(tail -n 1 control.err)"
    exit 77
fi
run --timeout 100 --env LD_LIBRARY_PATH="$(dirname "$LIBPMIX")" -n 3 ./get_pmix
expect_code 0 "with this library"
# PRRTE, which is mpirun of Open MPI 5, has no answer for who is on a node or in an application.
case $("$mpirun" --version) in
*') 4.'*) cp "$work/out" ours ;;
*)
    sed -i '/^\(processes\|nodes\) of our \(node\|app\): -46$/d' control
    grep -v '^\(processes\|nodes\) of our \(node\|app\): 0$' "$work/out" >ours
    ;;
esac
diff -u control ours || fail "what Gets end with differs from the control"

# The same with Debian's library in the ranks, by the gateway.
theirs=$(env -u LD_LIBRARY_PATH ldd ./get_pmix | sed -n 's|.*libpmix.so.2 => \(/[^ ]*\).*|\1|p')
mv "$work/out" native
run --quiet --timeout 100 --env LD_PRELOAD="$theirs" -n 3 ./get_pmix
expect_code 0 "with the library of the control"
diff -u native "$work/out" || fail "what Gets end with differs with the library of the control"
finish
