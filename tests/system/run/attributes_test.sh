# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# attributes_test.sh - what a spawn says about a job: how it is started, shown, judged, and told of.
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

# ---- what a rank finds of the session ----

run -n 2 sh -c "[ \$OMPI_COMM_WORLD_RANK = 1 ] || for key in PMIX_RM_NAME PMIX_NUM_SLOTS PMIX_NUM_ALLOCATED_NODES PMIX_PROC_MAP_RAW; do '$SHMIX' get \$key \$PMIX_NAMESPACE; done"
expect_code 0 "the session"
grep -q shmix "$work/out" || fail "the session: no PMIX_RM_NAME"
grep -q '0,1' "$work/out" || fail "the session: no PMIX_PROC_MAP_RAW"

# ---- what is executed ----

spawns PMIX_SUCCESS "ranks in the first word" -n 2 pmix.indxargv pmix.exec.agnt="env AGENT=7" pmix.notecomp -- \
    sh -c 'echo "$AGENT: $(tr "\0" " " </proc/$$/cmdline)" | cut -c 1-5'
[ "$(grep -cx '7: sh' "$work/out")" -eq 2 ] || fail "an agent: not two"
spawns PMIX_SUCCESS "ranks in the first word" -n 2 pmix.indxargv pmix.notecomp -- sh -c 'tr "\0" "\n" </proc/$$/cmdline | head -n 1'
says sh-0 "ranks in the first word"
says sh-1 "ranks in the first word"

# A tool's variables, but for those of its own job, and not over what the application says.
"$SHMIX" run sh -c "until [ -e '$work/done' ]; do sleep 0.01; done" >"$work/job.out" 2>"$work/err" &
launcher=$!
await "the server" sh -c "ls '$TMPDIR'/*/pmix.* >/dev/null"
for key in pmix.fwdenv pmix.fwdenv=!; do
    LONG=mine HERE=mine OMPI_COMM_WORLD_MINE=1 "$SPAWNER" -e 3 $key pmix.notecomp -- sh -c 'echo "<$HERE> <$LONG> <$OMPI_COMM_WORLD_MINE>" >&2'
done >"$work/out" 2>&1
[ "$(grep -c '^<mine> <vvv> <>$' "$work/err")" -eq 1 ] && [ "$(grep -c '^<> <vvv> <>$' "$work/err")" -eq 1 ] || fail "a tool's variables"
# Its job goes on without it.
"$SPAWNER" need:pmix.nohup -- sh -c "until [ -e '$work/done' ]; do sleep 0.01; done; echo went on >'$work/went'" >"$work/out" 2>&1
touch "$work/done"
wait "$launcher"
[ "$(cat "$work/went")" = "went on" ] || fail "a job without its tool"
spawns PMIX_SUCCESS "a tool is spawned" need:pmix.spwn.tool pmix.notecomp -- "$TOOL"
says 'this is shmix-.*\.1\.0, a tool of shmix-.*' "a tool is spawned"

spawns PMIX_SUCCESS "terminals" -n 2 pmix.spawn.pty pmix.iof.tag pmix.notecomp -- sh -c '[ -t 1 ] && [ -t 2 ] && echo "a terminal"'
[ "$(grep -c '<stdout>: a terminal$' "$work/out")" -eq 2 ] || fail "terminals: not two"
spawns PMIX_SUCCESS "pipes" pmix.spawn.pty=! pmix.notecomp -- sh -c '[ -t 1 ] || echo "no terminal"'
says "no terminal" "pipes"
spawns PMIX_ERR_BAD_PARAM "no size of a terminal" pmix.pty.wsize=80x25 -- true

# ---- its output ----

run --timeout 120 --output tag "$SPAWNER" pmix.iof.inhrt pmix.notecomp -- echo child
grep -q '^\[shmix-.*\.1,0\]<stdout>: child$' "$work/out" || fail "marks of the parent"
run --timeout 120 --output tag "$SPAWNER" pmix.iof.inhrt pmix.iof.rank pmix.notecomp -- echo child
says '\[0\]<stdout>: child' "marks of its own"
run --timeout 120 --output tag "$SPAWNER" pmix.notecomp -- echo child
says child "no marks"
spawns PMIX_SUCCESS "no output here" pmix.iof.local=! pmix.notecomp -- echo child
! grep -q child "$work/out" || fail "no output here: there is some"
spawns PMIX_SUCCESS "output here" need:pmix.iof.local pmix.notecomp -- echo child
says child "output here"

# ---- where it stands among the spawns ----

run --timeout 120 --env SAY_TREE=1 "$SPAWNER" pmix.notecomp -- true
says "tree of mine" "the root of the tree"
says "tree has 1" "what goes on of the tree"
run --timeout 120 --env SAY_TREE=1 "$SPAWNER" pmix.notecomp -- "$SPAWNER" pmix.notecomp -- true
says "tree of another" "the root of a grandchild's tree"
says "tree has 2" "what goes on of the tree beside a grandchild"

# ---- in other words ----

spawns PMIX_SUCCESS "in words" pmix.runopt=donotlaunch,timeout=5,recoverable=false pmix.dispmap -- touch "$work/started"
[ ! -e "$work/started" ] || fail "in words: it has been started"
spawns PMIX_SUCCESS "words of prterun" pmix.runopt=error-nonzero-status,autorestart,max-restarts=1,default-exec-agent,fwd-environment pmix.notecomp -- \
  sh -c "echo once >> '$work/times'; [ \$(wc -l < '$work/times') -gt 1 ]"
[ "$(wc -l < "$work/times")" -eq 2 ] || fail "max-restarts: it was started $(wc -l < "$work/times") times"
spawns PMIX_SUCCESS "no number of restarts" pmix.runopt=autorestart pmix.notecomp -- sh -c "echo once >> '$work/never'; exit 3"
[ "$(wc -l < "$work/never")" -eq 1 ] || fail "no number of restarts: it was started again"
expect_err 'autorestart without a number starts nothing again, as with prterun: add max-restarts=N' "no number of restarts"
spawns PMIX_ERR_BAD_PARAM "no flag" pmix.runopt=autorestart=often -- true

# The pids are those of the ranks; each kind of place.
for to in '' =- =+ "=$work/table"; do
    spawns PMIX_SUCCESS "a table to $to" -n 2 "pmix.runopt=output-proctable$to" pmix.notecomp -- sh -c 'echo "$OMPI_COMM_WORLD_RANK is $$"'
    case $to in =+) table=$work/err ;; =/*) table=$work/table ;; *) table=$work/out ;; esac
    for rank in 0 1; do
        pid=$(sed -n "s/^$rank is //p" "$work/out")
        grep -q "^(rank, host, exe, pid) = ($rank, $(hostname), /.*sh, $pid)\$" "$table" || fail "a table to $to: without rank $rank, $pid"
    done
    [ "$(cat "$work/out" "$work/err" | grep -c 'host, exe')" -eq "$([ "$table" = "$work/table" ] && echo 0 || echo 2)" ] || fail "a table to $to: elsewhere, too"
done
spawns PMIX_SUCCESS "no table" pmix.runopt=output-proctable=false pmix.notecomp -- true
! grep -q 'host, exe' "$work/out" || fail "no table: there is one"
spawns PMIX_SUCCESS "a table to nowhere" "pmix.runopt=output-proctable=$work/no/table" pmix.notecomp -- true
expect_err "cannot be written to '$work/no/table': No such file" "a table to nowhere"

# Where ranks are to stop has a name, which they find; without one there is none.
spawns PMIX_SUCCESS "a named place" pmix.runopt=stop-in-app=after-input pmix.notecomp -- \
  sh -c "'$SHMIX' get PMIX_BREAKPOINT \$PMIX_NAMESPACE; '$SHMIX' get PMIX_DEBUG_STOP_IN_APP --rank 0 \$PMIX_NAMESPACE"
grep -q after-input "$work/out" || fail "a named place: it has no name"
grep -q true "$work/out" || fail "a named place: it stops nowhere"
spawns PMIX_SUCCESS "a place without a name" pmix.runopt=stop-in-app pmix.notecomp -- sh -c "'$SHMIX' get PMIX_BREAKPOINT \$PMIX_NAMESPACE"
! grep -q 'true\|stop' "$work/out" || fail "a place without a name: it has one"
spawns PMIX_ERR_BAD_PARAM "no such word" pmix.runopt=recoverable,hurry -- true
expect_err "PMIX_RUNTIME_OPTIONS: 'hurry' is none that shmix run knows" "no such word"
spawns PMIX_ERR_BAD_PARAM "no number" pmix.runopt=timeout=soon -- true

# ---- where it runs ----

cpus=$(nproc)
spawns PMIX_SUCCESS "all CPUs for a rank" pmix.cpuperproc=#$cpus pmix.bindto=hwthread pmix.notecomp -- sed -n 's/^Cpus_allowed_list:[[:space:]]*/on /p' /proc/self/status
says "on $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" "all CPUs for a rank"
spawns PMIX_ERR_JOB_FAILED_TO_MAP "more than there are" pmix.cpuperproc=#$((cpus + 1)) pmix.bindto=hwthread -- true
expect_err "1 rank wants $((cpus + 1)) hardware threads, and this machine has them for 0" "more than there are"
run --cpus-per-rank "$cpus" --bind-to hwthread --display map true
expect_err "bound to hardware thread [0-9]*, CPUs $(sed -n 's/^Cpus_allowed_list:[[:space:]]*//p' /proc/self/status)" "--cpus-per-rank"
run --cpus-per-rank 2 --bind-to numa true
expect_code 2 "--cpus-per-rank of NUMA nodes"

# ---- beside others ----

spawns PMIX_SUCCESS "so many for each" -n 0 pmix.colproc=@ pmix.colnum.proc=#3 pmix.notecomp -- sh -c 'echo "of $OMPI_COMM_WORLD_SIZE"'
says 'of 3' "so many for each"
run --timeout 120 "$SPAWNER" -n 0 pmix.colproc=@ pmix.colnum.proc=#3 pmix.notecomp -- sh -c 'echo "of $OMPI_COMM_WORLD_SIZE"' : true
says 'of 6' "so many for each of two"
spawns PMIX_SUCCESS "so many on their node" -n 0 pmix.colproc=@ pmix.colnum.node=#2 pmix.notecomp -- sh -c 'echo "of $OMPI_COMM_WORLD_SIZE"'
says 'of 2' "so many on their node"
spawns PMIX_ERR_NOT_FOUND "beside nobody" -n 0 pmix.colproc=@nobody pmix.colnum.node=#2 -- true
expect_err "there is no job 'nobody' to be beside" "beside nobody"
spawns PMIX_ERR_NOT_FOUND "no job to debug" pmix.dbg.job=nobody -- true
expect_err "there is no job 'nobody' to look at" "no job to debug"

spawns PMIX_SUCCESS "a job beside the job" -n 2 -a 2 -b 1 pmix.notecomp -- sh -c "'$SPAWNER'; echo \"size \$OMPI_COMM_WORLD_SIZE\"; until [ \$(grep -c '^size' '$work/out') -ge 3 ]; do sleep 0.01; done"
[ "$(grep -c '^size 2$' "$work/out")" -eq 2 ] || fail "a job beside the job: not two ranks"
says 'size 1' "a job beside the job"
says 'shmix-\(.*\)\.2 looks at shmix-\1\.1' "a job beside the job"
[ "$(grep -c 'looks at' "$work/out")" -eq 1 ] || fail "a job beside the job: not one looks at the other"
spawns PMIX_ERR_JOB_CANCELED "a job beside that cannot be" -a 2 -b 20000 -- touch "$work/not"
expect_err 'job 1 ends, as not all of its spawn can be started' "a job beside that cannot be"
[ ! -e "$work/not" ] || fail "a job beside that cannot be: the other has been started"
expect_clean "beside others"

# ---- what is shown ----

spawns PMIX_SUCCESS "it is shown and not started" -n 2 pmix.dnl pmix.dispmap pmix.dispalloc pmix.disptopo=localhost pmix.dispcpus= -- touch "$work/started"
[ ! -e "$work/started" ] || fail "it is shown and not started: it has been"
expect_err '^shmix run: allocation: node .*, [0-9]* slots*, CPUs ' "the allocation"
expect_err '^shmix run: processors: node .*, CPUs ' "the processors"
expect_err '^shmix run: topology:   *PU 0, CPUs ' "the topology"
expect_err '^shmix run: map: job 1, rank 1, app 0 (touch), slot 1, not bound, CPUs ' "the map"
spawns PMIX_SUCCESS "the map in detail" pmix.dnl pmix.dispmapdet -- true 'a b'
expect_err "^shmix run:   exec .*true 'a b'$" "the map in detail"
spawns PMIX_SUCCESS "for programs" pmix.dispparse pmix.dispmapdet pmix.dispalloc pmix.disptopo= pmix.dispcpus= pmix.repbind pmix.notecomp -- true "\""
[ "$(grep -c '^{"display":"[a-z]*",.*}$' "$work/err")" -ge 5 ] || fail "for programs: not five lines"
grep -v '^{"display":"[a-z]*",.*}$' "$work/err" && fail "for programs: other lines"
expect_err '"path":"[^"]*true","argv":\["true","\\""\]}$' "for programs"
spawns PMIX_ERR_JOB_ALLOC_FAILED "another node's topology" pmix.disptopo=elsewhere -- true
spawns PMIX_SUCCESS "how far it is" -n 9 pmix.showprog pmix.notecomp -- true
expect_err '^shmix run: job 1: all 9 ranks are up$' "how far it is"
expect_clean "what is shown"

# ---- what is logged ----

run --timeout 120 --log "$work/records" "$SPAWNER" -n 2 pmix.log.jev pmix.notecomp -- true
says 'spawn: PMIX_SUCCESS' "a job's events"
[ "$(grep -c '"channel":"job-record","nspace":"shmix-[^"]*\.1","rank":4294967294,"text":"PMIX_' "$work/records")" -eq 3 ] ||
    fail "a job's events: not three records: $(cat "$work/records")"
grep -q '"text":"PMIX_EVENT_JOB_END: .*: PMIX_SUCCESS, exit code 0"' "$work/records" || fail "a job's events: its end"
spawns PMIX_SUCCESS "each rank's end" -n 2 pmix.recover pmix.logproc pmix.log.stdout pmix.notecomp -- sh -c 'exit $OMPI_COMM_WORLD_RANK'
[ "$(grep -c '^PMIX_EVENT_PROC_TERMINATED: shmix-.*\.1, rank [01]: .*, exit code [01]$' "$work/out")" -eq 2 ] || fail "each rank's end: not two"
spawns PMIX_SUCCESS "bad ends" -n 2 pmix.recover pmix.logabproc pmix.logcomp pmix.notecomp -- sh -c 'exit $OMPI_COMM_WORLD_RANK'
[ "$(grep -c '^PMIX_EVENT_PROC_TERMINATED: ' "$work/err")" -eq 1 ] || fail "bad ends: not one"
expect_err '^PMIX_EVENT_JOB_END: .*, exit code 1$' "bad ends: the job's"

# ---- its time is over ----

# No real debugger: what it would be asked.  Rank 1 has ended long before, also on a busy machine.
mkdir "$work/bin"
printf '#!/bin/sh\necho "asked: $*"\n' >"$work/bin/eu-stack"
chmod +x "$work/bin/eu-stack"
PATH=$work/bin:$PATH
spawns PMIX_SUCCESS "a report" -n 2 -t 5 pmix.job.time pmix.tim.state pmix.tim.stack pmix.notecomp -- \
    sh -c '[ $OMPI_COMM_WORLD_RANK = 0 ] || exit 0; echo "mine: $$"; exec sleep 60'
expect_code 124 "a report"
mine=$(sed -n 's/^mine: //p' "$work/out")
expect_err "^shmix run: state: job 1, rank 0 (pid $mine): [a-z ]*, has not called PMIx_Init$" "a report: who is left"
expect_err '^shmix run: state: job 1, rank 1: has ended, with code 0$' "a report: who has ended"
expect_err "^shmix stack: no stack of rank 0 of shmix-.*\.1 (process $mine): asked: -p $mine " "a report: its stack"
[ "$(grep -c 'asked: ' "$work/err")" -eq 1 ] || fail "a report: not one stack"
expect_clean "a report"

# ---- how it ends ----

spawns PMIX_SUCCESS "its code is its own" pmix.rptchildsep pmix.notecomp -- sh -c 'exit 3'
expect_code 0 "its code is its own"
says 'end of PMIX_ERR_JOB_NON_ZERO_TERM rank 0 code 3' "its code is its own"
spawns PMIX_SUCCESS "a code that ends nothing" -n 2 pmix.abnz=! pmix.notecomp -- \
    sh -c "[ \$OMPI_COMM_WORLD_RANK = 1 ] || exit 3; until grep -q 'goes on without it' '$work/err'; do sleep 0.01; done; echo went on"
expect_code 3 "a code that ends nothing"
says 'went on' "a code that ends nothing"
spawns PMIX_SUCCESS "a code that ends it" -n 2 pmix.recover pmix.abnz pmix.notecomp -- sh -c '[ $OMPI_COMM_WORLD_RANK = 1 ] || exit 3; sleep 60'
expect_err 'exited with status 3; ending job 1' "a code that ends it"
# It spawns twice, and hears of the second end alone.
spawns PMIX_SUCCESS "an end that is not told" pmix.notecomp pmix.noteproc pmix.evsilentterm -- true
[ "$(grep -c '^rank 0 ended' "$work/out")" -eq 2 ] || fail "an end that is not told: there are not two jobs"
[ "$(grep -c '^end of' "$work/out")" -eq 1 ] || fail "an end that is not told: not one"
spawns PMIX_SUCCESS "a bad end is told" pmix.evsilentterm pmix.notecomp -- sh -c 'exit 3'
says 'end of PMIX_ERR_JOB_NON_ZERO_TERM rank 0 code 3' "a bad end is told"
expect_clean "ends"

finish
