# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# answers_test.sh - each line of answers.tsv gets the exit code and the words that stand beside it.
. "$(dirname "$0")/lib.sh"

tab=$(printf '\t')
unset OMPI_MCA_ess OMPI_COMM_WORLD_RANK

# What mpirun is in Open MPI 4: a name of its orterun.
printf '#!/bin/sh\nexit 1\n' >"$work/orterun"
chmod +x "$work/orterun"
mkdir "$work/ompi"
ln -s ../orterun "$work/ompi/mpirun"
ln -s "$SHMIX" "$work/mpiexec"
ln -s "$SHMIX" "$work/mpirun"
printf '#!/bin/sh\necho ran beside\n' >"$work/beside"
chmod +x "$work/beside"

printf '# ours\nlocalhost slots=3 max_slots=4\n\n%s:2 # two\n127.0.0.1\n' "$(hostname)" >"$work/hosts"
printf 'localhost\nelsewhere slots=2\n' >"$work/else"

# App files.
printf 'true\n' >"$work/apps"
printf 'true\necho "no end\n' >"$work/quote"
printf 'true\n\0' >"$work/nul"
printf -- '--app %s\n' "$work/apps" >"$work/nested"
printf '# one\n--tag-output true\n' >"$work/whole"
printf '# one\ntrue\n\n--wdirr / true\n' | sed 2d >"$work/wrong"
printf -- '-n 2\n' >"$work/empty"

shmix() {
    "$SHMIX" "$@"
}

# expect_words WORD [| WORD]... LINE: each of the words is in the answer
expect_words() {
    words=$1
    while [ -n "$words" ]; do
        word=${words%% | *}
        grep -qF -e "$word" "$work/out" "$work/err" || fail "$2: no '$word' in the answer"
        case $words in
        *" | "*) words=${words#* | } ;;
        *) words= ;;
        esac
    done
}

count=0
while IFS=$tab read -r want line words; do
    case $want in
    '' | '#'*) continue ;;
    esac
    count=$((count + 1))
    (eval "$line") >"$work/out" 2>"$work/err" </dev/null
    code=$?
    expect_code "$want" "$line"
    if [ "$want" = 2 ] && ! sed -n 2p "$work/err" | grep -q '^try: shmix'; then
        fail "$line: the second line does not say what to try"
    fi
    if [ "$words" = - ]; then
        [ ! -s "$work/out" ] && [ ! -s "$work/err" ] || fail "$line: there is an answer"
    else
        expect_words "$words" "$line"
    fi
done <"$(dirname "$0")/answers.tsv"
[ $count -gt 80 ] || fail "only $count lines were read"
expect_clean "the answers"

finish
