#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# layout_test.sh - a server of another version, whose shared memory has layout 3: both layouts and
# the command to use are named, by each verb and by a rank; damage is one line, and not of the source.
. "$(dirname "$0")/lib.sh"

# The same build with another number in its magic.
mkdir -p "$work/other/bin" "$work/other/lib"
patched() { # FROM TO
    LC_ALL=C sed 's/\x02\x00\x00\x47\x45\x53\x58\x53/\x03\x00\x00\x47\x45\x53\x58\x53/g' "$1" >"$2" &&
        ! cmp -s "$1" "$2"
}
if ! patched "$SHMIX" "$work/other/bin/shmix" || ! patched "$LIBRARY" "$work/other/lib/libpmix.so.2"; then
    echo "skipped: this compiler does not keep the magic in one piece"
    exit 77
fi
other=$work/other/bin/shmix
chmod +x "$other"

go=$work/go
"$other" run -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "the rank has said who it is" lines_are "$work/job" 1 || finish
job=$("$other" ls jobs --json "$server" | sed -n 's/^{"nspace":"\([^"]*\)".*/\1/p')

expect_names_both() { # ARGS...
    "$SHMIX" "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "shmix $*"
    expect_err "the server $server has layout 3 of the shared memory, and this command (shmix [0-9.]*) reads layout 2: it is of another version; use $other\$" "shmix $*"
    [ "$(grep -c "server $server" "$work/err")" = 1 ] || fail "shmix $*: one line"
}
for thing in servers jobs procs clients collectives groups sets; do
    expect_names_both ls $thing "$server"
done
expect_names_both get PMIX_JOB_SIZE "$server"
expect_names_both events "$server" --timeout 0
expect_names_both query PMIX_QUERY_NAMESPACES --pid "$server"
expect_names_both query PMIX_QUERY_NAMESPACES
expect_names_both ctl term --nspace "$job" --pid "$server"
"$SHMIX" mem "$server" >"$work/out" 2>"$work/err"
grep -q 'of another layout; use the shmix of its version$' "$work/out" || fail "shmix mem"

# Its own command reads it, and a rank with the library of this version does not.
"$other" ls jobs "$server" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "the other command"
"$other" run env LD_LIBRARY_PATH="$(dirname "$LIBRARY")" "$RANK" fence >"$work/out" 2>"$work/err"
expect_err 'error: shared memory of layout 3, and this library reads layout 2: the server has another version of shmix; give both the same libpmix.so.2$' "a rank of this version"
touch "$go"
wait "$server"

# What another program names as we do is one line, however many segments it has.
rm -f "$go"
"$RANK" foreign "$go" >"$work/job" 2>&1 &
server=$!
await "another program has its segments" lines_are "$work/job" 1
for verb in "ls jobs" "ls servers" "ls collectives" "ls groups" "get PMIX_JOB_SIZE"; do
    # shellcheck disable=SC2086 # words
    "$SHMIX" $verb >"$work/out" 2>"$work/err"
    [ "$(grep -c "^shmix [a-z]*: .*process.* named as shmix's and is not: left out\$" "$work/err")" = 1 ] ||
        fail "shmix $verb: one line of another program's memory"
    grep -q '\.c:\|status -\|error:' "$work/err" && fail "shmix $verb: lines of the source"
done
finish
