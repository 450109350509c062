# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# pull_test.sh - what ranks write comes to those who pull it: all of it, in order, and no faster than
# they take it.
. "$(dirname "$0")/lib.sh"

cd "$work" || exit 1
job=
trap 'touch "$work/go" "$work/on"; [ -z "$job" ] || kill -9 "$job" 2>/dev/null; wait; rm -rf "$work"' EXIT

# says LINE WHAT
says() {
    grep -q -x -e "$1" "$work/out" || fail "$2: no line '$1'"
}
# Ranks wait for the pull; then each writes numbers.
writes='while [ ! -e go ]; do sleep 0.02; done; seq -f "$PMIX_RANK %.0f" 40000'
in_order() { # FILE WHAT RANK...
    file=$1 what=$2
    shift 2
    for rank in "$@"; do
        grep "^$rank " "$file" | cut -d' ' -f2 | cmp -s - numbers || fail "$what: not all of rank $rank, or not in order"
    done
}
seq -f %.0f 40000 >numbers

# A rank pulls others of its job; the launcher's own output has all of it, too.
rm -f go
run -n 1 "$PULLER" -r 1 -o pulled -g go : -n 2 sh -c "$writes"
expect_code 0 "a rank pulls"
says 'pull: PMIX_SUCCESS' "a rank pulls"
in_order pulled "a rank pulls" 1
grep -q '^2 ' pulled && fail "a rank pulls: it has another's output"
grep '^[12] ' out >copy
in_order copy "a rank pulls: the copy" 1 2

# All of a job with marks, and redirected: nothing comes here.
rm -f go
run -n 1 "$PULLER" -e 3 -o pulled -g go pmix.iof.tagdet : -n 2 sh -c "$writes; exec >&-" : -n 1 sh -c 'exec >&-'
lines_are out $((80000 + 2)) || fail "detailed: the copy"
grep -c "^\[shmix-[0-9a-f-]*,[12]\]\[$(uname -n):[0-9]*\]<stdout>: [12] [0-9]*$" pulled >count
[ "$(cat count)" = 80000 ] || fail "detailed: $(cat count) lines"
rm -f go
run -n 1 "$PULLER" -r 1 -o pulled -g go pmix.iof.redir : -n 2 sh -c "$writes"
in_order pulled "redirected" 1
grep -q '^1 ' out && fail "redirected: it comes here as well"
grep '^2 ' out >copy
in_order copy "redirected: another rank" 2

# One that does not read holds its ranks back; nothing is lost when it goes on.
rm -f go
"$SHMIX" run -n 1 "$PULLER" -r 1 -o pulled -g go -h on : -n 1 sh -c "$writes; seq 1000000; touch written" >out 2>err &
job=$!
await "it stands in its callback" [ -e on.held ]
[ ! -e written ] || fail "a puller that does not read: the rank is not held back"
touch on
await "the rank has written all" [ -e written ]
wait $job
code=$?
job=
expect_code 0 "a puller that does not read for a while"
lines_are pulled 1040000 || fail "a puller that does not read for a while: $(wc -l <pulled) lines"

# One that is killed holds nobody back.
rm -f go on on.held written
"$SHMIX" run --on-failure notify -n 1 sh -c 'echo $$ >pid; exec '"$PULLER"' -r 1 -g go -h on' : -n 1 sh -c "$writes; seq 1000000; touch written" >out 2>err &
job=$!
await "it stands in its callback" [ -e on.held ]
kill -9 "$(cat pid)"
await "the rank has written all" [ -e written ]
wait $job
job=
grep -q -x 1000000 out || fail "a puller that is killed: the copy"

# What there is not.
run "$PULLER" -s nobody.has.it
says 'pull: PMIX_ERR_NOT_FOUND' "a job that is not there"
run "$PULLER" -r 7
says 'pull: PMIX_ERR_NOT_FOUND' "a rank that is not there"
run "$PULLER" -r 0 pmix.iof.stop
says 'pull: PMIX_ERR_NOT_SUPPORTED' "a directive for hosts"

# What waits for a pull is not pushed out by another job's.
run --timeout 120 sh -c '"$0" pmix.fwd.stdout pmix.notecomp -- echo few && "$0" pmix.fwd.stdout pmix.notecomp -- seq 1000000 &&
    exec "$1" -s "$PMIX_NAMESPACE.1" -o pulled' "$SPAWNER" "$PULLER"
expect_code 0 "few lines of one job"
[ "$(cat pulled)" = few ] || fail "few lines of one job: '$(head -c 100 pulled)'"

# Of a job that has gone there is the end.
run --timeout 120 sh -c '"$0" pmix.notecomp -- true && while ls "$TMPDIR"/shmix-* | grep -q "\.1$"; do sleep 0.01; done
    exec "$1" -s "$PMIX_NAMESPACE.1"' "$SPAWNER" "$PULLER"
expect_code 0 "a job that has gone"
says '0 bytes in 0 callbacks' "a job that has gone"

# A tool has the rest, when the launcher has ended.
rm -f go on on.held written uri
"$SHMIX" run --report-uri uri -n 1 sh -c "echo \$PMIX_NAMESPACE >name; $writes" >out 2>err &
job=$!
await "the rank is there" [ -s name ]
PMIX_SERVER_PIDINFO=$job "$PULLER" -s "$(cat name)" -r 0 -o pulled -g go >told 2>&1
wait $job
code=$?
job=
expect_code 0 "a tool pulls"
grep -q 'pull: PMIX_SUCCESS' told || fail "a tool pulls: $(cat told)"
in_order pulled "a tool pulls" 0

expect_clean "at the end"
finish
