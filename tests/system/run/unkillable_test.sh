# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# unkillable_test.sh - a rank that SIGKILL does not end is left: its job and the launcher end.  So is
# a look-up of a spawn.
. "$(dirname "$0")/lib.sh"

mkdir "$work/folder"
timeout -k 1 100 "$UNANSWERED" "$work/folder" "$work/none" true
if [ $? -eq 77 ]; then
    echo "skipped: a file system of one's own (/dev/fuse) is not possible here"
    exit 77
fi

# A rank waits, and then another one fails.
cat >"$work/rank" <<'END'
[ "$PMIX_RANK" = 0 ] && exec ls "$1/folder/x"
while [ ! -e "$1/began" ]; do sleep 0.02; done
[ "$2" = control ] && exec "$JCTRL" "$PMIX_NAMESPACE" 0 pmix.jctrl.kill
exit "$2"
END

# leave CODE WHAT WORD: the code with which it ends
leave() {
    rm -f "$work/began"
    timeout -k 1 60 "$UNANSWERED" "$work/folder" "$work/began" "$SHMIX" run -n 2 sh "$work/rank" "$work" "$3" >"$work/out" 2>"$work/err"
    code=$?
    expect_code "$1" "$2"
    expect_err 'SIGKILL does not end rank 0 (pid [0-9]*), which is in state D' "$2"
    [ "$(grep -c 'SIGKILL\|cannot be killed' "$work/err")" = 1 ] || fail "$2: not one line"
    expect_clean "$2"
}
leave 3 "the rank of a job that fails" 3
leave 137 "a rank that another one kills" control

# A look-up holds none of the launcher's streams: they end with the launcher.  The file system lives on meanwhile.
cat >"$work/lookup" <<'END'
"$SHMIX" run --on-failure notify -n 1 "$SPAWNER" -t 1 pmix.timeout -- "$1/folder/x" 2>&1 | cat
END
timeout -k 1 60 "$UNANSWERED" "$work/folder" "$work/none" sh "$work/lookup" "$work" >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "a look-up that SIGKILL does not end"
grep -qx 'spawn: PMIX_ERR_TIMEOUT' "$work/out" || fail "a look-up that SIGKILL does not end: not refused"
grep -q 'SIGKILL does not end process [0-9]* of this launcher, which looks for the programs and folders of a spawn, and is in state D' \
    "$work/out" || fail "a look-up that SIGKILL does not end: its line"

# So is a rank of a spawn, which has not executed its program yet and has the launcher's memory.
if ldd "$SHMIX" "$(dirname "$SHMIX")/../lib/libpmix.so.2" 2>/dev/null | grep -q 'lib[atu]b\{0,1\}san'; then
    echo "the rank of a spawn is left out: a preloaded library makes it hang, which a sanitizer does not let be the first"
    finish
fi
mkdir "$work/later"
LD_PRELOAD=$HANGS LATER=$work/folder/x timeout -k 1 60 "$UNANSWERED" "$work/folder" "$work/none" "$SHMIX" run --separate-jobs \
    --on-failure notify -n 1 "$SPAWNER" -t 1 pmix.timeout "pmix.wdir=$work/later" -- true : -n 1 "$SPAWNER" -- true >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "a rank of a spawn that SIGKILL does not end"
grep -qx 'spawn: PMIX_ERR_TIMEOUT' "$work/out" || fail "a rank of a spawn that SIGKILL does not end: not ended"
grep -qx 'spawn: PMIX_SUCCESS' "$work/out" || fail "a rank of a spawn that SIGKILL does not end: the other job has not spawned"
expect_err 'SIGKILL does not end .*rank 0 (pid [0-9]*), which is in state D' "a rank of a spawn that SIGKILL does not end"
expect_clean "a rank of a spawn that SIGKILL does not end"

# So is the process that looks for the machine's devices, which holds none of the launcher's streams either.
cat >"$work/devices" <<'END'
"$SHMIX" run -n 1 sh -c 'while [ ! -e "$0" ]; do sleep 0.02; done' "$1/began" 2>&1 | cat
END
rm -f "$work/began"
LD_PRELOAD=$HANGS DEVICES=$work/folder/x timeout -k 1 60 "$UNANSWERED" "$work/folder" "$work/began" sh "$work/devices" "$work" \
    >"$work/out" 2>"$work/err"
code=$?
expect_code 0 "the process that looks for devices"
grep -q 'SIGKILL does not end process [0-9]* of this launcher, which looks for the machine.s devices, and is in state D' "$work/out" ||
    fail "the process that looks for devices: its line"
expect_clean "the process that looks for devices"
finish
