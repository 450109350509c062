#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# inject_test.sh - `shmix events inject`: what ranks and watchers hear of it, and what it refuses
# (EV40: the source is who the kernel says it is).
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 2 "$(dirname "$RANK")/system-run-events" "$go" >"$work/job" 2>&1 &
job=$!
trap 'touch "$go"; kill -CONT "$job" 2>/dev/null; kill "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "the job has told its events" lines_are "$work/job" 2 || { cat "$work/job"; finish; }

inject() {
    "$SHMIX" events inject "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_event() { # NUMBER WHAT
    grep -q "^published as event $1 of job shmix-[^ ]*\$" "$work/out" || fail "$2: not event $1"
}
heard() {
    [ "$(grep -c "$1" "$work/job")" -eq "$2" ]
}

# To the whole job, with what it is about.
inject -3109 "$job" --info a.text=hi --info b.number:int=-5 --affected 1
expect_code 0 "an event for the job"
expect_event 4 "the number that the event got"
await "both ranks hear it" heard '^heard -3109 from shmix-tool-[0-9]*\.0 hi about 1$' 2
"$SHMIX" events "$job" --since 4 --count 1 --json >"$work/out" 2>"$work/err"
grep -q '^{"number":4,"received":"[^"]*","code":-3109,"range":"custom","source":{"nspace":"shmix-tool-[0-9]*","rank":0},"targets":\[{"nspace":"shmix-[^"]*","rank":"\*"}\],"affected":\[{"nspace":"shmix-[^"]*","rank":1}\],"info":\[{"key":"a.text","value":"hi"},{"key":"b.number","value":-5},' \
    "$work/out" || fail "as JSON"

# A tool is no other job.
PMIX_SERVER_PIDINFO=$job "$PULLER" -s "$("$SHMIX" ls jobs --json "$job" | sed 's/^{"nspace":"\([^"]*\)".*/\1/')" -r 0 -g "$work/pulls" >"$work/told" 2>&1 &
tool=$!
await "a tool is there" [ -e "$work/pulls" ]
inject -3109 --to 1 "$job" --info a.text=besides
expect_code 0 "an event, while a tool is there"
kill "$tool"

# To one rank: the other one does not hear it; a later one tells that it would have by now.
inject -3109 --rank 1 "$job" --info a.text=one
expect_code 0 "an event for one rank"
expect_event 6 "its number"
inject -3109 --range local "$job" --info a.text=all
expect_code 0 "an event for the node"
expect_event 7 "its number in this job"
await "both ranks hear the last" heard ' all$' 2
heard ' one$' 1 || fail "an event for one rank: $(cat "$work/job")"
inject PMIX_ERR_TIMEOUT "$job" --non-default
"$SHMIX" events "$job" --since 8 --count 1 --json >"$work/out" 2>"$work/err"
grep -q '"name":"PMIX_ERR_TIMEOUT","range":"custom","non_default":true' "$work/out" ||
    fail "a name, and not for default handlers"

# UTF-8 passes through JSON unharmed, in one piece with what it says.
inject -3109 "$job" --info 'a.text=Grüße, €, 😀'
expect_event 9 "an event in UTF-8"
"$SHMIX" events "$job" --since 9 --count 1 --json >"$work/out" 2>"$work/err"
grep -qF '"value":"Grüße, €, 😀"' "$work/out" || fail "UTF-8 in JSON"

# What the job refuses is named, and nothing is published.
inject -1 "$job" --to 0,2
expect_code 1 "a rank that there is not"
expect_err "no such rank" "a rank that there is not"
inject -1 "$job" --affected 2
expect_code 1 "about a rank that there is not"
expect_err "no such rank" "about a rank that there is not"
inject -1 "$job" --info "a.text=$(head -c 9000 /dev/zero | tr '\0' a)"
expect_code 1 "too large"
expect_err "shorter --info values" "too large"
inject -1 "$job" --info PMIX_EVENT_CUSTOM_RANGE=all
expect_code 1 "a directive of the wrong type"
expect_err "the type of that attribute" "a directive of the wrong type"
"$SHMIX" events "$job" --since 10 --timeout 0 >"$work/out"
lines_are "$work/out" 0 || fail "something was published all the same"

# The segments of the job, found by its name.
nspace=$("$SHMIX" mem --json "$job" | sed -n 's/^{"kind":"ring",.*"name":"\(shmix-[0-9][^"]*\)".*/\1/p')
"$SHMIX" mem "$nspace" >"$work/out" 2>"$work/err"
for kind in board ops store ring; do
    grep -q "^$kind  *shmix-.* $job " "$work/out" || fail "shmix mem $nspace: no $kind"
done
lines_are "$work/out" 5 || fail "shmix mem $nspace: others as well"

# A server that closes without an answer, as one that does not know the message does.
asks() { # it has its socket and sleeps: it waits for the answer
    ls -l "/proc/$1/fd" | grep -q socket: && grep -q '^State:[[:space:]]*S' "/proc/$1/status"
}
kill -STOP "$job"
await "the server stops" is_stopped "$job"
"$SHMIX" events inject -1 "$job" 2>"$work/err" &
tool=$!
await "the tool waits for the answer" asks "$tool"
kill -KILL "$job"
wait "$tool"
code=$?
expect_code 1 "a server that closes"
expect_err "has not answered but closed" "a server that closes"
await "all is removed" nothing_left
finish
