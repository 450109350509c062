#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Hold docs/support/*.md against the code, so that it cannot lie.

  check_support.py --source DIR [--lib FILE]    the checks below
  check_support.py --source DIR --selftest      spoil the document in each way: it is noticed

Functions: the document lists every function of the ABI and every one of our own, each once; "not
supported" is said of exactly those in src/base/api/unsupported.c; the library, when given, exports
exactly the listed ones.  The row of PMIx_server_init names exactly the entries of the host's module
that are called (the rows of src/server/port/upcall.c), and how many there are.

Attributes: every key is listed, each once; the first table ("acted upon") holds exactly the keys
whose names occur in the code, the second ("not acted upon") the others.

Return: 0 the document is true, 1 it is not (one line each), 77 the check cannot be made here.
"""
import argparse
import glob
import os
import re
import sys

sys.dont_write_bytecode = True  # the source tree stays as it is
import check  # noqa: E402

STATUSES = ("supported", "partial", "not supported")
FUNCTION_HEAD = "| function | status | note |"  # of tables, in any chapter
ACTED_HEAD = "## Attributes acted upon"
IGNORED_HEAD = "## Attributes not acted upon"
# What is no code: comments and strings (a variable of the environment is no attribute).
CODE_ONLY = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S)


def sections(text):
    """Return: {heading, or FUNCTION_HEAD: [rows]}, a row being the cells of one line of a table."""
    found, rows = {}, []
    for line in text.splitlines():
        if line.startswith("## ") or line == FUNCTION_HEAD:
            rows = found.setdefault(line.strip(), [])
        elif line.startswith("|") and not re.match(r"\|[\s:|-]+\|$", line):
            rows.append([cell.strip() for cell in line.strip().strip("|").split("|")])
    return found


def listed(rows, column, pattern):
    return [name for row in rows for name in re.findall(pattern, row[column])]


def twice(names):
    return sorted({name for name in names if names.count(name) > 1})


def read_sources(source):
    """Return: (functions of unsupported.c, every PMIX_* word in the other sources)."""
    unsupported, words = set(), set()
    for folder, _, files in os.walk(os.path.join(source, "src")):
        if os.path.basename(folder) == "gateway":
            continue  # it names what the other library's wire has, and acts upon none of it
        for name in files:
            if not name.endswith((".c", ".h")):
                continue
            with open(os.path.join(folder, name), encoding="utf-8") as handle:
                text = CODE_ONLY.sub(" ", handle.read())
            if name == "unsupported.c":
                unsupported |= set(re.findall(r"^\w[^;{}#]*?\b((?:PMIx|shmix)_\w+)", text, re.M))
            else:
                words |= set(re.findall(r"\bPMIX_\w+", text))
    return unsupported, words


def entries_called(source):
    """Return: the entries of the host's module that the server calls."""
    with open(os.path.join(source, "src", "server", "port", "upcall.c"), encoding="utf-8") as handle:
        return set(re.findall(r"= (?:ROW|NOTICE)\((\w+),", handle.read()))


def keys_used(words):
    """The keys that the code names; two names of one string are one key."""
    rows = check.facts("keys")
    strings = {row["string"] for row in rows if row["name"] in words}
    return {row["name"] for row in rows if row["string"] in strings}


def judge_functions(rows, unsupported, exported):
    status = {row[0].strip("`"): row[1] for row in rows if re.match(r"`?(PMIx|shmix)_", row[0])}
    names = [row[0].strip("`") for row in rows if re.match(r"`?(PMIx|shmix)_", row[0])]
    known = {row["name"] for row in check.facts("functions")}
    for name in twice(names):
        yield "%s is listed twice" % name
    for name in sorted(known - set(names)):
        yield "%s is not listed" % name
    for name in sorted(n for n in names if n.startswith("PMIx_") and n not in known):
        yield "%s is listed, but no fact names it" % name
    for name, word in status.items():
        if word not in STATUSES:
            yield "%s has the unknown status %r" % (name, word)
        elif (word == "not supported") != (name in unsupported):
            yield "%s is %r, but %s in unsupported.c" % (
                name, word, "stands" if name in unsupported else "does not stand")
    if exported is not None:
        functions = {name for name in exported if re.match(r"(PMIx|shmix)_", name)}
        for name in sorted(functions ^ set(names)):
            yield "%s is %s" % (name, "exported, but not listed" if name in functions
                                else "listed, but not exported")


def judge_entries(rows, entries):
    note = next((row[2] for row in rows if row[0] == "`PMIx_server_init`"), "")
    said, count = set(re.findall(r"`([a-z]\w+)`", note)), re.search(r"\b(\d+) of the (\d+) entries", note)
    for name in sorted(entries ^ said):
        yield "%s is %s" % (name, "called, but not listed" if name in entries else "listed, but not called")
    if count is None or int(count[1]) != len(entries):
        yield "PMIx_server_init: %d entries are called" % len(entries)


def judge_attributes(acted_rows, ignored_rows, words):
    acted = listed(acted_rows, 0, r"PMIX_\w+")
    ignored = listed(ignored_rows, 1, r"PMIX_\w+")
    known = {row["name"] for row in check.facts("keys")}
    used = keys_used(words)
    for name in twice(acted + ignored):
        yield "%s is listed twice" % name
    for name in sorted(known ^ set(acted + ignored)):
        yield "%s is %s" % (name, "not listed" if name in known else "listed, but no fact names it")
    for name in sorted(set(acted) & known - used):
        yield "%s is said to be acted upon, but no source names it" % name
    for name in sorted(set(ignored) & used):
        yield "%s is said not to be acted upon, but a source names it" % name
    for row in acted_rows:
        if row[0] != "key" and row[1] not in ("supported", "partial"):
            yield "%s has the unknown status %r" % (row[0], row[1])


def judge(text, unsupported, words, entries, exported):
    found = sections(text)
    for head in (FUNCTION_HEAD, ACTED_HEAD, IGNORED_HEAD):
        if not found.get(head):
            return ["no table under %r" % head]
    return (list(judge_functions(found[FUNCTION_HEAD], unsupported, exported))
            + list(judge_entries(found[FUNCTION_HEAD], entries))
            + list(judge_attributes(found[ACTED_HEAD], found[IGNORED_HEAD], words)))


def selftest(text, unsupported, words, entries):
    """Each way of lying is tried on a copy of the document and has to be noticed."""
    some_missing = sorted(unsupported)[0]
    lies = {
        "a function left out": re.sub(r"^\| `?PMIx_Init\b.*\n", "", text, flags=re.M),
        "a function listed twice": re.sub(r"^(\| `?PMIx_Init\b.*\n)", r"\1\1", text, flags=re.M),
        "support claimed": re.sub(r"^(\| `?%s`? \| )not supported" % some_missing, r"\1supported",
                                  text, flags=re.M),
        "support denied": re.sub(r"^(\| `?PMIx_Init`? \| )\w+", r"\1not supported", text,
                                 flags=re.M),
        "an invented function": text.replace(FUNCTION_HEAD + "\n|---|---|---|\n", FUNCTION_HEAD + "\n|---|---|---|"
                                             + "\n| `PMIx_Teleport` | supported | |\n", 1),
        "an entry left out": text.replace("`iof_pull`, ", "", 1),
        "an entry claimed": text.replace("`iof_pull`, ", "`iof_pull`, `listener`, ", 1),
        "entries miscounted": re.sub(r"\b\d+ of the (\d+) entries", r"14 of the \1 entries", text),
        "a key left out": text.replace("`PMIX_STORAGE_VERSION`", "", 1),
        "a key claimed": text.replace(ACTED_HEAD + "\n", ACTED_HEAD
                                      + "\n| `PMIX_STORAGE_ID` | supported | |\n", 1),
        "a table lost": text.replace(IGNORED_HEAD, "## Something else"),
    }
    missed = 0
    for lie, spoilt in lies.items():
        noticed = spoilt != text and judge(spoilt, unsupported, words, entries, None)
        missed += not noticed
        print("%s: %s" % (lie, "noticed" if noticed else "NOT NOTICED"))
    return 1 if missed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True)
    parser.add_argument("--lib")
    parser.add_argument("--selftest", action="store_true")
    options = parser.parse_args()
    text = ""
    for chapter in sorted(glob.glob(os.path.join(options.source, "docs", "support", "*.md"))):
        with open(chapter, encoding="utf-8") as handle:
            text += handle.read()
    unsupported, words = read_sources(options.source)
    entries = entries_called(options.source)
    if options.selftest:
        return selftest(text, unsupported, words, entries)
    exported = None
    try:
        if options.lib:
            exported = {name for name in check.dynamic_symbols(options.lib, "--defined-only")
                        if check.OURS.match(name)}
    except check.CannotRun as reason:
        print("SKIPPED: %s" % reason)
        return check.SKIP
    wrong = judge(text, unsupported, words, entries, exported)
    for line in wrong:
        print("WRONG %s" % line)
    print("docs/support: %d statements do not hold" % len(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
