# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# trace_test.sh - `shmix trace`: the timeline and the summary of jobs whose ranks wait for each other, call back, are killed,
# carry another library, leave no record, or have no room for them.
. "$(dirname "$0")/lib.sh"
[ -z "${SANITIZED:-}" ] || { echo "skipped: nothing is preloaded before a sanitizer"; exit 77; }
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
recorder=$(dirname "$LIBRARY")/shmix/libshmix-trace.so
timeline=$work/job.json go=$work/go
trap 'touch "$go"; kill $server 2>/dev/null; wait; rm -rf "$work"' EXIT
server=

trace() { # ARGS...
    "$SHMIX" trace -o "$timeline" "$@" >"$work/out" 2>"$work/err"
    code=$?
}
# expect_events COUNT EXPRESSION WHAT: so many events, of which each is as the format has it, make the expression true
expect_events() {
    python3 - "$timeline" "$1" "$2" >"$work/judged" 2>&1 <<'P' || fail "$3: $(cat "$work/judged")"
import json, sys
with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
for e in events:
    assert e["ph"] in "XMbe" and isinstance(e["pid"], int), e
    if e["ph"] != "M":
        assert e["name"].startswith("PMIx_") and e["cat"] == "pmix" and isinstance(e["tid"], int) and e["ts"] >= 0, e
    if e["ph"] == "X":
        assert e["dur"] >= 0 and ("status" in e["args"] or e["args"]["returned"] is False), e
    if e["ph"] in "be":
        assert "id" in e, e
count = sum(1 for e in events if eval(sys.argv[3], {"e": e, "a": e.get("args", {})}))
assert count == int(sys.argv[2]), f"{count} events, not {sys.argv[2]}: {sys.argv[3]}"
P
}
nothing_stays() {
    [ -z "$(ls "$TMPDIR")" ] || fail "$1: left: $(ls "$TMPDIR")"
}

# The last of three to come to a fence; its place in the timeline is its rank.
"$SHMIX" trace -o "$timeline" -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/out" 2>"$work/err" &
server=$!
await "rank 2 has said who it is" grep -q '^late' "$work/out" || finish
launcher=$(cat "/proc/$server/task/$server/children")
launcher=${launcher%% *}
await "an open fence" sh -c '"$1" ls collectives --json "$2" | grep -q "\"arrived\":2,"' - "$SHMIX" "$launcher"
touch "$go"
wait "$server"
code=$?
server=
expect_code 0 "a job with a fence"
expect_err '^PMIx_Fence  *3 ' "three fences"
expect_err ' rank [01] in PMIx_Fence, number 1 of these processes, for rank 2, the last of 3, ' "the last of a fence"
expect_events 3 'e["name"] == "PMIx_Fence" and a["operation"] == 1 and a["members"] == 3 and a["last_rank"] == 2' "a fence"
expect_events 1 'e["name"] == "PMIx_Init" and e["pid"] == 2 and a["status"] == "PMIX_SUCCESS"' "PMIx_Init of rank 2"
expect_events 3 'e["name"] == "process_name" and "rank" in a["name"]' "names of ranks"
grep -q 'left out\|not in the trace\|another PMIx' "$work/err" && fail "something is missing in a whole trace"
nothing_stays "a job with a fence"

# Keys, peers and names; a callback has its pair of events, and a call that fails has none.
trace -n 2 "$TRACED" calls
expect_code 0 "calls of every kind"
expect_events 2 'e["name"] == "PMIx_Get" and e["ph"] == "X" and a["key"] == "traced.key" and a["peer"] == 1 - e["pid"]' "a Get of a peer"
expect_events 2 'e["name"] == "PMIx_Put" and a["key"] == "traced.key"' "Put"
expect_events 1 'e["name"] == "PMIx_Publish" and a["key"] == "traced.name" and e["pid"] == 0' "Publish"
expect_events 2 'e["name"] == "PMIx_Lookup_nb" and e["ph"] == "X" and a["key"] == "traced.name" and a["callback_status"] == "PMIX_SUCCESS"' "Lookup_nb"
expect_events 2 'e["name"] == "PMIx_Fence_nb" and e["ph"] == "X" and a["members"] == 2' "Fence_nb"
expect_events 4 'e["name"] == "PMIx_Get_nb" and e["ph"] == "X"' "Get_nb"
expect_events 2 'e["name"] == "PMIx_Get_nb" and e["ph"] == "b"' "Get_nb, begins"
expect_events 2 'e["name"] == "PMIx_Get_nb" and e["ph"] == "e"' "Get_nb, ends"
expect_events 2 'e["name"] == "PMIx_Get_nb" and e["ph"] == "X" and a["status"] != "PMIX_SUCCESS" and "callback_status" not in a' "Get_nb that fails"
trace -n 1 "$TRACED" fork
expect_code 0 "a child of a rank"
expect_events 1 'e["name"] == "PMIx_Get" and e["ph"] == "X" and e["tid"] != a["pid"]' "a child of a rank"

# A plugin that was loaded for itself: its library is not behind the recorder in the program's order.
trace -n 2 python3 -c 'import ctypes, sys
words = (ctypes.c_char_p * 3)(b"traced", b"calls", None)
sys.exit(ctypes.CDLL(sys.argv[1], mode=ctypes.RTLD_LOCAL).main(2, words))' "$TRACED_PLUGIN"
expect_code 0 "a plugin"
expect_events 2 'e["name"] == "PMIx_Lookup_nb" and e["ph"] == "X" and a["callback_status"] == "PMIX_SUCCESS"' "a plugin"

# The exit code is the job's; a rank that is killed has its calls, and the one that it was in.
rm -f "$go"
"$SHMIX" trace -o "$timeline" -n 1 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/out" 2>"$work/err" &
server=$!
await "rank 1 has said who it is" grep -q '^late' "$work/out" || finish
launcher=$(cat "/proc/$server/task/$server/children")
launcher=${launcher%% *}
await "an open fence" sh -c '"$1" ls collectives --json "$2" | grep -q "\"arrived\":1,"' - "$SHMIX" "$launcher"
kill -9 "$("$SHMIX" ls procs --json "$launcher" | sed -n 's/^{"rank":0,"pid":\([0-9]*\),.*/\1/p')"
wait "$server"
code=$?
server=
expect_code 137 "a rank that was killed"
expect_events 1 'e["pid"] == 0 and e["name"] == "PMIx_Init" and e["ph"] == "X"' "the first call of who was killed"
expect_events 1 'e["pid"] == 0 and e["name"] == "PMIx_Fence" and a["returned"] is False' "the last call of who was killed"
expect_err 'rank 0 in PMIx_Fence.*; it has not returned' "the last call of who was killed"
nothing_stays "a rank that was killed"

# A signal to the command ends the job, and what was recorded is used.
rm -f "$go"
"$SHMIX" trace -o "$timeline" -n 1 "$RANK" late "$go" >"$work/out" 2>"$work/err" &
server=$!
await "the rank has said who it is" grep -q '^late' "$work/out" || finish
kill -TERM "$server"
wait "$server"
server=
expect_events 1 'e["name"] == "PMIx_Init" and e["ph"] == "X"' "a job that was ended"
nothing_stays "a job that was ended"

# What is left out is counted.
trace --records 2 -n 2 "$TRACED" calls
expect_code 0 "two records"
expect_err '^rank 0: [0-9]* calls are left out, --records holds more' "two records"
expect_events 4 'e["ph"] == "X"' "two records"
if [ "$(id -u)" = 0 ] && unshare --mount true 2>/dev/null; then
    mkdir "$work/small"
    # 400 KB of records fit, and then no more; session directories need a few pages.
    unshare --mount sh -c 'mount -t tmpfs -o size=700k none "$1" && shift && exec "$@"' - "$work/small" \
        env TMPDIR="$work/small" "$SHMIX" trace -o "$timeline" -n 1 "$TRACED" gets 5000 >"$work/out" 2>"$work/err"
    code=$?
    expect_code 0 "a disk that is full"
    expect_err '^rank 0: [0-9]* calls are left out: the disk was full' "a disk that is full"
    expect_events 2048 'e["ph"] == "X"' "a disk that is full"
else
    echo "not tested: a full disk, for want of root"
fi

# Nobody has called PMIx: no file, and the reason.
rm -f "$timeline"
trace -n 2 true
expect_code 1 "no call of PMIx"
expect_err "no process has called PMIx, so '.*job.json' is not written: is the program linked statically" "no call of PMIx"
[ ! -e "$timeline" ] || fail "a file without calls"
trace -n 2 "$work/no-such-program"
expect_code 127 "no program"
expect_err "there is no program" "no program"
[ "$(grep -c '' "$work/err")" -le 2 ] || fail "no program: more than its reason"
nothing_stays "no program"
if printf 'int main(void) { return 0; }' | cc -static -x c -o "$work/static" - 2>/dev/null; then
    trace -n 1 "$work/static"
    expect_err "is the program linked statically" "a static program"
    trace -n 1 "$work/static" : -n 1 "$TRACED" gets 1
    expect_err '1 of 2 ranks of .* are not in the trace: is their program linked statically' "one static program"
else
    echo "not tested: a static program, which cannot be linked here"
fi

# FILE cannot be written: nothing is started; or it fails at the end, and the records stay.
"$SHMIX" trace -o "$work/no/folder/x" -n 1 touch "$work/started" >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a folder that is not there"
expect_err "cannot write '.*/no/folder/x' (No such file or directory); -o names another file" "a folder that is not there"
[ ! -e "$work/started" ] || fail "the job was started"
"$SHMIX" trace -o /dev/full -n 2 "$TRACED" calls >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a full device"
expect_err "cannot write '/dev/full' (No space left on device); the records stay: shmix trace --from $TMPDIR/shmix-trace-" "a full device"
trace --from "$TMPDIR"/shmix-trace-*
expect_code 0 "the records that stay"
expect_events 2 'e["name"] == "PMIx_Init" and e["ph"] == "X"' "the records that stay"

# Files that are no records, and records that are garbled: nothing in them is trusted.
dir=$(echo "$TMPDIR"/shmix-trace-*)
first=$(ls "$dir"/*.trace | head -n 1)
: >"$dir/empty.trace"
head -c 5000 /dev/zero >"$dir/zero.trace"
{ head -c 4096 "$first" && head -c 100000 /dev/urandom; } >"$dir/random.trace"
ln -s "$first" "$dir/link.trace"
mkdir "$dir/folder.trace"
trace --from "$dir"
expect_code 0 "files that are no records"
expect_err '^4 files are no trace of this version' "files that are no records"
expect_events 0 'e["ph"] == "X" and e["dur"] < 0' "garbled records"
rm -r "$dir"

# Another library, before ours or in the place of it.
if theirs_find; then
    trace --timeout 60 -n 2 --env LD_PRELOAD="$recorder:$theirs" "$TRACED" calls
    expect_code 0 "another library"
    expect_err '^rank 0 has another PMIx library, .*OpenPMIx' "another library"
    expect_events 2 'e["name"] == "PMIx_Init" and e["ph"] == "X"' "another library"
    expect_events 2 'e["name"] == "PMIx_Fence_nb" and e["ph"] == "X"' "what another library calls itself"
fi

# Open MPI, whose plugin brings the library.
mpicc=${MPICC:-mpicc.openmpi}
if command -v "$mpicc" >/dev/null && "$mpicc" -o "$work/hello" "$(dirname "$0")/../../hosts/progs/hello_mpi.c"; then
    trace --oversubscribe -n 2 "$work/hello"
    expect_code 0 "Open MPI"
    expect_events 2 'e["name"] == "PMIx_Commit" and a["status"] == "PMIX_SUCCESS" and e["pid"] in (0, 1)' "Open MPI"
    expect_err '^PMIx_Fence' "Open MPI"
else
    echo "not tested: Open MPI, as there is no $mpicc"
fi
finish
