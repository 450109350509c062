# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# dry_test.sh - --dry-run says what would run where, a shell can run what it says, and nothing is
# started or made.
. "$(dirname "$0")/lib.sh"

cat >"$work/program" <<'END'
#!/bin/sh
echo "$OMPI_COMM_WORLD_RANK of $OMPI_COMM_WORLD_SIZE in $(pwd) with <$WORD>"
for word; do echo "<$word>"; done
: >"$STARTED"
END
chmod +x "$work/program"
STARTED=$work/started
NOT_SAID=same
export STARTED NOT_SAID
unset WORD

run --dry-run -n 2 --wdir "$work" -x "WORD=it's two" ./program 'a b' '' "c'd" : -n 1 true
expect_code 0 "a dry run"
[ ! -s "$work/err" ] || fail "a dry run says something on stderr"
[ ! -e "$STARTED" ] || fail "a dry run has started its program"
expect_clean "a dry run"
[ "$(grep -c '^map: rank' "$work/out")" = 3 ] || fail "not a line for each rank"
grep -q '^map: rank 1, app 0 (./program), slot 1, not bound, CPUs ' "$work/out" ||
    fail "where rank 1 would run"
grep -q '^map: rank 2, app 1 (true), slot 2' "$work/out" || fail "where rank 2 would run"
grep -q NOT_SAID "$work/out" && fail "a variable that is the same is named"

# The lines of rank 1 are a script that does what rank 1 does.
awk '/^map: / { mine = /rank 1,/ } mine && !/^map: /' "$work/out" >"$work/script"
sh "$work/script" >"$work/said" 2>&1
[ -e "$STARTED" ] || fail "the script has not started the program"
"$SHMIX" run -n 2 --wdir "$work" -x "WORD=it's two" sh -c \
    'test $OMPI_COMM_WORLD_RANK = 0 || exec ./program "$@"' sh 'a b' '' "c'd" : -n 1 true \
    >"$work/ran" 2>&1
cmp -s "$work/said" "$work/ran" || fail "said: $(cat "$work/said"), ran: $(cat "$work/ran")"

# A variable of an outer job is not passed on, and that is said.
PMIX_RANK=7 "$SHMIX" run --dry-run true >"$work/out" 2>"$work/err"
grep -q '^  unset PMIX_RANK$' "$work/out" || fail "a variable that goes is not named"

# Bindings, and a mistake of theirs.
run --dry-run --bind-to core true
expect_code 0 "bound to a core"
grep -q 'bound to core [0-9]*, CPUs [0-9]' "$work/out" || fail "a core is not named"
run --dry-run -n $(($(nproc --all) + 1)) --bind-to core true
expect_code 1 "more ranks than cores"
expect_err "ranks want a core each" "more ranks than cores"

# For programs, and what there is of the node.
run --dry-run --display parseable,alloc,topo -n 2 true
expect_code 0 "for programs"
[ "$(grep -c '^{"display":"map",.*"rank":[01],.*"path":".*true","argv":\["true"\]}$' "$work/out")" -eq 2 ] ||
    fail "for programs: not an object per rank"
grep -q '^{"display":"allocation",.*"slots":[0-9]' "$work/out" || fail "for programs: no allocation"
grep -q '^{"display":"topology",.*"type":"PU"' "$work/out" || fail "for programs: no topology"

"$SHMIX" run --dry-run true >/dev/full 2>"$work/err"
code=$?
expect_code 1 "an output that is full"

expect_clean "at the end"
finish
