# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# top_test.sh - `shmix top`: lists of a job whose server is stopped, and the screen, driven in a
# terminal: views, filter, the page of a rank, another size, and its end.
. "$(dirname "$0")/lib.sh"

go=$work/go
server='' late=''
trap 'tmux -L "shmix-test-$$" kill-server 2>/dev/null; touch "$go"; kill -CONT $server $late 2>/dev/null
    kill $server 2>/dev/null; wait; rm -rf "$work"' EXIT

"$SHMIX" run -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
late=$(sed -n 's/^late //p' "$work/job")

top() {
    "$SHMIX" top "$@" >"$work/out" 2>"$work/err" </dev/null
    code=$?
}
shows() { # PATTERN [ARGS...]
    pattern=$1
    shift
    top "$@"
    [ $code -eq 0 ] && grep -q -e "$pattern" "$work/out"
}

# Lines: no server is asked.
await "the fence is open" shows "^fence of server $server: 2 of 3, " --once "$server"
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"
await "the fence is still open" shows "^fence of server $server: 2 of 3, .* s, missing shmix-.*\\.2\$" --once "$server"
shows "^ *$late .* 2 runs " --once "$server" || fail "the rank that is late"
shows "^ *$server .* stopped " --once --view servers --sort NAME "$server" || fail "the server's state"
shows "^{\"view\":\"jobs\",\"server\":$server," --json -n 1 "$server" || fail "JSON"
shows "^shmix_server_clients{pid=\"$server\"" --metrics "$server" || fail "metrics"
[ "$(tail -n 1 "$work/out")" = "# EOF" ] || fail "the end of the metrics"
top --once --filter no-such-text "$server"
[ "$(tail -n 1 "$work/out" | cut -c 1-8)" = "     PID" ] || fail "a filter that leaves nothing"
top -d 0.05 -n 3 "$server"
[ "$(grep -c '^shmix top - ' "$work/out")" = 3 ] || fail "three looks"
top --once --view threads
expect_code 2 "a view that is not there"
expect_err "it wants ranks, jobs, servers or users" "a view that is not there"
top --once --sort nonsense
expect_code 2 "a column that is not there"
top 2147483647
expect_code 1 "a process that is no server"

# A terminal that is not known, or cannot move its cursor, gets lines.
if command -v script >/dev/null; then
    TERM=dumb script -qec "'$SHMIX' top -n 1 $server" /dev/null >"$work/out" 2>&1 </dev/null
    grep -q 'lines instead of the screen' "$work/out" || fail "TERM=dumb: no reason"
    grep -q "^fence of server $server" "$work/out" || fail "TERM=dumb: no lines"
fi
kill -CONT "$server"

# The screen.
if ! command -v tmux >/dev/null; then
    echo "the screen is not tried: tmux is not installed"
else
    screen() {
        tmux -L "shmix-test-$$" "$@"
    }
    sees() { # PATTERN
        screen capture-pane -p >"$work/out" && grep -q -e "$1" "$work/out"
    }
    keys() {
        screen send-keys "$@"
    }
    env -u NO_COLOR TERM=xterm-256color tmux -L "shmix-test-$$" -f /dev/null new-session -d -x 100 -y 24 \
        "'$SHMIX' top -d 0.1 $server; echo code \$?; sleep 60" 2>"$work/err" || fail "tmux"
    await "the ranks" sees "^ *$late .* runs "
    await "who is missing" sees "^fence of server $server: 2 of 3, "
    await "the foot" sees '^ranks by %CPU  (h: help, q: end)'
    keys 2
    await "the jobs" sees '^jobs by %CPU'
    keys Tab
    await "the servers" sees '^ *'"$server"' .* runs  *w[a-z]* '
    keys 4
    await "the users" sees '^USER .*STORED'
    keys 1 M
    await "sorted by memory" sees '^ranks by RSS '
    keys '>'
    await "the next column" sees '^ranks by OUT/s '
    keys R
    await "turned round" sees '^ranks by OUT/s, turned round '
    keys / q Enter
    await "a filter that leaves nothing" sees 'round, with q '
    sees "^ *$late " && fail "the filter leaves rows"
    keys / Escape
    await "the filter stays" sees 'round, with q '
    keys / "$late" Enter
    await "one row" sees "with $late "
    keys Enter
    await "the page of the rank" sees "^rank 2 of shmix-.*, process $late, runs"
    await "its memory" sees '^memory of its own: '
    screen resize-window -x 60 -y 12
    await "a smaller screen" sees "^server $server: connected"
    keys q h
    await "help" sees '^1 2 3 4, Tab'
    keys q d 0 . 5 Enter q
    await "the end" sees '^code 0'
fi

touch "$go"
wait "$server"
code=$?
server='' late=''
expect_code 0 "the job"
expect_clean "after the job"
finish
