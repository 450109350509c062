# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# hung_test.sh - a spawn that names a file system which does not answer costs its own asker alone.
. "$(dirname "$0")/lib.sh"

# A sanitizer has to be the first library.
if ldd "$SHMIX" "$(dirname "$SHMIX")/../lib/libpmix.so.2" 2>/dev/null | grep -q 'lib[atu]b\{0,1\}san'; then
    echo "skipped: the file system is a preloaded library, which a sanitizer does not let be the first"
    exit 77
fi

# launch ARGS...: as run, but killed when the launcher does not answer
launch() {
    LD_PRELOAD=$HANGS timeout -k 1 100 "$SHMIX" run "$@" >"$work/out" 2>"$work/err"
    code=$?
}

mkdir "$work/later"

# ---- the asker is refused in its time, and others spawn meanwhile ----

for named in "pmix.wdir=$work/hangs -- true" "-- $work/hangs/program" "pmix.hostfile=$work/hangs -- true" "pmix.outdir=$work/hangs -- true"; do
    # shellcheck disable=SC2086 # words
    launch --separate-jobs --on-failure notify -n 1 "$SPAWNER" -t 2 pmix.timeout $named : -n 1 "$SPAWNER" -- true
    grep -qx 'spawn: PMIX_ERR_TIMEOUT' "$work/out" || fail "$named: not refused"
    expect_err 'have not been found in time' "$named"
    grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "$named: the other job has not spawned"
    expect_clean "$named"
done

# ---- it answers, and then it does not: the process that becomes a rank waits alone ----

launch --separate-jobs --on-failure notify -n 1 "$SPAWNER" -t 2 pmix.timeout "pmix.wdir=$work/later" -- true : -n 1 "$SPAWNER" -- true
grep -qx 'spawn: PMIX_ERR_TIMEOUT' "$work/out" || fail "a folder that hangs later: not ended"
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "a folder that hangs later: the other job has not spawned"
expect_clean "a folder that hangs later"

# ---- so do more of them than the launcher has threads that start ranks ----

launch --oversubscribe --separate-jobs --on-failure notify -n 1 "$SPAWNER" -n 12 -t 2 pmix.timeout "pmix.wdir=$work/later" -- true : \
    -n 1 "$SPAWNER" -n 4 -- true
grep -qx 'spawn: PMIX_ERR_TIMEOUT' "$work/out" || fail "twelve ranks that hang: not ended"
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "twelve ranks that hang: the other job has not spawned"
expect_clean "twelve ranks that hang"

# ---- as many ranks as it has such threads begin without a fork of the launcher ----

FORKS=$work/forks launch --oversubscribe -n 1 true
FORKS=$work/forks_spawn launch --oversubscribe -n 1 "$SPAWNER" -n 8 -- true
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "eight ranks: not spawned"
cmp "$work/forks" "$work/forks_spawn" || fail "the launcher forks for the ranks of a spawn"

# ---- the launcher's own time goes on ----

launch --timeout 1 -n 1 "$SPAWNER" "pmix.wdir=$work/hangs" -- true
expect_code 124 "the launcher's time"

# ---- no look-up is a fork of the launcher; when what makes them is killed, another one does ----

# children PID: those of a process
children() {
    cat "/proc/$1/task/$1/children" 2>/dev/null
}
# looks: a process that the launcher's looker has made
looks() {
    for looker in $(children $launcher); do
        if [ "$(cat "/proc/$looker/comm" 2>/dev/null)" = shmix-lookup ]; then
            [ -n "$(children "$looker")" ]
            return
        fi
    done
    return 1
}
gone() {
    ! kill -0 "$1"
}
cat >"$work/second" <<'END'
while [ ! -e "$1/go" ]; do sleep 0.02; done
exec "$SPAWNER" -- true
END
for signal in KILL STOP; do
    rm -f "$work/go"
    LD_PRELOAD=$HANGS "$SHMIX" run --separate-jobs --on-failure notify -n 1 "$SPAWNER" -t 4 pmix.timeout "pmix.wdir=$work/hangs" -- true \
        : -n 1 sh "$work/second" "$work" >"$work/out" 2>"$work/err" &
    launcher=$!
    await "a look-up hangs" looks
    kill -$signal "$looker"
    [ $signal = STOP ] && await "its asker is refused" grep -q 'have not been found in time' "$work/err"
    [ $signal = KILL ] && await "its asker is refused" grep -q 'has been ended' "$work/err"
    [ $signal = STOP ] && await "the one that is stopped has gone" gone "$looker"
    touch "$work/go"
    wait $launcher
    grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "$signal: the other job has not spawned"
    expect_clean "$signal"
done

# ---- one that may not fork gives the reason ----

FORKLESS=1 launch -n 1 "$SPAWNER" -- true
grep -qx 'spawn: PMIX_ERR_JOB_SYS_OP_FAILED' "$work/out" || fail "no process for a look-up: not refused"
expect_err 'no process for looking for its programs: .*; the limit of processes is reached (see ulimit -u)' "no process for a look-up"
expect_clean "no process for a look-up"

# ---- one that is stopped costs no spawn but the first ----

cat >"$work/behind" <<'END'
[ "$PMIX_RANK" = 0 ] && exec "$SPAWNER" -t 4 pmix.timeout "pmix.wdir=$1/hangs" -- true
while [ ! -e "$1/go" ]; do sleep 0.02; done
exec "$SPAWNER" -- true
END
rm -f "$work/go"
LD_PRELOAD=$HANGS "$SHMIX" run --on-failure notify -n 2 sh "$work/behind" "$work" >"$work/out" 2>"$work/err" &
launcher=$!
await "a look-up hangs" looks
kill -STOP "$looker"
touch "$work/go"
wait $launcher
expect_err "shmix-lookup) was stopped, and another one takes its place" "a looker that is stopped"
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "a looker that is stopped: the spawn behind is refused"
expect_clean "a looker that is stopped"

# ---- a job that ends takes its spawns along: nobody waits for what they have named ----

cat >"$work/killed" <<'END'
timeout -s KILL 1 "$@"
END
cat >"$work/well" <<'END'
timeout -s KILL 1 "$@"
exit 0
END
for ends in killed well; do
    LD_PRELOAD=$HANGS timeout -k 1 25 "$SHMIX" run --on-failure notify -n 1 sh "$work/$ends" "$SPAWNER" "pmix.wdir=$work/hangs" -- true \
        >"$work/out" 2>"$work/err"
    [ $? -ne 124 ] || fail "an asker that ends $ends: the launcher waits for its spawn"
    expect_err 'the job that asks for it is ending' "an asker that ends $ends"
    expect_clean "an asker that ends $ends"
done

# ---- and so does a tool that has gone, beside one that waits for its turn behind it ----

for waits in alone another; do
    rm -f "$work/there" "$work/over"
    LD_PRELOAD=$HANGS "$SHMIX" run -n 1 sh -c 'touch "$1/there"; while [ ! -e "$1/over" ]; do sleep 0.02; done' - "$work" \
        >"$work/out" 2>"$work/err" &
    launcher=$!
    await "a rank is there" [ -e "$work/there" ]
    PMIX_SERVER_PIDINFO=$launcher "$SPAWNER" "pmix.wdir=$work/hangs" -- true >"$work/first" 2>&1 &
    tool=$!
    await "a look-up hangs" looks
    if [ $waits = another ]; then
        PMIX_SERVER_PIDINFO=$launcher "$SPAWNER" pmix.notecomp -- true >"$work/second.out" 2>&1 &
        second=$!
    fi
    kill -KILL "$tool"
    wait "$tool" 2>/dev/null
    await "a tool that has gone: its spawn is refused" grep -q 'the tool that asks for it has gone' "$work/err"
    if [ $waits = another ]; then
        wait "$second"
        grep -qx 'spawn: PMIX_SUCCESS' "$work/second.out" || fail "the tool behind it: $(cat "$work/second.out")"
    fi
    touch "$work/over"
    wait "$launcher" || fail "a tool that has gone: the job fails"
    expect_clean "a tool that has gone"
done

# ---- a process that a job has left hangs in the kernel: whose it is costs the launcher nothing ----

cat >"$work/behind" <<'END'
"$SPAWNER" pmix.notecomp -- "$RANK" stuck "$1/stuck"
wc -c <"$1/looks" >"$1/first"
"$SPAWNER" pmix.notecomp -- true
"$SPAWNER" pmix.notecomp -- true
END
STUCK=$work/stuck COUNTED=$work/looks launch -n 1 sh "$work/behind" "$work"
expect_code 0 "a process that hangs"
[ "$(grep -cx 'spawn: PMIX_SUCCESS' "$work/out")" = 3 ] || fail "a process that hangs: what is spawned behind it"
# The first job looks at it for two seconds, some hundred times.  Each of the others does so twice, and once more at the end.
[ "$(cat "$work/first")" -gt 100 ] && [ $(($(wc -c <"$work/looks") - $(cat "$work/first"))) -le 20 ] ||
    fail "a process that hangs: $(cat "$work/first") looks of the first job, and $(wc -c <"$work/looks") of all"
gone "$(cat "$work/stuck")" || fail "a process that hangs: it is left"
expect_clean "a process that hangs"

# ---- a file is read once for all applications of a spawn ----

echo localhost >"$work/counted"
COUNTED=$work/count launch -n 1 "$SPAWNER" -a 40 "pmix.hostfile=$work/counted" -- true
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "a file of nodes: not spawned"
[ "$(wc -c <"$work/count")" -le 1 ] || fail "a file of nodes of 40 applications: read $(wc -c <"$work/count") times"

# ---- the launcher itself touches no file that a spawn names, before and after it ----

mkdir "$work/named"
if strace -o "$work/calls" true 2>/dev/null; then
    strace -e trace=file,chdir -o "$work/calls" "$SHMIX" run -n 1 "$SPAWNER" -a 2 "pmix.wdir=$work/named" -- /bin/sleep 0 \
        >"$work/out" 2>"$work/err"
    grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "a folder: not spawned"
    grep -v execve "$work/calls" | grep -F "$work/named" >"$work/err" && fail "the launcher touches a spawn's folder"
else
    echo "the launcher's calls are not looked at: strace is not there, or refused"
fi

finish
