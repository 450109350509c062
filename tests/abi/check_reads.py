#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Take the machine code of the native reads apart: no lock, no system call, no allocation.

  check_reads.py --lib FILE

Every function that shmix_read_*, shmix_key_next and the reads of groups can reach is disassembled.  None may hold an atomic
read-modify-write or a system call, call through a pointer, or leave the library for anything but
the functions of HARMLESS.  Those of RARE may hold barriers and atomic instructions, for they are
called once a thread, or on kernels without membarrier(2).  That the check can notice is shown on shmix_job_open, which locks.

Return: 0 they keep the promise, 1 they do not (one line each), 77 the check cannot be made here.
"""
import argparse
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
import check  # noqa: E402

ROOTS = re.compile(r"shmix_(read_\w+|key_next|group_(info|member|rank))$")
LOCKS = "shmix_job_open"
HARMLESS = {"bcmp", "memcmp", "memcpy", "memset", "strcmp", "strlen", "strnlen", "__stack_chk_fail"}
RARE = {"sx_grace_join": {"pthread_self"}, "sx_grace_fence": set()}
NEVER = re.compile(r"syscall|sysenter|int\s|svc|call\s+\*|notrack call\s+\*|blr")
FORBIDDEN = {
    "x86-64": re.compile(r"lock\b|xchg\s.*\(|cmpxchg|xadd|syscall|sysenter|int\s|call\s+\*|"
                         r"notrack call\s+\*"),
    "aarch64": re.compile(r"ld\w*xr|st\w*xr|ldx\w|cas|swp|ld(add|clr|eor|set|[su]m(ax|in))|svc|"
                          r"blr"),
}
TARGET = re.compile(r"(?:bnd |notrack )?(?:call|j\w+|bl?|b\.\w+|cbn?z|tbn?z)\b"
                    r".*<([^>+]+)(?:\+[^>]*)?>")


def disassemble(lib):
    """Return: (architecture, {function: [instructions]})."""
    result = check.run(check.need("objdump") + ["-d", "--no-show-raw-insn", lib])
    machine = re.search(r"file format \S*?(x86-64|aarch64)", result.stdout)
    if result.returncode != 0 or machine is None:
        raise check.CannotRun("objdump cannot read the instructions of %s" % lib)
    functions, body = {}, None
    for line in result.stdout.splitlines():
        head = re.match(r"[0-9a-f]+ <(.+)>:$", line)
        if head:
            body = functions.setdefault(head.group(1), [])
        elif body is not None and ":\t" in line:
            body.append(line.split(":\t", 1)[1].strip())
    return machine.group(1), functions


def judge(root, functions, forbidden):
    """Return: (functions reached, complaints)."""
    reached, todo, wrong = set(), [root], []
    while todo:
        name = todo.pop()
        if name in reached:
            continue
        reached.add(name)
        if name not in functions:
            wrong.append("%s reaches %s, which is not in the library" % (root, name))
            continue
        for instruction in functions[name]:
            if (NEVER if name in RARE else forbidden).match(instruction):
                wrong.append("%s reaches %s with: %s" % (root, name, instruction))
            target = TARGET.match(instruction)
            if target is None:
                continue
            called = target.group(1)
            if not called.endswith("@plt"):
                todo.append(called)
            elif called.split("@")[0] not in HARMLESS | RARE.get(name, set()):
                wrong.append("%s reaches %s, which calls %s" % (root, name, called))
    return reached, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lib", required=True)
    options = parser.parse_args()
    try:
        if any(re.match(r"__([atu]|ub)san_", name)
               for name in check.dynamic_symbols(options.lib, "--undefined-only")):
            raise check.CannotRun("a sanitizer has added instructions of its own")
        machine, functions = disassemble(options.lib)
    except check.CannotRun as reason:
        print("SKIPPED: %s" % reason)
        return check.SKIP
    roots = sorted(name for name in functions if ROOTS.match(name))
    if not any(name.startswith("sx_") for name in functions):
        print("SKIPPED: %s is stripped of the names of its own functions" % options.lib)
        return check.SKIP
    if len(roots) < 11 or not judge(LOCKS, functions, FORBIDDEN[machine])[1]:
        print("WRONG the check sees %d reads and notices nothing in %s" % (len(roots), LOCKS))
        return 1
    everything, complaints = set(), []
    for root in roots:
        reached, wrong = judge(root, functions, FORBIDDEN[machine])
        everything |= reached
        complaints += wrong
    for line in sorted(set(complaints)):
        print("WRONG %s" % line)
    print("%d reads, %d functions, %d instructions" % (
        len(roots), len(everything), sum(len(functions.get(name, ())) for name in everything)))
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
