# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# completion_test.sh - `shmix completion`: every verb and every option of its help is in the script
# of each shell, which the shell takes; bash completes by it.
. "$(dirname "$0")/lib.sh"

for shell in bash zsh fish; do
    "$SHMIX" completion $shell >"$work/$shell" || fail "$shell"
    for verb in $("$SHMIX" --help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\) .*/\1/p'); do
        grep -qw -e "$verb" "$work/$shell" || fail "$shell: no $verb"
        for option in $("$SHMIX" "$verb" --help | sed -n 's/^  --\([a-z][a-z-]*\).*/\1/p'); do
            grep -q -e "[ -]$option\>" "$work/$shell" || fail "$shell: no --$option of $verb"
        done
    done
    if command -v $shell >/dev/null; then
        $shell -n "$work/$shell" || fail "$shell does not take its script"
    fi
done

# bash completes.
if command -v bash >/dev/null; then
    completes() { # WANT WORDS...
        want=$1
        shift
        got=$(PATH=$(dirname "$SHMIX"):$PATH bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _shmix
            echo "${COMPREPLY[*]}"' "$work/bash" "$@" 2>&1)
        [ "$got" = "$want" ] || fail "$*: '$got', not '$want'"
    }
    completes 'doctor' shmix do
    completes '--json' shmix ls --js
    completes 'collectives' shmix ls coll
    completes 'zsh' shmix completion z
    completes '--hostfile' shmix run --hostf
    completes '--hostfile' shmix --hostf
    go=$work/go
    "$SHMIX" run -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
    server=$!
    await "the rank is there" grep -q '^late' "$work/job"
    job=$("$SHMIX" ls jobs --json "$server" | sed -n 's/.*"nspace":"\([^"]*\)".*/\1/p')
    completes "$job" shmix mem "${job%?}"
    touch "$go"
    wait "$server"
fi

"$SHMIX" completion ksh >"$work/out" 2>"$work/err"
code=$?
expect_code 2 "a shell that is not known"
expect_err "unknown shell 'ksh'" "a shell that is not known"
finish
