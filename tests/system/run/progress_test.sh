# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# progress_test.sh - how far a launch is that takes long, in a pty; nothing elsewhere.
. "$(dirname "$0")/lib.sh"

command -v script >/dev/null || { echo "skipped: script(1) is not installed"; exit 77; }

# Of two ranks, which meet in a fence, the second one connects when the fifo is written to.
# begin NAME COMMAND...: such a job, started by the command, with its fifo $work/NAME
begin() {
    name=$1
    shift
    mkfifo "$work/$name"
    cat >"$work/$name.sh" <<END
if [ "\$PMIX_RANK" = 1 ]; then
    echo waits >"$work/$name.waits"
    read -r word <"$work/$name"
fi
exec "$RANK" fence
END
    "$@" >"$work/$name.out" 2>"$work/$name.err" &
    await "$name waits" test -e "$work/$name.waits"
}
in_pty() {
    script -qec "$*" /dev/null </dev/null
}

# These have taken longer than the third one, when that one shows how far it is.
begin plain "$SHMIX" run -n 2 sh "$work/plain.sh"
plain=$!
begin quiet in_pty "'$SHMIX' run --quiet -n 2 sh '$work/quiet.sh'"
quiet=$!
begin shown in_pty "'$SHMIX' run -n 2 sh '$work/shown.sh'"
shown=$!
await "the line" grep -q "2 of 2 ranks are up, 1 connected" "$work/shown.out"
for name in plain quiet shown; do
    echo go >"$work/$name"
done
for job in $plain $quiet $shown; do
    wait $job || fail "a job ended with $?"
done

[ "$(tr '\r' '\n' <"$work/shown.out" | grep -c "ranks are up")" = 1 ] ||
    fail "the line is not there once: $(cat -v "$work/shown.out")"
wipe=$(printf '\r\033[K')
case $(cat "$work/shown.out") in
*connected"$wipe"*) ;;
*) fail "the line is not wiped off: $(cat -v "$work/shown.out")" ;;
esac
if grep -q "ranks are up" "$work/plain.out" "$work/plain.err" "$work/quiet.out"; then
    fail "it is shown without a terminal, or with --quiet"
fi

# What else is written comes in its place.
begin said in_pty "'$SHMIX' run -n 2 sh '$work/said.sh' : sh -c 'until [ -e \"$work/talk\" ]; do sleep 0.05; done; echo words'"
said=$!
await "the line" grep -q "3 of 3 ranks are up, 1 connected" "$work/said.out"
touch "$work/talk"
await "the words" grep -qF "connected${wipe}words" "$work/said.out"
echo go >"$work/said"
wait $said || fail "the job with words ended with $?"

# Ranks of PMI-1 have connected, too: the first one, and then the second one.
if command -v bash >/dev/null; then
    cat >"$work/old.sh" <<END
ask() { printf '%s\n' "\$1" >&"\$PMI_FD"; IFS= read -r -u "\$PMI_FD" answer; }
[ "\$PMI_RANK" = 0 ] || until [ -e "$work/old" ]; do sleep 0.05; done
ask 'cmd=init pmi_version=1 pmi_subversion=1'
until [ -e "$work/old" ]; do sleep 0.05; done
ask 'cmd=finalize'
END
    in_pty "'$SHMIX' run -n 2 bash '$work/old.sh'" >"$work/old.out" 2>&1 &
    old=$!
    await "the line of PMI-1" grep -q "2 of 2 ranks are up, 1 connected" "$work/old.out"
    touch "$work/old"
    wait $old || fail "the job of PMI-1 ended with $?"
else
    echo "SKIP PMI-1: bash is not installed"
fi

expect_clean "at the end"
finish
