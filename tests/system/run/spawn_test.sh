# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# spawn_test.sh - jobs that a rank or a tool spawns: started, refused with a reason, ended, killed.
. "$(dirname "$0")/lib.sh"

# spawns WANT WHAT ARGS...: a job of one rank runs $SPAWNER ARGS; WANT: what it says of the spawn
spawns() {
    want=$1 what=$2
    shift 2
    run --timeout 120 "$SPAWNER" "$@"
    grep -qx "spawn: $want" "$work/out" || fail "$what: not $want"
}
says() {
    grep -qx -e "$1" "$work/out" || fail "$2: no line '$1'"
}

# Where the library cannot spawn there is nothing to test: tests/system/spawn_test.c says that it can.
run "$SPAWNER" -- true
if grep -qx 'spawn: PMIX_ERR_NOT_SUPPORTED' "$work/out"; then
    echo "skipped: PMIx_Spawn is not supported by this library"
    exit 77
fi

# ---- the launcher waits for no file ----

mkfifo "$work/pipe"
truncate -s 1G "$work/large"
spawns PMIX_ERR_JOB_ALLOC_FAILED "a pipe of nodes" "pmix.hostfile=$work/pipe" -- true
expect_err "its hostfile '$work/pipe': it is no regular file" "a pipe of nodes"
spawns PMIX_ERR_JOB_ALLOC_FAILED "a file of nodes that is too large" "pmix.hostfile=$work/large" -- true
expect_err "its hostfile '$work/large': File too large" "a file of nodes that is too large"
echo 'localhost slots=2 # this one' >"$work/nodes"
spawns PMIX_SUCCESS "a file of nodes" "pmix.hostfile=$work/nodes" -- true

# ---- it starts, and knows who it is ----

# They stay until their parent has read their size.
spawns PMIX_SUCCESS "two ranks" -n 2 -s pmix.notecomp -- sh -c "'$SPAWNER'; until grep -q 'its size' '$work/out'; do sleep 0.01; done"
expect_code 0 "two ranks"
says 'rank 0 of a child of rank 0' "two ranks"
says 'rank 1 of a child of rank 0' "two ranks"
says 'its size is 2' "two ranks"
says 'end of PMIX_SUCCESS code 0' "two ranks"
expect_clean "two ranks"

run "$SPAWNER"
says 'rank 0: PMIX_ERR_NOT_FOUND' "a rank that nobody has spawned"

spawns PMIX_SUCCESS "a job's events" pmix.note.jev -- true
says 'PMIX_EVENT_JOB_START\|JOB-START\|PMIX_EVENT.*START' "a job's events"

mkdir "$work/there"
spawns PMIX_SUCCESS "a folder" pmix.wdir="$work/there" pmix.notecomp -- sh -c 'pwd; echo "$OMPI_COMM_WORLD_SIZE"'
says "$work/there" "a folder"
spawns PMIX_SUCCESS "tagged" pmix.iof.tag pmix.iof.mrg pmix.notecomp -- sh -c 'echo heard >&2'
grep -q '^\[shmix-[0-9a-f-]*\.1,0\]<stderr>: heard$' "$work/out" || fail "tagged and merged: no such line"
spawns PMIX_SUCCESS "detailed" pmix.iof.tagdet pmix.tsout pmix.notecomp -- sh -c 'echo heard'
grep -q '^20[0-9T:+-]* \[shmix-[0-9a-f-]*\.1,0\]\[[^:]*:[0-9]*\]<stdout>: heard$' "$work/out" || fail "detailed: no such line"
spawns PMIX_SUCCESS "into a directory" pmix.outdir="$work/d" pmix.nocopy pmix.notecomp -- sh -c 'echo heard'
[ "$(cat "$work"/d/shmix-*.1/rank.0/stdout)" = heard ] || fail "into a directory: no such file"
grep -q heard "$work/out" && fail "into a directory: there is a copy"
spawns PMIX_SUCCESS "into a file" pmix.iof.file="$work/f%r" pmix.iof.fpt pmix.iof.fonly pmix.notecomp -- sh -c 'echo heard'
[ "$(cat "$work/f0.stdout")" = heard ] || fail "into a file: no such file"
spawns PMIX_SUCCESS "into one file" -n 2 pmix.outfile="$work/g" pmix.notecomp -- sh -c 'echo out; echo err >&2'
[ "$(sort "$work/g.1")" = "err
out" ] || fail "into one file for both streams"
(cd "$work/tmp" && spawns PMIX_SUCCESS "a relative name" pmix.wdir="$work/there" pmix.iof.dir=../rel pmix.notecomp -- pwd &&
    [ $failed -eq 0 ]) || fail "a relative name: it was not spawned"
[ "$(cat "$work"/rel/shmix-*.1/rank.0/stdout)" = "$work/there" ] ||
    fail "a relative name: it counts from the launcher's folder, as with prterun, not from the program's"
spawns PMIX_ERR_BAD_PARAM "file and directory" pmix.iof.file=a pmix.iof.dir=b -- true
expect_err "not to both" "file and directory"
spawns PMIX_ERR_JOB_SYS_OP_FAILED "a file that cannot be" pmix.iof.file=/dev/null/x pmix.notecomp -- true
expect_err "cannot go to '/dev/null/x" "a file that cannot be"
spawns PMIX_SUCCESS "XML" pmix.iof.xml pmix.iof.ts pmix.notecomp -- sh -c 'echo heard'
grep -q '^<stdout nspace="[^"]*" rank="0" time="20[^"]*">heard</stdout>$' "$work/out" || fail "XML: no such line"

# ---- directives ----

spawns PMIX_SUCCESS "the end of each rank" -n 2 pmix.noteproc pmix.notecomp -- true
says 'rank 0 ended with 0: .*' "the end of each rank"
says 'rank 1 ended with 0: .*' "the end of each rank"
spawns PMIX_SUCCESS "bad ends" -n 3 pmix.recover pmix.noteabproc pmix.notecomp -- sh -c '[ $OMPI_COMM_WORLD_RANK != 1 ] || exit 3'
says 'rank 1 ended with 3: .*' "bad ends"
[ "$(grep -c '^rank . ended' "$work/out")" -eq 1 ] || fail "bad ends: not one"
spawns PMIX_SUCCESS "the session's folder" pmix.ssncwd pmix.notecomp -- pwd
says "$TMPDIR/shmix-.*" "the session's folder"
first=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
spawns PMIX_SUCCESS "a list of CPUs" -n 2 pmix.cpulist=$first pmix.notecomp -- sed -n 's/^Cpus_allowed_list:[[:space:]]*/on /p' /proc/self/status
[ "$(grep -cx "on $first" "$work/out")" -eq 2 ] || fail "a list of CPUs: not two ranks on $first"
expect_clean "directives"

# ---- what it leaves out is its asker's ----

# At each step the folder is left for one inside of it, and each child's program is found from where its parent stands.
mkdir -p "$work/there/inner/sub" "$work/bin"
printf '#!/bin/sh\necho "$1 in $PWD with $GIVEN"\n' >"$work/there/inner/kid"
chmod +x "$work/there/inner/kid"
cp "$work/there/inner/kid" "$work/there/inner/sub/kid"
cp "$work/there/inner/kid" "$work/bin/shmix-test-kid"
given() { # given WHAT SCRIPT: a rank of the job executes SCRIPT, whose $0 is the spawner
    run --timeout 120 --wdir "$work/there" --env GIVEN=given --env "PATH=$work/bin:$PATH" sh -c "$2" "$SPAWNER"
    expect_code 0 "$1"
}
given "a folder left out" 'cd inner && "$0" pmix.notecomp -- ./kid one && "$0" pmix.notecomp -- sub/kid two'
says "one in $work/there/inner with given" "a program beside its parent"
says "two in $work/there/inner with given" "a program below its parent"
given "a PATH left out" '"$0" pmix.notecomp -- shmix-test-kid three'
says "three in $work/there with given" "a program in its parent's PATH"
given "a grandchild" 'cd inner && "$0" pmix.notecomp -- sh -c "cd sub && \"$0\" pmix.notecomp -- ./kid four"'
says "four in $work/there/inner/sub with given" "a grandchild"
expect_clean "what is left out"

# ---- a debugger ----

spawns PMIX_SUCCESS "stopped in PMIx_Init" -n 2 -r 2 pmix.dbg.init pmix.notecomp -- "$SPAWNER"
says '2 ready, 0 stopped' "stopped in PMIx_Init"
says 'rank 1 of a child of rank 0' "stopped in PMIx_Init"
says 'end of PMIX_SUCCESS code 0' "stopped in PMIx_Init"
spawns PMIX_SUCCESS "stopped before the first instruction" -n 2 -r -1 pmix.dbg.exec pmix.notecomp -- sh -c 'echo went on'
says '1 ready, 2 stopped' "stopped before the first instruction"
[ "$(grep -c '^went on$' "$work/out")" -eq 2 ] || fail "stopped before the first instruction: not two went on"
says 'end of PMIX_SUCCESS code 0' "stopped before the first instruction"
run --timeout 120 -n 1 "$SPAWNER" -n 0 pmix.debugger pmix.dbg.tgt=@ pmix.dbg.dpproc=#3 pmix.notecomp -- sh -c 'echo "of $OMPI_COMM_WORLD_SIZE"'
says 'of 3' "daemons of a debugger"
spawns PMIX_ERR_NOT_FOUND "nothing to look at" -n 0 pmix.debugger pmix.dbg.tgt=@nobody pmix.dbg.dpnd=#1 -- true
expect_err "there is no job 'nobody' to look at" "nothing to look at"
expect_clean "a debugger"

# ---- it cannot be, and that is said before anything starts ----

spawns PMIX_ERR_JOB_EXE_NOT_FOUND "no program" -- /nonexistent/prog
expect_code 0 "no program: the launcher goes on"
expect_err "cannot spawn '/nonexistent/prog' for rank 0 of shmix-[^:]*: there is no program '/nonexistent/prog'" "no program"
spawns PMIX_ERR_JOB_APP_NOT_EXECUTABLE "a folder as program" -- "$work/there"
expect_err "is a directory, not a program" "a folder as program"
spawns PMIX_ERR_JOB_WDIR_NOT_FOUND "no folder" pmix.wdir=/nonexistent/dir -- true
expect_err "/nonexistent/dir" "no folder"
printf '#!/nonexistent/shell\n' >"$work/there/script"
chmod +x "$work/there/script"
spawns PMIX_ERR_JOB_EXE_NOT_FOUND "no interpreter" -- "$work/there/script"
expect_code 0 "no interpreter: the launcher goes on"
expect_err "cannot spawn '$work/there/script' for rank 0 of .*interpreter '/nonexistent/shell': No such file" "no interpreter"
spawns PMIX_ERR_JOB_ALLOC_FAILED "another node" pmix.host=elsewhere -- true
expect_err "node 'elsewhere'" "another node"
spawns PMIX_ERR_JOB_FAILED_TO_MAP "no such policy" pmix.mapby=ring -- true
spawns PMIX_ERR_JOB_FAILED_TO_MAP "no such CPUs" pmix.cpulist=0-99999 -- true
expect_err "list of CPUs is '0-99999', and there are CPUs" "no such CPUs"
spawns PMIX_ERR_JOB_FAILED_TO_MAP "no list" pmix.cpulist=all -- true
spawns PMIX_ERR_JOB_INSUFFICIENT_RESOURCES "more ranks than CPUs" -n 10000 pmix.noover -- true
expect_err "ranks on .* CPUs, and PMIX_NO_OVERSUBSCRIBE forbids it" "more ranks than CPUs"
spawns PMIX_ERR_BAD_PARAM "no ranks" -n 0 -- true
spawns PMIX_ERR_NOT_SUPPORTED "a required directive" need:pmix.maxrest -- true
spawns PMIX_SUCCESS "one that is not required" pmix.maxrest pmix.notecomp -- true
expect_clean "refusals"

# ---- large ----

spawns PMIX_SUCCESS "a long variable" -e 100000 pmix.notecomp -- sh -c 'echo ${#LONG}'
says 100000 "a long variable"
spawns PMIX_ERR_OUT_OF_RESOURCE "a variable of 1 MiB" -e 1048576 -- true
expect_err "the variable 'LONG...' has 1048581 bytes, and the kernel takes 131071" "a variable of 1 MiB"
many=$(i=0; while [ $i -lt 60 ]; do printf -- '-e 120000 '; i=$((i + 1)); done)
spawns PMIX_ERR_OUT_OF_RESOURCE "7 MB of them" $many -- true
expect_err "its arguments and its environment have 7[0-9]* bytes, and the kernel takes" "7 MB of them"
(ulimit -n 4096 && spawns PMIX_ERR_JOB_INSUFFICIENT_RESOURCES "10,000 applications" -a 10000 -- true &&
    expect_err "about 70[0-9]* open files would be needed" "10,000 applications" && [ $failed -eq 0 ]) || fail "10,000 applications"
LARGE=$(printf '%0100000d' 0) && export LARGE
spawns 'PMIX_ERR_[A-Z_]*RESOURCES*' "150 MB of environments" -a 1500 -- true
expect_err "environments of its applications have more than 128 MiB\|open files" "150 MB of environments"
unset LARGE
expect_clean "large"

# ---- it fails, and its parent goes on: TQ40 TQ41 ----

spawns PMIX_SUCCESS "exits with 3" -n 2 pmix.notecomp -- sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 3; sleep 60'
expect_code 3 "exits with 3"
says 'end of PMIX_ERR_JOB_NON_ZERO_TERM rank 1 code 3' "exits with 3"
spawns PMIX_SUCCESS "is killed" -n 2 pmix.notecomp -- sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || kill -9 $$; sleep 60'
expect_code 137 "is killed"
says 'end of PMIX_ERR_JOB_ABORTED_BY_SIG rank 1 code 137' "is killed"
# The last of so many ranks cannot have been started when the first one fails.
spawns PMIX_SUCCESS "fails before all have started" -n 64 pmix.notecomp -- sh -c '[ $OMPI_COMM_WORLD_RANK != 0 ] || exit 3; sleep 60'
expect_code 3 "fails before all have started"
says 'end of PMIX_ERR_JOB_NON_ZERO_TERM rank 0 code 3' "fails before all have started"
spawns PMIX_SUCCESS "takes too long" -t 1 pmix.job.time pmix.notecomp -- sleep 60
expect_code 124 "takes too long"
says 'end of PMIX_ERR_TIMEOUT code 0' "takes too long"
expect_clean "failures"

# ---- it fails, and its parent does not wait for what it would have published ----

spawns PMIX_SUCCESS "it fails while its parent looks" -l "$work/looks" -t 60 pmix.notecomp -- sh -c "until [ -e '$work/looks' ]; do sleep 0.01; done; exit 3"
expect_code 3 "it fails while its parent looks"
says 'lookup: PMIX_ERR_JOB_NON_ZERO_TERM' "it fails while its parent looks"
spawns PMIX_SUCCESS "it fails before its parent looks" -l - -t 60 pmix.notecomp -- sh -c 'kill -9 $$'
says 'lookup: PMIX_ERR_JOB_ABORTED_BY_SIG' "it fails before its parent looks"
spawns PMIX_SUCCESS "it ends well" -l - pmix.notecomp -- true
says 'lookup: PMIX_ERR_TIMEOUT' "it ends well"
expect_clean "lookups"

# ---- its parent is killed ----

# parent HOW WANT SIGNALLED: the child goes on when it is separate
pids="$work/pids"
orphan() {
    : >"$pids"
    run --timeout 120 sh -c '"$0" "$@" && kill -9 $$' "$SPAWNER" "$@"
}
orphan pmix.spchildsep -- sh -c "echo \$\$ >>'$pids'; until grep -q 'killed by' '$work/err'; do sleep 0.01; done; echo went on"
expect_code 137 "a separate child"
says 'went on' "a separate child"
orphan -- sh -c "echo \$\$ >>'$pids'; sleep 60"
expect_code 137 "a child goes with its parent"
expect_err 'job 1 goes with the job' "a child goes with its parent"
await "the child's end" all_gone "$pids"
expect_clean "killed parents"

# killed DIRECTIVE...: the parent asks for its own end
killed() {
    : >"$pids"
    run --timeout 120 sh -c '"$0" -- sh -c "echo \$\$ >>$1; until grep -q \"asked for the end\" $2; do sleep 0.01; done; echo went on"
        shift 2; "$JCTRL" "$PMIX_NAMESPACE" all pmix.jctrl.kill "$@"; sleep 60' "$SPAWNER" "$pids" "$work/err" "$@"
    expect_code 137 "the parent asked for its end $*"
}
killed pmix.jctrl.sep
says 'went on' "the child is not meant"
killed
expect_err 'job 1 goes with the job' "the child is meant"
await "the child's end" all_gone "$pids"
expect_clean "parents that ask for their end"

# ---- a tool spawns ----

"$SHMIX" run sh -c "until [ -e '$work/done' ]; do sleep 0.01; done" >"$work/job.out" 2>"$work/job.err" &
launcher=$!
await "the server" sh -c "ls '$TMPDIR'/*/pmix.* >/dev/null"
for program in true /nonexistent/prog; do
    "$SPAWNER" pmix.notecomp -- $program
done >"$work/out" 2>"$work/err"
says 'spawn: PMIX_SUCCESS' "a tool"
says 'end of PMIX_SUCCESS code 0' "a tool"
says 'spawn: PMIX_ERR_JOB_EXE_NOT_FOUND' "a tool, no program"
touch "$work/done"
wait "$launcher" || fail "a tool: the launcher's exit code"

# ---- the launcher is killed ----

"$SHMIX" run sh -c '"$0" "$@"; sleep 60' "$SPAWNER" -n 2 -- sh -c "echo \$\$ >>'$pids.l'; exec sleep 60" \
    >"$work/out" 2>"$work/err" &
launcher=$!
touch "$pids.l"
await "two ranks of the child" lines_are "$pids.l" 2
kill -9 "$launcher"
await "the end of the child" all_gone "$pids.l"
await "the janitor" nothing_left
wait "$launcher" 2>/dev/null

# ---- in the middle of a spawn ----

# Its directory is made before its ranks are started, of whom there are many.
run --timeout 120 sh -c '"$0" -n 200 -- sleep 60 & until ls "$TMPDIR"/shmix-* | grep -q "\.1$"; do :; done; kill -9 $$' "$SPAWNER"
expect_code 137 "the parent is killed in the middle"
expect_clean "the parent is killed in the middle"

# A tool that spawns and spawns is not left waiting.
"$SHMIX" run sleep 60 >"$work/job.out" 2>"$work/job.err" &
launcher=$!
await "the server" sh -c "ls '$TMPDIR'/*/pmix.* >/dev/null"
"$SPAWNER" -c 1000000 -- true >"$work/out" 2>"$work/err" &
tool=$!
await "its first job" sh -c "ls '$TMPDIR'/shmix-* | grep -q '^shmix-.*\.[0-9]'"
kill -9 "$launcher"
wait "$tool"
says 'spawn: PMIX_ERR_.*' "the server is killed in the middle"
await "the janitor" nothing_left
wait "$launcher" 2>/dev/null

# ---- what spawns ask for counts as long as their jobs live ----

# 15.6 MB each: two fit into what the tools may have of 48 MiB, and a third when one of them is over.
word=$(printf '%0120000d' 0)
"$SHMIX" run sh -c 'touch "$1/serves"; while [ ! -e "$1/over" ]; do sleep 0.02; done' - "$work" >"$work/job.out" 2>"$work/job.err" &
launcher=$!
await "the server" [ -e "$work/serves" ]
# large NAME: a spawn of 13 ranks, until the file NAME is there
large() {
    PMIX_SERVER_PIDINFO=$launcher "$SPAWNER" -a 13 pmix.nohup -- sh -c 'while [ ! -e "$0" ]; do sleep 0.2; done' "$work/$1" \
        "$word" "$word" "$word" "$word" "$word" "$word" "$word" "$word" "$word" "$word" >"$work/out" 2>"$work/err"
}
for name in one two three; do
    large $name
    [ $name = three ] || says 'spawn: PMIX_SUCCESS' "large spawns: $name"
done
says 'spawn: PMIX_ERR_OUT_OF_RESOURCE' "large spawns: the third, while two run"
grep -q 'have their share of the 48 MiB' "$work/job.err" || fail "large spawns: no line"
touch "$work/one"
again() {
    large three
    grep -qx 'spawn: PMIX_SUCCESS' "$work/out"
}
await "a third, when the first is over" again
touch "$work/two" "$work/three" "$work/over"
wait "$launcher"
expect_clean "large spawns"

# ---- many, one after the other ----

# What is past is forgotten: 600 jobs more take no more memory, of which each would take 10 kB.
run --timeout 120 "$SPAWNER" -c 800 -- true
expect_code 0 "800 jobs"
says 'spawn: PMIX_SUCCESS' "800 jobs"
more=$(sed -n 's/^more: \(-*[0-9]*\) kB, \(-*[0-9]*\) mappings, \(-*[0-9]*\) descriptors$/\1 \2 \3/p' "$work/out")
set -- $more
[ "$1" -lt 1024 ] && [ "$2" -lt 30 ] && [ "$3" -lt 30 ] || fail "800 jobs: they leave kB, mappings, descriptors: $more"
expect_clean "800 jobs"

# The directory of a job goes with it.
run --timeout 120 sh -c '"$0" -c 30 pmix.notecomp -- true; "$0" pmix.notecomp -- sh -c "$1"' \
    "$SPAWNER" "ls $TMPDIR/shmix-* >'$work/dirs'"
grep -qx 'shmix-.*\.31' "$work/dirs" || fail "directories of past jobs: not that of the one that looks"
[ "$(wc -l <"$work/dirs")" -lt 15 ] || fail "directories of past jobs: $(wc -l <"$work/dirs") while two jobs run"
expect_clean "directories of past jobs"

finish
