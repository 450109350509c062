# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# stuck_test.sh - a tool that has a pull and is stopped holds the ranks for a while, but not for
# ever; the launcher's own output has everything, and the tool is told what it has lost.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
tool=
trap 'touch "$work/go" "$work/on"; [ -z "$tool" ] || kill -9 "$tool" 2>/dev/null; wait; rm -rf "$work"' EXIT

# The rank is alone, and waits for the tool after it has written.
"$SHMIX" run -n 1 sh -c "echo \$PMIX_NAMESPACE >name; while [ ! -e go ]; do sleep 0.02; done
    seq 1000000; touch written; while [ ! -e on ]; do sleep 0.02; done; echo last" >out 2>err &
job=$!
await "the rank is there" [ -s name ]
PMIX_SERVER_PIDINFO=$job "$PULLER" -s "$(cat name)" -r 0 -o pulled -g pulls >told 2>&1 &
tool=$!
await "the tool pulls" [ -e pulls ]
kill -STOP $tool
await "the tool is stopped" is_stopped $tool
touch go
await "the rank has written all" [ -e written ]
is_stopped $tool || fail "somebody has let the tool go on"
expect_err "pulls output and has taken less than 40 KiB of it in 10 s" "a tool that is stopped"
kill -CONT $tool
await "the tool reads again" grep -q -x 1000000 pulled
touch on
wait $tool
wait $job
code=$?
tool=
expect_code 0 "a tool that is stopped"
(seq 1000000; echo last) | cmp -s - out || fail "a tool that is stopped: the launcher's own output"
grep -q -x last pulled || fail "a tool that is stopped: it goes on"
lost=$(sed -n 's/^lost: \([0-9]*\)$/\1/p' told)
[ "${lost:-0}" -gt 0 ] && [ $((lost + $(wc -c <pulled))) = "$(wc -c <out)" ] ||
    fail "a tool that is stopped: $(cat told)"

expect_clean "at the end"
finish
