# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# metrics_test.sh - `shmix ls --metrics`: what it prints is OpenMetrics text with the figures of a job, also when the server
# is stopped; a file is replaced as a whole, or stays as it was.
. "$(dirname "$0")/lib.sh"
command -v python3 >/dev/null || { echo "skipped: python3 is not installed"; exit 77; }
judge=$(dirname "$0")/openmetrics.py

go=$work/go
"$SHMIX" run -n 2 "$RANK" fence : -n 1 "$RANK" late "$go" >"$work/job" 2>&1 &
server=$!
trap 'touch "$go"; kill -CONT "$server" 2>/dev/null; kill "$server" 2>/dev/null; wait; rm -rf "$work"' EXIT
await "rank 2 has said who it is" grep -q '^late' "$work/job" || finish
await "three clients" sh -c '"$1" ls servers --json "$2" | grep -q "\"clients\":3,"' - "$SHMIX" "$server"
await "an open fence" sh -c '"$1" ls collectives --json "$2" | grep -q "\"arrived\":2,"' - "$SHMIX" "$server"
job=$("$SHMIX" ls jobs --json "$server" | sed -n 's/.*"nspace":"\([^"]*\)".*/\1/p')
kill -STOP "$server"
await "the server is stopped" is_stopped "$server"

metrics() { # ARGS...
    "$SHMIX" ls "$@" >"$work/out" 2>"$work/err"
    code=$?
}
expect_good() { # FILE WHAT
    wrong=$(python3 "$judge" "$1") || fail "$2: $wrong"
}
expect_sample() { # LINE
    grep -qxF -e "$1" "$work/out" || fail "no '$1'"
}

wrong=$(python3 "$judge" --itself) || fail "the judge: $wrong"
metrics --metrics "$server"
expect_code 0 "the metrics of a server"
expect_good "$work/out" "the metrics of a server"
labels="{nspace=\"$job\",server=\"$server\",uid=\"$(id -u)\"}"
expect_sample "shmix_job_size$labels 3"
expect_sample "shmix_job_ranks_connected$labels 3"
expect_sample "shmix_server_open_collectives{server=\"$server\",kind=\"fence\"} 1"
expect_sample "shmix_server_missing_members{server=\"$server\",kind=\"fence\"} 1"
expect_sample "shmix_open_collectives 1"
expect_sample "shmix_build_info{version=\"$("$SHMIX" --version | cut -d' ' -f2)\"} 1"
"$SHMIX" top --metrics "$server" >"$work/top"
expect_good "$work/top" "shmix top"
metrics --metrics "$job"
expect_sample "shmix_job_size$labels 3"
metrics --metrics # of everybody, whoever else runs
expect_code 0 "the metrics of all"
expect_good "$work/out" "the metrics of all"

# A file: a link stays one, and a reader of the old text has all of it.
mkdir "$work/folder"
: >"$work/folder/shmix.prom"
ln -s folder/shmix.prom "$work/link"
metrics --metrics="$work/link" "$server"
expect_code 0 "into a file"
expect_good "$work/link" "into a file"
[ -L "$work/link" ] || fail "the link was replaced by a file"
exec 3<"$work/link"
inode=$(ls -Lid "$work/link" | cut -d' ' -f1)
chmod 640 "$work/folder/shmix.prom"
metrics --metrics="$work/link" "$server"
[ "$(stat -c %a "$work/folder/shmix.prom")" = 640 ] || fail "the mode of the file was not kept"
[ "$(ls -Lid "$work/link" | cut -d' ' -f1)" != "$inode" ] || fail "the file was written into, and not replaced"
cat <&3 >"$work/before"
exec 3<&-
expect_good "$work/before" "the text of a reader that was there before"
[ "$(ls "$work/folder")" = shmix.prom ] || fail "left: $(ls "$work/folder")"
mkfifo "$work/pipe"
cat "$work/pipe" >"$work/piped" &
await "the pipe has a reader" "$SHMIX" ls --metrics="$work/pipe" "$server"
wait $!
[ -p "$work/pipe" ] || fail "the pipe was replaced"
expect_good "$work/piped" "into a pipe"

mkfifo "$work/unread"
metrics --metrics="$work/unread" "$server"
expect_code 1 "into a pipe without a reader"
expect_err "cannot write '.*/unread' (no process reads this pipe)" "into a pipe without a reader"

# A link of another user chooses no file for root: not here, and not where else a file is named.
if [ "$(id -u)" -eq 0 ]; then
    mkdir "$work/theirs"
    echo secret >"$work/secret"
    ln -s ../secret "$work/theirs/file"
    ln -s ../secret "$work/theirs/file.stdout"
    ln -s .. "$work/theirs/folder"
    chown -h 5001 "$work/theirs" "$work/theirs/"*
    refuses() { # ARGS...
        "$SHMIX" "$@" >"$work/out" 2>"$work/err" && fail "$*: code 0"
        expect_err "a symbolic link of another user" "$*"
    }
    for name in theirs/file theirs/folder/secret; do
        refuses ls --metrics="$work/$name"
        refuses trace -o "$work/$name" true
        refuses run --report="$work/$name" true
        refuses run --report-pid="$work/$name" true
        refuses run --log="$work/$name" true
        refuses run --output "file=$work/$name:pattern" true
    done
    [ "$(cat "$work/secret")" = secret ] || fail "root has written through a link of another user"
fi

# A disk that is full: the file stays as it was.
before=$(cksum <"$work/link")
: >"$work/out"
{
    (ulimit -f 1 && exec "$SHMIX" ls --metrics="$work/link" "$server") 2>&1
    echo $? >"$work/code"
} | cat >"$work/err" # a pipe has no limit
code=$(cat "$work/code")
expect_code 1 "no room"
expect_err "cannot write '.*/link' (File too large); a file is as it was" "no room"
[ "$(cksum <"$work/link")" = "$before" ] || fail "no room: the file has changed"
[ "$(ls "$work/folder")" = shmix.prom ] || fail "no room: left: $(ls "$work/folder")"

{
    (ulimit -f 1 && exec "$SHMIX" ls --metrics "$server" >"$work/much") 2>&1
    echo $? >"$work/code"
} | cat >"$work/err"
code=$(cat "$work/code")
expect_code 1 "no room on stdout"
expect_err "cannot write to stdout (File too large)" "no room on stdout"

kill -CONT "$server"
touch "$go"
wait "$server"
code=$?
expect_code 0 "the job"
finish
