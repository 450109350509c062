# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# apps_test.sh - several applications in one job: who is who, what is whose own.
. "$(dirname "$0")/lib.sh"

# has LINE WHAT: a line of the output
has() {
    grep -qxF -e "$1" "$work/out" || fail "$2: no line '$1'"
}

# $RANK is a program of this folder, rank.c.
ln -s "$RANK" "$work/a" && ln -s "$RANK" "$work/b"
mkdir "$work/dir"
here=$(pwd -P)
run -n 2 --pset ocean "$work/a" apps x : -n 3 --wdir "$work/dir" --pset ice "$work/b" apps : \
    --pset ocean "$work/a" apps "two words"
expect_code 0 "three applications"
has "rank 0: app 0 leader 0 app rank 0 of 2 set ocean" "rank 0"
has "rank 1: app 0 leader 0 app rank 1 of 2 set ocean" "rank 1"
has "rank 2: app 1 leader 2 app rank 0 of 3 set ice" "rank 2"
has "rank 4: app 1 leader 2 app rank 2 of 3 set ice" "rank 4"
has "rank 5: app 2 leader 5 app rank 0 of 1 set ocean" "rank 5"
for rank in 0 3 5; do # every rank knows of every application
    has "rank $rank: app 0: size 2 leader 0 wdir '$here' argv '$work/a apps x'" "application 0"
    has "rank $rank: app 1: size 3 leader 2 wdir '$work/dir' argv '$work/b apps'" "application 1"
    has "rank $rank: app 2: size 1 leader 5 wdir '$here' argv '$work/a apps \"two words\"'" \
        "application 2"
done
expect_clean "three applications"

run "$RANK" apps
has "rank 0: app 0 leader 0 app rank 0 of 1 no sets" "one application without a set"

# What is said of one application is not said of the others.
run --env A=1 sh -c 'echo "$PMIX_RANK $A $PWD"' : --wdir / --env B=2 sh -c 'echo "$PMIX_RANK $A$B $PWD"'
expect_code 0 "own options"
has "0 1 $(pwd)" "the first one's own"
has "1 2 /" "the second one's own"

# Each is searched along its own PATH, and a failure names the one it is about.
printf '#!/bin/sh\necho mine\n' >"$work/dir/shmix-own-program"
chmod +x "$work/dir/shmix-own-program"
run true : --env "PATH=$work/dir:$PATH" shmix-own-program
expect_out mine "a program in a PATH of its own"
run true : nosuch-program
expect_code 127 "the second program is missing"
expect_err "nosuch-program" "the second program is missing"

# A file that somebody writes to cannot be executed, and nobody knows before.
cp /bin/sh "$work/script"
exec 9>>"$work/script"
run sleep 1000 : -n 2 "$work/script"
exec 9>&-
expect_code 126 "the second program cannot be executed"
expect_err "cannot start rank [12]: could not execute '$work/script'" "the second program"

# All of them end together.
run sleep 1000 : sh -c 'exit 7'
expect_code 7 "the second application fails"
expect_err "rank 1 (pid [0-9]*) on .* exited with status 7" "the second application fails"

run -n 1 true : -n 2 sh -c 'cat' : true </dev/null
expect_code 0 "an empty input"
echo text | "$SHMIX" run --stdin 2 true : -n 2 cat >"$work/out" 2>"$work/err"
expect_out text "the input goes to a rank of the second application"

run true :
expect_code 2 "nothing behind the colon"
expect_err "no program behind the last ':'" "nothing behind the colon"
run true : : true
expect_code 2 "nothing between colons"
run -n 9000 true : -n 9000 true
expect_code 2 "too many ranks together"
expect_err "18000 ranks, and at most 16384" "too many ranks together"
run true : --timeout 5 true
expect_code 2 "an option of the job behind a program"
run --hostfile hosts true
expect_code 2 "a hostfile"
expect_err "hostfile hosts: No such file or directory" "a hostfile"
run --hostfile /dev/zero true
expect_code 2 "a device in place of a hostfile"
mkfifo "$work/endless"
yes '# nobody' >"$work/endless" 2>/dev/null &
run --hostfile "$work/endless" true
expect_code 2 "a hostfile without an end"
mkfifo "$work/list"
echo 'localhost slots=2' >"$work/list" &
run --hostfile "$work/list" echo here
expect_code 0 "a hostfile from a pipe"
[ "$(grep -cx here "$work/out")" = 2 ] || fail "a hostfile from a pipe: not two ranks"

# The lines of a file are programs as on the command line; options before it are for all of them.
cat >"$work/jobs" <<'END'
# the model, and a line without anything

-n 2 --env B=2 sh -c 'echo "$PMIX_RANK $A$B $# $2"' sh # "is \"an\\" argu\ ment
	--wdir  /  --env A=9 sh -c 'echo "$PMIX_RANK $A"
echo "$PWD"' : echo two\ words \
 "" next
END
printf 'echo %s' "'last" >>"$work/jobs"
run --app "$work/jobs"
expect_code 2 "an open quote"
printf "'" >>"$work/jobs" # there is no end of line
run --env A=1 --app "$work/jobs" : sh -c 'echo "$PMIX_RANK ${A:-none} behind"'
expect_code 0 "an app file"
for line in '0 12 3 is "an\' '1 12 3 is "an\' "2 9" / "two words  next" last "5 none behind"; do
    has "$line" "an app file"
done
lines_are "$work/out" 7 || fail "an app file: other lines"
printf '%s\n' 'echo of a pipe' | "$SHMIX" run --app /dev/stdin >"$work/out" 2>"$work/err"
expect_out "of a pipe" "an app file that is a pipe"
i=0
while [ $((i += 1)) -le 10000 ]; do
    echo "-n 2 true"
done >"$work/many"
run --app "$work/many"
expect_code 2 "an app file with too many ranks"
expect_err "many, line 8193: .*16386 ranks, and at most 16384" "an app file with too many ranks"

expect_clean "at the end"
finish
