# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# field_test.sh - the command by the names that users of PMIx know: pquery, pattrs, pps, pctrl, pevent and
# pmix_info, with the options that these have; in a pty, and what a program reads.
. "$(dirname "$0")/lib.sh"

names=$(dirname "$SHMIX")
go=$work/go
server=
trap 'touch "$go"; [ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

expect() { # CODE PATTERN NAME ARGS...: in what it prints, or says
    want=$1 pattern=$2 name=$3
    shift 3
    "$names/$name" "$@" >"$work/out" 2>"$work/err"
    code=$?
    expect_code "$want" "$name $*"
    [ -z "$pattern" ] || grep -q -e "$pattern" "$work/out" "$work/err" || fail "no '$pattern' in: $name $*"
}
is_state() { # STATE RANK
    "$names/pps" --parsable --pid "$server" | grep "^{\"rank\":$2," | grep -q "\"state\":\"$1\""
}

# Without a server.
expect 1 "the system server: " pquery PMIX_QUERY_NAMESPACES
expect 0 '^PMIX_QUERY_STABLE_ABI_VERSION "' pquery PMIX_QUERY_STABLE_ABI_VERSION
expect 1 "no server here has 'nobody'" pctrl --pause --targets 'nobody:*'

"$SHMIX" run -n 2 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "both ranks have said who they are" lines_are "$work/job" 2 || finish
job=$("$SHMIX" ls procs --json "$server" | sed -n 's/^{"rank":0,.*"nspace":"\([^"]*\)"}$/\1/p')

# pquery: several keys, each with its qualifiers; ways to the server.
expect 0 "^PMIX_QUERY_NAMESPACES \"$job\"\$" pquery --pid "$server" pmix.qry.ns
expect 0 "^PMIX_QUERY_PROC_TABLE PMIX_PROC_INFO\\[2\\]" pquery "PMIX_QUERY_NAMESPACES,PMIX_QUERY_PROC_TABLE[PMIX_NSPACE=$job]"
lines_are "$work/out" 2 || fail "two keys: $(cat "$work/out")"
expect 0 'PMIX_PROC_INFO\[2\]' pquery --namespace "$job.server" "PMIX_QUERY_PROC_TABLE[PMIX_NSPACE=$job;PMIX_QUERY_REFRESH_CACHE]"
expect 1 'no answer to my.key' pquery --system-server-first my.key,PMIX_QUERY_NAMESPACES
expect 1 "is not there" pquery --system-server PMIX_QUERY_NAMESPACES
expect 1 "in '$work': none" pquery --tmpdir "$work" PMIX_QUERY_NAMESPACES
expect 2 'KEYS is missing' pquery --verbose
expect 2 "unknown option '--pmixmca'" pquery --pmixmca a b

# pattrs
expect 0 'PMIx_Get,' pattrs --client-fns
expect 0 '"PMIX_COLLECT_DATA"' pattrs --client PMIx_Fence --host all
expect 2 'nothing is asked for' pattrs --pid "$server"

# pps
expect 0 "$job\$" pps
expect 0 '^{"rank":0,' pps --parseable --nodes --pid "$server"

# pctrl: it is the state of the processes that tells.
expect 0 '' pctrl --pause --targets "$job:0"
await "rank 0 is stopped" is_state stopped 0
is_state stopped 1 && fail "rank 1 is stopped"
expect 0 '' pctrl --pause --targets "$job:0,$job:1" --pid "$server"
await "rank 1 is stopped" is_state stopped 1
expect 0 '' pctrl --resume --targets "$job:*"
await "rank 1 goes on" is_state runs 1
expect 2 'one thing is done at a time' pctrl --pause --kill --targets "$job:*"
expect 2 'one thing is done at a time' pctrl --targets "$job:*"
expect 2 "got '$job:0,other:1'" pctrl --kill --targets "$job:0,other:1"
expect 2 "got '$job'" pctrl --kill --targets "$job"
expect 1 '' pctrl --signal SIGUSR1 --targets "$job:7"
expect 2 'a signal' pctrl --signal SIGNONE --targets "$job:0"

# pevent
expect 0 '' pevent --range PMIX_RANGE_LOCAL --pid "$server" -3100
expect 2 '--range' pevent --range PMIX_RANGE_NOWHERE -3100
expect 2 'EVENT is missing' pevent

# pmix_info
expect 0 'shmix 1\.' pmix_info
expect 0 "^libdir:.*/lib\$" pmix_info --path libdir --parsable
expect 0 'no MCA parameters' pmix_info --param all
expect 2 "not 'nothing'" pmix_info --path nothing

# A terminal.
if command -v script >/dev/null; then
    script -qec "'$names/pps' --pid $server" /dev/null </dev/null >"$work/out" 2>&1
    grep -q "RANK .*JOB" "$work/out" || fail "pps on a terminal"
    script -qec "'$names/pquery' --pid $server PMIX_QUERY_NAMESPACES" /dev/null </dev/null >"$work/out" 2>&1
    grep -q "\"$job\"" "$work/out" || fail "pquery on a terminal"
else
    echo "skipped: a terminal needs script (bsdutils)"
fi
for name in pquery pattrs pps pctrl pevent pmix_info; do
    expect 0 "^usage: $name " $name --help
    expect 0 'shmix' $name --version
    expect 2 "$name: unknown option '--nonsense'" $name --nonsense
done
finish
