# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# unkillable_test.sh - a rank that SIGKILL does not end is left: its job and the launcher end.
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
finish
