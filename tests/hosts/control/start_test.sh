# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# start_test.sh - a host that asks for the inventory, generates its maps, prepares its application
# and forks its ranks gets through, step by step as with Debian's library.
#
# LIBPMIX names the library of this build; CC the compiler, INCLUDE the headers.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${LIBPMIX:?names the library of this build}"
"$CC" -O1 -I"$INCLUDE" -o "$work/start_host" "$here/../progs/start_host.c" "$LIBPMIX" -lpthread ||
    exit 1
cd "$work" || exit 1

# The name that the program asks for is the one that every library has.
control=no
if env -u LD_LIBRARY_PATH ldd ./start_host | grep -q 'libpmix.so.2 => /' &&
    env -u LD_LIBRARY_PATH timeout 100 ./start_host blocking >/dev/null 2>&1; then
    control=yes
else
    echo "no control: the system has no libpmix.so.2 of its own (Debian: libpmix2)"
fi
for how in callbacks blocking bare; do
    LD_LIBRARY_PATH=$(dirname "$LIBPMIX") timeout 100 ./start_host $how >"$how.out" 2>"$how.err"
    code=$?
    [ $code -eq 0 ] || fail "$how: exit code $code: $(tail -n 1 "$how.out") $(tail -n 1 "$how.err")"
    [ "$(grep -c '^rank [01]: start.job.[01], 2 of 2; .* finalize 0$' "$how.out")" -eq 2 ] ||
        fail "$how: the ranks say: $(grep '^rank' "$how.out")"
    grep -q '^event' "$how.out" && fail "$how: $(grep '^event' "$how.out")"
    if [ $control = yes ]; then
        env -u LD_LIBRARY_PATH timeout 100 ./start_host $how >"$how.control" 2>/dev/null
        diff -u "$how.control" "$how.out" || fail "$how: a step differs from the control's"
    fi
done
finish
