# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# wrap_test.sh - `shmix wrap`: a program of an image has this library, and meets its peers; an image that is too
# old is a message; nothing is left in the folder of an image.  chroot and podman run really where they can.
. "$(dirname "$0")/lib.sh"

skipped() { echo "skipped: $*"; }

# wrap ARGS...: as run of lib.sh
wrap() {
    "$SHMIX" wrap "$@" >"$work/out" 2>"$work/err"
    code=$?
}

# both WHAT: two ranks have met
both() {
    expect_code 0 "$1"
    [ "$(sort "$work/out")" = "rank 0: PMIX_SUCCESS
rank 1: PMIX_SUCCESS" ] || fail "$1: the ranks have not met"
}

# image FOLDER PROGRAM...: a folder with these programs and their libraries, but not ours
image() {
    folder=$1
    shift
    mkdir -p "$folder/bin" "$folder/mnt" "$folder/proc" "$folder/sys" "$folder/dev/shm" "$folder/tmp" "$folder/home"
    for one in "$@"; do
        cp -L "$one" "$folder/bin/"
        for library in $(ldd "$one" | grep -o '/[^ ]*' | grep -v '/libpmix'); do
            mkdir -p "$folder$(dirname "$library")"
            cp -Lu "$library" "$folder$library"
        done
    done
}

# what_is_in FOLDER: its files
what_is_in() {
    find "$1" | sort
}

image "$work/image" /bin/sh "$(command -v getconf)" "$(command -v cat)" "$RANK"
program=/bin/$(basename "$RANK")
what_is_in "$work/image" >"$work/before"

# ---- what cannot be wrapped ----------------------------------------------------------------------

wrap mpirun ./program
expect_code 2 "an unknown tool"
expect_err "apptainer, chroot, docker, podman, singularity, unshare" "an unknown tool"
wrap
expect_code 2 "no command"
wrap -- podman images
expect_code 2 "a subcommand without a program"
wrap --no-check -- "$work/no-such-place/podman" run image true
expect_code 127 "a tool that is not there"
expect_err "cannot execute '$work/no-such-place/podman'" "a tool that is not there"

# ---- the tool and its environment ----------------------------------------------------------------

# A tool that says how it was called.
mkdir "$work/bin"
printf '%s\n' '#!/bin/sh' 'echo "$# $*"; env | grep "^APPTAINERENV_" | sort' >"$work/bin/apptainer"
chmod +x "$work/bin/apptainer"
file=$(realpath "$LIBRARY")
wrap -- "$work/bin/apptainer" run image.sif a
[ "$SANITIZED" ] || expect_out "5 run --bind $file:/.shmix/libpmix.so.2:ro image.sif a
APPTAINERENV_LD_PRELOAD=/.shmix/libpmix.so.2" "the tool becomes this process"
wrap --print -- "$work/bin/apptainer" run image.sif 'a b'
[ "$SANITIZED" ] || expect_out "env APPTAINERENV_LD_PRELOAD=/.shmix/libpmix.so.2 $work/bin/apptainer run --bind \
$file:/.shmix/libpmix.so.2:ro image.sif 'a b'" "--print"
sh -c "$(cat "$work/out")" >"$work/printed"
wrap -- "$work/bin/apptainer" run image.sif 'a b'
cmp -s "$work/out" "$work/printed" || fail "the printed command does the same"
run -n 1 "$SHMIX" wrap --json -- "$work/bin/apptainer" exec -C image.sif true
grep -q '"settings":\["APPTAINERENV_' "$work/out" || fail "--json: no settings"
grep -q "\"files\":\[\"$file\"" "$work/out" || fail "--json: no files"
grep -q 'APPTAINERENV_PMIX_RANK=0' "$work/out" || fail "--json: no variables of the rank"

# ---- an image that is too old --------------------------------------------------------------------

mkdir -p "$work/old/lib64"
echo 'GNU C Library (GNU libc) stable release version 2.5.       ' >"$work/old/lib64/libc.so.6"
wrap -- chroot "$work/old" /bin/true
expect_code 1 "an old image"
expect_err "'$work/old' has glibc 2.5, and this host's libpmix.so.2 needs glibc 2\.[0-9]*: leave 'shmix wrap' out" \
    "an old image"

# ---- chroot and unshare --------------------------------------------------------------------------

if [ "$SANITIZED" ]; then
    skipped "chroot, unshare and podman: a sanitized library has to be loaded first"
    finish
    exit
fi
user=
[ "$(id -u)" = 0 ] || user='--user --map-root-user'
if unshare $user --mount true 2>"$work/err"; then
    run -n 2 "$SHMIX" wrap -- unshare $user --root="$work/image" "$program" fence
    both "unshare"
    wrap -- unshare $user --root="$work/image" --wd=/home sh -c pwd
    expect_out /home "the working directory"
    cd "$work" || exit 1
    wrap -- unshare $user --root=image sh -c pwd
    expect_out / "a relative path of the root directory"
    cd - >/dev/null || exit 1
    SHMIX_RENDEZVOUS=directory run -n 2 "$SHMIX" wrap -- unshare $user --root="$work/image" "$program" fence
    both "unshare, a socket that is a file"

    # The library needs libm, which this image does not have.
    image "$work/poor" /bin/sh "$(command -v getconf)"
    find "$work/poor" -name 'libm.so*' -exec rm {} +
    wrap -- unshare $user --root="$work/poor" sh -c :
    expect_code 1 "an image that cannot load the library"
    expect_err "this image cannot load this host's libpmix.so.2, which needs glibc 2.*; the image has glibc 2.*libm.so" \
        "an image that cannot load the library"
    expect_err "or build shmix for an older glibc" "an image that cannot load the library: what to do"
    wrap --no-check -- unshare $user --root="$work/poor" sh -c :
    expect_code 127 "without the check the loader refuses the program"
else
    skipped "unshare: $(tail -1 "$work/err")"
fi
if [ -z "$user" ] && unshare --mount true 2>/dev/null; then
    run -n 2 "$SHMIX" wrap -- chroot "$work/image" "$program" fence
    both "chroot"
    wrap -- chroot "$work/image" cat /proc/self/maps
    grep -q ' /mnt/libpmix.so.2$' "$work/out" || fail "chroot: the program does not have the library"
else
    skipped "chroot: it needs root, and a mount namespace"
fi
what_is_in "$work/image" | diff - "$work/before" >"$work/out" || fail "something is left in the image's folder"

# ---- podman --------------------------------------------------------------------------------------

# A storage of its own, and a runtime that takes cgroups as they are here.
podman_begin() {
    command -v podman >/dev/null || { echo "podman is not installed"; return 1; }
    [ "$(id -u)" = 0 ] || { echo "podman: it is tried as root"; return 1; }
    export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf"
    printf '[storage]\ndriver="vfs"\ngraphroot="%s"\nrunroot="%s"\n' "$work/graph" "$work/podman" >"$work/storage.conf"
    tar -C "$work/image" -cf "$work/image.tar" . || return 1
    for runtime in crun runc; do
        printf '[containers]\ndefault_ulimits=["nofile=%s:%s","nproc=1000:1000"]\n[engine]\nruntime="%s"\n%s\n' \
            "$(ulimit -Sn)" "$(ulimit -Hn)" "$runtime" 'cgroup_manager="cgroupfs"
events_logger="none"' >"$work/containers.conf"
        timeout 60 podman import -q "$work/image.tar" image >/dev/null 2>"$work/err" </dev/null &&
            timeout 60 podman run --rm image sh -c : 2>"$work/err" </dev/null && return 0
    done
    echo "podman does not run here: $(tail -1 "$work/err")"
    return 1
}

if why=$(podman_begin); then
    export CONTAINERS_CONF="$work/containers.conf" CONTAINERS_STORAGE_CONF="$work/storage.conf"
    run -n 2 "$SHMIX" wrap -- podman run --rm image "$program" fence
    both "podman"
    SHMIX_RENDEZVOUS=directory run -n 2 "$SHMIX" wrap -- podman run --rm --network none image "$program" fence
    both "podman, with a network of its own"
    run -n 1 "$SHMIX" wrap -- podman run --rm --network none image "$program" fence
    expect_code 2 "podman, with a network of its own and no file"
    expect_err "set SHMIX_RENDEZVOUS=directory" "podman, with a network of its own and no file"
    wrap --no-check -- podman run --rm image cat /proc/self/maps
    grep -q '/.shmix/libpmix.so.2$\|/libpmix.so.2' "$work/out" || fail "podman without the check: no library"
else
    skipped "$why"
fi
finish
