# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# pmi1_spawn_test.sh - jobs that ranks spawn over PMI-1: what the new ranks find, what cannot be, and bounds.
here=$(dirname "$0")
. "$here/lib.sh"

command -v bash >"$work/out" || { echo "skipped: needs bash"; exit 77; }
export work
cat >"$work/lib.bash" <<'BASH'
tell() { printf '%s\n' "$@" >&"$PMI_FD"; }
ask() { tell "$@"; IFS= read -r -u "$PMI_FD" answer; }
want() { # want ANSWER LINE...
    local wanted=$1
    shift
    ask "$@"
    [[ $answer == $wanted ]] || { echo "${*:0:100}: $answer, not $wanted"; exit 9; }
}
init() { want 'cmd=response_to_init rc=0 *' 'cmd=init pmi_version=1 pmi_subversion=1'; }
finalize() { want 'cmd=finalize_ack rc=0' cmd=finalize; }
name() { ask cmd=get_my_kvsname; name=${answer##*=}; }
BASH
parent() { # parent N ARGS...: the lines on stdin, in N ranks
    { cat "$work/lib.bash"; cat; } >"$work/rank.bash"
    ranks=$1
    shift
    run -n "$ranks" --timeout 100 "$@" bash "$work/rank.bash"
}
{ cat "$work/lib.bash"; cat; } >"$work/child.bash" <<'BASH'
init
name
want 'cmd=get_result rc=0 value=tag=0#the#port' "cmd=get kvsname=$name key=PARENT_ROOT_PORT_NAME"
want "cmd=get_result rc=0 value=(vector,(0,1,$PMI_SIZE))" "cmd=get kvsname=$name key=PMI_process_mapping"
want 'cmd=appnum rc=0 appnum=*' cmd=get_appnum
app=${answer##*=}
want 'cmd=barrier_out rc=0' cmd=barrier_in
echo "child $PMI_RANK of $PMI_SIZE app $app spawned $PMI_SPAWNED in $PWD: $# $1 $2 $EXTRA"
finalize
BASH
mkdir "$work/there" "$work/here"
printf '#!/bin/sh\nexec bash %s/child.bash "$@"\n' "$work" >"$work/there/the-child"
chmod +x "$work/there/the-child"

# ---- two programs, each with words and keys of its own ----

parent 2 <<'BASH'
init
[[ -z $PMI_SPAWNED ]] || exit 7
cd "$work/here"
if [[ $PMI_RANK == 0 ]]; then
    tell mcmd=spawn nprocs=2 "execname=$work/there/the-child" totspawns=2 spawnssofar=1 argcnt=2 'arg1=one word' arg2=arg2=two \
        preput_num=1 preput_key_0=PARENT_ROOT_PORT_NAME preput_val_0=tag=0#the#port \
        info_num=3 info_key_0=wdir "info_val_0=$work/there" info_key_1=env info_val_1=EXTRA=more info_key_2=other info_val_2=x endcmd
    want 'cmd=spawn_result rc=0' mcmd=spawn nprocs=1 execname=the-child totspawns=2 spawnssofar=2 argcnt=0 preput_num=0 \
        info_num=2 info_key_0=path "info_val_0=/nonexistent:$work/there" info_key_1=host info_val_1=localhost endcmd
fi
want 'cmd=barrier_out rc=0' cmd=barrier_in
finalize
BASH
expect_code 0 "two programs"
for rank in 0 1; do
    grep -qx "child $rank of 3 app 0 spawned 1 in $work/there: 2 one word arg2=two more" "$work/out" || fail "two programs: rank $rank"
done
grep -qx "child 2 of 3 app 1 spawned 1 in $work/here: 0   " "$work/out" || fail "two programs: rank 2"

# ---- what cannot be: the rank is told, the user why, and the job goes on ----

parent 1 <<'BASH'
init
one=(nprocs=1 totspawns=1 spawnssofar=1)
want 'cmd=spawn_result rc=1 msg=*EXE*NOT*FOUND' mcmd=spawn "${one[@]}" execname=/nonexistent/prog endcmd
want 'cmd=spawn_result rc=1 msg=*EXE*' mcmd=spawn "${one[@]}" endcmd
want 'cmd=spawn_result rc=1 msg=*WDIR*' mcmd=spawn "${one[@]}" execname=true info_key_0=wdir info_val_0=/nonexistent/dir endcmd
want 'cmd=spawn_result rc=1 msg=*ALLOC*' mcmd=spawn "${one[@]}" execname=true info_key_0=host info_val_0=elsewhere endcmd
want 'cmd=spawn_result rc=1 msg=no_environment' mcmd=spawn "${one[@]}" execname=true info_key_0=env info_val_0=EXTRA endcmd
want 'cmd=spawn_result rc=1 msg=so_many_ranks_cannot_be' mcmd=spawn nprocs=16385 execname=true totspawns=1 spawnssofar=1 endcmd
want 'cmd=spawn_result rc=1 msg=so_many_ranks_cannot_be' mcmd=spawn nprocs=0 execname=true totspawns=1 spawnssofar=1 endcmd
want 'cmd=spawn_result rc=1 msg=a_line_has_no_word' mcmd=spawn "${one[@]}" execname=sh arg1=-c $'arg2=first\nsecond' endcmd
want 'cmd=spawn_result rc=1 msg=no_number' mcmd=spawn nprocs=1 execname=true totspawns=many endcmd
long=$(printf %0131072d 0)
want 'cmd=spawn_result rc=1 msg=a_line_is_too_long' mcmd=spawn "${one[@]}" execname=true "arg1=$long" endcmd
want 'cmd=spawn_result rc=1 msg=a_word_is_too_long' mcmd=spawn "${one[@]}" execname=true preput_key_0=key "preput_val_0=${long:0:1024}" endcmd
want 'cmd=spawn_result rc=1 msg=a_word_has_a_blank' mcmd=spawn "${one[@]}" execname=true preput_key_0=key 'preput_val_0=a value' endcmd
many=()
for i in 1 2 3 4 5 6 7 8 9; do many+=("arg$i=${long:0:120000}"); done
want 'cmd=spawn_result rc=1 msg=too_much' mcmd=spawn "${one[@]}" execname=true "${many[@]}" endcmd
want 'cmd=my_kvsname rc=0 *' cmd=get_my_kvsname
finalize
BASH
expect_code 0 "what cannot be"
expect_out '' "what cannot be"
expect_err "cannot spawn '/nonexistent/prog' for rank 0 of shmix-[^:]*: there is no program" "no program"
expect_err "cannot spawn for rank 0 of shmix-[^:]*: a line of it has more than 131072 bytes" "a long line"
expect_err "it has more than 1048576 bytes" "much"
expect_err "16385 ranks are wanted; possible are 1 to 16384" "many ranks"
expect_err "PMI-1 cannot carry an argument of several lines" "several lines"

parent 1 <<'BASH'
init
for i in $(seq 1 1500); do
    printf 'mcmd=spawn\nnprocs=1\nexecname=true\ntotspawns=10000\nspawnssofar=%d\nendcmd\n' "$i"
done >&"$PMI_FD"
want 'cmd=spawn_result rc=1 msg=too_many_commands' mcmd=spawn totspawns=10000 spawnssofar=10000 endcmd
finalize
BASH
expect_code 0 "10,000 commands"
expect_err "it has 10000 commands; possible are 1 to 1024" "10,000 commands"

# ---- one that never ends, and bytes that are no text ----

parent 2 <<'BASH'
init
if [[ $PMI_RANK == 0 ]]; then
    tell mcmd=spawn execname=true
    yes arg1=on-and-on 2>/dev/null | head -c 20000000 >&"$PMI_FD"
    rm=$(awk '/^VmRSS/ { print $2 }' "/proc/$PPID/status")
    [[ $rm -lt 200000 ]] || echo "the launcher has $rm KiB"
    exit 0
fi
want 'cmd=barrier_out rc=1 *' cmd=barrier_in
BASH
expect_code 1 "an mcmd without an end"
expect_err 'rank 0 .* exited without PMIx_Finalize' "an mcmd without an end"
expect_out '' "an mcmd without an end"
parent 1 <<'BASH'
init
trap '' PIPE
tell mcmd=spawn nprocs=1
head -c 100 /dev/zero >&"$PMI_FD"
tell execname=true endcmd 2>/dev/null
IFS= read -r -u "$PMI_FD" answer && echo "answered: $answer"
exit 3
BASH
expect_code 3 "zeros in an mcmd"
expect_out '' "zeros in an mcmd"
expect_err 'rank 0 has written to PMI_FD what is no PMI-1' "zeros in an mcmd"

# ---- deaths: the parent's takes the child with it, the child's is its own ----

parent 1 <<'BASH'
init
want 'cmd=spawn_result rc=0' mcmd=spawn nprocs=2 execname=sleep arg1=60 totspawns=1 spawnssofar=1 endcmd
kill -9 $$
BASH
expect_code 137 "kill -9 of the parent"
parent 1 <<'BASH'
init
tell mcmd=spawn nprocs=2 execname=sleep arg1=60 totspawns=1 spawnssofar=1 endcmd
kill -9 $$
BASH
expect_code 137 "kill -9 of the parent in the middle of a spawn"
mkfifo "$work/fifo"
{ cat "$work/lib.bash"; cat; } >"$work/killed.bash" <<'BASH'
init
[[ $PMI_RANK == 1 ]] || { cat "$work/fifo" >&2; kill -9 $$; }
sleep 60
BASH
parent 1 <<'BASH'
init
want 'cmd=spawn_result rc=0' mcmd=spawn nprocs=2 execname=bash "arg1=$work/killed.bash" totspawns=1 spawnssofar=1 endcmd
echo >"$work/fifo"
want 'cmd=my_kvsname rc=0 *' cmd=get_my_kvsname
finalize
echo well
BASH
expect_code 137 "kill -9 of a child"
expect_out well "kill -9 of a child"
expect_err 'job 1, rank 0 .* was killed by signal 9' "kill -9 of a child"

# MPICH's parent waits for a connection then, which nobody will make: it ends, as it does under mpirun.
for how in 'exit 3' 'kill -9 $$'; do
    export how
    parent 1 <<'BASH'
init
want 'cmd=spawn_result rc=0' mcmd=spawn nprocs=1 execname=sh arg1=-c "arg2=$how" totspawns=1 spawnssofar=1 endcmd
read -r -u "$PMI_FD" answer
BASH
    [ "$how" = 'exit 3' ] && want=3 || want=137
    expect_code $want "a child that fails before PMI_Init: $how"
    expect_err 'the job ends: rank 0 of job 1, which it has spawned, has failed before it called PMI_Init' "$how"
done

expect_clean "spawns over PMI-1"
finish
