# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# crash_test.sh - the launcher is killed, whenever: no rank lives on and nothing stays.
. "$(dirname "$0")/lib.sh"

# Ranks with a child each: only the janitor can end those.
ranks='sleep 1000 & echo $$ $! >>'"$work/pids"'; touch '"$TMPDIR"'/shmix-*/shmix-*/made-by-rank; wait'

rm -f "$work/pids"
"$SHMIX" run -n 3 sh -c "$ranks" 2>"$work/err" &
job=$!
await "the ranks" lines_are "$work/pids" 3
kill -9 $job
wait $job 2>/dev/null
await "ranks and their children end" all_gone "$work/pids"
await "the directory goes" nothing_left

janitors_are() {
    [ "$(grep -c 'takes its place' "$work/err")" -eq "$1" ]
}

# A janitor that was killed is replaced, and the next one knows what there is to clean.
rm -f "$work/pids"
"$SHMIX" run -n 3 sh -c "$ranks" 2>"$work/err" &
job=$!
await "the ranks" lines_are "$work/pids" 3
for life in 1 2; do
    await "the janitor" pgrep -P $job -x shmix-janitor >/dev/null
    kill -9 "$(pgrep -P $job -x shmix-janitor)"
    await "the next janitor" janitors_are $life
done
expect_err 'the janitor (pid [0-9]*) has been killed; another one takes its place' "a killed janitor"
kill -9 $job
wait $job 2>/dev/null
await "ranks and their children end, a janitor was killed" all_gone "$work/pids"
await "the directory goes, a janitor was killed" nothing_left

# It has an end: whoever kills them all is told what that means.
"$SHMIX" run sleep 1000 2>"$work/err" &
job=$!
for life in $(seq 64); do
    await "the janitor" pgrep -P $job -x shmix-janitor >/dev/null
    pkill -9 -P $job -x shmix-janitor
    await "the next janitor" janitors_are "$life"
done
pkill -9 -P $job -x shmix-janitor
await "the last line" grep -q 'which is the limit' "$work/err"
expect_err 'the janitor (pid [0-9]*) has been killed, and 64 have been before it, which is the limit: there is no other one' "the last janitor"
grep -q 'Resource temporarily' "$work/err" && fail "the last janitor: another reason"
kill $job
wait $job 2>/dev/null
await "the directory goes, all janitors were killed" nothing_left

# The janitor keeps nobody waiting who waits for the launcher's output to end.
"$SHMIX" run sh -c 'echo $PPID; exec sleep 1000' 2>"$work/err" | {
    read -r launcher
    kill -9 "$launcher"
    cat >/dev/null
}

# At any moment of its life: the kill comes after a growing number of the job's own steps.
for steps in 0 1 2 3 4 5 6 7 8 9 10 12 14 16 20 24; do
    rm -f "$work/pids"
    "$SHMIX" run -n 4 sh -c "$ranks" 2>"$work/err" &
    job=$!
    i=0
    while [ $i -lt $steps ]; do
        i=$((i + 1))
        cat /proc/$job/status /proc/$job/maps >/dev/null 2>&1
    done
    kill -9 $job
    wait $job 2>/dev/null
    touch "$work/pids"
    await "the directory goes (after $steps steps)" nothing_left
    await "the ranks end (after $steps steps)" all_gone "$work/pids"
done

finish
