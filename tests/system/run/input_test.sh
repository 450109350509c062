# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# input_test.sh - who reads the standard input, and that it arrives whole.
. "$(dirname "$0")/lib.sh"

head -c 3000000 /dev/urandom >"$work/in"
sum=$(cksum <"$work/in")
none=$(cksum </dev/null)

run -n 2 cksum <"$work/in"
[ "$(sort "$work/out")" = "$(printf '%s\n%s\n' "$sum" "$none" | sort)" ] || fail "rank 0 by default"

run -n 3 --stdin 2 sh -c 'echo "$PMIX_RANK $(cksum)"' <"$work/in"
grep -q "^2 $sum" "$work/out" || fail "--stdin 2"
grep -q "^0 $none" "$work/out" || fail "--stdin 2: rank 0 reads nothing"

cat "$work/in" | "$SHMIX" run -n 3 --stdin all cksum >"$work/out" 2>"$work/err"
[ "$(uniq -c "$work/out" | tr -s ' ')" = " 3 $sum" ] || fail "--stdin all"

run --stdin none cksum <"$work/in"
expect_out "$none" "--stdin none"

# A rank that stops reading neither stops the others nor the job.
run -n 3 --stdin all sh -c 'test $PMIX_RANK = 1 && exec head -c 1 >/dev/null; cksum' <"$work/in"
expect_code 0 "a rank that stops reading"
[ "$(uniq -c "$work/out" | tr -s ' ')" = " 2 $sum" ] || fail "a rank that stops reading"

# A job ends although its input does not.
mkfifo "$work/fifo"
sleep 1000 >"$work/fifo" &
writer=$!
run true <"$work/fifo"
expect_code 0 "an input without end"
kill $writer

run --stdin 1 true
expect_code 2 "--stdin of no rank"

expect_clean "at the end"
finish
