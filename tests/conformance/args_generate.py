#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""Write the table of args_test.c: how to call every function of ../abi/facts/functions.tsv.

usage: args_generate.py FACTS_DIR SOURCE_DIR OUTPUT.h

Each function gets a wrapper that takes its arguments from an array, and a row that says of what
kind each argument is.  Each callback type gets a function that counts its calls.  A type this
program does not know makes it fail, so that no function of the facts goes without a row.
"""
import glob
import os
import re
import sys

NUMBERS = ("int", "int32_t", "uint32_t", "bool", "char", "uid_t", "gid_t", "pmix_status_t")
TEXT_NAMES = {"key": "KIND_KEY", "nspace": "KIND_NSPACE"}
# `const char *` that is bounded by the length of a key or of a namespace, by function and place.
BOUNDED = {
    ("PMIx_Check_key", 0): "KIND_KEY", ("PMIx_Check_key", 1): "KIND_KEY",
    ("PMIx_Check_reserved_key", 0): "KIND_KEY", ("PMIx_Load_key", 1): "KIND_KEY",
    ("PMIx_Check_nspace", 0): "KIND_NSPACE", ("PMIx_Check_nspace", 1): "KIND_NSPACE",
    ("PMIx_Load_nspace", 1): "KIND_NSPACE", ("PMIx_Proc_load", 1): "KIND_NSPACE",
    ("PMIx_Regattr_load", 2): "KIND_KEY", ("PMIx_Info_list_add_unique", 1): "KIND_KEY",
    ("PMIx_Info_list_add_value", 1): "KIND_KEY", ("PMIx_Pdata_load", 2): "KIND_KEY",
    ("PMIx_Info_list_add_value_unique", 1): "KIND_KEY",
}
# Their size says how much to make, not how much is there.
MAKERS = ("PMIx_Data_array_construct", "PMIx_App_info_create", "PMIx_Query_qualifiers_create")
# Functions that mean the same before, during and after the library's life.
STATELESS = re.compile(r"PMIx_(\w+_string|Get_version|Get_attribute_name|Data_\w+|"
                       r"generate_\w+|parse_regex2|Error_code|Initialized)$")


class Parameter:
    def __init__(self, function, index, text):
        words = text.replace("*", " * ").split()
        self.stars = words.count("*")
        names = [w for w in words if w not in ("*", "const")]
        self.constant = "const" in words
        self.base = names[0]
        self.name = names[1] if len(names) > 1 else ""
        self.function = function
        self.index = index
        self.counted = False
        self.kind = self.find_kind()

    def find_kind(self):
        base, name, stars = self.base, self.name, self.stars
        if stars == 0:
            if base.endswith(("_cbfunc_t", "_fn_t", "_cbfunc_fn_t")):
                return "KIND_CALLBACK"
            if base in ("pmix_nspace_t", "pmix_key_t"):
                if not self.constant:
                    return "KIND_NAME"
                return "KIND_NSPACE" if base == "pmix_nspace_t" else "KIND_KEY"
            if base == "pmix_data_type_t":
                return "KIND_TYPE"
            if base == "pmix_rank_t":
                return "KIND_RANK"
            if base == "size_t":
                return "KIND_SIZE"
            if base in NUMBERS or base.startswith("pmix_"):
                return "KIND_NUMBER"
        elif base == "void":
            if stars == 2:
                return "KIND_OUT"
            if name == "cbdata" or name.endswith("cbdata"):
                return "KIND_TOKEN"
            is_list = self.function.startswith("PMIx_Info_list_") and self.index == 0
            return "KIND_LIST" if is_list else "KIND_DATA"
        elif base in ("char", "uint8_t"):
            if stars == 3:
                return "KIND_VECTOR_IN_OUT"
            if stars == 2:
                is_vector = name in ("argv", "keys", "attrs") or "Argv" in self.function
                return "KIND_VECTOR" if is_vector else "KIND_OUT"
            if (self.function, self.index) in BOUNDED:
                return BOUNDED[(self.function, self.index)]
            if base == "uint8_t" or (name in ("d", "data") and not self.constant):
                return "KIND_BYTES"
            return TEXT_NAMES.get(name, "KIND_TEXT")
        elif stars == 2:
            return "KIND_OUT"
        elif stars == 1:
            if base in ("size_t", "int32_t"):
                return "KIND_OUT_NUMBER"
            return "KIND_OUT" if base == "pmix_locality_t" else "KIND_OBJECT"
        raise SystemExit("%s: what is a %r?" % (self.function, base + " *" * stars))

    def expression(self):
        place = "a[%d]" % self.index
        if self.kind == "KIND_CALLBACK":
            return "(%s)%s.function" % (self.base, place)
        if self.stars or self.base in ("pmix_nspace_t", "pmix_key_t"):
            return place + ".pointer"
        return "(%s)%s.number" % (self.base, place)

    def row(self):
        has_size = self.kind in ("KIND_OBJECT", "KIND_NAME")
        size = "sizeof(%s)" % self.base if has_size else "0"
        call = "(void (*)(void))count_%s" % self.base if self.kind == "KIND_CALLBACK" else "NULL"
        return '{ %s, "%s", %s, %s, %s }' % (
            self.kind, self.base, size, "true" if self.counted else "false", call)


def rows(facts, name):
    with open(os.path.join(facts, name + ".tsv"), encoding="utf-8") as table:
        head = table.readline().rstrip("\n").split("\t")
        return [dict(zip(head, line.rstrip("\n").split("\t"))) for line in table]


def parse(prototype):
    returns, name, inner = re.match(r"(.*?)(PMIx_\w+)\((.*)\)$", prototype).groups()
    texts = [] if inner in ("", "void") else inner.split(",")
    parameters = [Parameter(name, i, text.strip()) for i, text in enumerate(texts)]
    for before, after in zip(parameters, parameters[1:]):
        if (after.kind == "KIND_SIZE" and before.kind in ("KIND_OBJECT", "KIND_BYTES")
                and name not in MAKERS):
            before.counted = True
            after.kind = "KIND_COUNT"
    return returns.strip(), name, parameters


def result_kind(returns):
    if returns == "pmix_status_t":
        return "RETURNS_STATUS"
    return "RETURNS_NOTHING" if returns == "void" else "RETURNS_OTHER"


def write_callback(out, name, typedef):
    """A function of the type that counts itself and returns what it was lent."""
    inner = re.match(r"void \(\*\)\((.*)\)$", typedef).group(1)
    texts = [text.strip() for text in inner.split(",")]
    declared = []
    for i, text in enumerate(texts):
        bare = not re.search(r"\w\s+\*?\w+$|\*\w+$", text) or text.endswith("*")
        declared.append(text + (" " if not text.endswith("*") else "") + "p%d" % i
                        if bare else re.sub(r"(\w+)$", "p%d" % i, text))
    out.write("static void count_%s(%s)\n{\n" % (name, ", ".join(declared)))
    for i in range(len(texts)):
        out.write("    (void)p%d;\n" % i)
    handler = name == "pmix_notification_fn_t"
    out.write("    args_called(%s);\n" % ("true" if handler else "false"))
    for i, text in enumerate(texts):
        if text.startswith("pmix_release_cbfunc_t"):
            out.write("    if (p%d != NULL) {\n        p%d(p%d);\n    }\n" % (i, i, i + 1))
        elif text.startswith("pmix_op_cbfunc_t") and not handler:
            out.write("    if (p%d != NULL) {\n        p%d(PMIX_SUCCESS, p%d);\n    }\n"
                      % (i, i, i + 1))
        elif text.startswith("pmix_event_notification_cbfunc_fn_t"):
            out.write("    p%d(PMIX_EVENT_NO_ACTION_TAKEN, NULL, 0, NULL, NULL, p%d);\n"
                      % (i, i + 1))
    out.write("}\n\n")


def write_function(out, returns, name, parameters):
    inner = ", ".join(p.expression() for p in parameters)
    out.write("static long long call_%s(const struct arg *a)\n{\n" % name)
    if not parameters:
        out.write("    (void)a;\n")
    if returns == "void":
        out.write("    %s(%s);\n    return 0;\n}\n\n" % (name, inner))
    else:
        cast = "(long long)(intptr_t)" if "*" in returns else "(long long)"
        out.write("    return %s%s(%s);\n}\n\n" % (cast, name, inner))


def known_keys(facts, source):
    """The attributes that the library's sources name: those with a meaning of their own."""
    names = {row["name"] for row in rows(facts, "keys")}
    used = set()
    for folder in ("base/*", "base", "cli"):
        for path in glob.glob(os.path.join(source, "src", folder, "*.c")):
            with open(path, encoding="utf-8") as text:
                used.update(re.findall(r"PMIX_[A-Z0-9_]+", text.read()))
    return sorted(names & used)


def main(facts, source, output):
    functions = [parse(row["prototype"]) for row in rows(facts, "functions")]
    used = {p.base for _, _, ps in functions for p in ps if p.kind == "KIND_CALLBACK"}
    with open(output, "w", encoding="utf-8") as out:
        out.write("/* Written by args_generate.py from functions.tsv. */\n")
        for row in rows(facts, "callbacks"):
            if row["name"] in used:
                write_callback(out, row["name"], row["type"])
                used.remove(row["name"])
        if used:
            raise SystemExit("unknown callbacks: %s" % ", ".join(sorted(used)))
        for function in functions:
            write_function(out, *function)
        out.write("static const struct function functions[] = {\n")
        for returns, name, parameters in functions:
            out.write('    { "%s", call_%s, %s, %s, %d, {\n' % (
                name, name, result_kind(returns),
                "true" if STATELESS.match(name) or "helper" == home(source, name) else "false",
                len(parameters)))
            for parameter in parameters:
                out.write("        %s,\n" % parameter.row())
            out.write("    } },\n")
        out.write("};\n\nstatic const char *const known_keys[] = {\n")
        for key in known_keys(facts, source):
            out.write("    %s,\n" % key)
        out.write("};\n")


COMMON = {}


def home(source, name):
    """The functions of pmix_common.h work on their arguments alone."""
    if not COMMON:
        with open(os.path.join(source, "include", "pmix_common.h"), encoding="utf-8") as text:
            COMMON.update(dict.fromkeys(re.findall(r"\bPMIx_\w+(?=\()", text.read()), "helper"))
    return COMMON.get(name)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
