# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_watch_test.sh - `shmix ls groups --watch`: what there is, and each change until the server ends.
. "$(dirname "$0")/lib.sh"

step=$work/step
"$SHMIX" run -n 3 --pset ocean "$RANK" group "$step" >"$work/job" 2>&1 &
server=$!
trap 'touch "$step.leave" "$step.end"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

has_group() {
    "$SHMIX" ls groups "$server" 2>/dev/null | grep -q ' lake: '
}

# The server asks nobody while these begin: it is stopped.
await "there is a group" has_group || finish
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
"$SHMIX" ls groups --watch --json "$server" >"$work/json" 2>&1 &
json=$!
"$SHMIX" ls groups --watch "$server" >"$work/text" 2>&1 &
text=$!
"$SHMIX" ls groups --watch "$server" >"$work/killed" 2>&1 &
killed=$!
terminal=
if command -v script >/dev/null; then
    script -qec "'$SHMIX' ls groups --watch $server" /dev/null </dev/null >"$work/terminal" 2>&1 &
    terminal=$!
fi
await "what is there is said" lines_are "$work/json" 2
await "what is there is said as text" lines_are "$work/text" 3
await "what is there is said to one that is ended" lines_are "$work/killed" 3
[ -z "$terminal" ] || await "what is there is said on a terminal" lines_are "$work/terminal" 3
kill -CONT "$server"

kill "$killed"
wait "$killed"
code=$?
expect_code 143 "one that is ended by a signal"
touch "$step.leave"
await "who leaves is said" lines_are "$work/json" 3
await "who leaves is said as text" lines_are "$work/text" 4
[ -z "$terminal" ] || await "who leaves is said on a terminal" lines_are "$work/terminal" 4
touch "$step.end"
for pid in "$json" "$text" $terminal "$server"; do
    wait "$pid"
    code=$?
    expect_code 0 "the end of the server ends all"
done

# expect_line FILE N PATTERN
expect_line() {
    sed -n "$2p" "$work/$1" | grep -q -e "$3" || fail "line $2 is not '$3': $(cat "$work/$1")"
}
expect_line json 1 '^{"change":"there","kind":"group","name":"lake",.*"generation":1,.*"size":3,"member_count":3,'
expect_line json 2 '^{"change":"there","kind":"set","name":"ocean",'
expect_line json 3 '^{"change":"left","kind":"group","name":"lake",.*"generation":2,.*"size":3,"member_count":2,.*,"left":\[{"rank":2,"proc":{"nspace":"shmix-[^"]*","rank":2}}\]}$'
expect_line json 4 '^{"change":"ended","kind":"group","name":"lake",.*"member_count":2,'
for file in text ${terminal:+terminal}; do
    expect_line "$file" 1 '^CHANGE   KIND '
    expect_line "$file" 2 '^there    group  *3 of 3  *1 .* lake: shmix-[^ ]*\.0 [^ ]*\.1 [^ ]*\.2.\{0,1\}$'
    expect_line "$file" 4 '^left     group  *2 of 3  *2 .* lake: shmix-[^ ]*\.0 [^ ]*\.1; left: [^ ]*\.2.\{0,1\}$'
    expect_line "$file" 5 '^ended    group  *2 of 3  *2 '
done
finish
