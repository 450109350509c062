# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# ls_procs_test.sh - `shmix ls procs`, `clients` and `sets`: who is there and how each is, in a pty
# and as JSON, also when the server is stopped; and what is said when nobody is there.
. "$(dirname "$0")/lib.sh"

go=$work/go
"$SHMIX" run --pset ocean -n 1 true : -n 2 --pset ice "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

ls_of() { # ARGS...
    "$SHMIX" ls "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_shows() { # PATTERN LINES ARGS...: as many lines, and one that matches
    pattern=$1 lines=$2
    shift 2
    ls_of "$@"
    expect_code 0 "shmix ls $*"
    grep -q -e "$pattern" "$work/out" || fail "no '$pattern' in: shmix ls $*"
    [ "$(grep -c '' "$work/out")" = "$lines" ] || fail "not $lines lines: shmix ls $*"
}
expect_refuses() { # CODE PATTERN ARGS...
    want=$1 pattern=$2
    shift 2
    ls_of "$@"
    expect_code "$want" "shmix ls $*"
    expect_err "$pattern" "shmix ls $*"
}
has_end() {
    ls_of procs --json "$server" && grep -q '^{"rank":0,.*"state":"terminated"' "$work/out"
}

await "both ranks have said who they are" lines_are "$work/job" 2 || finish
await "the end of rank 0 is told" has_end
rank=$(sed -n 's/^late //p' "$work/job" | head -1)
job=$(sed -n 's/^{"rank":0,.*"nspace":"\([^"]*\)"}$/\1/p' "$work/out")

# Stopped: nobody is asked.
kill -STOP "$server" "$rank"
await "the server is stopped" is_stopped "$server"
await "the rank is stopped" is_stopped "$rank"
expect_shows "^  *[12]  *$rank  *0  *1 stopped  *-  *0:[0-9][0-9]  *[0-9.]*[KM]  *$server [^ ]*  *$job\$" 4 procs "$server"
expect_shows "^  *0  .*  0 terminated  *0  *-  *-  *$server " 4 procs "$job"
expect_shows "^{\"rank\":[12],\"pid\":$rank,\"node\":0,\"app\":1,\"state\":\"stopped\",\"cpu_ns\":[0-9]*,\"rss_bytes\":[0-9]*,\"server\":$server,\"host\":\"[^\"]*\",\"nspace\":\"$job\"}\$" 3 procs --json "$server"
expect_shows "\"state\":\"terminated\",\"exit_code\":0," 3 procs --json "$job"
expect_shows "^ *$server client  *$rank  *$(id -u) stopped  *[12] $job  *shmix\$" 3 clients "$server"
expect_shows "^{\"server\":$server,\"role\":\"client\",\"pid\":$rank,\"uid\":$(id -u),\"state\":\"stopped\",\"rank\":[12],\"nspace\":\"$job\",\"library\":\"shmix\"}\$" 2 clients --json "$job"
expect_shows "^set  *2 of 2 .* ice: $job\\.1 $job\\.2\$" 3 sets "$server"
expect_shows "^{\"kind\":\"set\",\"name\":\"ocean\",.*\"member_count\":1," 2 sets --json "$job"
if command -v script >/dev/null; then
    script -qec "'$SHMIX' ls procs $server && '$SHMIX' ls clients $server && '$SHMIX' ls sets $server" \
        /dev/null </dev/null >"$work/out" 2>&1
    code=$?
    expect_code 0 "on a terminal"
    [ "$(grep -c -e '^ *RANK  *PID ' -e ' stopped ' -e '^ *SERVER ROLE ' -e '^KIND ' -e '^set ' "$work/out")" = 7 ] ||
        fail "seven lines on a terminal"
fi
kill -CONT "$server" "$rank"

# Nobody, and garbage.
for thing in procs clients sets; do
    expect_refuses 1 "process $$ is no server of shmix" "$thing" $$
    expect_refuses 1 "no job 'nobody's' runs here" "$thing" "nobody's"
    expect_refuses 2 "unknown option '--jsn'; did you mean '--json'" "$thing" --jsn
done
expect_refuses 2 "did you mean 'procs'" proc
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
expect_refuses 1 "process $server does not exist" procs "$server"

# Another user's server cannot be looked into, and that is said.
nobody() {
    setpriv --reuid 65534 --clear-groups "$SHMIX" "$@"
}
if [ "$(id -u)" = 0 ] && nobody --version >/dev/null 2>&1; then
    rm "$go"
    "$SHMIX" run -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
    server=$!
    await "the rank has said who it is" lines_are "$work/job" 1
    for thing in procs clients sets; do
        nobody ls "$thing" "$server" >"$work/out" 2>"$work/err"
        code=$?
        expect_code 1 "$thing of another user"
        expect_err "can be inspected by its user and root only" "$thing of another user"
    done
    touch "$go"
    wait "$server"
fi
finish
