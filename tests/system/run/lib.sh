# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# lib.sh - what the scripts of this folder share; sourced, never run.
#
# SHMIX names the command.  Each script has a directory of its own, $work, which is also its TMPDIR,
# so that it sees what its jobs leave behind and nobody else's.  A wait looks for a state and is
# bounded; a failed check is reported and the script goes on to the next.

: "${SHMIX:?names the shmix command}"
failed=0
work=$(mktemp -d "${TMPDIR:-/tmp}/shmix-test-run-XXXXXX") || exit 1
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID FLUX_JOB_ID PE_HOSTFILE OMPI_COMM_WORLD_SIZE # launch/ask/sources.h
trap 'rm -rf "$work"' EXIT
trap 'exit 143' HUP INT TERM # sh runs what is to be done at the end for an exit only

# The kernel may refuse io_uring: then there is nothing to test with it.
if [ "${SHMIX_LOOP:-}" = uring ] && ! "$SHMIX" run true 2>/dev/null; then
    if SHMIX_LOOP=epoll "$SHMIX" run true; then
        echo "skipped: io_uring is refused here"
        exit 77
    fi
fi

# run ARGS...: output in $work/out and $work/err, exit code in $code
run() {
    "$SHMIX" run "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# theirs_find: Debian's OpenPMIx in $theirs.  Return: false, with the reason, when no rank can have it.
theirs_find() {
    theirs=
    for file in /usr/lib/*/pmix2/lib/libpmix.so.2; do
        [ -e "$file" ] && [ -z "${SANITIZED:-}" ] && theirs=$file
    done
    [ -n "$theirs" ] ||
        ! echo "skipped: OpenPMIx is not installed (libpmix2), or cannot be loaded beside a sanitizer"
}

fail() {
    failed=$((failed + 1))
    echo "FAILED: $*"
    for file in out err; do
        [ -s "$work/$file" ] && sed "s/^/    $file: /" "$work/$file" | head -20
    done
    return 0
}

# expect_code WANT WHAT
expect_code() {
    [ "$code" = "$1" ] || fail "$2: exit code $code, not $1"
}

# expect_out TEXT WHAT; expect_err PATTERN WHAT
expect_out() {
    [ "$(cat "$work/out")" = "$1" ] || fail "$2: the output is not '$1'"
}
expect_err() {
    grep -q -e "$1" "$work/err" || fail "$2: no '$1' on stderr"
}

# Nothing of a job may be left.
expect_clean() {
    [ -z "$(ls "$TMPDIR")" ] || fail "$1: left behind: $(ls "$TMPDIR")"
}

# await WHAT COMMAND...: until the command succeeds, a minute at most
await() {
    what=$1
    shift
    tries=0
    until "$@" 2>/dev/null; do
        tries=$((tries + 1))
        if [ $tries -gt 1200 ]; then
            fail "waited in vain: $what"
            return 1
        fi
        sleep 0.05
    done
}

lines_are() {
    [ "$(wc -l <"$1")" -eq "$2" ]
}
is_gone() { # a zombie that nobody reaps counts as gone
    ! grep -qs '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$1/status"
}
is_stopped() {
    grep -qs '^State:[[:space:]]*T' "/proc/$1/status"
}
runs() {
    grep -qs '^State:[[:space:]]*[SRD]' "/proc/$1/status"
}
all_gone() {
    for pid in $(cat "$1"); do
        is_gone "$pid" || return 1
    done
}
nothing_left() {
    [ -z "$(ls "$TMPDIR")" ]
}

finish() {
    if [ $failed -gt 0 ]; then
        echo "$failed checks failed"
        exit 1
    fi
    echo "all checks passed"
}
