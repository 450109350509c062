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
printf -- '-n 4 sh -c '\''echo of $OMPI_COMM_WORLD_SIZE'\''\n' >"$work/apps4"
printf 'true\necho "no end\n' >"$work/quote"
printf 'true\n\0' >"$work/nul"
printf -- '--app %s\n' "$work/apps" >"$work/nested"
printf '# one\n--tag-output true\n' >"$work/whole"
printf '# one\ntrue\n\n--wdirr / true\n' | sed 2d >"$work/wrong"
printf -- '-n 2\n' >"$work/empty"

# What is to be tried begins with the command's name.
mkdir "$work/bin"
ln -s "$SHMIX" "$work/bin/shmix"
PATH=$work/bin:$PATH

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
    if [ "$want" = 2 ] && ! sed -n '2s/^try: //p' "$work/err" | grep '^shmix' >>"$work/tries"; then
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

# Each option of each verb, with what no option takes, and without what follows it.
for verb in run events 'events inject' ls get query ctl log mem; do
    # shellcheck disable=SC2086 # a verb of two words
    "$SHMIX" $verb --help | sed -n 's/^  \(--*[a-z][^ ,]*\).*/\1/p' | while read -r option; do
        case "$verb $option" in
        *--watch | 'events --json') continue ;; # they follow
        esac
        for words in "$option" "$option=no.such"; do
            # shellcheck disable=SC2086
            timeout 60 "$SHMIX" $verb "$words" </dev/null 2>&1 | sed -n '2s/^try: //p'
        done
    done
done >>"$work/tries"

# What is to be tried is no mistake.  There is a job, of which the other verbs have something to say.
mkdir "$work/here"
cd "$work/here" || exit 1
"$SHMIX" run -n 2 "$RANK" late "$work/go" >"$work/sleeps" 2>&1 &
sleeper=$!
await "a job" grep -q . "$work/sleeps"
count=0
sort -u "$work/tries" >"$work/tries.once"
while read -r line; do
    case $line in
    *--help) count=$((count + 1)) ;;
    'shmix bench'*) continue ;; # it measures for minutes
    'shmix events inject'*) continue ;;
    'shmix events'*) line="$line --timeout 0.01" ;; # else they follow the job
    *--watch*) continue ;; # so do these
    *'--wait 10'* | *'--timeout 10'*) line=${line%10*}1${line##*10} ;; # where others have jobs, too
    'shmix run --stop-'* | 'shmix run --debugger'*) continue ;; # the ranks wait for a debugger
    esac
    count=$((count + 1))
    (eval "timeout 60 $line") >"$work/out" 2>"$work/err" </dev/null
    code=$?
    [ $code != 124 ] || fail "try: $line: it does not end"
    # A problem that doctor finds on this node is code 2 as well, and stands in its output.
    case $line in 'shmix doctor'*) [ ! -s "$work/out" ] || code=0 ;; esac
    [ $code != 2 ] || fail "try: $line: it is a mistake"
done <"$work/tries.once"
[ $count -gt 40 ] || fail "only $count lines were to be tried"
kill "$sleeper"
wait "$sleeper" 2>/dev/null
cd / || exit 1
expect_clean "the lines to try"

finish
