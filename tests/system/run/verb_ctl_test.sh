# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# verb_ctl_test.sh - `shmix ctl`: ranks, a process set and a whole job as targets, in a pty and as
# JSON; and what is refused: nobody named, strangers, what is not there.
. "$(dirname "$0")/lib.sh"

job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

ctl() { # ARGS...
    "$SHMIX" ctl "$@" </dev/null >"$work/out" 2>"$work/err"
    code=$?
}
expect_does() { # ARGS...
    ctl "$@"
    expect_code 0 "shmix ctl $*"
    [ ! -s "$work/err" ] || fail "shmix ctl $* has complained"
}
expect_refuses() { # CODE PATTERN ARGS...
    want=$1 pattern=$2
    shift 2
    ctl "$@"
    expect_code "$want" "shmix ctl $*"
    expect_err "$pattern" "shmix ctl $*"
}
# Each rank writes its process id and what it hears.  It starts no program: a shell that is stopped
# while it does may be no stopped process for the kernel.
mkfifo "$work/fifo"
cat >"$work/rank.sh" <<'SH'
trap "echo $PMIX_RANK >>$1/usr1" USR1
trap "echo $PMIX_RANK >>$1/term; exit 0" TERM
echo $$ >"$1/pid.$PMIX_RANK"
exec 3<>"$1/fifo"
while :; do read -r line <&3; done
SH
job_start() {
    "$SHMIX" run -n 1 sh "$work/rank.sh" "$work" : -n 2 --pset ice$$ sh "$work/rank.sh" "$work" >"$work/job" 2>&1 &
    job=$!
    await "the ranks run" test -s "$work/pid.0" -a -s "$work/pid.1" -a -s "$work/pid.2" || finish
    nspace=$("$SHMIX" ls jobs --json "$job" | sed -n 's/.*"nspace":"\([^"]*\)".*/\1/p')
}
pid() { cat "$work/pid.$1"; }

expect_refuses 1 "shmix ls servers" pause --nspace none
job_start

# Ranks, a set, ranks of a set, all.
expect_does pause --nspace "$nspace" --rank 0,2
await "rank 0 is stopped" is_stopped "$(pid 0)"
await "rank 2 is stopped" is_stopped "$(pid 2)"
is_stopped "$(pid 1)" && fail "rank 1 is stopped as well"
expect_does resume --nspace "$nspace"
await "rank 0 goes on" runs "$(pid 0)"
await "rank 2 goes on" runs "$(pid 2)"
expect_does pause --set ice$$ --pid "$job"
await "rank 1 is stopped" is_stopped "$(pid 1)"
await "rank 2 is stopped" is_stopped "$(pid 2)"
is_stopped "$(pid 0)" && fail "who is not in the set is stopped as well"
expect_does resume --set ice$$
await "rank 1 goes on" runs "$(pid 1)"
for name in USR1 SIGUSR1 10; do
    rm -f "$work/usr1"
    expect_does signal $name --nspace "$nspace" --rank 1
    await "rank 1 hears it" test -s "$work/usr1"
    [ "$(cat "$work/usr1")" = 1 ] || fail "$name: who hears it: $(cat "$work/usr1")"
done
for name in USR1 SIGUSR1 10; do
    rm -f "$work/usr1"
    expect_does kill -s $name "$nspace.1"
    await "rank 1 hears it" test -s "$work/usr1"
    [ "$(cat "$work/usr1")" = 1 ] || fail "kill -s $name: who hears it: $(cat "$work/usr1")"
done
rm -f "$work/usr1"
"$SHMIX" kill -s USR1 "$nspace.2" || fail "shmix kill -s"
await "rank 2 hears it" test -s "$work/usr1"
[ "$(cat "$work/usr1")" = 2 ] || fail "shmix kill -s: who hears it: $(cat "$work/usr1")"
expect_does pause "$nspace.1"
await "rank 1 is stopped" is_stopped "$(pid 1)"
is_stopped "$(pid 0)" && fail "rank 0 is stopped with it"
expect_does resume "$nspace.*"
await "rank 1 goes on" runs "$(pid 1)"
expect_does define-set first$$ --nspace "$nspace" --rank 0
expect_does define-set second --id named --nspace "$nspace" --rank 0
"$SHMIX" ls sets --json "$job" | grep -q '"name":"first'$$'",.*"member_count":1' || fail "the set"
rm -f "$work/usr1"
expect_does signal USR1 --set first$$ --id x
await "rank 0 hears it" test -s "$work/usr1"
[ "$(cat "$work/usr1")" = 0 ] || fail "a set that was made: who hears it: $(cat "$work/usr1")"

# JSON, and a terminal.
expect_does resume --json --nspace "$nspace"
expect_out '{"status":"PMIX_SUCCESS","results":{}}' "JSON"
ctl pause --json --nspace nobodys
expect_code 1 "JSON of what is refused"
expect_out '{"status":"PMIX_ERR_NOT_FOUND","results":{}}' "JSON of what is refused"
if command -v script >/dev/null; then
    script -qec "'$SHMIX' ctl pause --nspace $nspace --rank 1 && '$SHMIX' ctl resume --json --nspace $nspace --rank 1" \
        /dev/null </dev/null >"$work/out" 2>&1
    code=$?
    expect_code 0 "on a terminal"
    [ "$(tr -d '\r' <"$work/out")" = '{"status":"PMIX_SUCCESS","results":{}}' ] || fail "on a terminal"
fi

# What is refused.
expect_refuses 1 "no job 'nobodys' runs here.*; 'shmix ls jobs' lists those that do" kill --nspace nobodys
expect_refuses 1 "no such processes: $nspace with these ranks" kill --nspace "$nspace" --rank 1,77
expect_refuses 1 "no such processes: fire$$;" kill --group fire$$
expect_refuses 1 "no such processes: fire$$;" kill --set fire$$
expect_refuses 2 "a process set has no ranks" kill --set ice$$ --rank 1
expect_refuses 1 "no such request" cancel backup
expect_refuses 1 "no such request" cancel
expect_refuses 1 "offers no 'checkpoint'" checkpoint now --nspace "$nspace"
expect_refuses 1 "offers no 'provision'" provision node7
expect_refuses 2 "no target: give the name of a job, --group or --set" kill
expect_refuses 2 "no target" kill --rank 1
expect_refuses 2 "give one of them" kill --nspace "$nspace" --group ice
expect_refuses 2 "did you mean 'pause'" pawse --nspace "$nspace"
expect_refuses 2 "signal wants a signal" signal --nspace "$nspace"
expect_refuses 2 "'LOUD' is no signal" signal LOUD --nspace "$nspace"
expect_refuses 2 "'65' is no signal" signal 65 --nspace "$nspace"
expect_refuses 2 "'LOUD' is no signal" kill -s LOUD "$nspace"
expect_refuses 2 "--signal is for kill and term" pause -s TERM "$nspace"
expect_refuses 1 "no such processes: $nspace with these ranks" pause "$nspace.77"
expect_refuses 2 "give one of them" kill 9 --nspace "$nspace"
expect_refuses 2 "--rank does not take '1,x'" kill --nspace "$nspace" --rank 1,x
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups "$SHMIX" --version >/dev/null 2>&1; then
    setpriv --reuid 65534 --clear-groups "$SHMIX" ctl kill --pid "$job" --nspace "$nspace" \
        >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "another user"
    expect_err "user root (uid 0).* you are user .*(uid 65534)" "another user"
fi
for rank in 0 1 2; do
    is_gone "$(pid $rank)" && fail "rank $rank has ended of what was refused"
done

# Ends: one of them is killed, then all get SIGTERM.
expect_does kill --nspace "$nspace" --rank 1
await "rank 1 has ended" is_gone "$(pid 1)"
is_gone "$(pid 0)" && fail "rank 0 has ended with it"
expect_does term --nspace "$nspace"
wait "$job"
job=
[ "$(sort "$work/term" | tr '\n' ' ')" = "0 2 " ] || fail "who was asked to end: $(cat "$work/term")"

# A group, by its name, whole and a member of it.
"$SHMIX" run -n 3 "$RANK" group "$work/step" lake$$ >"$work/job" 2>&1 &
job=$!
has_group() {
    "$SHMIX" ls groups --json "$job" >"$work/groups" && grep -q '"kind":"group"' "$work/groups"
}
await "there is a group" has_group
group=$(sed -n 's/^{"kind":"group","name":"\([^"]*\)".*/\1/p' "$work/groups")
"$SHMIX" ls procs --json "$job" >"$work/procs"
for rank in 0 1 2; do
    sed -n 's/^{"rank":'$rank',"pid":\([0-9]*\),.*/\1/p' "$work/procs" >"$work/pid.$rank"
done
expect_does pause --group "$group" --rank 1
await "member 1 is stopped" is_stopped "$(pid 1)"
is_stopped "$(pid 0)" && fail "the other members are stopped as well"
expect_does pause --group "$group"
for rank in 0 2; do
    await "member $rank is stopped" is_stopped "$(pid $rank)"
done
expect_does kill --group "$group"
wait "$job"
job=
expect_clean "at the end"
finish
