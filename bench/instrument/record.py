# SPDX-License-Identifier: BSD-3-Clause
"""What README.md quotes of a recorded run: five ratios, the machine they come from, and the latency picture.

All of it is made of the run's data, which lie beside the picture, so that nobody has to believe a number:
--check fails when README.md or the picture says anything else.
"""
import os
import sys

import report
import rows

BEGIN, END = "<!-- measured: begin -->", "<!-- measured: end -->"
TOP = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..")
BEFORE = "## What you get"  # where it goes the first time


def block(results, data):
    """The lines for README.md; @data: the file's name from the top of the tree."""
    machine, out = results.machine, [BEGIN]
    runs = 0
    lines = []
    for words, experiment, what, ranks, side in report.HEADLINES:
        ratio = results.ratio(experiment, what, ranks, side)
        if ratio is None:
            raise SystemExit(f"bench: {data} has no ratio of {experiment} {what} with {ranks} ranks: record a run of all experiments")
        unit = results.rows(experiment, what, ranks, side)[0]["unit"]
        mine, other = (rows.say(results.value(experiment, what, ranks, s), unit) for s in ("shmix", side))
        runs = max(runs, len(results.rows(experiment, what, ranks, side)))
        lines.append(f"| {words}{', TCP_NODELAY forced' if side == 'nodelay' else ''} | {mine} | {other} | **{report.times(ratio[0])}** "
                     f"({report.times(ratio[1])} to {report.times(ratio[2])}) |")
    out += [f"| 2 ranks | shmix | {machine.get('peer')} | times better |", "|---|---|---|---|", *lines, "",
            f"Medians of up to {runs} paired runs; the brackets have the smallest and the largest ratio of single pairs. Another machine may "
            f"give 2 to 3 times less or more. This one: {machine.get('cpu')}, {machine.get('cpus')} CPUs, Linux {machine.get('kernel')}, load "
            f"{machine.get('load')}, {machine.get('date', '')[:10]}, revision {machine.get('revision')}. The data: [{data}]({data}). "
            "`./dev bench` measures your machine in five minutes, and also shows where shmix is slower.", "", slower(results), "",
            f"![Latency of an event by percentile]({picture(data)})", END]
    return "\n".join(out)


def slower(results):
    """Where shmix is slower than the other side, where it is least ahead, and which of its own goals it misses."""
    bars = sorted(report.all_ratios(results), key=lambda bar: bar[3])
    lost = [bar for bar in bars if bar[3] < 1]
    missed = [row["words"] for row in report.goals.table(results) if row["reached"] is False and not row["noisy"]]
    words = f"Of {len(bars)} figures of that run, shmix was slower in {len(lost) or 'none'}"
    words += "".join(f"; {bar[0]}: {report.times(bar[3])} times" for bar in lost) + "."
    near = [f"{bar[0]} ({report.times(bar[3])} times better)" for bar in bars if bar[3] >= 1][:3]
    words += f" It was least ahead in: {'; '.join(near)}." if near else ""
    words += f" It missed its own goals in: {'; '.join(missed)}." if missed else ""
    return words


def picture(data):
    return os.path.join(os.path.dirname(data), "latency.svg")


def readme_with(text, new):
    if BEGIN in text:
        begin, end = text.index(BEGIN), text.index(END) + len(END)
        return text[:begin] + new + text[end:]
    at = text.index(BEFORE)
    return text[:at] + new + "\n\n" + text[at:]


def main(words):
    """words: DATA [--check]."""
    check, data = "--check" in words, os.path.relpath(words[0], TOP)
    name = os.path.join(TOP, "README.md")
    with open(name) as f:
        text = f.read()
    if check and not os.path.exists(os.path.join(TOP, data)):
        print(f"no run is recorded in {data}")
        return 1 if BEGIN in text else 0
    results = rows.Results(rows.read(os.path.join(TOP, data)))
    new, svg = readme_with(text, block(results, data)), report.event_picture(results) + "\n"
    if not check:
        for file, content in ((name, new), (os.path.join(TOP, picture(data)), svg)):
            with open(file, "w") as f:
                f.write(content)
        return 0
    bad = 0
    try:
        with open(os.path.join(TOP, picture(data))) as f:
            drawn = f.read()
    except OSError:
        drawn = ""
    for file, is_right in (("README.md", new == text), (picture(data), svg == drawn)):
        if not is_right:
            print(f"{file} is not what {data} says: bench/run readme {data}", file=sys.stderr)
            bad = 1
    return bad
