# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# end_test.sh - deaths, exit codes, signals: the job ends as one, and says why.
. "$(dirname "$0")/lib.sh"

# Ranks that say who they are and then wait.
wait_ranks='echo $$ >>'"$work/pids"'; while :; do sleep 1000; done'
start() { # N COMMAND: in the background, as $job, with all ranks running
    rm -f "$work/pids"
    "$SHMIX" run -n "$1" sh -c "$2" >"$work/out" 2>"$work/err" &
    job=$!
    await "ranks of '$2'" lines_are "$work/pids" "$1"
}
end() {
    wait $job
    code=$?
    all_gone "$work/pids" || fail "$1: a rank lives on"
    expect_clean "$1"
}

run sh -c 'exit 5'
expect_code 5 "exit 5"
expect_err 'rank 0 (pid [0-9]*) on .* exited with status 5' "exit 5"

start 3 'test $PMIX_RANK != 2 || {
    while [ "$(wc -l <'"$work/pids)\" != 2 ]; do sleep 0.05; done 2>/dev/null
    echo \$\$ >>$work/pids; kill -SEGV \$\$; }; $wait_ranks"
end "a killed rank"
expect_code 139 "a killed rank"
expect_err "rank 2 (pid [0-9]*) on $(uname -n) was killed by signal 11 (Segmentation fault" "a killed rank"

# Where its core is.
case $(cat /proc/sys/kernel/core_pattern) in
*[/@\|]*) echo "skipped: the core is not a file of the working directory: $(cat /proc/sys/kernel/core_pattern)" ;;
*)
    mkdir "$work/dumps"
    run -n 2 --wdir "$work/dumps" sh -c '[ $PMIX_RANK = 1 ] || exec sleep 1000; ulimit -c unlimited && exec sh -c "kill -SEGV \$\$"'
    expect_code 139 "a core"
    expect_err "was killed by signal 11 (Segmentation fault, core dumped: $(echo "$work"/dumps/*)); ending" "a core"
    ;;
esac
[ "$(grep -c 'shmix run:' "$work/err")" -eq 1 ] || fail "a killed rank: what follows is reported too"

start 2 "$wait_ranks"
kill -9 "$(head -1 "$work/pids")"
end "kill -9 of a rank"
expect_code 137 "kill -9 of a rank"

# Those who ignore SIGTERM are killed.
start 2 "trap '' TERM; $wait_ranks"
kill -9 "$(head -1 "$work/pids")"
end "a rank that ignores SIGTERM"
expect_code 137 "a rank that ignores SIGTERM"

# What a rank leaves in its group goes with it.
run sh -c "sleep 1000 & echo \$! >$work/pids"
expect_code 0 "a child left behind"
await "the child left behind" all_gone "$work/pids"

for signal in INT:130 TERM:143 HUP:129 QUIT:131; do
    start 2 "$wait_ranks"
    kill -"${signal%:*}" $job
    end "SIG${signal%:*}"
    expect_code "${signal#*:}" "SIG${signal%:*}"
    expect_err "got signal" "SIG${signal%:*}"
done

# --kill-grace is what ranks have between SIGTERM and SIGKILL, for whatever reason they are to end.  These need longer than they
# would have without it.  Those that had no time to say what they do at SIGTERM do not count.
saves() { # WHAT SECONDS OPTIONS...: in the background
    what=$1
    : >"$work/pids.$1"
    (
        export long="$2" pids="$work/pids.$1"
        shift 2
        exec "$SHMIX" run --kill-grace 1000 "$@" sh -c 'trap "sleep $long; echo saved; exit 0" TERM; echo $$ >>"$pids"
            until [ "$PMIX_RANK" = 2 ] && [ "$(wc -l <"$pids")" -eq 3 ]; do sleep 0.05; done
            exit 3' >"$work/out.$what" 2>"$work/err.$what"
    ) &
}
has_saved() { # WHAT CODE PROCESS
    wait $3
    code=$?
    expect_code $2 "--kill-grace: $1"
    [ "$(grep -cx saved "$work/out.$1")" -eq "$(($(wc -l <"$work/pids.$1") - ${4:-0}))" ] ||
        fail "--kill-grace: $1: $(grep -cx saved "$work/out.$1") of $(wc -l <"$work/pids.$1") have saved: $(cat "$work/err.$1")"
}
saves signal 2.3 -n 2
signal=$!
saves limit 0.8 --timeout 0.7 -n 2
limit=$!
saves failure 0.8 -n 3
failure=$!
await "those that get a signal" lines_are "$work/pids.signal" 2
kill -TERM $signal
has_saved signal 143 $signal
has_saved limit 124 $limit
has_saved failure 3 $failure 1
run --kill-grace 0 --event-grace 0 -n 2 sh -c '[ $PMIX_RANK = 1 ] && exit 3; trap "" TERM; while :; do sleep 1000; done'
expect_code 3 "--kill-grace 0"

start 2 "trap '' INT; $wait_ranks"
kill -INT $job
await "the first SIGINT" grep -q 'got signal 2' "$work/err"
kill -INT $job
end "SIGINT twice"
expect_code 130 "SIGINT twice"

start 2 "trap 'exit 0' USR1; $wait_ranks"
kill -USR1 $job
end "SIGUSR1"
expect_code 0 "SIGUSR1"

start 2 "$wait_ranks"
kill -TSTP $job
await "the launcher stops" is_stopped $job
for pid in $(cat "$work/pids"); do
    await "rank stops" is_stopped "$pid"
done
kill -CONT $job
await "the launcher goes on" runs $job
for pid in $(cat "$work/pids"); do
    await "rank goes on" runs "$pid"
done
kill -INT $job
end "SIGTSTP and SIGCONT"
expect_code 130 "SIGTSTP and SIGCONT"

# A stopped rank is ended as well.
start 2 "$wait_ranks"
kill -STOP "$(head -1 "$work/pids")"
kill -TERM $job
end "a stopped rank"
expect_code 143 "a stopped rank"

run -n 2 --timeout 0.3 sleep 1000
expect_code 124 "--timeout"
expect_err "0.3 s (--timeout)" "--timeout"

run --timeout 1000 true
expect_code 0 "--timeout in time"

nohup "$SHMIX" run sh -c "$wait_ranks" >"$work/out" 2>"$work/err" &
job=$!
rm -f "$work/pids"
await "rank under nohup" lines_are "$work/pids" 1
kill -HUP $job
kill -USR2 "$(cat "$work/pids")"
wait $job
code=$?
expect_code 140 "SIGHUP under nohup is ignored"

expect_clean "at the end"
finish
