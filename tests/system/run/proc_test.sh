# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# proc_test.sh - in a container whose /proc is empty, each verb says so; it does not say "no jobs".
. "$(dirname "$0")/lib.sh"

if ldd "$SHMIX" | grep -q 'lib.san'; then
    echo "skipped: a sanitizer reads its own options from /proc"
    exit 77
fi

# without_proc COMMAND...: as run, but with the words of any command
without_proc() {
    unshare --map-root-user --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@" \
        >"$work/out" 2>"$work/err"
    code=$?
}

without_proc test ! -e /proc/self
if [ $code -ne 0 ]; then
    echo "skipped: no mount namespaces here: $(head -1 "$work/err")"
    exit 77
fi

for verb in "mem" "mem 1" "events" "events inject -1" "run true"; do
    # shellcheck disable=SC2086 # the words of a line
    without_proc "$SHMIX" $verb
    expect_code 1 "shmix $verb without /proc"
    expect_err "is /proc mounted" "shmix $verb without /proc"
done
expect_clean "without /proc"

finish
