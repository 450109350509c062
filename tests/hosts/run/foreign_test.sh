# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# foreign_test.sh - ranks with the system's own libpmix under `shmix run`: what they ask is answered, in
# each form of their messages, among themselves and beside ranks of this library.
#
# LIBPMIX names the library of this build; CC the compiler, INCLUDE the headers.
here=$(dirname "$0")
. "$here/../../system/run/lib.sh"

: "${LIBPMIX:?names the library of this build}"
"$CC" -O1 -w -I"$INCLUDE" -o "$work/foreign_pmix" "$here/../progs/foreign_pmix.c" "$LIBPMIX" || exit 1
theirs=$(env -u LD_LIBRARY_PATH ldd "$work/foreign_pmix" | sed -n 's|.*libpmix.so.2 => \(/[^ ]*\).*|\1|p')
if [ -z "$theirs" ]; then
    echo "skipped: the system has no libpmix.so.2 of its own (Debian: libpmix2)"
    exit 77
fi
cd "$work" || exit 1
foreign="--env LD_LIBRARY_PATH= --env LD_PRELOAD=$theirs"
ours="--env LD_PRELOAD=$RANK_PRELOAD:$LIBPMIX"

# expect_ok SCENARIO WHAT
expect_ok() {
    expect_code 0 "$1, $2"
    grep -qx "$1: ok" "$work/out" || fail "$1, $2: no '$1: ok'"
    expect_clean "$1, $2"
}

for scenario in data events calls again; do
    run --quiet --timeout 60 $ours -n 3 ./foreign_pmix $scenario
    expect_ok $scenario "with this library"
    run --quiet --timeout 60 $foreign -n 3 ./foreign_pmix $scenario
    expect_ok $scenario "with $theirs"
    run --quiet --timeout 60 -n 1 $ours ./foreign_pmix $scenario : -n 1 $foreign ./foreign_pmix $scenario
    expect_ok $scenario "both"
    run --quiet --timeout 60 -n 1 $foreign ./foreign_pmix $scenario : -n 1 $ours ./foreign_pmix $scenario
    expect_ok $scenario "both, the other way round"
    # With this variable alone the same library writes as releases 3.x do.
    run --quiet --timeout 60 $foreign -n 2 \
        env -u PMIX_SERVER_URI4 -u PMIX_SERVER_URI41 ./foreign_pmix $scenario
    expect_ok $scenario "v3"
    run --quiet --timeout 60 $foreign -n 2 \
        env PMIX_BFROP_BUFFER_TYPE=PMIX_BFROP_BUFFER_FULLY_DESC ./foreign_pmix $scenario
    expect_ok $scenario "described"
done
finish
