# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# get_watch_test.sh - `shmix get --watch`: what is there, what comes and what changes, until the
# server ends; a value that is stored again as it was is not said.
. "$(dirname "$0")/lib.sh"

step=$work/step
"$SHMIX" run -n 1 "$RANK" change "$step" >"$work/job" 2>&1 &
server=$!
trap 'touch "$step.1" "$step.2" "$step.3" "$step.end"; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT

await "the rank has said whose it is" lines_are "$work/job" 1 || finish
job=$(cat "$work/job")

# One begins before the key is there, and one looks at the job by its name.
"$SHMIX" get --watch --json 'chang*' "$server" >"$work/json" 2>&1 &
json=$!
"$SHMIX" get --watch 'c*ing' "$job" >"$work/text" 2>&1 &
text=$!
"$SHMIX" get --watch PMIX_JOB_SIZE "$server" >"$work/size" 2>&1 &
size=$!
terminal=
if command -v script >/dev/null; then
    script -qec "'$SHMIX' get --watch changing $server" /dev/null </dev/null >"$work/terminal" 2>&1 &
    terminal=$!
fi
await "what is there is said" lines_are "$work/size" 1
for i in 1 2; do
    touch "$step.$i"
    await "change $i is said as JSON" lines_are "$work/json" $i
    await "change $i is said as text" lines_are "$work/text" $i
    [ -z "$terminal" ] || await "change $i is said on a terminal" lines_are "$work/terminal" $i
done
"$SHMIX" get --watch --count 2 'PMIX_[JL]*SIZE' "$server" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "--watch --count"
lines_are "$work/out" 2 || fail "--count 2"
"$SHMIX" get --watch --timeout 0.01 changing "$server" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "--watch --timeout"
lines_are "$work/out" 1 || fail "--timeout"
touch "$step.3" "$step.end"
for pid in "$json" "$text" "$size" $terminal "$server"; do
    wait "$pid"
    code=$?
    expect_code 0 "the end of the server ends all"
done

# expect_lines FILE FIRST SECOND: these two, and no more
expect_lines() {
    lines_are "$work/$1" 2 || fail "two lines in $1: $(cat "$work/$1")"
    sed -n 1p "$work/$1" | grep -q -e "$2" || fail "line 1 of $1: $(cat "$work/$1")"
    sed -n 2p "$work/$1" | grep -q -e "$3" || fail "line 2 of $1: $(cat "$work/$1")"
}
expect_lines json '^{"nspace":"'"$job"'","realm":"proc","rank":0,"key":"changing",.*"value":10}$' '"value":20}$'
expect_lines text "^$job\\.0 changing 10\$" "^$job\\.0 changing 20\$"
[ -z "$terminal" ] || expect_lines terminal "^$job\\.0 changing 10.\{0,1\}\$" "^$job\\.0 changing 20.\{0,1\}\$"
lines_are "$work/size" 1 || fail "what does not change is said once"

"$SHMIX" get --count 1 changing >"$work/out" 2>"$work/err"
code=$?
expect_code 2 "--count without --watch"
expect_err "--count and --timeout are for --watch" "--count without --watch"
for whose in "nobody's" $$; do
    "$SHMIX" get --watch PMIX_JOB_SIZE "$whose" >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "--watch of $whose"
    expect_err "no job nobody's\|process $$ is no server" "--watch of $whose"
done
finish
