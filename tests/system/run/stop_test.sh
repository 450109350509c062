# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# stop_test.sh - ranks that stop for a debugger: the lines that `shmix run` writes say how to attach and how to go on, and both
# work as they are written.
. "$(dirname "$0")/lib.sh"

# begin OPTIONS...: two ranks in the background, until both lines are there; $out and $err
begin() {
    : >"$work/err" # of the job before
    : >"$work/out"
    "$SHMIX" run -n 2 "$@" "$RANK" fence >"$work/out" 2>"$work/err" &
    job=$!
    await "both ranks stop: $*" both_stop
    pid0=$(sed -n 's/.*rank 0 (pid \([0-9]*\)).*/\1/p' "$work/err")
}
both_stop() {
    [ "$(grep -c 'attach with .gdb -p [0-9]*.' "$work/err")" -eq 2 ]
}
ends_well() {
    wait $job
    code=$?
    expect_code 0 "$1"
    [ "$(grep -c ': PMIX_SUCCESS$' "$work/out")" -eq 2 ] || fail "$1: not both ranks have fenced"
}
# The command between quotes behind "$1" in the lines.
told() {
    sed -n "s/.*$1 '\([^']*\)'.*/\1/p" "$work/err" | sed "s|^shmix |$SHMIX |" | head -1
}

# Before the first instruction: each by a signal.
begin --stop-on-exec
is_stopped "$pid0" || fail "rank 0 is not stopped"
[ -s "$work/out" ] && fail "a stopped rank has run"
sed -n "s/.*let it go on with '\([^']*\)'.*/\1/p" "$work/err" >"$work/go"
lines_are "$work/go" 2 || fail "not each rank has its line"
sh "$work/go"
ends_well "each by a signal"

# The same, all by one command.
begin --stop-on-exec
$(sed -n 's/.*(all: shmix \(.*\)).*/\1/p' "$work/err" | head -1 | sed "s|^|$SHMIX |") >/dev/null || fail "ctl resume"
ends_well "all by one command"

# In PMIx_Init, once for each rank.
begin --stop-in-init
[ -s "$work/out" ] && fail "a rank has not waited in PMIx_Init"
is_stopped "$pid0" && fail "a rank in PMIx_Init is stopped"
$(told 'go on with') >/dev/null || fail "events inject"
ends_well "in PMIx_Init"
[ "$(grep -c 'waits for a debugger' "$work/err")" -eq 2 ] || fail "not one line for each rank"

# The process to look at is the one that waits, and not the shell that has started it.
: >"$work/err" # of the job before
"$SHMIX" run -n 1 --stop-in-init sh -c "'$RANK' fence; exit 0" >"$work/out" 2>"$work/err" &
job=$!
await "the program of a shell" grep -q 'attach with' "$work/err"
pid0=$(sed -n "s/.*attach with 'gdb -p \\([0-9]*\\)'.*/\\1/p" "$work/err")
[ "$(readlink "/proc/$pid0/exe")" = "$(readlink -f "$RANK")" ] || fail "the line names the shell: $(readlink "/proc/$pid0/exe")"
$(told 'go on with') >/dev/null || fail "events inject"
wait $job
code=$?
expect_code 0 "the program of a shell"

# Ctrl-C ends ranks that are stopped.
begin --stop-on-exec
kill -INT $job
wait $job
code=$?
expect_code 130 "a job that is stopped is ended"

# ---- a command for each rank ----

run -n 2 --debugger "echo debugs {rank} as {pid}; kill -CONT {pid}" "$RANK" fence
expect_code 0 "a debugger for each"
for rank in 0 1; do
    pid=$(sed -n "s/^shmix run: rank $rank (pid \\([0-9]*\\)): echo debugs $rank as \\1; kill -CONT \\1\$/\\1/p" "$work/err")
    grep -qx "debugs $rank as ${pid:-none}" "$work/out" || fail "rank $rank has no debugger"
done
run -n 3 --debugger-rank 1 --debugger "echo debugs {rank}; kill -CONT {pid}" "$RANK" fence
expect_code 0 "a debugger for one"
[ "$(grep -c debugs "$work/out")" -eq 1 ] && grep -qx 'debugs 1' "$work/out" || fail "not rank 1 alone has a debugger"

# One that leaves its rank stopped; the launcher waits for one that stays when its rank has gone.
run -n 1 --timeout 1 --debugger "true {pid}" "$RANK" fence
expect_code 124 "a debugger that goes"
expect_err "the debugger of rank 0 has ended, and pid [0-9]* is stopped still: let it go on with 'kill -CONT [0-9]*'" \
    "a debugger that goes"
run -n 1 --debugger "kill -CONT {pid}; while kill -0 {pid}; do sleep 0.05; done 2>&-; echo later" true
expect_code 0 "a debugger that stays"
expect_out later "a debugger that stays"

# In PMIx_Init; ranks have no standard input then.
echo line | "$SHMIX" run --stop-in-init --debugger "'$SHMIX' events inject PMIX_DEBUGGER_RELEASE {job} # {pid}" \
    sh -c "'$RANK' fence; cat" >"$work/out" 2>"$work/err"
grep -q 'PMIX_SUCCESS' "$work/out" || fail "a debugger of a rank in PMIx_Init"
grep -q line "$work/out" && fail "a rank reads what is the debugger's"

# A signal and the time limit end them.
"$SHMIX" run --debugger "echo {pid} \$\$ >'$work/there'; exec sleep 1000" sleep 1000 2>"$work/err" &
job=$!
await "the debugger" [ -s "$work/there" ]
kill -INT $job
wait $job
code=$?
expect_code 130 "a signal"
await "the end of the debugger" is_gone "$(cut -d' ' -f2 "$work/there")"
run --timeout 0.5 --debugger "trap '' TERM; while :; do sleep 0.1; done # {pid}" sleep 1000
expect_code 124 "a time limit"

# The terminal is the debugger's, which can read, and the launcher's again.
if command -v script >/dev/null; then
    echo typed | script -qec "'$SHMIX' run --debugger 'read word; echo got \$word; kill -CONT {pid}' true" /dev/null >"$work/out" 2>"$work/err"
    grep -q '^got typed' "$work/out" || fail "the debugger cannot read the terminal"
else
    echo "not tested: a terminal (there is no script)"
fi

# A real one.
if command -v gdb >/dev/null; then
    run -n 1 --timeout 100 --debugger "gdb -nx -q -batch -ex 'handle SIGSTOP nostop noprint nopass' -p {pid} \
        -ex 'set breakpoint pending on' -ex 'break PMIx_Init' -ex continue -ex bt -ex continue" "$RANK" fence
    expect_code 0 "gdb"
    grep -q '^#0 .*PMIx_Init' "$work/out" || fail "gdb: no stack in PMIx_Init"
    grep -q 'PMIX_SUCCESS' "$work/out" || fail "gdb: the rank does not go on"
else
    echo "not tested: gdb, which is not installed"
fi

run --debugger gdb true
expect_code 2 "a command without the process"
expect_err "it wants a command with {pid} in it" "a command without the process"
run --debugger-rank 0 true
expect_err '^shmix run: --debugger-rank 0 is for the command of --debugger, and there is none$' "a rank without a command"

expect_clean "at the end"
finish
