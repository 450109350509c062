# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# repull_test.sh - tools take their pulls back in the middle of what ranks write, and make them again;
# others leave: each pull has whole lines without a gap, and the launcher's own output has them all.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
steady=
trap 'touch "$work/stop"; [ -z "$steady" ] || kill -9 "$steady" 2>/dev/null; wait; rm -rf "$work"' EXIT

"$SHMIX" run -n 2 "$REPULLER" lines stop : \
    -n 1 sh -c 'echo $$ >pid; echo "$PMIX_NAMESPACE" >name; exec "$0" lines stop 100' "$REPULLER" >out 2>err &
job=$!
PMIX_SERVER_PIDINFO=$job
export PMIX_SERVER_PIDINFO
all_of_rank_2() {
    [ "$(grep -c '^02 ' out)" = 100 ]
}
await "rank 2 has a pid" [ -s name ]
await "rank 2 has ended" is_gone "$(cat pid)"
await "all that rank 2 has written" all_of_rank_2
nspace=$(cat name)

# tool WHAT ARGS...: it has seen nothing wrong; else that is all
tool() {
    what=$1
    shift
    "$REPULLER" "$@" >told 2>&1 && return
    fail "$what: $(cat told)"
    finish
}

# Nobody else pulls, so that the launcher is told of each pull, and of its end.
tool "alone" rounds "$nspace" 20
tool "a rank that has ended" ended "$nspace"

# Another tool has everything meanwhile.
"$REPULLER" steady "$nspace" seen 2>steady_told &
steady=$!
await "the steady tool has lines" [ -s seen ]
tool "one that leaves" leaver "$nspace" finalize
"$REPULLER" leaver "$nspace" kill >told 2>&1
[ $? = 137 ] || fail "one that is killed: $(cat told)"
tool "beside another tool" rounds "$nspace" 20
tool "beside another tool: a rank that has ended" ended "$nspace"
! is_gone $steady || fail "the steady tool has gone"
touch stop
wait $steady || fail "the steady tool: $(cat steady_told)"
steady=
wait $job
code=$?
expect_code 0 "the job"

# What each rank has written, in its order; as many lines as the steady tool has seen.
awk 'length != 63 || $2 + 0 != count[$1]++ { bad++ }
    END { if (!bad) for (rank = 0; rank < 2; rank++) print "0" rank, count["0" rank] }' out >counts
sed 1d seen | cmp -s - counts || fail "the launcher's own output: $(cat counts), and pulled: $(cat seen)"

expect_clean "at the end"
finish
