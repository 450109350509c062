# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# tools_test.sh - a program from outside becomes a tool of a running job, and finds its server in each
# way; what the launcher made for that goes with it, however it ends.
. "$(dirname "$0")/lib.sh"

go=$work/go
host=$(uname -n)
job=
trap 'touch "$go"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

job_start() { # ARGS...
    rm -f "$go" "$work/job" # what an earlier one has said
    "$SHMIX" run "$@" -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
    job=$!
    await "the rank has said who it is" grep -q '^late' "$work/job" || finish
}
job_end() {
    touch "$go"
    wait "$job"
    code=$?
    job=
    expect_code 0 "the job"
}
tool() {
    "$TOOL" >"$work/out" 2>"$work/err"
    code=$?
}
is_clean() {
    [ -z "$(ls "$TMPDIR")" ]
}

tool
expect_code 1 "a tool without a server"
expect_err 'the system server: .*is not there; servers of sessions in .*: none' "what was looked for"

job_start --report-uri "$work/uri"
tool
expect_code 0 "a tool"
grep -q "^this is shmix-tool-$job\.0, a tool of " "$work/out" || fail "who it is"
[ "$(stat -c %a "$work/uri")" = 600 ] || fail "the file of --report-uri is for its user alone"
head -1 "$work/uri" | grep -q ';unix:' || fail "its first line is the URI"
run --report-uri "$work/uri" true
expect_code 1 "a second server that wants the file"
job_end
[ ! -e "$work/uri" ] || fail "the file of --report-uri is left"
expect_clean "after the job"

# The URI alone, and the process id, where scripts of mpirun read them.
for at in - +; do
    run --report-uri $at --report-pid $at sh -c 'echo of $PPID'
    expect_code 0 "--report-uri $at"
    [ $at = - ] && from=$work/out || from=$work/err
    grep -q '^[^;]*\.server\.0;unix:[^ ]*$' "$from" || fail "--report-uri $at: no URI"
    grep -qx "$(sed -n 's/^of //p' "$work/out")" "$from" || fail "--report-pid $at: not the launcher's"
done
run --report-pid "$work/pid" sh -c "cat '$work/pid'; echo \$PPID"
[ "$(sort -u "$work/out" | wc -l)" -eq 1 ] || fail "--report-pid: the file has not the launcher's"
[ ! -e "$work/pid" ] || fail "the file of --report-pid is left"
run --report-pid /nonexistent/pid true
expect_code 1 "--report-pid in no folder"
expect_err "cannot write '/nonexistent/pid' for --report-pid: No such file" "--report-pid in no folder"
expect_clean "after --report-pid"

# One more than a user may have: it is told the limit, and what to do.
all_pull() {
    [ "$(find "$work" -maxdepth 1 -name 'pulls.*' | wc -l)" -eq 64 ]
}
job_start --report-uri "$work/uri"
uri=$(head -1 "$work/uri")
for i in $(seq 64); do
    "$PULLER" -s "${uri%%.server*}" -o /dev/null -g "$work/pulls.$i" >/dev/null 2>&1 &
done
await "64 tools" all_pull
tool
expect_code 1 "a tool too many"
expect_err 'it is a tool too many: 64 of one user can be there at once' "a tool too many"
expect_err 'let one of them end (shmix ls clients lists them)' "a tool too many"
grep -q 'ulimit' "$work/err" && fail "a tool too many: it is sent to the server's limits"
job_end

echo "not ours" >"$work/uri"
run --report-uri "$work/uri" true
expect_code 1 "something else is there"
[ "$(cat "$work/uri")" = "not ours" ] || fail "it is gone"
rm "$work/uri"

# A file that cannot be is refused with the option's name, before there is a server.
for at in "$work/none/uri" /dev/null/uri "$work" "$work/$(printf '%0300d' 0)"; do
    run --report-uri "$at" true
    expect_code 1 "no file at $at"
    expect_err "cannot make '.*' for --report-uri: .*; name a file" "no file at $at"
    lines_are "$work/err" 1 || fail "no file at $at: $(cat "$work/err")"
done

job_start --system-server --report-uri "$work/uri"
[ "$(stat -c %a "$TMPDIR/pmix.sys.$host")" = 644 ] || fail "everybody may read the system server's file"
run --system-server true
expect_code 1 "a second system server"
expect_err 'one at a time' "a second system server"
tool
expect_code 0 "a tool of the system server"
kill -9 "$job"
wait "$job" 2>/dev/null
job=
await "the janitor has cleaned" is_clean
await "the janitor has removed the reported file" test ! -e "$work/uri"
finish
