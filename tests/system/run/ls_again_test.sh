#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_again_test.sh - `shmix ls` without a word, with whose jobs they are and what processes use, also
# before PMIx_Init; --watch of each thing until the job ends; and the verbs by other names.
. "$(dirname "$0")/lib.sh"

go=$work/go
server=
trap 'touch "$go"; [ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
"$SHMIX" run -n 1 "$RANK" late "$go" : -n 1 sh -c 'echo $$ >"$0"; until [ -e "$1" ]; do :; done' "$work/pid" "$go" >"$work/job" 2>&1 &
server=$!
await "rank 0 has said who it is" lines_are "$work/job" 1 || finish
await "rank 1 runs" [ -s "$work/pid" ]
pid=$(cat "$work/pid")

expect_shows() { # PATTERN ARGS...: a line
    pattern=$1
    shift
    "$SHMIX" "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "shmix $*"
    [ -z "$pattern" ] || grep -q -e "$pattern" "$work/out" || fail "no '$pattern' in: shmix $*"
}

# Jobs are what is listed, with their user, age and command.
user=$(id -un)
for words in ls list "ls jobs" jobs "ls $server"; do
    # shellcheck disable=SC2086 # words
    expect_shows "^$user  *0:[0-9][0-9]  *2  *$server runs  *shmix-[^ ]*: .*late.* : sh -c " $words
done
expect_shows "\"server\":$server,.*\"uid\":$(id -u),\"user\":\"$user\",\"up_ns\":[1-9][0-9]*,\"command\":\"" ls --json "$server"
job=$(sed -n 's/^{"nspace":"\([^"]*\)".*/\1/p' "$work/out")
expect_shows "^$user  *[^ ]*  *2  *$server " ls "$job"

# A rank that has not called PMIx_Init is known, and what it uses.
for words in "ls procs" ps; do
    # shellcheck disable=SC2086 # words
    expect_shows "^  *1  *$pid  *0  *1 not connected  *-  *0:[0-9][0-9]  *[0-9.]*[KM]  *$server " $words "$server"
done
expect_shows "\"rank\":1},\"hostname\":\"[^\"]*\",\"executable\":\"sh\",\"state\":\"[A-Z_]*\",\"pid\":$pid," \
    query --json PMIX_QUERY_PROC_TABLE "$job"
uses_cpu() {
    "$SHMIX" ps --json "$server" | grep -q "^{\"rank\":1,\"pid\":$pid,.*\"state\":\"not connected\",\"cpu_ns\":[1-9][0-9]*,\"rss_bytes\":[1-9][0-9]*,"
}
await "it has used the CPU" uses_cpu

# Again and again: each thing, as text and as JSON; with an end by number or by time.
for thing in jobs procs servers clients; do
    "$SHMIX" ls $thing --json "$server" >"$work/once" 2>&1
    expect_shows "$server" ls $thing --json --watch=0.01 --count 3 "$server"
    lines_are "$work/out" $((3 * $(wc -l <"$work/once"))) || fail "three times: shmix ls $thing"
    expect_shows "$server" ls $thing --watch=0.01 --count 2 "$server"
    [ "$(grep -c '^$' "$work/out")" = 1 ] || fail "one empty line: shmix ls $thing"
done
expect_shows "$server" ls procs --watch=100 --timeout 0.01 "$server"
for thing in groups sets collectives; do
    "$SHMIX" ls $thing --watch=0.01 --timeout 0.05 "$server" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "shmix ls $thing --watch --timeout"
done
if command -v script >/dev/null; then
    script -qec "'$SHMIX' ls jobs --watch=0.01 --count 2 $server" /dev/null </dev/null >"$work/out" 2>&1
    [ "$(grep -c "$(printf '\033')\\[H$(printf '\033')\\[2J" "$work/out")" = 2 ] || fail "a terminal is redrawn"
fi

# A host that does not tell the command, as Slurm: it is that of its first process.
rm -f "$work/out"
"$HOST" 1 "$RANK" late "$go" >"$work/hosted" 2>&1 &
host=$!
await "a job of another host" grep -q '^late' "$work/hosted"
expect_shows "^$user  *0:[0-9][0-9]  *1  *$host runs  *minihost\\.$host: [^ ]*$(basename "$RANK") late $go\$" ls "$host"

# What is refused, and other names.
expect_refuses() { # CODE PATTERN ARGS...
    want=$1 pattern=$2
    shift 2
    "$SHMIX" "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code "$want" "shmix $*"
    expect_err "$pattern" "shmix $*"
}
expect_refuses 2 "--watch does not take 'x'" ls --watch=x
expect_refuses 2 "--watch does not take '0'" ls --watch=0
expect_refuses 2 "--count and --timeout are for --watch" ls --count 1
expect_refuses 1 "process $$ is no server of shmix" ls jobs --watch $$

# It ends with the job, which another name of ctl ends.
"$SHMIX" ls jobs --watch=0.01 "$server" >"$work/watched" 2>&1 &
watcher=$!
await "it watches" [ -s "$work/watched" ]
expect_shows '' kill "$job"
wait "$server"
touch "$go"
wait "$host"
server=
wait $watcher
code=$?
expect_code 0 "the watcher ends with the job"
finish
