# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# unstarted_test.sh - who ends a rank that the launcher has not started yet sees it end like any other.
. "$(dirname "$0")/lib.sh"

# A sanitizer has to be the first library.
if ldd "$SHMIX" "$(dirname "$SHMIX")/../lib/libpmix.so.2" 2>/dev/null | grep -q 'lib[atu]b\{0,1\}san'; then
    echo "skipped: the gate is a preloaded library, which a sanitizer does not let be the first"
    exit 77
fi

# The launcher waits at the gate, with rank 1, until rank 0 has asked for the end of rank 24.  It
# starts at most eight ranks a turn, so it has heard of that when the turn of rank 24 comes.
ended=TERMINATED:0
ends=$ended
while [ "$(echo "$ends" | wc -w)" -lt 23 ]; do
    ends="$ends $ended"
done
mkdir "$work/gate"
# shellcheck disable=SC2086 # words
LD_PRELOAD=$HANGS run --oversubscribe --report "$work/report" \
    -n 1 "$RANK" early "$work/gate/open" $ends KILLED_BY_CMD:143 : \
    -n 1 --wdir "$work/gate" true : -n 22 true : -n 1 sleep 600
expect_code 143 "a rank ended before its start"
expect_out "as they ended" "the table of processes"
grep -q '"rank":24,"pid":0,"state":"not started"' "$work/report" || fail "rank 24 has been started"
expect_clean "at the end"

finish
