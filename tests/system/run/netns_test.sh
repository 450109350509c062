# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# netns_test.sh - ranks in a network namespace of their own, where the server's abstract socket is not:
# they inherit the way to it from `shmix run`, and find that of another host under /proc.
. "$(dirname "$0")/lib.sh"

user=
[ "$(id -u)" = 0 ] || user='--user --map-current-user'
if ! unshare $user --net true 2>"$work/err"; then
    echo "skipped: no network namespace can be made here: $(tail -1 "$work/err")"
    exit 77
fi

# both WHAT: two ranks have met
both() {
    expect_code 0 "$1"
    [ "$(sort "$work/out")" = "rank 0: PMIX_SUCCESS
rank 1: PMIX_SUCCESS" ] || fail "$1: the ranks have not met"
}

run -n 2 unshare $user --net "$RANK" fence
both "ranks of shmix run"
if [ -z "$user" ]; then # else they have another user namespace, too, and may not look
    "$HOST" 2 unshare --net "$RANK" fence >"$work/out" 2>"$work/err"
    code=$?
    both "ranks of another host"
fi
SHMIX_RENDEZVOUS=directory "$HOST" 2 unshare $user --net "$RANK" fence >"$work/out" 2>"$work/err"
code=$?
both "ranks of a host with a directory"
expect_clean "at the end"

# Nobody is there, and there may be two reasons.
unshare $user --net env PMIX_NAMESPACE=gone.job PMIX_RANK=0 \
    SHMIX_SERVER_URI=unix:@shmix-0-999999999-1-0000000000000000 "$RANK" fence >"$work/out" 2>"$work/err"
expect_err "has it ended?.*network namespace.*SHMIX_RENDEZVOUS=directory" "a server that is not there"
finish
