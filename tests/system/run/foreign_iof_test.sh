# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# foreign_iof_test.sh - ranks with OpenPMIx pull output, push input, and ask for a fabric: what they
# get is what ranks of ours get, and one that does not take its output costs others nothing.
. "$(dirname "$0")/lib.sh"

theirs_find || exit 77
own="--env LD_PRELOAD=$theirs"
limit="--timeout 120 --oversubscribe --quiet"
cd "$work" || exit 1
job=
trap 'touch "$work/go"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

# well WHAT: the puller has got all of it, in order.
well() {
    expect_code 0 "$1"
    grep -qx '0: ok' out || fail "$1: $(tail -n 3 out)"
    expect_clean "$1"
}

# ---- pulls -------------------------------------------------------------------------------------
run $limit $own -n 2 "$FOREIGN" pull 40000
well "theirs pull theirs"
run $limit $own -n 1 "$FOREIGN" pull 40000 : -n 1 "$FOREIGN" pull 40000
well "theirs pull ours"
run $limit -n 1 "$FOREIGN" pull 40000 : $own -n 1 "$FOREIGN" pull 40000
well "ours pull theirs"
run $limit $own -n 2 sh -c 'unset PMIX_SERVER_URI41 PMIX_SERVER_URI4; exec "$0" pull 40000' "$FOREIGN"
well "theirs in the form of releases 3"

# What waits for a rank is bounded: the writer is held, and others fence meanwhile.
pullers="$own -n 2 $FOREIGN pull 4000000 go : $own -n 1 $FOREIGN pull 0 go : -n 1 $FOREIGN pull 0 go"
"$SHMIX" run $limit $pullers >out 2>err &
job=$!
await "it stands in its callback" [ -e go.held ]
await "others fence" [ -e go.fenced ]
[ ! -e go.written ] || fail "a puller that does not read: the writer is not held"
touch go
wait $job
code=$?
job=
well "a puller that does not read for a while"

# One that is killed meanwhile holds nobody, and its gateway ends.
rm -f go go.*
"$SHMIX" run $limit --on-failure notify -n 1 $own sh -c 'echo $$ >pid; exec "$0" pull 4000000 go' "$FOREIGN" : \
    $own -n 1 "$FOREIGN" pull 4000000 go >out 2>err &
job=$!
await "it stands in its callback" [ -e go.held ]
kill -9 "$(cat pid)"
await "the writer has written all" [ -e go.written ]
wait $job
job=
grep -qx 3999999 out || fail "a puller that is killed: the copy"
expect_clean "a puller that is killed"

# ---- pushes ------------------------------------------------------------------------------------
seq 100000 >in
run $limit $own "$PUSHER" -n 2 -t all -o sh -c 'exec env -u LD_PRELOAD cksum' <in
expect_code 0 "the own input"
[ "$(grep -c "^$(cksum <in)$" out)" -eq 2 ] || fail "the own input: not what was pushed"
grep -Eq 'late: (PMIX_ERR_)?(NOT|IOF).(FOUND|COMPLETE)' out || fail "the own input: of a job that has ended"

# ---- fabrics -----------------------------------------------------------------------------------
for library in "$theirs" ""; do
    run $limit --env LD_PRELOAD="$library" "$FOREIGN" fabric
    expect_code 0 "no fabric"
    grep -qx 'no fabric' out || fail "a host without fabrics: '$library'"
    SHMIX_GATEWAY=1 timeout 60 "$HOST" 1 env LD_PRELOAD="$library" "$FOREIGN" fabric >out 2>err
    code=$?
    expect_code 0 "a fabric"
    [ "$(grep vendor out)" = "vendor mini
vendor mini again" ] || fail "a fabric: '$library'"
done
finish
