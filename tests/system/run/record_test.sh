# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# record_test.sh - --report: a run as one object of JSON, however it ends.
. "$(dirname "$0")/lib.sh"

if ! command -v python3 >/dev/null; then
    echo "skipped: there is no python3 to read JSON"
    exit 77
fi

# holds WHAT EXPRESSION: of the record r, its first job j, and that one's ranks
holds() {
    python3 - "$work/job.json" "$2" <<'END' >"$work/why" 2>&1 || fail "$1: not $2: $(cat "$work/why")"
import json, re, sys
r = json.load(open(sys.argv[1]))
j = r["jobs"][0]
ranks = j["ranks"]
iso = lambda t: re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", t)
if not eval(sys.argv[2]):
    sys.exit(f"{r}")
END
}

# A run that goes well: what was started, by whom, and each rank.
run --report "$work/job.json" -n 2 "$RANK" fence : -n 1 sh -c "'$RANK' fence; echo \"it's\""
expect_code 0 "a good run"
holds "the head" 'r["format"] == 1 and r["exit_code"] == 0 and r["reason"] is None and r["jobs_left_out"] == 0'
holds "the user" "r['user']['id'] == $(id -u) and r['directory'] == '$(pwd -P)' and r['host'] == '$(uname -n)'"
holds "the command" "r['command'][:3] == ['shmix', 'run', '--report'] and r['command'].count(':') == 1"
holds "its times" 'iso(r["start"]) and iso(r["end"]) and 0 < r["elapsed_s"] < 600 and r["start"] <= j["start"] <= j["end"] <= r["end"]'
holds "the job" 're.fullmatch("shmix-[0-9]+-[0-9a-f]+", j["namespace"]) and j["status"] == "PMIX_SUCCESS" and j["spawned_by"] is None'
holds "its programs" '[p["ranks"] for p in j["programs"]] == [2, 1] and j["programs"][1]["command"][2].endswith("echo \"it'"'"'s\"")'
holds "its ranks" '[x["rank"] for x in ranks] == [0, 1, 2] and {x["state"] for x in ranks} == {"finalized"}'
holds "their ends" 'all(x["exit_code"] == 0 and x["signal"] is None and not x["core_dumped"] and x["restarts"] == 0 for x in ranks)'
holds "their times" 'all(x["pid"] > 1 and iso(x["start"]) and x["start"] <= x["end"] for x in ranks)'
holds "what they used" 'all(x["max_rss_kib"] > 100 and x["user_s"] + x["system_s"] > 0 for x in ranks)'
[ "$(ls "$work" | grep -c job.json)" -eq 1 ] || fail "a file is left beside the record"

# One that fails: by a code, by a signal, without PMIx_Init.
# The last one fails: those behind it may not have been started.
run --report "$work/job.json" -n 2 sh -c '[ $PMIX_RANK = 1 ] || sleep 100; exit 3'
expect_code 3 "a code"
holds "a code" 'r["exit_code"] == 3 and "rank 1 " in r["reason"] and "exited with status 3" in r["reason"] and j["failed_rank"] == 1'
holds "a code" 'ranks[1]["exit_code"] == 3 and ranks[0]["signal"] == 15 and ranks[0]["exit_code"] is None'
holds "no PMIx_Init" '{x["state"] for x in ranks} == {"never connected"}'
run --report "$work/job.json" "$RANK" kill
expect_code 137 "a signal"
holds "a signal" 'ranks[0]["signal"] == 9 and ranks[0]["state"] == "lost" and j["status"] == "PMIX_ERR_JOB_ABORTED_BY_SIG"'
run --report "$work/job.json" --max-restarts 2 sh -c 'exit 4'
holds "restarts" 'ranks[0]["restarts"] == 2 and ranks[0]["exit_code"] == 4'
run --report "$work/job.json" "$work/not.there"
expect_code 127 "nothing to start"
holds "nothing to start" 'r["exit_code"] == 127 and r["reason"] and ranks[0]["state"] == "not started"'

# One that is ended: by its time, by Ctrl-C.
run --report "$work/job.json" --timeout 0.5 sleep 1000
expect_code 124 "a time limit"
holds "a time limit" '"--timeout" in r["reason"] and r["exit_code"] == 124 and ranks[0]["signal"] == 15'
"$SHMIX" run --report "$work/job.json" -n 1 sh -c "echo >'$work/there'; exec sleep 1000" 2>"$work/err" &
job=$!
await "the rank" [ -e "$work/there" ]
kill -INT $job
wait $job
code=$?
expect_code 130 "Ctrl-C"
holds "Ctrl-C" '"got signal 2" in r["reason"] and r["exit_code"] == 130 and ranks[0]["signal"] == 2'

# Jobs that are spawned, also those that had gone before the end.
run --report "$work/job.json" --timeout 120 "$SPAWNER" -n 2 -c 3 -- true
if [ "$code" -eq 0 ]; then
    holds "spawned jobs" 'len(r["jobs"]) == 4 and [len(x["ranks"]) for x in r["jobs"][1:]] == [2, 2, 2]'
    holds "who has spawned" 'all(x["spawned_by"] == {"namespace": j["namespace"], "rank": 0} for x in r["jobs"][1:])'
else
    fail "the spawns"
fi

# stdout, behind what the ranks have written; a link is followed; what cannot be written changes no exit code.
run --report - echo first
[ "$(head -1 "$work/out")" = first ] || fail "stdout: the record is before the output"
sed 1d "$work/out" | python3 -m json.tool >/dev/null || fail "stdout: no JSON"
ln -s job.json "$work/link"
run --report "$work/link" sh -c 'exit 5'
[ -L "$work/link" ] || fail "a link is replaced"
holds "a link" 'r["exit_code"] == 5'
run --report /dev/full sh -c 'exit 6'
expect_code 6 "a full disk"
expect_err "^shmix run: cannot write '/dev/full' (--report): No space left on device\$" "a full disk"
mkfifo "$work/pipe"
run --report "$work/pipe" true
expect_code 0 "a pipe that nobody reads"
expect_err "cannot write '$work/pipe' (--report): " "a pipe that nobody reads"
cat "$work/pipe" >"$work/job.json" &
reader=$!
exec 9<>"$work/pipe" # it is open before the job ends
run --report "$work/pipe" sh -c 'exit 7'
exec 9>&-
wait $reader
holds "a pipe" 'r["exit_code"] == 7'
exec 9<>"$work/pipe" # open for reading, and nobody reads: it is filled
dd if=/dev/zero of="$work/pipe" bs=4096 oflag=nonblock 2>/dev/null
run --report "$work/pipe" sh -c 'exit 8'
exec 9>&-
expect_code 8 "a pipe that is full"
expect_err "cannot write '$work/pipe' (--report): its reader has taken nothing for 5 seconds\$" "a pipe that is full"
exec 9<>"$work/pipe" # the same as stdout
dd if=/dev/zero of="$work/pipe" bs=4096 oflag=nonblock 2>/dev/null
timeout 60 "$SHMIX" run --report - sh -c 'exit 9' >"$work/pipe" 2>"$work/err" </dev/null
code=$?
exec 9>&-
expect_code 9 "a stdout that is full"
expect_err "cannot write '-' (--report): its reader has taken nothing for 5 seconds\$" "a stdout that is full"
run --report "$work/none/job.json" touch "$work/started"
expect_code 1 "a directory that is not there"
expect_err "cannot make '$work/none/job.json' for --report: No such file or directory; name a file in" "no directory"
[ -e "$work/started" ] && fail "a job is started without its record"

expect_clean "at the end"
finish
