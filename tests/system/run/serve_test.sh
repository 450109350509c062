# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# serve_test.sh - jobs that `shmix run` hands to the server of `shmix serve` behave as without it: what ranks inherit, output,
# signals, exit codes.  What cannot be handed on runs without the server.  Neither side waits for a lost or stopped other.
. "$(dirname "$0")/lib.sh"

# Only what this script opens is to be inherited.
exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&- </dev/null
folder=$TMPDIR/shmix-$(id -u)-serve
children() {
    cat "/proc/$server/task/$server/children"
}
spares=$(nproc)
[ "$spares" -ge 2 ] || spares=2
[ "$spares" -le 16 ] || spares=16
# The spares are there, and no launcher of a job before.
is_quiet() {
    [ "$(children | wc -w)" -eq "$spares" ]
}
server_gone() {
    ! runs "$server"
}
begin() {
    (umask 0777; "$SHMIX" serve --background "$@") || fail "serve --background $*"
    server=$(cat "$folder/lock")
    await "the spares" is_quiet
}
ends() {
    trap 'exec 2>/dev/null; kill -CONT $server $(children) $job; kill -9 $server $job; rm -rf "$work"' EXIT
    job=
}
ends 2>/dev/null
end() {
    "$SHMIX" serve --stop || fail "serve --stop"
    await "nothing is left of the server" nothing_left
}

# ---- what ranks inherit ---------------------------------------------------------------------------

# Everything that a rank can tell of itself, but for names and numbers that each job has of its own.
cat >"$work/facts" <<'EOF'
pwd; umask; ulimit -a; ulimit -Ha
env | grep -v -e '^_=' -e '^PMIX' -e '^PMI_' -e 'shmix-[0-9]' -e '^SHMIX_SERVER' -e '^OMPI_MCA_orte' | sort
grep -e ^Umask -e ^Cap -e ^SigBlk -e ^SigIgn -e ^Seccomp -e ^NoNew -e ^Spec -e ^Cpus_ -e ^Mems_ -e ^THP -e ^Uid -e ^Gid -e ^Groups /proc/self/status
cat /proc/self/oom_score_adj /proc/self/coredump_filter /proc/self/timerslack_ns /proc/self/personality /proc/self/cgroup 2>&1
ls -l /proc/self/fd | sed 's/.* \([0-9]* ->\)/\1/' | grep -v -e '/proc/' -e total -e pipe -e anon -e '/u (del' -e socket:
nice; ionice 2>&1; chrt -p $$ | sed 's/pid [0-9]*//'; taskset -p $$ | sed 's/pid [0-9]*//'
numactl --show 2>/dev/null | grep -v cpubind
read line && echo "read $line"
exit 3
EOF
# same WHAT BEFORE...: the words before `shmix run`, as a shell's
same() {
    what=$1
    shift
    for how in no-server server; do
        (eval "$*"' "$SHMIX" run --'$how' -n 1 sh "$work/facts"' >"$work/$how.out" 2>"$work/$how.err" <"$work/input"
        echo "code $?" >>"$work/$how.out")
        sed -i 's/pid [0-9]*/pid/' "$work/$how.err"
    done
    cmp -s "$work/no-server.out" "$work/server.out" && cmp -s "$work/no-server.err" "$work/server.err" ||
        fail "$what: $(diff "$work/no-server.out" "$work/server.out"; diff "$work/no-server.err" "$work/server.err")"
}
echo "a line" >"$work/input"
begin
same plain
grep -q '^code 3' "$work/server.out" && grep -q '^read a line' "$work/server.out" || fail "the facts are not there"
same folder 'cd /usr;'
same umask 'umask 027;'
same variables 'A="b c" PATH=$PATH:/x'
same "limit of files" 'ulimit -n 300;'
same "limit of core files" 'ulimit -c 7;'
same nice nice -n 3
same "ignored signal" "trap '' HUP USR1;"
same "another descriptor" 'exec 7<"$work/facts";'
same "a high descriptor" 'exec 9<"$work/facts"; '
same "a descriptor above the limit" 'exec 7<"$work/facts"; ulimit -n 150; for fd in 20 30 200; do :; done;'
! ionice true 2>/dev/null || same ionice ionice -c 2 -n 7
! chrt -b 0 true 2>/dev/null || same batch chrt -b 0
! setarch -R true 2>/dev/null || same personality setarch -R
same oom_score_adj 'echo 700 >/proc/self/oom_score_adj;' exec
same coredump_filter 'echo 0x7f >/proc/self/coredump_filter;' exec
same timerslack 'echo 70000 >/proc/self/timerslack_ns;' exec

# Each missing standard descriptor, as without a server.
for closed in '<&-' '>&-' '2>&-' '<&- >&- 2>&-'; do
    for how in no-server server; do
        (eval '"$SHMIX" run --'$how' -n 1 sh -c "cat; echo out; echo err >&2; ls -l /proc/self/fd >'"$work/$how.fds"'; exit 4" '"$closed")
        echo "code $?" >>"$work/$how.fds"
    done >"$work/out" 2>"$work/err"
    [ "$(tail -1 "$work/server.fds")" = "code 4" ] || fail "closed $closed: $(tail -1 "$work/server.fds")"
    [ "$(wc -l <"$work/server.fds")" = "$(wc -l <"$work/no-server.fds")" ] || fail "closed $closed: other descriptors"
done

# ---- what is not handed on ------------------------------------------------------------------------

# refused PATTERN BEFORE...: it runs without the server, and with --server not at all.
refused() {
    pattern=$1
    shift
    (eval "$*"' "$SHMIX" run -n 1 sh -c "echo ran"') >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "$*"
    expect_out ran "$*"
    (eval "$*"' "$SHMIX" run --server -n 1 sh -c "echo ran"') >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "--server: $*"
    expect_out "" "--server: $*"
    expect_err "$pattern" "--server: $*"
}
refused 'SHMIX_LOG is not the same' SHMIX_LOG=error
! setpriv --no-new-privs true 2>/dev/null || refused no_new_privs setpriv --no-new-privs
! taskset -c 0 true 2>/dev/null || [ "$(nproc)" -eq 1 ] || refused CPUs taskset -c 0
! setpriv --inh-caps=-all --bounding-set=-all true 2>/dev/null || refused capabilities setpriv --inh-caps=-all --bounding-set=-all
! unshare -u true 2>/dev/null || refused namespace unshare -u
run --server --no-server -n 1 echo alone
expect_out alone "--no-server wins"
SHMIX_SERVER=yes "$SHMIX" run -n 1 sh -c 'echo $PPID' >"$work/out"
[ -n "$(cat "$work/out")" ] && [ "$(cat "$work/out")" -gt 0 ] || fail "SHMIX_SERVER=yes"
cp "$SHMIX" "$work/shmix"
"$work/shmix" run --server true 2>"$work/err" && fail "a copy of the command"
expect_err 'another version' "a copy of the command"
run --server -n 1 --no-such-option true
expect_code 2 "a wrong option"
run --server -n 1 /no/such/program
expect_code 127 "no program"

# ---- signals --------------------------------------------------------------------------------------

# handed SCRIPT: a job of one rank, until it has written its pid; $job and $rank
handed() {
    rm -f "$work/pid"
    "$SHMIX" run --server -n 1 sh -c 'echo $$ >'"$work/pid.new; mv $work/pid.new $work/pid; $1" >"$work/out" 2>"$work/err" &
    job=$!
    await "the rank" test -s "$work/pid"
    rank=$(cat "$work/pid")
    launcher=$(sed -n 's/^PPid:[[:space:]]*//p' "/proc/$rank/status")
}
over() {
    wait $job
    code=$?
    job=
    await "$1: the rank has ended" is_gone "$rank"
    await "the spares" is_quiet
}
for signal in 15 1 3; do
    handed 'while :; do sleep 1; done'
    kill -$signal $job
    over "signal $signal"
    expect_code $((128 + signal)) "signal $signal"
    expect_err "got signal $signal (.*); ending the job" "signal $signal"
done
handed 'trap "echo one; exit 5" USR1; while :; do sleep 0.05; done'
kill -USR1 $job
over USR1
expect_code 5 USR1
expect_out one USR1
handed 'while :; do sleep 0.05; done'
kill -TSTP $job
await "the command stops" is_stopped $job
await "the rank stops" is_stopped "$rank"
kill -CONT $job
await "the rank goes on" runs "$rank"
kill -TSTP $job
await "the command stops again" is_stopped $job
kill -TERM $job
kill -CONT $job
over "stopped and ended"
expect_code 143 "stopped and ended"

# A lost command ends its job, and so does a stopped one that is killed.
handed 'trap "" TERM; while :; do sleep 1; done'
kill -9 $job
over "lost command"
handed 'while :; do sleep 0.05; done'
kill -TSTP $job
await "the command stops" is_stopped $job
kill -9 $job
over "lost while stopped"

# A lost launcher ends the command, and the job.
handed 'while :; do sleep 1; done'
kill -9 "$launcher"
over "lost launcher"
expect_code 1 "lost launcher"
expect_err 'has been lost' "lost launcher"

# A job ends with its time limit, and ls knows whose it is.
run --server --timeout 0.2 -n 1 sleep 60
expect_code 124 "--timeout"
handed 'while :; do sleep 0.05; done'
"$SHMIX" ls >"$work/ls"
grep -q "^ *$(id -un).* $launcher " "$work/ls" || fail "ls: $(cat "$work/ls")"
"$SHMIX" ls "$job" >"$work/ls" 2>&1
grep -q " $launcher " "$work/ls" || fail "ls by the command's pid: $(cat "$work/ls")"
for pid in $(children); do
    [ "$pid" = "$launcher" ] || ! grep -q " $pid " "$work/ls" || fail "ls has a spare: $(cat "$work/ls")"
done

# The job goes on without its server, and the next server takes the place of a killed one.
kill -9 "$server"
await "the end of a killed server" server_gone
runs "$rank" || fail "the job has ended with the server"
[ -S "$folder/socket" ] || fail "no socket is left"
begin
kill -TERM $job
wait $job
code=$?
expect_code 143 "a job of a killed server"

# ---- those who do not answer ----------------------------------------------------------------------

# A spare that gets a signal ends, and no later job does.
for number in 1 2 3; do
    kill -TERM $(children)
    for again in 1 2 3; do
        run --server -n 1 true
        [ $code -eq 0 ] || { [ $code -eq 1 ] && grep -q 'no server takes' "$work/err"; } || fail "after SIGTERM to spares: $code"
    done
    await "new spares" is_quiet
done
run --server -n 1 true
expect_code 0 "after all signals"

# A size limit of files is the job's, and no signal is the command's end.
(ulimit -f 0; exec "$SHMIX" run --server -n 1 true 2>&1) | grep -q 'File too large' || fail "ulimit -f 0"

# More jobs at once than launchers are ready: one that meets a launcher which has just been taken asks another.
burst=
for i in $(seq $((3 * spares))); do
    { "$SHMIX" run --server -n 1 sleep 0.2 || echo "job $i: code $?"; } >>"$work/burst" 2>&1 &
    burst="$burst $!"
done
wait $burst
[ ! -s "$work/burst" ] || fail "many jobs at once: $(cat "$work/burst")"
await "the spares" is_quiet

# Nobody answers: it runs here, once.
kill -STOP "$server" $(children)
run -n 1 sh -c "echo x >>$work/ran; echo ran"
expect_out ran "a stopped server"
lines_are "$work/ran" 1 || fail "a stopped server: ran $(wc -l <"$work/ran") times"
run --server -n 1 true
expect_err 'does not answer' "a stopped server"
# The reader of its output sees its end: what waits to be taken does not have the pipe.
"$SHMIX" run -n 1 echo ran | timeout 60 cat >"$work/read" || fail "a stopped server: the pipe has no end"
[ "$(cat "$work/read")" = ran ] || fail "a stopped server: the pipe has $(cat "$work/read")"
# The time that it waits counts for its limit.
run --timeout 0.9 -n 1 sh -c "sleep 0.8; echo ran"
expect_code 124 "--timeout while nobody answers"
waits() {
    [ "$(cut -d' ' -f1 "/proc/$job/syscall")" = 7 ] || grep -q poll "/proc/$job/wchan"
}
# Signals end and stop it while it waits, and then its job does not run.
for signal in 15 9 14 10; do
    "$SHMIX" run --server -n 1 sh -c "echo $signal >>$work/ran" &
    job=$!
    await "signal $signal: it waits" waits
    kill -$signal $job
    wait $job 2>/dev/null
    code=$?
    expect_code $((128 + signal)) "signal $signal while nobody answers"
done
job=
kill -CONT "$server" $(children)
run --server -n 1 true
await "the spares" is_quiet
lines_are "$work/ran" 1 || fail "a job has run after its command: $(cat "$work/ran")"

# Connections that say nothing hold up nobody.
if python3 -c '' 2>/dev/null; then
    python3 - "$folder/socket" "$work/silent" <<'EOF' &
import os, socket, sys, time
all = [socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) for i in range(40)]
for one in all:
    one.connect(sys.argv[1])
all[0].send(b"x" * 100)
all[1].send(b"x" * 8)
open(sys.argv[2], "w").close()
for one in all[2:]:
    one.recv(1)
EOF
    job=$!
    await "silent connections" test -e "$work/silent"
    run --server -n 1 echo heard
    [ "$(cat "$work/out")" = heard ] || grep -q 'does not answer\|hung up' "$work/err" || fail "beside silent connections"
    wait $job || fail "a silent connection is kept"
    job=
    run --server -n 1 echo heard
    expect_out heard "after silent connections"
fi

# ---- many -----------------------------------------------------------------------------------------

look() {
    await "the spares" is_quiet
    ls "/proc/$server/fd" | wc -l
}
before=$(look)
for number in $(seq 60); do
    "$SHMIX" run --server -n 1 true || fail "job $number"
done
[ "$(look)" = "$before" ] || fail "descriptors of the server: $before, then $(look)"
for number in $(seq 20); do
    "$SHMIX" run -n 1 sh -c "echo $number" &
done >"$work/out"
wait
[ "$(sort -n "$work/out" | tr '\n' ' ')" = "$(seq 20 | tr '\n' ' ')" ] || fail "twenty at a time"

# ---- the server itself ----------------------------------------------------------------------------

await "the spares" is_quiet
"$SHMIX" serve 2>"$work/err"
code=$?
expect_code 3 "a second server"
expect_err "a server already (pid $server)" "a second server"
end
# A cleaner of /tmp that removes what commands need ends it, and no other is kept from its place.
for file in socket lock ''; do
    begin
    rm -rf "$folder/$file"
    await "the end of a server without '$file'" server_gone
    await "nothing is left of it" nothing_left
done
"$SHMIX" serve --stop 2>"$work/err" && fail "--stop without a server"
expect_err 'no server to end' "--stop without a server"
"$SHMIX" serve --stop --background 2>"$work/err" && fail "--stop --background"
expect_err 'starts none' "--stop --background"
(ulimit -f 0; exec "$SHMIX" serve --background) 2>"$work/err" || fail "a server without files: $(cat "$work/err")"
"$SHMIX" serve --background 2>"$work/err"
[ $? -eq 3 ] || fail "a second server: $(cat "$work/err")"
"$SHMIX" serve --stop || fail "--stop of the server without files"
run --server -n 1 true
expect_code 1 "--server without one"
expect_err "there is none" "--server without one"
run -n 1 echo alone
expect_out alone "without a server"

"$SHMIX" serve --idle 0.3
code=$?
expect_code 0 "--idle"
expect_clean "--idle"

# A folder that is not ours alone is not used, nor one behind a link.
mkdir -m 755 "$folder"
"$SHMIX" serve 2>"$work/err"
code=$?
expect_code 1 "an open folder"
expect_err 'may look into it' "an open folder"
rmdir "$folder"
mkdir -m 700 "$work/elsewhere"
ln -s "$work/elsewhere" "$folder"
"$SHMIX" serve 2>"$work/err"
code=$?
expect_code 1 "a link"
rm "$folder"

# In the foreground it ends with SIGTERM.
"$SHMIX" serve &
server=$!
await "the socket" test -S "$folder/socket"
await "the spares" is_quiet
kill -TERM $server
wait $server
code=$?
expect_code 0 "SIGTERM"
await "nothing is left" nothing_left
finish
