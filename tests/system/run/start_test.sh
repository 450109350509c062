# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# start_test.sh - what a rank finds when it starts, and what is refused before one does.
. "$(dirname "$0")/lib.sh"

run -n 3 sh -c 'echo $PMIX_RANK'
expect_code 0 "three ranks"
[ "$(sort "$work/out" | tr '\n' ' ')" = "0 1 2 " ] || fail "three ranks: their numbers"
expect_clean "three ranks"

run --wdir / pwd
expect_out / "--wdir"

run --env A=1=2 --env B= sh -c 'echo "$A,$B."'
expect_out "1=2,." "--env"

PMIX_RANK=77 SHMIX_SERVER_URI=unix:/old run sh -c 'echo "$PMIX_RANK $SHMIX_SERVER_URI"'
grep -q '^0 unix:@shmix-' "$work/out" || fail "stale variables of an outer job"

run sh -c 'grep -E "^Sig(Blk|Ign):" /proc/self/status | tr -d "0\t\n"'
expect_out "SigBlk:SigIgn:" "signals at their defaults"

run -n 2 sh -c 'read -r pid name state parent group rest </proc/$$/stat; test $group = $$ && echo leads'
[ "$(sort -u "$work/out")" = leads ] || fail "a process group for each rank"

# Nothing of the launcher's but the way to the server, and that for PMI-1: what it inherited itself it passes on.
ls /proc/self/fd >"$work/here"
run ls /proc/self/fd
[ "$(wc -l <"$work/out")" -le $(($(wc -l <"$work/here") + 2)) ] || fail "descriptors"

(ulimit -Sn 50; "$SHMIX" run -n 4 sh -c 'ulimit -Sn' | sort -u >"$work/out")
expect_out 50 "the ranks' limit is the user's"

# 64 descriptors are enough for two ranks that talk, as they are for mpirun.
(ulimit -n 64; "$SHMIX" run -n 2 "$RANK" fence >"$work/out" 2>"$work/err"; echo $? >"$work/code")
code=$(cat "$work/code")
expect_code 0 "a limit of 64 descriptors"
(ulimit -n 72; "$SHMIX" run -n 4 "$RANK" fence >"$work/out" 2>"$work/err"; echo $? >"$work/code")
code=$(cat "$work/code")
expect_code 0 "a limit of 72 descriptors for four ranks"

(ulimit -n 16; "$SHMIX" run true >"$work/out" 2>"$work/err"; echo $? >"$work/code")
code=$(cat "$work/code")
expect_code 1 "a limit of 16 descriptors"
expect_err "16.*RLIMIT_NOFILE" "a limit of 16 descriptors"
expect_clean "a limit of 16 descriptors"

TMPDIR=$work/none run true
expect_code 1 "no TMPDIR"
expect_err "$work/none.*TMPDIR" "no TMPDIR"

# A umask that takes some of the owner's access away is named, to root as well.
for mask in 100 200 400 177 277 777; do
    (umask $mask; exec "$SHMIX" run true) >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "a umask of $mask"
    expect_err "umask takes its owner's access away (0[1-7]00)" "a umask of $mask"
    grep -q 'TMPDIR' "$work/err" && fail "a umask of $mask: the advice is another directory"
    expect_clean "a umask of $mask"
done

# To others than root.
mkdir -m 1777 "$work/open"
chmod 711 "$work"
as=
[ "$(id -u)" != 0 ] || as='setpriv --reuid 65534 --clear-groups'
if $as test -w "$work/open" && $as "$SHMIX" --version >/dev/null 2>&1; then
    (umask 777; TMPDIR=$work/open $as "$SHMIX" run true) >"$work/out" 2>"$work/err"
    code=$?
    expect_code 1 "a umask of 777"
    expect_err "$work/open.*umask" "a umask of 777"
    [ -z "$(ls "$work/open")" ] || fail "a umask of 777: left behind"
fi

long=$TMPDIR/$(printf '%0150d' 1)/$(printf '%0150d' 2)
mkdir -p "$long"
TMPDIR=$long run -n 2 true
expect_code 0 "TMPDIR of 300 characters"
[ -z "$(ls "$long")" ] || fail "TMPDIR of 300 characters: left behind"
rm -r "${TMPDIR:?}"/0*

run nosuch-program
expect_code 127 "no program"
expect_err "nosuch-program.*PATH" "no program"

run /etc/passwd
expect_code 126 "no executable"

run /etc
expect_code 126 "a directory"

printf '#!/no/such/interpreter\n' >"$work/script"
chmod +x "$work/script"
run -n 2 "$work/script"
expect_code 127 "no interpreter"
expect_err "interpreter" "no interpreter"

printf 'echo "plain $1"\n' >"$work/script"
run "$work/script" x
expect_out "plain x" "a script without a first line that names its interpreter"

# A program of another machine is no script: its head alone, of an s390x and of no machine at all.
for machine in '\026' '\377'; do
    { printf '\177ELF\002\002\001\0\0\0\0\0\0\0\0\0\0\002\0'"$machine"; head -c 200 /dev/zero; } \
        >"$work/other"
    chmod +x "$work/other"
    run -n 2 "$work/other"
    expect_code 126 "a program of another machine"
    expect_err "could not execute '$work/other': Exec format error" "a program of another machine"
    [ "$machine" != '\026' ] || expect_err "it is for s390x, and this machine is $(uname -m)" \
        "a program of another machine"
    (cd "$work" && "$SHMIX" run --wdir . ./other 2>err)
    [ "$machine" != '\026' ] || expect_err "it is for s390x" "a program of another machine, by --wdir"
done

HWLOC_SYNTHETIC="core:2 pu:1" run --bind-to core -n 3 true
expect_code 1 "more ranks than cores"
expect_err "this machine has 2" "more ranks than cores"

run --bind-to core -n 1 grep Cpus_allowed_list /proc/self/status
expect_code 0 "bound to a core"
run --bind-to numa -n 3 true
expect_code 0 "bound to NUMA nodes"

run --help
expect_code 0 "help"
grep -q -- "--timeout" "$work/out" || fail "help"
awk 'length > 100 { exit 1 }' "$work/out" || fail "help: a line is too long"

"$SHMIX" rum >"$work/out" 2>"$work/err"
code=$?
expect_code 2 "a verb misspelt"
expect_err "did you mean 'run'" "a verb misspelt"

expect_clean "at the end"
finish
