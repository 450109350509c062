# SPDX-License-Identifier: BSD-3-Clause
# Copyright (c) 2026 The shmix authors
"""What is wrong with OpenMetrics text, a line each: by the rules of the specification 1.0 that text of gauges and counters has.

usage: openmetrics.py FILE      judge it
       openmetrics.py --itself  judge texts that are wrong, of which every one has to be found"""
import re
import sys

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\\n]|\\[\\"n])*"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)?\}})? (-?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?)")


def judge(data):
    """Yield complaints about the bytes @data."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        yield f"is not UTF-8: {error}"
        return
    if not text.endswith("# EOF\n") or text.count("# EOF") != 1:
        yield "does not end with one line # EOF"
    types, helps, family, series = {}, set(), None, set()
    for line in text.removesuffix("# EOF\n").splitlines():
        head = re.fullmatch(rf"# (TYPE|HELP) ({NAME}) (.+)", line)
        if head is None and line.startswith("#"):
            yield f"a comment that is neither TYPE nor HELP: {line}"
        elif head is not None and head[1] == "TYPE":
            if head[2] in types or head[3] not in ("gauge", "counter"):
                yield f"a family twice, or a type that node_exporter does not take: {line}"
            family, types[head[2]] = head[2], head[3]
        elif head is not None:
            if head[2] != family or family in helps:
                yield f"HELP of another family, or twice: {line}"
            helps.add(head[2])
        else:
            yield from judge_sample(line, family, types, series)
    yield from (f"no HELP of {name}" for name in types if name not in helps)


def judge_sample(line, family, types, series):
    match = SAMPLE.fullmatch(line)
    if match is None:
        yield f"not a sample: {line}"
        return
    counts = types.get(family) == "counter"
    if match[1] != (f"{family}_total" if counts else family):
        yield f"not of the family {family}: {line}"
    if counts and match[3].startswith("-"):
        yield f"a counter below 0: {line}"
    labels = re.findall(r'([a-zA-Z_][a-zA-Z0-9_]*)="', re.sub(r"\\.", "", match[2] or ""))
    if len(set(labels)) != len(labels):
        yield f"a label twice: {line}"
    if (match[1], match[2]) in series:
        yield f"a series twice: {line}"
    series.add((match[1], match[2]))


HEAD = b"# TYPE a gauge\n# HELP a A.\n"
WRONG = [
    b"", HEAD + b"a 1\n", HEAD + b"a 1\n# EOF\n# EOF\n", HEAD + b"a 1\n# EOF", HEAD + b"\n# EOF\n", HEAD + b"a{b=\"\xff\"} 1\n# EOF\n",
    HEAD + b"b 1\n# EOF\n", b"a 1\n# EOF\n", HEAD + b"a 1\na 2\n# EOF\n", HEAD + b"a{b=\"\\t\"} 1\n# EOF\n", HEAD + b"a{b=\"\"\"} 1\n# EOF\n",
    HEAD + b"a{b=\"1\",b=\"2\"} 1\n# EOF\n", HEAD + b"a one\n# EOF\n", HEAD + b"a 1 1700000000\n# EOF\n", HEAD + HEAD + b"# EOF\n",
    b"# TYPE a info\n# HELP a A.\n# EOF\n", b"# TYPE a gauge\na 1\n# EOF\n", b"# TYPE a counter\n# HELP a A.\na 1\n# EOF\n",
    b"# TYPE a counter\n# HELP a A.\na_total -1\n# EOF\n", HEAD + b"# note\n# EOF\n", HEAD + b"a{b=1} 1\n# EOF\n",
]
GOOD = [b"# EOF\n", HEAD + b"# EOF\n", HEAD + b'a{b="x=\\"y\\",\\\\ \\n",c="\xc3\xb6"} 1.5e-3\n# EOF\n',
        b"# TYPE a counter\n# HELP a A.\na_total 1\n" + b"# TYPE b gauge\n# HELP b B.\nb 0.5\n# EOF\n"]

if sys.argv[1] == "--itself":
    bad = [f"taken: {text!r}" for text in WRONG if not list(judge(text))]
    bad += [f"refused: {text!r}: {list(judge(text))}" for text in GOOD if list(judge(text))]
else:
    with open(sys.argv[1], "rb") as file:
        bad = list(judge(file.read()))
print("\n".join(bad))
sys.exit(1 if bad else 0)
