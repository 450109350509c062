#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Hold headers and a library against the facts of the PMIx ABI in facts/*.tsv.

  check.py headers    --include DIR [--level L] [--cc CC]   values, keys, layouts, prototypes ...
  check.py standalone --include DIR [--cc CC] [--cxx CXX]   each header compiles alone, in C and C++
  check.py library    --lib FILE [--level L] [--foreign]    name, exported functions, nothing else
  check.py usages     --output FILE.c [--level L]           write a program that uses every macro
  check.py selftest   --include DIR [--cc CC]               spoil one fact of each kind: it is found
  check.py native     --include DIR --lib FILE [--cc CC]    the same for <shmix.h>, by facts/shmix

Everything about headers is decided by the compiler: each fact becomes one static assertion on a
line of its own, and a diagnostic is traced back to its fact by that line.  A fact has a level,
the release that brought it; --level takes the facts up to that one (default: all).  --foreign
is for a library of somebody else, which may export more than ours does.

The facts of <shmix.h> are our own promise: a row that was released stays as it is, a new name gets
a new row.  So each name that the header defines has a row, and no two events have one number.

Return: 0 all facts hold, 1 some do not (one line each), 77 the check cannot be made here.
"""
import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

NATIVE = "shmix"
LEVELS = ("4.2.2", "4.2.9", "5.0", "6.1", "7.0")
HEADERS = ("pmix.h", "pmix_common.h", "pmix_deprecated.h", "pmix_inline.h", "pmix_server.h",
           "pmix_tool.h", "pmix_version.h", "shmix.h")
SONAME = "libpmix.so.2"
# pmix_framework_names is data that libopen-pal 5 refers to.
OURS = re.compile(r"(PMIx_|shmix_)\w+$|pmix_framework_names$")
HERE = os.path.dirname(os.path.realpath(__file__))
PRELUDE = ("#include <pmix.h>\n#include <pmix_server.h>\n#include <pmix_tool.h>\n"
           "#if __has_include(<shmix.h>)\n#include <shmix.h>\n#endif\n")
SKIP = 77


class CannotRun(Exception):
    """What is missing for the check, in words for the log."""


def table(name):
    """All rows of facts/NAME.tsv, as dictionaries; no such file: no rows."""
    path = os.path.join(HERE, "facts", name + ".tsv")
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as lines:
        head = lines.readline().rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in lines]


def facts(name, level=LEVELS[-1]):
    """The rows of a table up to a level; those of <shmix.h> for the level NATIVE."""
    if level == NATIVE:
        return table(os.path.join("shmix", name))
    known = LEVELS[:LEVELS.index(level) + 1]
    return [row for row in table(name) if row["since"] in known]


def need(tool):
    words = shlex.split(tool)
    if not words or shutil.which(words[0]) is None:
        raise CannotRun("no program %r" % tool)
    return words


def run(command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", check=False, env=dict(os.environ, LC_ALL="C"))


# ---- headers: every fact is a line of C ---------------------------------------------------------

def assertion(condition):
    """The condition is its own message, so that the log says what was wanted."""
    return '_Static_assert(%s, "%s");' % (condition, condition.replace('"', "'"))


def same_type(expression, wanted):
    return assertion("__builtin_types_compatible_p(%s, %s)" % (expression, wanted))


def constant_facts(level):
    for row in facts("constants", level):
        yield "constant " + row["name"], assertion("(%s) == %sLL" % (row["name"], row["value"]))


def key_facts(level):
    for row in facts("keys", level):
        text = '"%s"' % row["string"]
        yield "key " + row["name"], assertion(
            "sizeof(%s) == sizeof(%s) && __builtin_strcmp(%s, %s) == 0"
            % (row["name"], text, row["name"], text))


def typedef_facts(level):
    for row in facts("typedefs", level):
        name = row["name"]
        condition = "sizeof(%s) == %s && _Alignof(%s) == %s" % (
            name, row["size"], name, row["align"])
        if row["sign"] != "array":
            condition += " && ((%s)-1 < (%s)1) == %d" % (name, name, row["sign"] == "signed")
        yield "typedef " + name, assertion(condition)


def member_facts(level):
    seen = set()
    for row in facts("members", level):
        struct, member = row["struct"], row["member"]
        if struct not in seen:
            seen.add(struct)
            yield "struct " + struct, assertion("sizeof(%s) == %s && _Alignof(%s) == %s" % (
                struct, row["struct_size"], struct, row["struct_align"]))
        place = "((%s *)0)->%s" % (struct, member)
        yield "member %s.%s" % (struct, member), assertion(
            "__builtin_offsetof(%s, %s) == %s && sizeof(%s) == %s"
            % (struct, member, row["offset"], place, row["size"]))
        if row["type"]:
            yield "type of %s.%s" % (struct, member), same_type(
                "__typeof__(%s)" % place, row["type"])


def prototype_facts(level):
    for row in facts("functions", level):
        pointer = row["prototype"].replace(row["name"] + "(", "(*)(", 1)
        yield "prototype " + row["name"], same_type(
            "__typeof__(&%s)" % row["name"], "__typeof__(%s)" % pointer)


def callback_facts(level):
    for row in facts("callbacks", level):
        yield "callback " + row["name"], same_type(row["name"], "__typeof__(%s)" % row["type"])


def usage_line(row):
    return "static __attribute__((unused)) void use_%s(void) { %s }" % (row["name"], row["usage"])


def usage_facts(level):
    known = LEVELS[:LEVELS.index(level) + 1] if level in LEVELS else ()
    for row in facts("macros", level):
        if row["usage_since"] in known:
            yield "use of " + row["name"], usage_line(row)


KINDS = {"constant": constant_facts, "key": key_facts, "typedef": typedef_facts,
         "member": member_facts, "prototype": prototype_facts, "callback": callback_facts,
         "usage": usage_facts}


def diagnose(items, compiler, include, work):
    """Compile one line per fact.  Return: {label: complaint} of the facts that do not hold."""
    source = os.path.join(work, "facts.c")
    prelude = PRELUDE + "#include <stdlib.h>\n#include <string.h>\n"
    with open(source, "w", encoding="utf-8") as out:
        out.write(prelude + "".join(line + "\n" for _, line in items))
    many = ["-ferror-limit=0"] if "clang" in run(compiler + ["--version"]).stdout else [
        "-fmax-errors=0", "-ftrack-macro-expansion=0"]
    result = run(compiler + many + ["-std=gnu11", "-Werror=implicit-function-declaration",
                                    "-fsyntax-only", "-I" + include, source])
    first = prelude.count("\n") + 1
    wrong = {}
    for at, complaint in re.findall(r"facts\.c:(\d+):\d+: (?:fatal )?error: (.*)", result.stderr):
        index = int(at) - first
        if 0 <= index < len(items):
            wrong.setdefault(items[index][0], complaint)
    if result.returncode != 0 and not wrong:
        wrong["the headers"] = result.stderr.strip() or "do not compile"
    return wrong


def macro_shapes(level, compiler, include, work):
    """Return: {label: complaint} of macros with the wrong number of parameters, or none at all."""
    source = os.path.join(work, "shapes.c")
    with open(source, "w", encoding="utf-8") as out:
        out.write(PRELUDE)
    text = run(compiler + ["-std=gnu11", "-E", "-dM", "-I" + include, source]).stdout
    functions = dict(re.findall(r"^#define (\w+)\(([^)]*)\)", text, re.M))
    plain = set(re.findall(r"^#define (\w+)(?=\s|$)", text, re.M))
    wrong = {}
    for row in facts("macros", level):
        name = row["name"]
        if row["kind"] == "initialiser" and name not in plain:
            wrong["macro " + name] = "not defined"
        if row["kind"] != "macro":
            continue
        if name not in functions:
            wrong["macro " + name] = "not defined"
            continue
        found = len([p for p in functions[name].split(",") if p.strip()])
        if found != int(row["parameters"]):
            wrong["macro " + name] = "%s parameters wanted, %d found" % (row["parameters"], found)
    return wrong


def report(checked, wrong):
    for label in sorted(wrong):
        print("WRONG %s: %s" % (label, wrong[label]))
    print("%d facts checked, %d wrong" % (checked, len(wrong)))
    return 1 if wrong else 0


def check_headers(options):
    compiler = need(options.cc)
    items = [item for kind in KINDS.values() for item in kind(options.level)]
    with tempfile.TemporaryDirectory(prefix="shmix-abi-") as work:
        wrong = diagnose(items, compiler, options.include, work)
        wrong.update(macro_shapes(options.level, compiler, options.include, work))
    return report(len(items) + len(facts("macros", options.level)), wrong)


def check_selftest(options):
    """Spoil one fact of each kind and demand that exactly these are found."""
    compiler = need(options.cc)
    spoil = {
        "constant": lambda line: line.replace(") == ", ") == 1 + ", 1),
        "key": lambda line: line.replace('"pmix.', '"pmiX.'),
        "typedef": lambda line: line.replace(" == ", " == 1 + ", 1),
        "member": lambda line: line.replace(" == ", " == 1 + ", 1),
        "prototype": lambda line: line.replace("(*)(", "(*)(char, ").replace(", void)", ")"),
        "callback": lambda line: line.replace("(*)(", "(*)(char, ").replace(", void)", ")"),
        "usage": lambda line: line.replace("{ ", "{ no_such_function(); ", 1),
    }
    items, expected = [], set()
    for kind, produce in KINDS.items():
        rows = list(produce(LEVELS[-1]))
        place = next(i for i in range(len(rows) // 2, len(rows))
                     if spoil[kind](rows[i][1]) != rows[i][1])
        label, line = rows[place]
        rows[place] = (label, spoil[kind](line))
        expected.add(label)
        items += rows
    with tempfile.TemporaryDirectory(prefix="shmix-abi-") as work:
        found = set(diagnose(items, compiler, options.include, work))
    for label in sorted(expected ^ found):
        print("WRONG %s: %s" % (label, "not noticed" if label in expected else "not spoilt"))
    print("%d facts spoilt, %d noticed" % (len(expected), len(expected & found)))
    return 1 if expected != found else 0


# Names that are literals, as users write them: gcc warns of an array parameter that they do not fill.
LITERALS = {
    "pmix.h": """void literals(char **list, pmix_proc_t **procs, size_t *count)
{
    PMIx_Resolve_peers("node", "job", procs, count);
    PMIx_Resolve_nodes("job", list);
}
""",
    "pmix_server.h": """void literals(void)
{
    PMIx_server_register_nspace("job", 1, NULL, 0, NULL, NULL);
    PMIx_server_setup_application("job", NULL, 0, NULL, NULL);
    PMIx_server_setup_local_support("job", NULL, 0, NULL, NULL);
    PMIx_server_deregister_nspace("job", NULL, NULL);
}
""",
}


def check_standalone(options):
    warnings = ["-Wall", "-Wextra", "-Wundef", "-Wshadow", "-Wpedantic", "-Wcast-qual", "-Werror"]
    runs = [(need(options.cc), "c", standard) for standard in ("c11", "gnu11")]
    if options.cxx and shutil.which(shlex.split(options.cxx)[0]):
        runs += [(shlex.split(options.cxx), "c++", standard) for standard in ("c++11", "c++17")]
    else:
        print("no C++ compiler: the headers are checked in C only")
    wrong = {}
    with tempfile.TemporaryDirectory(prefix="shmix-abi-") as work:
        for header in HEADERS:
            source = os.path.join(work, "alone.c")
            with open(source, "w", encoding="utf-8") as out:
                out.write("#include <%s>\nextern int not_empty;\n" % header)
                if header in LITERALS:
                    out.write("extern void literals(%s\n%s" % (
                        LITERALS[header].split("(", 1)[1].split("\n")[0] + ";", LITERALS[header]))
            for compiler, language, standard in runs:
                result = run(compiler + ["-x", language, "-std=" + standard, "-S", "-o", os.devnull,
                                         "-I" + options.include] + warnings + [source])
                if result.returncode != 0:
                    wrong["%s as %s" % (header, standard)] = result.stderr.strip()
    return report(len(HEADERS) * len(runs), wrong)


# ---- the library --------------------------------------------------------------------------------

def dynamic_symbols(lib, which):
    result = run(need("nm") + ["-D", which, lib])
    if result.returncode != 0:
        raise CannotRun("nm cannot read %s: %s" % (lib, result.stderr.strip()))
    fields = [line.split() for line in result.stdout.splitlines()]
    return {f[-1]: f[-2] for f in fields if len(f) >= 2}


def check_library(options):
    exported = dynamic_symbols(options.lib, "--defined-only")
    dynamic = run(need("readelf") + ["-d", options.lib]).stdout
    names = [row["name"] for row in facts("functions", options.level)]
    wrong = {}
    soname = re.search(r"\(SONAME\).*\[(.*)\]", dynamic)
    if soname is None or soname.group(1) != SONAME:
        wrong["soname"] = "%s wanted, %s found" % (SONAME, soname.group(1) if soname else "none")
    for name in names:
        if exported.get(name) not in ("T", "W", "i"):
            wrong["function " + name] = "not exported as a function"
    if not options.foreign:
        for name in exported:
            if not OURS.match(name):
                wrong["symbol " + name] = "exported, but neither PMIx_* nor shmix_*"
            elif name.startswith("PMIx_") and name not in names:
                wrong["symbol " + name] = "exported, but no fact names it"
        for name in dynamic_symbols(options.lib, "--undefined-only"):
            if name.startswith(("PMIx_", "shmix_", "sx_")):
                wrong["symbol " + name] = "used by the library and defined by nobody"
    return report(len(names) + 1, wrong)


# ---- <shmix.h>: each name is recorded -----------------------------------------------------------

def names_in(include):
    """The names that shmix.h itself defines: functions, macros, enumerators and finished types."""
    with open(os.path.join(include, "shmix.h"), encoding="utf-8") as header:
        text = re.sub(r"/\*.*?\*/", "", header.read(), flags=re.S)
    names = set(re.findall(r"\b(shmix_\w+)\(", text))
    names |= set(re.findall(r"^#define (\w+) ", text, re.M))
    names |= set(re.findall(r"\b(SHMIX_\w+) = ", text))
    names |= set(re.findall(r"^\} (shmix_\w+);", text, re.M))
    names |= set(re.findall(r"\(\*(shmix_\w+)\)\(", text))
    return names


def native_wrong(include, lib):
    """Return: {label: complaint} of names without a row, rows without a symbol, shared numbers."""
    rows = {kind: facts(kind, NATIVE) for kind in (
        "functions", "constants", "keys", "callbacks", "typedefs")}
    recorded = {row["name"] for kind in rows.values() for row in kind}
    recorded |= {row["struct"] for row in facts("members", NATIVE)}
    wrong = {"name " + name: "no row of facts/shmix names it"
             for name in names_in(include) - recorded}
    exported = {name for name in dynamic_symbols(lib, "--defined-only") if name.startswith("shmix_")}
    functions = {row["name"] for row in rows["functions"]}
    wrong.update({"symbol " + name: "exported or recorded, not both"
                  for name in exported ^ functions})
    numbers = {}
    for row in facts("constants") + rows["constants"]:
        value = int(row["value"])
        if value < -1000 and row["name"] not in numbers.setdefault(value, {row["name"]}):
            wrong["constant " + row["name"]] = "has the number of " + ", ".join(numbers[value])
    return wrong


def check_native(options):
    compiler = need(options.cc)
    if options.lib is None:
        raise SystemExit("native needs --lib")
    items = [item for kind in KINDS.values() for item in kind(NATIVE)]
    with tempfile.TemporaryDirectory(prefix="shmix-abi-") as work:
        wrong = diagnose(items, compiler, options.include, work)
    wrong.update(native_wrong(options.include, options.lib))
    return report(len(items), wrong)


# ---- a program that uses every macro ------------------------------------------------------------

def write_usages(options):
    known = LEVELS[:LEVELS.index(options.level) + 1]
    rows = [row for row in facts("macros", options.level) if row["usage_since"] in known]
    with open(options.output, "w", encoding="utf-8") as out:
        out.write("/* Made by check.py: run every macro of the headers against the library. */\n")
        out.write(PRELUDE + "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
        out.write("".join(usage_line(row) + "\n" for row in rows))
        out.write("int main(void)\n{\n")
        for row in rows:
            out.write('    fputs("%s\\n", stderr);\n    use_%s();\n' % (row["name"], row["name"]))
        out.write('    puts("%d macros used");\n    return 0;\n}\n' % len(rows))
    return 0


def series_judge(include, level):
    """Debian releases have different libraries: the facts of @level are those of one series."""
    with open(os.path.join(include, "pmix_version.h"), encoding="utf-8") as header:
        found = dict(re.findall(r"#define PMIX_VERSION_(MAJOR|MINOR) (\d+)", header.read()))
    series = found["MAJOR"] + "." + found["MINOR"]
    if not level.startswith(series + "."):
        raise CannotRun("%s is of PMIx %s; the facts are those of %s" % (include, series, level))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("headers", "standalone", "library", "usages", "selftest",
                                         "native"))
    parser.add_argument("--include")
    parser.add_argument("--lib")
    parser.add_argument("--level", choices=LEVELS, default=LEVELS[-1])
    parser.add_argument("--foreign", action="store_true")
    parser.add_argument("--output")
    parser.add_argument("--cc", default=os.environ.get("CC") or "cc")
    parser.add_argument("--cxx", default=os.environ.get("CXX") or "c++")
    options = parser.parse_args()
    given = {"library": "lib", "usages": "output"}.get(options.what, "include")
    if getattr(options, given) is None:
        parser.error("%s needs --%s" % (options.what, given))
    action = {"headers": check_headers, "standalone": check_standalone, "library": check_library,
              "usages": write_usages, "selftest": check_selftest, "native": check_native}[options.what]
    try:
        if given == "include" and not os.path.exists(os.path.join(options.include, "pmix.h")):
            raise CannotRun("no pmix.h in %s" % options.include)
        if given == "lib" and not os.path.exists(options.lib):
            raise CannotRun("no library %s" % options.lib)
        if options.what == "headers" and options.level != LEVELS[-1]:
            series_judge(options.include, options.level)
        return action(options)
    except CannotRun as reason:
        print("SKIPPED: %s" % reason)
        return SKIP


if __name__ == "__main__":
    sys.exit(main())
