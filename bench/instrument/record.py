# SPDX-License-Identifier: BSD-3-Clause
"""What README.md and docs/performance.md quote of a recorded run: ratios, goals, the machine, and the latency picture.

All of it is made of the run's data, which lie beside the picture, so that nobody has to believe a number:
--check fails when a document or the picture says anything else.
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


def figures(results, data):
    """The lines for docs/performance.md: all ratios, then the goals."""
    machine = results.machine
    out = [BEGIN, f"{machine.get('cpu')}, {machine.get('cpus')} CPUs, Linux {machine.get('kernel')}, load {machine.get('load')}, revision "
           f"{machine.get('revision')}, {machine.get('date', '')[:10]}; the other side is {machine.get('peer')}. {report.noise_words(results)}", "",
           "| | shmix | OpenPMIx | times better (range of single pairs) |", "|---|---|---|---|"]
    out += [f"| {words} | {mine} | {other} | {report.times(middle)} ({report.times(least)} to {report.times(most)}) |"
            for words, mine, other, middle, least, most in report.all_ratios(results)]
    out += ["", "Goals. W is a futex wake across CPUs, measured in the same run.", "", "| | shmix | goal | |", "|---|---|---|---|"]
    for row in report.goals.table(results):
        if row["goal"] is not None:
            mark = "noise decides" if row["noisy"] else "reached" if row["reached"] else "missed"
            depends = any(word in row["goal_words"] for word in ("W", "cop", "rank"))
            aim = row["goal_words"] + (f" = {rows.say(row['goal'], row['unit'])}" if depends else "")
            out.append(f"| {row['words']} | {rows.say(row['value'], row['unit'])} | {aim} | {mark} |")
    return "\n".join(out + ["", f"The data: [{data}]({os.path.relpath(data, 'docs')}).", END])


def slower(results):
    """Where shmix is slower than the other side, where it is least ahead, and which of its own goals it misses."""
    bars = sorted(report.all_ratios(results), key=lambda bar: bar[3])
    lost = [bar for bar in bars if bar[3] < 1]
    missed = [row["words"] for row in report.goals.table(results) if row["reached"] is False and not row["noisy"]]
    words = f"Of {len(bars)} figures of that run, shmix was slower in {len(lost) or 'none'}"
    words += (": " if lost else "") + "; ".join(f"{bar[0]} ({report.times(1 / bar[3])} times worse)" for bar in lost) + "."
    near = [f"{bar[0]} ({report.times(bar[3])} times better)" for bar in bars if bar[3] >= 1][:3]
    words += f" It was least ahead in: {'; '.join(near)}." if near else ""
    words += f" It missed its own goals in: {'; '.join(missed)}." if missed else ""
    return words


def picture(data):
    return os.path.join(os.path.dirname(data), "latency.svg")


def text_with(text, new):
    """@text with @new in place of what stands between the marks, or before the heading BEFORE."""
    if BEGIN in text:
        begin, end = text.index(BEGIN), text.index(END) + len(END)
        return text[:begin] + new + text[end:]
    at = text.index(BEFORE)
    return text[:at] + new + "\n\n" + text[at:]


def read(name):
    try:
        with open(os.path.join(TOP, name)) as f:
            return f.read()
    except OSError:
        return None


def main(words):
    """words: DATA [--check]."""
    check, data = "--check" in words, os.path.relpath(words[0], TOP)
    documents = {"README.md": block, "docs/performance.md": figures}
    texts = {name: read(name) for name in documents}
    if check and read(data) is None:
        print(f"no run is recorded in {data}")
        return 1 if any(BEGIN in (text or "") for text in texts.values()) else 0
    results = rows.Results(rows.read(os.path.join(TOP, data)))
    wanted = {name: text_with(texts[name], made(results, data)) for name, made in documents.items() if texts[name] is not None}
    wanted[picture(data)] = report.event_picture(results) + "\n"
    bad = 0
    for name, content in wanted.items():
        if not check:
            with open(os.path.join(TOP, name), "w") as f:
                f.write(content)
        elif read(name) != content:
            print(f"{name} is not what {data} says: bench/run readme {data}", file=sys.stderr)
            bad = 1
    return bad
