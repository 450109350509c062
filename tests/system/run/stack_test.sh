# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# stack_test.sh - `shmix stack` of a running job, by a tool that is made here and by those that are installed: whom a word
# means, ranks that are stopped, tools that hang, flood or fail, and other users.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run -n 3 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "the ranks have said who they are" lines_are "$work/job" 3 || finish
job=$("$SHMIX" ls jobs --json "$server" | sed -n 's/.*"nspace":"\([^"]*\)".*/\1/p')
pid_of() { "$SHMIX" ls procs --json "$server" | sed -n "s/^{\"rank\":$1,\"pid\":\([0-9]*\),.*/\1/p"; }
p0=$(pid_of 0) p1=$(pid_of 1) p2=$(pid_of 2)

# A tool that says what it was asked, and does what $work/how says.
mkdir "$work/bin"
cat >"$work/bin/eu-stack" <<'END'
#!/bin/sh
case $HOW in
hangs) exec sleep 1000 ;;
ignores) trap '' TERM; while :; do sleep 1; done ;;
floods) printf 'TID %s:\n' "$2"; yes '#0  0x1 flood - /bin/flood' ;;
fails) echo "eu-stack: pid $2: Permission denied" >&2; exit 2 ;;
stops) kill -STOP "$2"; exec sleep 1000 ;;
esac
printf 'TID %s:\n#0  0x%s in_a_fence - /bin/prog\n' "$2" "$2"
END
chmod +x "$work/bin/eu-stack"

stack() { # ARGS...
    PATH=$work/bin:$PATH "$SHMIX" stack "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_group() { # PATTERN ARGS...: one group, and it is this
    pattern=$1
    shift
    stack "$@"
    expect_code 0 "shmix stack $*"
    grep -q -e "$pattern" "$work/out" || fail "no '$pattern': shmix stack $*"
    [ "$(grep -c 'main thread' "$work/out")" = 1 ] || fail "not one group: shmix stack $*"
}

# Whom a word means.
expect_group "^ranks 0-2 of $job (processes [0-9,-]*), main thread:\$" "$job"
expect_group "^ranks 0-2 of $job " "$server"
expect_group "^ranks 0,2 of $job " "$job.0,2"
expect_group "^ranks 0,2 of $job " "$job" --rank 0,2
expect_group "^rank 1 of $job (process $p1), main thread:\$" "$p1"
expect_group "^ranks 0-1 of $job " "$p0" "$p1" "$p0"
expect_group "^  #0   in_a_fence from /bin/prog\$" "$job.*"
stack --servers "$job"
grep -q "^process $server, main thread:" "$work/out" || fail "the server is not shown"
stack "$job.7"
expect_code 1 "a rank that is not there"
expect_err "has no process of rank 7 here" "a rank that is not there"
stack "$job" no.such.job
expect_code 1 "one job of two"
expect_err "no job 'no.such.job' runs here" "one job of two"
grep -q '^ranks 0-2' "$work/out" || fail "the other job is not shown"

# A process that another tool holds for a moment is waited for; a debugger that stays is named.
if command -v gdb >/dev/null; then
    mkfifo "$work/held" "$work/free"
    gdb -nx -batch -iex 'set auto-load no' -p "$p1" -ex "shell : >'$work/held'; cat '$work/free'" >/dev/null 2>&1 </dev/null &
    holder=$!
    if timeout 60 cat "$work/held" && grep -q '^TracerPid:[[:space:]]*[1-9]' "/proc/$p1/status"; then
        stack "$job.1"
        expect_code 1 "a process that a debugger holds"
        expect_err "no stack of rank 1 .*: process $holder, a debugger or the like, holds it" "a process that a debugger holds"
    else
        echo "not tested: a process that a debugger holds, as nothing may be traced here"
    fi
    timeout 60 sh -c ': >"$1"' - "$work/free"
    wait $holder
fi

# Tools that do not do their work.
export HOW
HOW=fails
stack "$job.0"
expect_code 1 "a tool that fails"
expect_err "no stack of rank 0 of $job (process $p0): eu-stack: pid $p0: Permission denied: may it be traced here" "a tool that fails"
for HOW in hangs ignores; do
    stack --timeout 0.1 "$job.0"
    expect_code 1 "a tool that $HOW"
    expect_err "no stack of rank 0 .* has not shown it in time" "a tool that $HOW"
done
HOW=floods
stack --frames 3 "$job.0"
expect_err "only the first 4 MiB of its stacks are shown" "a tool that floods"
grep -q "more frames are left out" "$work/out" || fail "a tool that floods: no word of more frames"
HOW=stops
stack --timeout 0.3 "$job.0"
await "the rank goes on" runs "$p0"
HOW=hangs
stack --timeout 100 --within 0.1 "$job"
expect_code 1 "no time for all"
[ "$(grep -c 'in time\|before its turn' "$work/err")" = 3 ] || fail "no time for all: not three lines"
if command -v taskset >/dev/null; then # one at a time
    cpu=$(sed -n 's/^Cpus_allowed_list:[[:space:]]*\([0-9]*\).*/\1/p' /proc/self/status)
    PATH=$work/bin:$PATH taskset -c "$cpu" "$SHMIX" stack --timeout 100 --within 0.1 "$job" >"$work/out" 2>"$work/err"
    [ "$(grep -c 'before its turn' "$work/err")" = 2 ] || fail "one CPU, no time for all: not two lines"
fi
HOW=

# None is installed; a user may not look.
PATH=/nowhere "$SHMIX" stack "$job" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "no tool"
expect_err 'no stack traces: neither eu-stack nor gdb is in PATH; install elfutils' "no tool"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
    chmod 755 "$work"
    setpriv --reuid 65534 --clear-groups "$SHMIX" stack "$p0" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "of another user"
    expect_err "no stack of process $p0: it may be looked at by its user and root only; it belongs to user root" "of another user"
else
    echo "not tested: another user's process, for want of root and setpriv"
fi

# The tools that are installed; a stopped rank stays stopped.
kill -STOP "$p2"
await "the rank is stopped" is_stopped "$p2"
for tool in gdb eu-stack; do
    if ! command -v $tool >/dev/null; then
        echo "not tested: $tool, which is not installed"
        continue
    fi
    "$SHMIX" stack --tool $tool --timeout 60 --within 120 "$job" >"$work/out" 2>"$work/err"
    code=$?
    if grep -q 'may it be traced' "$work/err"; then
        echo "not tested: $tool, as nothing may be traced here"
        continue
    fi
    expect_code 0 "$tool"
    grep -q "^ranks 0-2 of $job (processes " "$work/out" || fail "$tool: no group of three"
    grep -q "  #[0-9]*  *main" "$work/out" || fail "$tool: no main"
    is_stopped "$p2" || fail "$tool: the stopped rank runs"
    runs "$p0" || fail "$tool: rank 0 does not run"
done
kill -CONT "$p2"

touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
finish
