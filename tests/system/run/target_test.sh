#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# target_test.sh - two jobs of a user run, and the command has another TMPDIR: a job, a set, a group
# or a process that is named leads to its server, in each verb; and who is meant is asked if a name
# is there twice.
. "$(dirname "$0")/lib.sh"

first='' second=''
trap 'touch "$work/go.1" "$work/go.2"; kill $first $second 2>/dev/null; wait; rm -rf "$work"' EXIT

"$SHMIX" run --pset ice.$$ -n 2 "$RANK" group "$work/go.1" lake.$$ : -n 1 --pset both.$$ "$RANK" group "$work/go.1" lake.$$ >"$work/job.1" 2>&1 &
first=$!
"$SHMIX" run --pset fire.$$ -n 1 "$RANK" late "$work/go.2" : -n 1 --pset both.$$ "$RANK" late "$work/go.2" >"$work/job.2" 2>&1 &
second=$!
await "the first job is a group" sh -c '"$1" ls groups --json "$2" | grep -q "\"kind\":\"group\""' - "$SHMIX" "$first" || finish
await "the second job runs" lines_are "$work/job.2" 2 || finish
job_of() { "$SHMIX" ls jobs --json "$1" | sed -n 's/^{"nspace":"\([^"]*\)".*/\1/p'; }
one=$(job_of $first)
two=$(job_of $second)
group=lake.$$
mkdir "$work/elsewhere"
here=$TMPDIR
TMPDIR=$work/elsewhere
export TMPDIR

expect_verb() { # CODE PATTERN ARGS...: in what it prints, or says
    want=$1 pattern=$2
    shift 2
    "$SHMIX" "$@" </dev/null >"$work/out" 2>"$work/err"
    code=$?
    expect_code "$want" "shmix $*"
    [ -z "$pattern" ] || grep -q -e "$pattern" "$work/out" "$work/err" || fail "no '$pattern' in: shmix $*"
}

# query: the examples of its page, by each way to name a server.
for way in "$one" "$first" "--nspace $one" "--pid $first" "--server $one.server"; do
    # shellcheck disable=SC2086 # two words
    expect_verb 0 "^PMIX_QUERY_NAMESPACES \"$one\"\$" query PMIX_QUERY_NAMESPACES $way
done
expect_verb 0 '"value":\[{"proc":{"nspace":"'"$two"'","rank":0}' query PMIX_QUERY_PROC_TABLE "$two" --json
expect_verb 0 "{$two:0}\$" query PMIX_QUERY_PSET_MEMBERSHIP --qualifier PMIX_PSET_NAME=fire.$$
expect_verb 0 "{$one:0, $one:1}\$" query PMIX_QUERY_PSET_MEMBERSHIP --qualifier PMIX_PSET_NAME=ice.$$
expect_verb 0 '^PMIX_QUERY_PROC_TABLE$' query --list "$second"
expect_verb 1 "no server here has 'nobody'\|this server has no such\|no answer" query PMIX_QUERY_PROC_TABLE --nspace nobody

# What is not named, or is named too little.
TMPDIR=$here
expect_verb 1 "more than one job runs here: give the name of one, or the process id of its server; 'shmix ls' lists both" query PMIX_QUERY_NAMESPACES
expect_verb 1 "more than one job runs here: give the name of one" log lost
expect_verb 1 "more than one job runs here: give the name of one, or the process id of its server:" events
TMPDIR=$work/elsewhere
expect_verb 1 "no answer to PMIX_QUERY_PROC_TABLE; if it is about a job, give its name behind the key" query PMIX_QUERY_PROC_TABLE "$first"
expect_verb 1 "no answer to my.key; 'shmix query --list' names the keys" query my.key "$first"
expect_verb 1 "no answer to PMIX_JOB_SIZE; 'shmix get' prints what is stored" query PMIX_JOB_SIZE "$one"

# ctl: the examples of its page.
expect_verb 0 '' ctl pause "$two"
pid=$(sed -n 's/^late //p' "$work/job.2" | head -1)
await "it is stopped" is_stopped "$pid"
expect_verb 0 '' ctl resume --nspace "$two"
await "it goes on" runs "$pid"
expect_verb 0 '' ctl pause "$second" --rank 0,1
await "it is stopped again" is_stopped "$pid"
expect_verb 0 '' ctl resume --nspace "$two" --rank 0,1
expect_verb 0 '' ctl signal CONT "$first" --rank 0,2
expect_verb 0 '' ctl signal CONT --set fire.$$
expect_verb 0 '' ctl signal CONT --group "$group"
expect_verb 0 '' ctl signal CONT --group "$group" --rank 1
expect_verb 0 '' ctl define-set third "$two"
expect_verb 1 "process $$ is not a server with a job" ctl pause $$
expect_verb 1 "no job 'shmix-1-abcdef' runs here" kill shmix-1-abcdef --pid "$first"
expect_verb 2 'NAMESPACE, PID, --nspace, --group or --set: give one of them' ctl pause "$one" --set ice.$$
expect_verb 2 'no target: give the name of a job, --group or --set' ctl pause

# Inside of a job whose host takes no tools: as its rank.
"$HOST" 1 sh -c '"$0" query PMIX_QUERY_PROC_TABLE --nspace "$PMIX_NAMESPACE"' "$SHMIX" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "query in a rank"
grep -q '^PMIX_QUERY_PROC_TABLE .*minihost\.' "$work/out" || fail "query in a rank"

# A name that two servers have.
expect_verb 1 "2 servers have a process set 'both.$$': [0-9]*, [0-9]*; choose one, as with --pid [0-9]*\$" ctl signal CONT --set both.$$
expect_verb 0 '' ctl signal CONT --set both.$$ --pid "$first"

# log, events, inject, get, ls, mem.
expect_verb 0 '' log 'to the second' "$two"
expect_verb 0 '' log 'as well' --nspace "$two"
await "both lines are there" sh -c '[ "$(grep -c "^to the second$\|^as well$" "$1")" = 2 ]' - "$work/job.2"
grep -q 'to the second' "$work/job.1" && fail "the other job has the line"
for way in "$two" "$second" "--nspace $two" "--pid $second" "--server $two.server"; do
    # shellcheck disable=SC2086 # two words
    expect_verb 0 "^published as event [0-9]* of job $two\$" events inject -3109 $way --rank 0
    expect_verb 0 '' events $way --since oldest --timeout 0
    expect_verb 0 "^$two\\.\\* PMIX_JOB_SIZE 2\$" get PMIX_JOB_SIZE $way
    expect_verb 0 "$two" ls jobs $way
    expect_verb 0 "$two" ls $way jobs
    expect_verb 0 " $second runs " ls servers $way
    expect_verb 0 "^board .* $second " mem $way
done
expect_verb 0 "^{\"nspace\":\"$one\",\"number\":[0-9]*}\$" events inject -3109 "$one" --to 1 --json
for verb in "events --timeout 0" "events inject -1" "ls jobs" "get PMIX_JOB_SIZE" "ctl pause"; do
    # shellcheck disable=SC2086 # words
    expect_verb 1 "nobody" $verb --nspace nobody
done
expect_verb 1 "no server 'nobody' runs here" ls jobs --server nobody
expect_verb 1 "'prte.0;tcp4://127.0.0.1:1' does not name a server of shmix" ls jobs --uri 'prte.0;tcp4://127.0.0.1:1'

# Root sees the jobs of all users; and files of others are counted, not listed.
as() { # UID COMMAND...
    uid=$1
    shift
    setpriv --reuid "$uid" --clear-groups env TMPDIR="$theirs" "$@"
}
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups "$SHMIX" --version >/dev/null 2>&1; then
    theirs=$(mktemp -d /tmp/shmix-test-theirs-XXXXXX)
    chmod 1777 "$theirs"
    as 65534 "$SHMIX" run -n 1 "$RANK" late "$theirs/go" >"$work/job.3" 2>&1 &
    await "another user's job runs" lines_are "$work/job.3" 1
    third=$("$SHMIX" ls --json | sed -n 's/.*"server":\([0-9]*\),.*"command":"[^"]*'"$(basename "$theirs")"'.*/\1/p')
    three=$(job_of "$third")
    expect_verb 0 "^$(id -un 65534) .* $third runs " ls "$third"
    expect_verb 0 "^PMIX_QUERY_NAMESPACES \"$three\"\$" query PMIX_QUERY_NAMESPACES "$third"
    expect_verb 0 '"value":\[{"proc":{"nspace":"'"$three"'","rank":0}' query PMIX_QUERY_PROC_TABLE "$three" --json
    as 65533 "$SHMIX" query PMIX_QUERY_NAMESPACES "$third" >"$work/out" 2>"$work/err"
    [ -s "$work/out" ] && fail "a user who is not root sees another one's job"
    as 65533 "$SHMIX" kill "$third" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "kill of another user's job"
    expect_err "process $third is another user's: be that user, or root; it belongs to user .*(uid [0-9]*), and you are user .*(uid [0-9]*)" "kill of another user's job"
    for pid in 11028 11029 11030; do
        install -m 600 -o 65534 /dev/null "$theirs/pmix.$(hostname).tool.$pid"
    done
    as 65533 "$SHMIX" query PMIX_QUERY_NAMESPACES >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "files of others alone"
    expect_err "none and 3 of other users" "files of others alone"
    grep -q '11028' "$work/err" && fail "files of others are listed"
    touch "$theirs/go"
    wait $!
    rm -rf "$theirs"
fi

touch "$work/go.1.leave" "$work/go.1.end" "$work/go.2"
wait $second
wait $first
first='' second=''
finish
