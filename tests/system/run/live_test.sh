# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# live_test.sh - when the ranks' output is a terminal, which is live, and when it is a pipe; and that a
# terminal changes and loses nothing.
. "$(dirname "$0")/lib.sh"
cd "$work" || exit 1

# Each kind of output that the launcher may have, and what a rank has then: seen LAUNCHER'S-OPTIONS...
tells='[ -t 1 ] && printf terminal >"$SEEN.1" || printf pipe >"$SEEN.1"; [ -t 2 ] && printf terminal >"$SEEN.2" || printf pipe >"$SEEN.2"; echo line'
SEEN=$work/seen
export SEEN
seen_is() { # WHAT STDOUT STDERR
    [ "$(cat seen.1)" = "$2" ] || fail "$1: stdout is a $(cat seen.1)"
    [ "$(cat seen.2)" = "$3" ] || fail "$1: stderr is a $(cat seen.2)"
    rm -f seen.1 seen.2
}
"$SHMIX" run sh -c "$tells" >out 2>err
seen_is "a file of its own" pipe pipe
"$SHMIX" run sh -c "$tells" >out 2>&1
seen_is "a log" terminal pipe
"$SHMIX" run sh -c "$tells" 2>err | cat >out
seen_is "a reader" terminal pipe
"$SHMIX" run sh -c "$tells" >/dev/null 2>&1
seen_is "nobody" pipe pipe
"$SHMIX" run sh -c "$tells" >&- 2>err || fail "stdout is closed"
seen_is "closed" pipe pipe
"$SHMIX" run --no-pty sh -c "$tells" >out 2>&1
seen_is "--no-pty" pipe pipe
"$SHMIX" run --no-pty --tag-output sh -c "$tells" >out 2>&1
seen_is "--no-pty, tagged" pipe pipe
"$SHMIX" run -u sh -c "$tells" >out 2>err
seen_is "-u" terminal pipe
"$SHMIX" run --unbuffered sh -c "$tells" >/dev/null 2>err
seen_is "--unbuffered" terminal pipe
"$SHMIX" run --tag-output sh -c "$tells" >out 2>err
seen_is "tagged" terminal pipe
"$SHMIX" run --output timestamp sh -c "$tells" >out 2>err
seen_is "with the time" terminal pipe
if script -qec true /dev/null </dev/null >script 2>&1; then
    script -qec "stty rows 33 cols 99; '$SHMIX' run sh -c '$tells; stty size <&1 >size'" /dev/null </dev/null >out 2>err
    seen_is "a terminal" terminal pipe
    [ "$(cat size)" = "33 99" ] || fail "the size of the terminal is '$(cat size)'"
else
    echo "skipped: a terminal, as script(1) does not run: $(cat script)"
fi

# A job that is spawned is as its launcher says, unless the call says something else.
for row in "pipe:" "terminal:-u" "pipe:-u:pmix.spawn.pty=!"; do
    said=$(echo "$row" | cut -d: -f2)
    run --timeout 120 $said "$SPAWNER" $(echo "$row" | cut -s -d: -f3) pmix.notecomp -- sh -c "$tells"
    seen_is "spawned, $row" "${row%%:*}" pipe
done

# A line is there before its program goes on: grep keeps what it writes to a pipe.
live() { # WHAT FILE OPTIONS...
    what=$1 file=$2
    shift 2
    rm -f go
    "$SHMIX" run --timeout 120 "$@" sh -c '{ echo "a line"; until [ -e go ]; do sleep 0.05; done; } | grep line' >out 2>&1 &
    job=$!
    await "$what" grep -q "a line" "$file"
    touch go
    wait $job || fail "$what: exit code $?"
}
live "a line of one rank" out
live "a line of two ranks" out -n 2
live "a marked line" out -n 2 --output tag,timestamp
live "a line in a file" lines.0.stdout --output file=lines.%r,pattern,nocopy
live "a line in an element" out -n 2 --output xml

# Bytes are what they were.
i=0
while [ $i -lt 256 ]; do
    printf "\\$(printf %o $i)"
    i=$((i + 1))
done >bytes
i=0
while [ $i -lt 15 ]; do # 8 MiB
    cat bytes bytes >twice && mv twice bytes
    i=$((i + 1))
done
[ "$(wc -c <bytes)" -eq 8388608 ] || fail "the test has made $(wc -c <bytes) bytes"
"$SHMIX" run -u cat bytes >out 2>err || fail "bytes: exit code $?"
cmp bytes out || fail "bytes are changed"
"$SHMIX" run -u cat bytes 2>err | cmp - bytes || fail "bytes are changed on their way to a pipe"
run -u -n 2 --output file=copy.%r,pattern,nocopy cat bytes
cmp bytes copy.0.stdout && cmp bytes copy.1.stdout || fail "bytes in files are changed"

# What a rank has written is there, however it ends.
run -u sh -c 'head -c 4000 bytes; kill -9 $$'
expect_code 137 "killed"
head -c 4000 bytes | cmp - out || fail "what a killed rank had written is lost"
run -u -n 64 sh -c 'echo $PMIX_RANK; head -c 1000 /dev/zero | tr "\0" x; echo; kill -9 $$'
sed -n '/^[0-9]*$/p' out | sort -n | uniq -d | grep . && fail "64 ranks: some are there twice"
run -u -n 64 sh -c 'i=0; while [ $i -lt 20 ]; do echo "$PMIX_RANK the quick brown fox $i"; i=$((i+1)); done'
expect_code 0 "64 ranks"
[ "$(grep -c -x -E '[0-9]+ the quick brown fox [0-9]+' out)" = 1280 ] || fail "64 ranks: lines are lost or mixed"

# It is no controlling terminal, and its end is no signal.
setsid "$SHMIX" run -u sh -c 'cut -d " " -f 7 /proc/$$/stat' >out 2>err
expect_out 0 "the controlling terminal"
run -u sh -c 'exec >/dev/null; trap "echo hup >&2" HUP; sleep 0.2; echo went on >&2'
expect_err "^went on" "a rank that closes its terminal"
grep hup err && fail "a rank that closes its terminal gets SIGHUP"

# --pty: the rank that reads has one terminal for all three, which is its controlling one.
asks='[ -t 0 ] && [ -t 1 ] && [ -t 2 ] && : </dev/tty && echo "one for all"'
run --pty sh -c "$asks"
expect_out "one for all" "--pty"
run -n 2 --pty sh -c 'if [ $PMIX_RANK = 0 ]; then '"$asks"'; else [ -t 1 ] && [ -t 2 ] && { [ -t 0 ] || echo two; }; fi'
[ "$(sort out | tr '\n' ' ')" = "one for all two " ] || fail "--pty, two ranks: $(cat out)"
printf 'one\ntwo' | "$SHMIX" run --pty cat >out 2>err
[ "$(cat out)" = "one
two" ] && [ "$(wc -c <out)" = 7 ] || fail "--pty: input: $(od -c out)"
i=0
while [ $i -lt 30000 ]; do
    echo "the quick brown fox $i jumps over the lazy dog"
    i=$((i + 1))
done >text
"$SHMIX" run --pty cat <text >out 2>err
cmp text out || fail "--pty: a large input is changed"
"$SHMIX" run --pty true <text >out 2>err || fail "--pty: a rank that does not read"
run --pty --stdin none sh -c "$tells"
seen_is "--pty, nobody reads" terminal terminal
if script -qec true /dev/null </dev/null >script 2>&1; then
    # Keys go to the rank, one of them as a signal, and the user's terminal is as it was.
    cat >keys <<'END'
stty -g >before
"$SHMIX" run --pty sh -c 'trap "touch caught" INT; stty -echo; echo >ready; read words; echo "read $words" >words; until [ -e caught ]; do sleep 0.05; done; exit 3'
echo $? >code
stty -g >after
END
    export SHMIX
    mkfifo typed
    script -qec "sh keys" /dev/null <typed >out 2>err &
    job=$!
    exec 9>typed
    await "a rank at a terminal" test -s ready
    printf 'some words\r' >&9
    await "words for a rank at a terminal" test -s words
    printf '\003' >&9
    await "the end of a rank at a terminal" test -s after
    exec 9>&-
    wait $job
    [ "$(cat words)" = "read some words" ] || fail "--pty: words: $(cat words)"
    [ -e caught ] && [ "$(cat code)" = 3 ] || fail "--pty: the interrupt has gone elsewhere: exit code $(cat code)"
    cmp before after || fail "--pty: the user's terminal is not as it was"
fi

# Where there are none, it is a pipe.
bare() { # OPTIONS...: a launcher that finds no terminals
    unshare -rm sh -c 'mount --bind /dev/null /dev/ptmx && exec "$@"' sh "$SHMIX" run "$@" >out 2>&1
}
if unshare -rm mount --bind /dev/null /dev/ptmx 2>unshare; then
    bare -n 3 sh -c "$tells"
    seen_is "no terminals" pipe pipe
    lines_are out 3 || fail "no terminals: there is more than the output, or less"
    bare -n 3 -u sh -c "$tells"
    seen_is "no terminals, -u" pipe pipe
    [ "$(grep -c "no terminals" out)" = 1 ] || fail "no terminals, -u: it is not said once"
    rm -f seen.1 seen.2
    bare --pty true
    grep -q "cannot start rank 0: no terminal for --pty (kernel.pty.max, /dev/ptmx):" out || fail "no terminals, --pty: $(cat out)"
else
    echo "skipped: no terminals, as a mount is refused: $(cat unshare)"
fi

expect_clean "at the end"
finish
