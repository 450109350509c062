# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# doctor_test.sh - `shmix doctor` of real jobs and real left-overs; and every kind of finding has a
# test, here or in tests/unit/cli/doctor_test.c.
. "$(dirname "$0")/lib.sh"

go=$work/go
server='' late=''
trap 'touch "$go"; kill -CONT $server $late 2>/dev/null; kill $server 2>/dev/null; wait; rm -rf "$work"' EXIT

doctor() {
    "$SHMIX" doctor "$@" >"$work/out" 2>"$work/err"
    code=$?
}
finds() { # PATTERN [ARGS...]
    pattern=$1
    shift
    doctor "$@"
    grep -q -e "$pattern" "$work/out"
}
expect_finds() {
    finds "$@" || fail "no '$1' in: shmix doctor $*"
}
expect_not() { # PATTERN [ARGS...]
    ! finds "$@" || fail "'$1' in: shmix doctor $*"
}
# The exit code is that of the worst finding, whatever this machine has of its own.
expect_worst() {
    doctor --json "$@"
    want=0
    grep -q '"level":"warning"' "$work/out" && want=1
    grep -q '"level":"problem"' "$work/out" && want=2
    expect_code $want "shmix doctor --json $*"
}

# The place for sessions.
expect_not 'warning  session\|warning  contact'
expect_worst
grep -q '^[0-9]* problem' "$work/out" && fail "a sentence among the JSON"
mkdir "$TMPDIR/shmix-$(id -u)-1-a1b2c3"
printf 'gone.0;unix:@shmix-%s-1-2-abcdef\nshmix 1\n1\n%s:%s\n' "$(id -u)" "$(id -u)" "$(id -g)" \
    >"$TMPDIR/pmix.$(uname -n).tool.gone"
chmod 600 "$TMPDIR/pmix.$(uname -n).tool.gone"
expect_finds "^warning  session: $TMPDIR/shmix-$(id -u)-1-a1b2c3 of user "
expect_finds "^warning  contact: $(realpath "$TMPDIR")/pmix\..*\.tool\.gone, of process 1, "
expect_worst
rm -r "$TMPDIR"/*
TMPDIR=$work/nothing expect_finds '^problem  tmpdir: .*/nothing: No such file or directory$'
TMPDIR=$work/nothing expect_worst
[ $code -eq 2 ] || fail "a problem has the exit code 2"
if [ -z "${SANITIZED:-}" ]; then # its runtime looks for these itself
    mkdir "$work/bad"
    echo nonsense >"$work/bad/libhwloc.so.15"
    LD_LIBRARY_PATH=$work/bad expect_finds '^warning  libraries: libhwloc.so.15 cannot be loaded: '
fi

# A job: nothing to say of it, but of ranks that are more than CPUs.
cp "$LIBRARY" "$work/libpmix.so.2"
"$SHMIX" run -n 1 "$RANK" fence : -n 1 -x LD_PRELOAD="$work/libpmix.so.2" "$RANK" late "$go" \
    >"$work/job" 2>&1 &
server=$!
await "rank 1 has said who it is" grep -q '^late' "$work/job" || finish
late=$(sed -n 's/^late //p' "$work/job")
expect_not 'session:\|stopped:\|missing:\|layout:\|deleted:' "$server"
if [ -z "${SANITIZED:-}" ]; then # its runtime has to be the first that is loaded
    expect_finds '^warning  library-mixed: clients of server '"$server: process " "$server"
    rm "$work/libpmix.so.2"
    expect_finds "^warning  library-deleted: process $late has $work/libpmix.so.2 (deleted)\$"
fi
job=$("$SHMIX" ls jobs --json "$server" | sed -n 's/.*"nspace":"\([^"]*\)".*/\1/p')

kill -STOP "$late"
await "the rank is stopped" is_stopped "$late"
await "a member of the fence is missing" finds \
    "^problem  member-missing: fence of server $server: 1 of 2 have arrived; $job.1 (process $late) is " --job "$job"
expect_finds "^warning  rank-stopped: rank 1, process $late of server $server, is stopped\$" "$job"
expect_finds "or end the job: shmix kill $job\"" --json "$job"
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
expect_finds "^problem  server-stopped: server $server is stopped\$" --pid "$server"
expect_worst "$server"
kill -CONT "$server" "$late"
touch "$go"
wait "$server"
server='' late=''

# A rank that is stopped before it is a client.
"$SHMIX" run -n 1 sh -c 'echo $$; exec sleep 1000' >"$work/job" 2>&1 &
server=$!
await "rank 0 has said who it is" grep -q '^[0-9]' "$work/job" || finish
late=$(cat "$work/job")
kill -STOP "$late"
await "the rank is stopped" is_stopped "$late"
expect_finds "^warning  rank-stopped: rank 0, process $late of server $server, is stopped, and has not called PMIx_Init\$" "$server"
kill -CONT "$late"
kill "$late"
wait "$server"
server='' late=''

# More ranks than CPUs.
rm -f "$go"
"$SHMIX" run --oversubscribe -n $(($(nproc) + 1)) "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "the ranks are connected" finds '^warning  oversubscribed: [0-9]* ranks are connected, on '
touch "$go"
wait "$server"
server=''

# What is asked for in vain.
doctor no-such-job
expect_code 2 "a job that is not there"
expect_err "no job 'no-such-job' runs here" "a job that is not there"
doctor $$
expect_code 2 "a process that is not a server"
expect_err "process $$ is no server of shmix" "a process that is not a server"
[ -s "$work/out" ] && fail "findings, although nothing was looked at"
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups "$SHMIX" --version >/dev/null 2>&1; then
    setpriv --reuid 65534 --clear-groups "$SHMIX" doctor 1 >"$work/out" 2>"$work/err"
    code=$?
    expect_code 2 "another user's process"
    expect_err "process 1 can be inspected by its user and root only" "another user's process"
fi
doctor --fix
expect_code 2 "--fix"

# Each kind has a test.
doctor --kinds --json
expect_code 0 "--kinds"
[ "$(grep -c '^{"kind":"' "$work/out")" -gt 30 ] || fail "the kinds"
for kind in $(sed -n 's/^{"kind":"\([a-z-]*\)",.*/\1/p' "$work/out"); do
    grep -q -e "[^a-z-]$kind\(:\|\\\\\"\)" "$(dirname "$0")/doctor_test.sh" \
        "$(dirname "$0")/../../unit/cli/doctor_test.c" || fail "no test finds '$kind'"
done
finish
