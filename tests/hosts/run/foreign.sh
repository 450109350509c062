# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# foreign.sh - with FOREIGN set, the ranks have Debian's own libpmix, and a gateway serves each of them.
# Sourced, never run.
if [ -n "${FOREIGN:-}" ]; then
    LIBPMIX=
    for file in /usr/lib/*/pmix2/lib/libpmix.so.2; do
        [ -e "$file" ] && LIBPMIX=$file
    done
    if [ -z "$LIBPMIX" ]; then
        echo "skipped: OpenPMIx is not installed (Debian: libpmix2)"
        exit 77
    fi
    RANK_PRELOAD=$LIBPMIX
fi
