# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
# failed.awk - the end of what each failed test has written: 20 lines at most, each behind its name.
# usage: awk -f failed.awk build/Testing/Temporary/LastTest.log
#
# Printed behind all builds and tests, it stands where a reader of a long log looks first, and is
# there when only a log's end was kept.
BEGIN { most = 20 }
/^[0-9]+\/[0-9]+ Testing: / { test = $3; count = 0; inside = 0 }
/^<end of output>$/ { inside = 0 }
inside && !/^-+$/ { lines[count++ % most] = $0 }
/^Output:$/ { inside = 1 }
/^Test Failed\.$/ {
    print "failed: " test
    for (i = count > most ? count - most : 0; i < count; i++) print "  " test ": " lines[i % most]
}
