# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# push_test.sh - ranks and tools push input to the processes that they spawn: their own, or bytes;
# to one or all; whole, to its end, and no longer than somebody reads.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
job=
trap '[ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

head -c 3000000 /dev/urandom >in
sum=$(cksum <in)
none=$(cksum </dev/null)
tells='echo "$PMIX_RANK $(cksum)"'

# says LINE WHAT; has it come from the child, or the pusher?
says() {
    grep -q -x -e "$1" out || fail "$2: no line '$1'"
}

# The launcher's input is rank 0's, which pushes it.
run "$PUSHER" -n 3 -t all -o sh -c "$tells" <in
expect_code 0 "to all"
for rank in 0 1 2; do
    says "$rank $sum" "to all"
done
run "$PUSHER" -n 3 -t 1 -o sh -c "$tells" <in
says "1 $sum" "PMIX_STDIN_TGT"
says "2 $none" "PMIX_STDIN_TGT: another rank"
run "$PUSHER" -n 3 -f all -p 2 -o sh -c 'if [ $PMIX_RANK = 2 ]; then '"$tells"'; fi' <in
says "2 $sum" "pushed to one of all"
run "$PUSHER" -n 2 -f 1 -w hello sh -c 'echo "$PMIX_RANK $(cat)"'
says '1 hello' "PMIX_FWD_STDIN"
says 'word: PMIX_SUCCESS' "a word"
says 'end: PMIX_SUCCESS' "its end"
grep -q -x -E 'late: PMIX_ERR_(IOF_COMPLETE|NOT_FOUND)' out || fail "behind the end of the job"

# No input is an end, and no descriptor as well: what the library opens is not read for it.
run --stdin none "$PUSHER" -t all -o cksum
says "$none" "no input"
run sh -c 'exec <&-; exec "$0" -t all -o cksum' "$PUSHER"
says "$none" "stdin is closed"

# Without one of the directives nobody has an input.
run "$PUSHER" -n 2 -w hello sh -c "$tells"
says "1 $none" "no target"
says 'word: PMIX_ERR_NOT_FOUND' "no target"
run "$PUSHER" -n 2 -t none -w hello true
says 'word: PMIX_ERR_NOT_FOUND' "none is the target"
run "$PUSHER" -n 2 -t 2 -w hello true
says 'spawn: PMIX_ERR_BAD_PARAM' "a rank that there is not"
expect_err 'PMIX_STDIN_TGT says which rank has an input: one of 0 to 1' "a rank that there is not"

# A target that stops reading, or ends, stops neither the others nor the job.
run "$PUSHER" -n 3 -t all -o sh -c 'test $PMIX_RANK = 1 && exec head -c 1 >/dev/null; '"$tells" <in
expect_code 0 "a target that ends"
says "2 $sum" "a target that ends"
run "$PUSHER" -t 0 -o head -c 10 <in
expect_code 0 "all targets end"

# A rank that does not read holds up who pushes; when the pusher dies, what it has pushed still comes.
"$SHMIX" run --on-failure notify sh -c 'echo $$ >pid; exec "$0" -t 0 -o sh -c "while [ ! -e go ]; do sleep 0.02; done; cat >got; touch end"' "$PUSHER" <in >out 2>err &
job=$!
await "the child has been spawned" grep -q 'own input: PMIX_SUCCESS' out
kill -9 "$(cat pid)"
await "the pusher is gone" is_gone "$(cat pid)"
touch go
wait $job
job=
cmp -n "$(wc -c <got)" got in 2>/dev/null || fail "a pusher that dies: something else has come"

# When it dies before it has read anything, they see the end as well.
mkfifo nothing
exec 4<>nothing
rm -f pid out
"$SHMIX" run --on-failure notify sh -c 'echo $$ >pid; exec "$0" -t 0 -o sh -c "cat >got; touch seen"' "$PUSHER" <nothing >out 2>err &
job=$!
await "the child has been spawned" grep -q 'own input: PMIX_SUCCESS' out
kill -9 "$(cat pid)"
await "there is an end" [ -e seen ]
[ -e seen ] || kill -9 "$job"
wait $job
job=
exec 4>&-

# A tool.
"$SHMIX" run sh -c 'touch there; while [ ! -e over ]; do sleep 0.02; done' >out 2>err &
job=$!
await "the rank is there" [ -e there ]
PMIX_SERVER_PIDINFO=$job "$PUSHER" -n 2 -t all -o cksum <in >told 2>&1
touch over
wait $job
code=$?
job=
expect_code 0 "a tool pushes"
grep -q -x 'own input: PMIX_SUCCESS' told || fail "a tool pushes: $(cat told)"
[ "$(grep -c -x "$sum" out)" = 2 ] || fail "a tool pushes: to both"

expect_clean "at the end"
finish
