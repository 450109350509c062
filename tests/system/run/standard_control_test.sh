# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# standard_control_test.sh - a program that knows the Standard alone controls a job: as a tool and
# as a rank, one rank, all and a group; nobody, and another user.
. "$(dirname "$0")/lib.sh"

go=$work/go
server=
trap 'touch "$go"; [ -z "$server" ] || kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

controls() { # STATUS ARGS...
    want=$1
    shift
    got=$("$JCTRL" "$@" 2>"$work/err")
    [ "$got" = "$want" ] || fail "jctrl $*: $got, not $want"
}
job_look() { # whose ranks are where
    "$SHMIX" ls procs --json "$server" >"$work/procs"
    job=$(sed -n 's/^{"rank":0,.*"nspace":"\([^"]*\)"}$/\1/p' "$work/procs")
    for rank in 0 1 2; do
        sed -n "s/^{\"rank\":$rank,\"pid\":\([0-9]*\),.*/\1/p" "$work/procs" >"$work/pid.$rank"
    done
}
pid() { cat "$work/pid.$1"; }

# As a tool.
"$SHMIX" run -n 2 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "both ranks have said who they are" lines_are "$work/job" 2 || finish
job_look
controls PMIX_SUCCESS "$job" 0 pmix.jctrl.pause
await "rank 0 is stopped" is_stopped "$(pid 0)"
runs "$(pid 1)" || fail "rank 1 is not meant"
controls PMIX_SUCCESS "$job" all pmix.jctrl.pause
await "rank 1 is stopped" is_stopped "$(pid 1)"
controls PMIX_SUCCESS "$job" all pmix.jctrl.resume
await "rank 0 goes on" runs "$(pid 0)"
await "rank 1 goes on" runs "$(pid 1)"
controls PMIX_SUCCESS "$job" 1 pmix.jctrl.defpset=mine
controls PMIX_SUCCESS "$job" 1 pmix.jctrl.defpset=named pmix.jctrl.id=request
controls PMIX_ERR_NOT_FOUND "$job" 7 pmix.jctrl.pause
controls PMIX_ERR_NOT_FOUND nobody 0 pmix.jctrl.kill
controls PMIX_ERR_BAD_PARAM "$job" 0 pmix.jctrl.sig=TERM
controls PMIX_ERR_NOT_SUPPORTED "$job" 0 pmix.jctrl.ckpt=name

# The session is the launcher's.
controls PMIX_SUCCESS session all pmix.ssn.pause
await "rank 0 is stopped with its session" is_stopped "$(pid 0)"
await "rank 1 is stopped with its session" is_stopped "$(pid 1)"
controls PMIX_SUCCESS session "$server" pmix.ssn.resume pmix.ssnctrl.id=request
await "rank 0 goes on with its session" runs "$(pid 0)"
await "rank 1 goes on with its session" runs "$(pid 1)"
controls PMIX_ERR_NOT_FOUND session 1 pmix.ssn.pause
controls PMIX_ERR_NOT_SUPPORTED session all pmix.ssn.preempt
grep -q 'for a scheduler; a session here can be paused' "$work/err" || fail "it is not said what a session can"
controls PMIX_ERR_NOT_SUPPORTED session all pmix.ssnctrl.id=request
controls PMIX_ERR_NOT_SUPPORTED session all no.such.thing
controls PMIX_ERR_BAD_PARAM session all pmix.ssn.pause pmix.ssn.resume
controls PMIX_ERR_BAD_PARAM session all pmix.ssn.sig=TERM

# Another user, who knows where the server is, and one who says that he is a rank of it: who he is
# the kernel says.
other="setpriv --reuid 65534 --regid 65534 --clear-groups"
other_runs() { # it can read the program, which wants arguments
    [ "$(id -u)" = 0 ] && { $other "$JCTRL" 2>/dev/null; [ $? = 2 ]; }
}
if other_runs; then
    uri=$(sed -n 1p "$TMPDIR"/shmix-*/pmix.*.tool."$server")
    got=$($other "$JCTRL" -u "$uri" "$job" 0 pmix.jctrl.kill 2>"$work/err")
    [ "$got" = "init: PMIX_ERR_NO_PERMISSIONS" ] || fail "another user as a tool: $got"
    got=$($other "$JCTRL" -u "$server" "$job" 0 pmix.jctrl.kill 2>"$work/err")
    [ "$got" = "init: PMIX_ERR_NO_PERMISSIONS" ] || fail "another user as a tool of that process: $got"
    tr '\0' '\n' <"/proc/$(pid 0)/environ" | grep '^\(PMIX\|SHMIX\)_' >"$work/env"
    got=$($other env $(cat "$work/env") "$JCTRL" "$job" 0 pmix.jctrl.kill 2>"$work/err")
    [ "$got" = "init: PMIX_ERR_NO_PERMISSIONS" ] || fail "another user as a rank: $got"
    runs "$(pid 0)" || fail "another user has killed rank 0"
else
    echo "skipped: another user needs root, setpriv and a place that he can read"
fi

controls PMIX_SUCCESS "$job" 0 pmix.jctrl.sig=9
await "rank 0 has ended" is_gone "$(pid 0)"
wait "$server"
server=
expect_clean "a job of which a rank was killed"

# As a rank: rank 2 does it, and ends the job at last.
cat >"$work/rank.sh" <<'SH'
until [ -e "$1/begin" ]; do sleep 0.05; done
for directive in pause resume; do
    "$JCTRL" "$PMIX_NAMESPACE" 0 pmix.jctrl.$directive >>"$1/said"
    until [ -e "$1/$directive.seen" ]; do sleep 0.05; done
done
"$JCTRL" "$PMIX_NAMESPACE" 7 pmix.jctrl.pause >>"$1/said"
"$JCTRL" "$PMIX_NAMESPACE" all pmix.jctrl.term >>"$1/said"
SH
"$SHMIX" run -n 2 "$RANK" late "$go" : -n 1 sh "$work/rank.sh" "$work" >"$work/job" 2>"$work/err" &
server=$!
await "ranks 0 and 1 have said who they are" lines_are "$work/job" 2 || finish
job_look
touch "$work/begin"
await "rank 0 is stopped by a rank" is_stopped "$(pid 0)"
is_stopped "$(pid 1)" && fail "rank 1 is stopped as well"
touch "$work/pause.seen"
await "rank 0 goes on" runs "$(pid 0)"
touch "$work/resume.seen"
wait "$server"
code=$?
server=
expect_code 143 "a rank ends the job"
[ "$(head -n 3 "$work/said" | tr '\n' ' ')" = "PMIX_SUCCESS PMIX_SUCCESS PMIX_ERR_NOT_FOUND " ] ||
    fail "as a rank: $(cat "$work/said")"
expect_clean "a job that a rank has ended"

# A group: all of it, one of it, all of it at last.
"$SHMIX" run -n 3 "$RANK" group "$work/step" >"$work/job" 2>&1 &
server=$!
has_group() {
    "$SHMIX" ls groups --json "$server" >"$work/groups" && grep -q '"kind":"group"' "$work/groups"
}
await "there is a group" has_group || finish
group=$(sed -n 's/^{"kind":"group","name":"\([^"]*\)".*/\1/p' "$work/groups")
job_look
controls PMIX_SUCCESS "$group" all pmix.jctrl.pause
for rank in 0 1 2; do
    await "member $rank is stopped" is_stopped "$(pid $rank)"
done
controls PMIX_SUCCESS "$group" 1 pmix.jctrl.resume
await "member 1 goes on" runs "$(pid 1)"
is_stopped "$(pid 0)" || fail "member 0 goes on as well"
controls PMIX_ERR_NOT_FOUND "$group" 9 pmix.jctrl.resume
controls PMIX_SUCCESS "$group" all pmix.jctrl.kill
wait "$server"
server=
for rank in 0 1 2; do
    is_gone "$(pid $rank)" || fail "member $rank is still there"
done
expect_clean "at the end"
finish
