#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# events_test.sh - `shmix events` beside a running job: what it prints, filters and follows.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 "$(dirname "$RANK")/system-run-events" "$go" "$go.end" >"$work/job" 2>&1 &
job=$!
trap 'touch "$go" "$go.end"; kill "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "the job has told its events" lines_are "$work/job" 2 || { cat "$work/job"; finish; }

events() {
    "$SHMIX" events "$job" "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# When this command has read an event: in both formats.
at='[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]\.[0-9]\{6\}Z'

events --since oldest --count 3
expect_code 0 "three events"
lines_are "$work/out" 3 || fail "three lines"
grep -q "^1 $at -3100 namespace from shmix-[^ ]*\\.0\$" "$work/out" || fail "the first event"
grep -q "^2 $at -3101 local from .*\\.0 a\\.text=.*a\\.number=42\$" "$work/out" || fail "the infos"

events --since oldest --count 1 --code -3101 --json
expect_code 0 "one code"
grep -q '^{"number":2,"received":"'"$at"'","code":-3101,"range":"local","source":{"nspace":"shmix-[^"]*","rank":0},"info":\[{"key":"a.text","value":"say \\"hi\\"\\u000a"},{"key":"a.number","value":42}\]}$' \
    "$work/out" || fail "one event as JSON"
if command -v python3 >/dev/null; then
    python3 -c 'import json,sys; [json.loads(line) for line in sys.stdin]' <"$work/out" ||
        fail "JSON that is none"
fi

events --since 3 --count 1
grep -q "^3 $at -3102 " "$work/out" || fail "from a number on"
events --since oldest --range local --timeout 0
lines_are "$work/out" 1 || fail "one range"
events --since oldest --source 1 --timeout 0
expect_code 0 "nothing to see, and no count asked for"
lines_are "$work/out" 0 || fail "another source"
events --count 1 --timeout 0.01
expect_code 1 "a count that does not come"

# An event comes as it is told, also one for a single rank, which wakes nobody else; the job goes on
# meanwhile.
"$SHMIX" events "$job" --since oldest >"$work/followed" 2>&1 &
tail=$!
"$SHMIX" events "$job" --since oldest --code -3103 --count 1 >"$work/one" 2>&1 &
one=$!
await "what is there is printed" lines_are "$work/followed" 3
touch "$go"
await "the event for rank 0 is printed" lines_are "$work/followed" 4
wait "$one" || fail "one code: $(cat "$work/one")"
touch "$go.end"
wait "$job" || fail "the job"
wait "$tail" || fail "the end of the job ends it"
grep -q '^4 [^ ]* -3103 custom from .*\.1 for .*\.0 ' "$work/followed" || fail "the event for rank 0"
grep -q '^5 [^ ]* -3104 namespace from .*\.1$' "$work/followed" || fail "the last event: $(cat "$work/followed")"
finish
