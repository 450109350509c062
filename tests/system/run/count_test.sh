# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# count_test.sh - what one more rank, and a line of a log, cost the launcher, in system calls.
. "$(dirname "$0")/lib.sh"

[ -z "${SANITIZED:-}" ] || { echo "skipped: sanitizers make calls of their own"; exit 77; }

# counted RANKS: $launcher and $children, the calls of a launch of so many
counted() {
    "$COUNT" "$SHMIX" run -n "$1" true >"$work/out" 2>"$work/err"
    code=$?
    if [ $code = 77 ]; then
        cat "$work/out"
        exit 77
    fi
    expect_code 0 "$1 ranks"
    read -r launcher children <"$work/out"
}

# A server and a job are made once; then all grows by the rank.  The launcher's part (about 28)
# depends on how many deaths and outputs it hears of at once, so there is room in its bound.  To look at this machine takes more calls or fewer
# from one time to the next, so a description of another one is read.
HWLOC_XMLFILE=$(dirname "$0")/../two_packages.xml
export HWLOC_XMLFILE
counted 8
few=$launcher few_children=$children
counted 40
each=$(((launcher - few) / 32)) child=$(((children - few_children) / 32))
echo "one rank: $each calls of the launcher, $child between clone and exec"
[ $each -le 48 ] || fail "the launcher makes $each calls for a rank"
[ $child -le 13 ] || fail "a rank makes $child calls before it executes its program"

# Lines of PMIx_Log: short ones share a write.
"$COUNT" "$SHMIX" run -n 1 "$SHMIX" log --stdout "$(yes a | head -n 20000)" >"$work/out" 2>"$work/err"
tail -n 1 "$work/out" >"$work/calls"
grep -c '^a$' "$work/out" >"$work/lines"
read -r launcher children <"$work/calls"
[ "$(cat "$work/lines")" = 20000 ] || fail "of 20000 lines there are $(cat "$work/lines")"
[ "$launcher" -le 10000 ] || fail "20000 lines take $launcher calls of the launcher"

finish
