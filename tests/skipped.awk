# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# skipped.awk - what tests that passed have skipped inside: a line each.
# usage: awk -f skipped.awk OUTPUT build/Testing/Temporary/LastTest.log
#
# A test is one program of many cases.  Each case that cannot be done here writes a line that begins
# with SKIP, or [SKIP] as Criterion's do; the reason stands in it or in a line "skipped: ..." before.
# OUTPUT, what ctest has written, tells which tests were skipped as a whole: the log says "Test Passed."
# of these too.
/\*\*\*Skipped/ { whole[$4] = 1 }
/^[0-9]+\/[0-9]+ Testing: / { test = $3; count = 0 }
/^skipped: / { why = substr($0, 10) }
/^(SKIP|\[SKIP\]) / { sub(/^[^ ]* /, ""); cases[count++] = /: / ? $0 : $0 ": " why }
/^Test Passed\.$/ { for (i = 0; i < count && !(test in whole); i++) print "skipped in " test ": " cases[i] }
