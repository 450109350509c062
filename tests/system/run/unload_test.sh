# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# unload_test.sh - a program that gives the library back without PMIx_Finalize goes on.
. "$(dirname "$0")/lib.sh"

run -n 2 "$UNLOAD" "$LIBRARY" "$work/given-back"
expect_code 0 "given back"
expect_out "rank 0 goes on" "given back"

expect_clean "at the end"
finish
