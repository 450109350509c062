# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# verb_log_test.sh - `shmix log`: a text or the lines of stdin on each channel of a running job, in a
# pty and as JSON; and what is said where it cannot be logged.
. "$(dirname "$0")/lib.sh"

go=$work/go
job=
trap 'touch "$go"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

log() { # ARGS...
    "$SHMIX" log "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_logs() { # FILE LINE ARGS...: once, and nothing is said
    file=$1 line=$2
    shift 2
    log "$@" </dev/null
    expect_code 0 "shmix log $*"
    [ ! -s "$work/err" ] || fail "shmix log $* has complained"
    [ "$(grep -c -e "$line" "$file")" = 1 ] || fail "not once '$line' in: $(cat "$file")"
}
expect_refuses() { # CODE PATTERN ARGS...
    want=$1 pattern=$2
    shift 2
    log "$@" </dev/null
    expect_code "$want" "shmix log $*"
    expect_err "$pattern" "shmix log $*"
}

expect_refuses 1 "shmix ls servers" hello
job_start() { # ARGS...
    rm -f "$go" "$work/job"
    "$SHMIX" run "$@" "$RANK" late "$go" >"$work/job" 2>"$work/joberr" &
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

job_start --log "$work/records"
expect_logs "$work/joberr" '^one$' one
expect_logs "$work/joberr" '^two$' --stderr --pid "$job" two
expect_logs "$work/job" '^three$' --stdout three
expect_logs "$work/job" '^\[shmix-tool-[0-9]*,0\]<stdout>: four$' --stdout --tag four
expect_logs "$work/records" '"channel":"job-record",.*"text":"five"}$' --record five
expect_logs "$work/records" '"channel":"global-datastore",.*"text":"six"}$' --datastore six
expect_logs "$work/job" '^seven$' --stdout --record --once seven
expect_logs "$work/joberr" '^--eight$' -- --eight
grep -q seven "$work/records" && fail "--once: the second place has it as well"

# JSON, and lines as they come, the last one without its end.
printf 'a\n\nb' | "$SHMIX" log --stdout --json >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "lines"
expect_out '{"status":"PMIX_SUCCESS","logged":3}' "lines"
[ "$(tail -3 "$work/job")" = "$(printf 'a\n\nb')" ] || fail "lines: $(cat "$work/job")"
awk 'BEGIN { for (i = 0; i < 2000; i++) print "line", i }' | "$SHMIX" log --stdout || fail "many lines"
[ "$(awk '$1 == "line" && $2 == n { n++ } END { print n }' "$work/job")" = 2000 ] || fail "the order of many lines"

# What cannot be, each with what comes before it.
printf 'good\nb\000d\n' | "$SHMIX" log --stdout --json >"$work/out" 2>"$work/err"
code=$?
expect_code 1 "a zero byte"
expect_err "line 2 has a zero byte" "a zero byte"
expect_out '{"status":"PMIX_ERR_BAD_PARAM","logged":1}' "a zero byte"
{ head -c 983040 /dev/zero | tr '\0' x; echo; } | "$SHMIX" log --record || fail "the longest line"
head -c 983041 /dev/zero | tr '\0' x | "$SHMIX" log --record 2>"$work/err" && fail "a line that is too long"
expect_err "line 1 is longer than 983040 bytes" "a line that is too long"
expect_refuses 2 "did you mean '--stdout'" --stdut x
expect_refuses 2 "--priority does not take 'loud'" --priority loud x
expect_refuses 1 "no server here has 'words'" two words
expect_refuses 2 "one word too many" these three words
expect_refuses 1 "" --pid 1 x
if command -v script >/dev/null; then
    script -qec "'$SHMIX' log --stdout 'from a terminal' && '$SHMIX' log --stdout --json 'once more'" \
        /dev/null </dev/null >"$work/out" 2>&1
    code=$?
    expect_code 0 "on a terminal"
    [ "$(tr -d '\r' <"$work/out")" = '{"status":"PMIX_SUCCESS","logged":1}' ] || fail "on a terminal"
    [ "$(tail -2 "$work/job")" = "$(printf 'from a terminal\nonce more')" ] || fail "on a terminal: $(tail -2 "$work/job")"
fi
if [ "$(id -u)" = 0 ] && setpriv --reuid 65534 --clear-groups "$SHMIX" --version >/dev/null 2>&1; then
    setpriv --reuid 65534 --clear-groups "$SHMIX" log --pid "$job" hello >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "another user"
    [ -s "$work/err" ] || fail "another user is told nothing"
fi
job_end

# A job without --log has no records, and says so; the other place has it.
SHMIX_SYSLOG=$work/nowhere job_start
expect_refuses 1 "the job's node has no system log at /dev/log, or at SHMIX_SYSLOG of its launcher" --syslog x
expect_refuses 1 "nobody takes what is logged there; 'shmix run --log FILE' takes records" --record x
log --json --record x
expect_out '{"status":"PMIX_ERR_NOT_SUPPORTED","logged":0}' "no records"
log --stdout --record half
expect_code 1 "one of two places"
expect_err "not all of the places took it" "one of two places"
job_end
expect_clean "at the end"
finish
