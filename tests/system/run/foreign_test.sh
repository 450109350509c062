# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# foreign_test.sh - ranks with OpenPMIx in a job of ours: data both ways, ends of every kind, and
# nothing that stays, whichever of launcher, gateway and rank is killed.
. "$(dirname "$0")/lib.sh"

theirs_find || exit 77
own="--env LD_PRELOAD=$theirs"
limit="--timeout 60 --oversubscribe"

# oks COUNT WHAT
oks() {
    [ "$(grep -c ': ok$' "$work/out")" -eq "$1" ] || fail "$2: not $1 ranks are well"
}
children() {
    cat "/proc/$1/task/$1/children"
}
# The process that accepts, and those that serve: children of the launcher $job, and theirs.
accepting() {
    for pid in $(children "$job"); do
        grep -qs '^Name:[[:space:]]*shmix-gateway' "/proc/$pid/status" && echo "$pid"
    done
}
serving() {
    children "$(accepting)"
}

# ---- data and ends -----------------------------------------------------------------------------
run $limit -n 4 $own "$FOREIGN" data
expect_code 0 "data of their ranks"
oks 4 "data of their ranks"
run $limit -n 2 $own "$FOREIGN" data : -n 2 "$FOREIGN" data
expect_code 0 "data of a mixed job"
oks 4 "data of a mixed job"
for variable in PMIX_SERVER_URI4 PMIX_SERVER_URI3; do
    run $limit -n 2 $own sh -c "unset PMIX_SERVER_URI41; [ $variable = PMIX_SERVER_URI3 ] && unset PMIX_SERVER_URI4
        exec '$FOREIGN' data" : -n 1 "$FOREIGN" data
    expect_code 0 "data by $variable"
    oks 3 "data by $variable"
done
run $limit -n 2 $own "$FOREIGN" nameless
expect_code 0 "a value without a name"
oks 2 "a value without a name"
expect_err 'rank [01] has put a value under the empty key that cannot be stored (.*); give it a name' "a value without a name"
run $limit -n 3 $own "$FOREIGN" again
expect_code 0 "three times"
oks 3 "three times"
expect_clean "three times"
for loads in "" "$own"; do # what the server says does not depend on the library, what that computes does
    run $limit --bind-to core -n 2 $loads "$FOREIGN" devices
    expect_code 0 "devices"
    oks 2 "devices"
    grep 'from the server' "$work/out" | sort >"$work/devices.$(echo "$loads" | wc -w)"
done
cmp "$work/devices.0" "$work/devices.2" || fail "devices: $(cat "$work/devices.2")"
quiet() { # a gateway and the other library log nothing
    [ "$(grep -vc '^shmix run: ' "$work/err")" -eq 0 ] || fail "$1: lines that nobody asked for"
}
run $limit -n 2 $own "$FOREIGN" lists
expect_code 0 "lists of their ranks"
oks 2 "lists of their ranks"
[ "$(grep -c "connected: -46$" "$work/out")" -eq 2 ] || fail "a key that they cannot store is not found"
quiet "lists of their ranks"
run $limit -n 1 $own "$FOREIGN" lists : -n 1 "$FOREIGN" lists
expect_code 0 "lists of a mixed job"
oks 2 "lists of a mixed job"
grep -q "1: connected: 0$" "$work/out" || fail "a key that ours can store is found"
quiet "lists of a mixed job"

# ---- events ------------------------------------------------------------------------------------
for first in "$own" ""; do
    rm -f "$work/published"
    run $limit $first -n 1 "$FOREIGN" late "$work/published" : $own -n 2 "$FOREIGN" late "$work/published" : \
        -n 1 "$FOREIGN" late "$work/published"
    expect_code 0 "events before their ranks come"
    oks 4 "events before their ranks come"
    run $limit $first -n 1 "$FOREIGN" recode : $own -n 2 "$FOREIGN" recode
    expect_code 0 "a code is deregistered, and registered again"
    oks 3 "a code is deregistered, and registered again"
done

run $limit -n 2 $own "$FOREIGN" exit 5
expect_code 5 "an exit code"
run $limit -n 2 $own "$FOREIGN" leave 0
[ "$code" -ne 0 ] || fail "an end without finalize is a failure"
run $limit -n 2 $own "$FOREIGN" abort 6
expect_code 6 "an abort"
expect_err "called abort with status 6" "an abort"
quiet "an abort"
run $limit -n 4 $own "$FOREIGN" starts
expect_code 0 "children that are refused"
oks 4 "children that are refused"
run $limit -n 2 $own "$FOREIGN" forks
expect_code 7 "a rank ends whose child holds the connection"
expect_clean "ends"

# ---- identity ----------------------------------------------------------------------------------
start() {
    rm -f "$work/out"
    "$SHMIX" run $limit --quiet "$@" >"$work/out" 2>"$work/err" &
    job=$!
}
ready() {
    [ "$(grep -c ready "$work/out")" -eq "$1" ]
}
pid_of() {
    sed -n "s/^$1 \([0-9]*\) ready$/\1/p" "$work/out"
}
start -n 1 $own "$FOREIGN" wait : -n 1 "$FOREIGN" wait
await "a mixed job" ready 2
"$SHMIX" ls clients "$job" >"$work/list"
grep -q "client  *$(pid_of 0) .* 0 [^ ]*  *OpenPMIx [0-9.]* by a gateway$" "$work/list" || fail "ls clients: theirs: $(cat "$work/list")"
grep -q "client  *$(pid_of 1) .* 1 [^ ]*  *shmix$" "$work/list" || fail "ls clients: ours: $(cat "$work/list")"
"$SHMIX" ls clients --json "$job" >"$work/list"
grep -q "\"pid\":$(pid_of 0),.*\"library\":\"OpenPMIx [0-9.]* by a gateway\"" "$work/list" || fail "ls clients --json: $(cat "$work/list")"
"$SHMIX" ls procs "$job" | grep -q "^ *0  *$(pid_of 0) " || fail "ls procs"
[ "$(serving | wc -w)" -eq 1 ] || fail "a gateway for a rank of ours"
[ "$(readlink "/proc/$(accepting)/fd/0")" = /dev/null ] || fail "the gateway keeps the launcher's input"
memory=$(awk '/^Private_Dirty:/ { print $2 }' "/proc/$(serving | tr -d " ")/smaps_rollup")
[ "$memory" -le 512 ] || fail "a gateway has $memory KiB of its own"
echo "$(accepting) $(serving)" >"$work/pids"

# ---- kill -9 -----------------------------------------------------------------------------------
kill -9 "$(pid_of 0)"
wait $job
code=$?
expect_code 137 "a rank is killed"
expect_clean "a rank is killed"
all_gone "$work/pids" || fail "a rank is killed: gateways stay"

# Gateways that are stopped hold nothing up, and do not stay.
start -n 2 $own "$FOREIGN" wait
await "a job" ready 2
echo "$(accepting) $(serving)" >"$work/pids"
kill -STOP $(cat "$work/pids")
kill -9 "$(pid_of 0)"
wait $job
code=$?
expect_code 137 "a rank with a stopped gateway is killed"
await "a rank with a stopped gateway is killed: gateways go" all_gone "$work/pids"
start -n 2 $own "$FOREIGN" wait
await "a job" ready 2
echo "$(accepting) $(serving) $(pid_of 0) $(pid_of 1)" >"$work/pids"
kill -STOP $(accepting) $(serving)
kill -9 $job
wait $job 2>/dev/null
await "the launcher is killed, gateways are stopped: all end" all_gone "$work/pids"
await "the launcher is killed, gateways are stopped: the directory goes" nothing_left

start -n 2 $own "$FOREIGN" wait
await "a job" ready 2
kill -9 $(serving)
wait $job
code=$?
[ "$code" -ne 0 ] || fail "the gateways are killed: the job ends well"
expect_err "lost its PMIx client" "the gateways are killed"
expect_clean "the gateways are killed"

# The one that accepts may be killed: another one takes its place when a rank comes.
start -n 2 $own sh -c "'$FOREIGN' data && until [ -e '$work/go' ]; do sleep 0.05; done; exec '$FOREIGN' data"
await "ranks are through" lines_are "$work/out" 2
first=$(accepting)
kill -9 "$first"
await "it is gone" is_gone "$first"
touch "$work/go"
wait $job
code=$?
expect_code 0 "the one that accepts is killed"
oks 4 "the one that accepts is killed"
expect_clean "the one that accepts is killed"

start -n 2 $own "$FOREIGN" wait
await "a job" ready 2
echo "$(accepting) $(serving) $(pid_of 0) $(pid_of 1)" >"$work/pids"
kill -9 $job
wait $job 2>/dev/null
await "the launcher is killed: all end" all_gone "$work/pids"
await "the launcher is killed: the directory goes" nothing_left

# ---- under another host: a gateway of the rank's own ---------------------------------------------
under_host() {
    timeout 60 "$HOST" "$@" >"$work/out" 2>"$work/err"
    code=$?
}
under_host 2 "$SHMIX" gateway -- env LD_PRELOAD="$theirs" "$FOREIGN" data
expect_code 0 "under another host"
oks 2 "under another host"
under_host 1 "$SHMIX" gateway env LD_PRELOAD="$theirs" "$FOREIGN" exit 0
expect_code 0 "without the dashes"
under_host 1 "$SHMIX" gateway "$work/no/such/program"
expect_err "cannot execute '$work/no/such/program': No such file" "no program"
gateways() { # of this test: their environment has its directory
    for process in /proc/[0-9]*; do
        grep -qs '^Name:[[:space:]]*shmix-gateway' "$process/status" &&
            tr '\0' '\n' <"$process/environ" 2>/dev/null | grep -qx "TMPDIR=$TMPDIR" && echo "${process#/proc/}"
    done
}
no_gateways() {
    [ -z "$(gateways)" ]
}
await "gateways of ranks that have ended" no_gateways
for victim in rank host; do
    rm -f "$work/out"
    if [ $victim = rank ]; then
        timeout 60 "$HOST" 2 "$SHMIX" gateway env LD_PRELOAD="$theirs" "$FOREIGN" wait >"$work/out" 2>"$work/err" &
    else
        SHMIX_GATEWAY=1 "$HOST" 2 env LD_PRELOAD="$theirs" "$FOREIGN" wait >"$work/out" 2>"$work/err" &
    fi
    job=$!
    await "ranks under another host" ready 2
    [ -n "$(gateways)" ] || fail "there are no gateways"
    [ $victim = host ] && kill -9 $job
    kill -9 "$(pid_of 0)" "$(pid_of 1)"
    wait $job 2>/dev/null
    await "the $victim is killed: gateways end" no_gateways
done

# ... or of the server's, where the host wants one.
SHMIX_GATEWAY=1 under_host 3 env LD_PRELOAD="$theirs" "$FOREIGN" data
expect_code 0 "by the server"
oks 3 "by the server"
MINIHOST_KEY=pmix.minihost SHMIX_GATEWAY=1 under_host 1 env LD_PRELOAD="$theirs" "$FOREIGN" data
expect_code 0 "a reserved key that is the host's own"
quiet "a reserved key that is the host's own"
SHMIX_GATEWAY=1 under_host 2 "$FOREIGN" data
expect_code 0 "by the server, ranks of ours"
SHMIX_GATEWAY=yes under_host 1 true
expect_err "SHMIX_GATEWAY is 'yes': set it to 1 or 0" "a value that there is not"
"$SHMIX" gateway true >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "without a host"
expect_err "not a rank of a host with this library" "without a host"
PMIX_SERVER_URI41="their.0;tcp4://127.0.0.1:1" "$SHMIX" gateway true >"$work/out" 2>"$work/err"
expect_err "start the program without 'shmix gateway'" "under a host with their library"
"$SHMIX" gateway >"$work/out" 2>"$work/err"
code=$?
expect_code 2 "without a program"

# ---- nobody else -------------------------------------------------------------------------------
run $limit -n 2 "$FOREIGN" data
expect_code 0 "a job of ours"
grep -q OpenPMIx "$work/err" && fail "a job of ours: it is told of another library"
finish
