# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# publish_test.sh - how long what is published stays: as long as the publisher's application
# (PMIX_PERSIST_APP), whose last rank outlives the publisher.
. "$(dirname "$0")/lib.sh"

# Looks the key up until the answer is $1, which --timeout bounds.
cat >"$work/until" <<END
until "$NAMES" lookup key | grep -q "\$1"; do sleep 0.02; done
END
# It stays until it has been found; the other application, which finds it, is of the same job.
run --timeout 100 -n 1 "$NAMES" app key value wait seen : \
    -n 1 sh -c "'$NAMES' wait key publish seen yes; sh '$work/until' NOT.FOUND; echo gone"
expect_code 0 "an application of one rank"
grep -qx 'wait key: [A-Z_-]*SUCCESS value of rank 0' "$work/out" || fail "an application of one rank: not found"
grep -qx 'gone' "$work/out" || fail "an application of one rank: it stays"

# Rank 0 leaves, and the application lives on in rank 1.
cat >"$work/two" <<END
if [ \$OMPI_COMM_WORLD_RANK = 0 ]; then
    echo \$\$ >"$work/pid"
    exec "$NAMES" app key value wait seen
fi
until [ -e "$work/end" ]; do sleep 0.02; done
END
cat >"$work/other" <<END
"$NAMES" wait key publish seen yes
while kill -0 \$(cat "$work/pid") 2>/dev/null; do sleep 0.02; done
"$NAMES" lookup key
touch "$work/end"
sh "$work/until" NOT.FOUND
echo gone
END
run --timeout 100 -n 2 sh "$work/two" : -n 1 sh "$work/other"
expect_code 0 "an application of two ranks"
grep -qx 'lookup key: [A-Z_-]*SUCCESS value of rank 0' "$work/out" ||
    fail "an application of two ranks: it has gone with the publisher"
grep -qx 'gone' "$work/out" || fail "an application of two ranks: it stays"

finish
