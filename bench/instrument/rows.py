# SPDX-License-Identifier: BSD-3-Clause
"""The one format of what is measured: a file of lines of JSON, and what is computed from them.

    {"row": "machine", ...}  once, the first line: what a figure is worth nothing without
    {"row": "sample", "experiment", "what", "side", "ranks", "run", "unit", "value", "noise_ppm", ["hist"]}
    {"row": "failed", "experiment", "side", "ranks", "run", "why"}     a program that hung or broke
    {"row": "skipped", "experiment", "what", "side", "ranks", "why"}   what a side or a machine has not

A value is one run's figure: the median over its ranks, their sum for a throughput, the median of its
histogram.  Times are nanoseconds.  hist: pairs of the smallest value of a step and its count.
"""
import json
import math
import statistics
import sys

STEPS = 64  # of bench/hist.h: to each doubling

SUFFIXES = [("_ns", "ns", 1), ("_us", "ns", 1e3), ("_ms", "ns", 1e6), ("_kib", "kib", 1), ("_per_s", "per_s", 1)]
NO_FIGURE = ("rank", "size", "receivers", "events", "rate", "busy", "count", "bytes", "cpus")


def refuse(why):
    """End the program for a wrong word of its user."""
    print(f"bench/run: {why}", file=sys.stderr)
    raise SystemExit(2)


def read(name):
    try:
        with open(name) as f:
            return [json.loads(line) for line in f if line.strip()]
    except ValueError as error:
        refuse(f"{name} is no data of bench/run: {error}")


def figure_of(name):
    """Return: what, unit, and what a number is multiplied by."""
    for suffix, unit, factor in SUFFIXES:
        if name.endswith(suffix):
            return name[:-len(suffix)], unit, factor
    return name, "count", 1


def samples_of(lines):
    """The lines that one run of a program has printed.  Return: the members of its sample and skipped rows."""
    found, flat = [], {}
    for line in lines:
        if "skipped" in line:
            found.append({"row": "skipped", "what": line["what"], "why": line["skipped"]})
        elif "hist" in line:
            what = line["what"] + (f"_{line['bytes']}b" if "bytes" in line else "")
            if line["count"] > 0 or what == "noise":
                found.append({"row": "sample", "what": what, "unit": "ns", "value": at_share(line["hist"], 0.5),
                              "hist": line["hist"]})
            for more in ("missing", "out_of_order", "lost_ppm"):
                if more in line:
                    found.append({"row": "sample", "what": f"{what}_{more}", "unit": "count", "value": line[more]})
        elif line.get("what") != "checksum":
            for name, number in line.items():
                if isinstance(number, (int, float)) and name not in NO_FIGURE:
                    flat.setdefault(name, []).append(number)
    for name, numbers in flat.items():
        what, unit, factor = figure_of(name)
        value = sum(numbers) if unit == "per_s" else statistics.median(numbers)
        found.append({"row": "sample", "what": what, "unit": unit, "value": value * factor})
    return found


# ---- histograms ------------------------------------------------------------------------------------------

def merge(hists):
    sums = {}
    for hist in hists:
        for value, count in hist:
            sums[value] = sums.get(value, 0) + count
    return sorted(sums.items())


def at_share(hist, share):
    """The value that @share (0 to 1) of all do not exceed."""
    total, seen = sum(count for _, count in hist), 0
    for value, count in hist:
        seen += count
        if seen >= total * share:
            return value
    return hist[-1][0] if hist else 0


def highest(value):
    """The largest whole value of the step that begins at @value: what HdrHistogram prints."""
    if value < 2 * STEPS or value != int(value):
        return value
    return int(value) + (1 << (int(value).bit_length() - 7)) - 1


def percentiles(hist, ticks=5):
    """Rows of HdrHistogram's percentile distribution: value, share, count so far."""
    total, seen, rows, share = sum(count for _, count in hist), 0, [], 0.0
    for value, count in hist:
        seen += count
        while seen >= share * total:
            rows.append((value, share, seen))
            if share >= 1 or seen == total and share >= 1 - 0.5 / total:
                break
            halvings = int(math.log2(1 / (1 - share))) + 1
            share = share + 1 / (ticks * 2 ** halvings)
    if rows and rows[-1][1] < 1:
        rows.append((hist[-1][0], 1.0, total))
    return rows


def samples(hist):
    return sum(count for _, count in hist)


def hgrm(hist, per=1000.0, about=()):
    """The text of a .hgrm file (HdrHistogram's, as its plotter reads it); values in microseconds.  @about: lines for its
    head, which the plotter skips."""
    total = samples(hist)
    mean = sum(value * count for value, count in hist) / max(total, 1)
    deviation = math.sqrt(sum(count * (value - mean) ** 2 for value, count in hist) / max(total, 1))
    out = [f"# {line}" for line in about] + [f"{'Value':>12} {'Percentile':>14} {'TotalCount':>10} {'1/(1-Percentile)':>14}", ""]
    for value, share, seen in percentiles(hist):
        line = f"{highest(value) / per:12.3f} {share:2.12f} {seen:10d}"
        out.append(line if share >= 1 else f"{line} {1 / (1 - share):14.2f}")
    out.append(f"#[Mean    = {mean / per:12.3f}, StdDeviation   = {deviation / per:12.3f}]")
    out.append(f"#[Max     = {highest(hist[-1][0]) / per if hist else 0:12.3f}, Total count    = {total:12d}]")
    out.append(f"#[Buckets = {36:12d}, SubBuckets     = {2 * STEPS:12d}]")
    return "\n".join(out) + "\n"


# ---- figures of all runs ---------------------------------------------------------------------------------------

class Results:
    """The rows of a file, by what they are about."""

    def __init__(self, rows):
        self.machine = next((row for row in rows if row["row"] == "machine"), {})
        self.failed = [row for row in rows if row["row"] == "failed"]
        self.skipped = [row for row in rows if row["row"] == "skipped"]
        self.by = {}
        for row in rows:
            if row["row"] == "sample":
                key = (row["experiment"], row["what"], row["ranks"])
                self.by.setdefault(key, {}).setdefault(row["side"], []).append(row)

    def rows(self, experiment, what, ranks, side):
        return self.by.get((experiment, what, ranks), {}).get(side, [])

    def value(self, experiment, what, ranks, side):
        """The median over the runs, or None."""
        rows = self.rows(experiment, what, ranks, side)
        return statistics.median(row["value"] for row in rows) if rows else None

    def spread(self, experiment, what, ranks, side):
        values = [row["value"] for row in self.rows(experiment, what, ranks, side)]
        return (min(values), max(values)) if values else None

    def ranks(self, experiment, what, side):
        return sorted(r for (e, w, r), sides in self.by.items() if e == experiment and w == what and side in sides)

    def hist(self, experiment, what, ranks, side):
        return merge(row["hist"] for row in self.rows(experiment, what, ranks, side) if "hist" in row)

    def ratio(self, experiment, what, ranks, theirs, ours="shmix"):
        """How many times better ours is: the ratio of the medians, and the least and the largest of
        the runs that lay side by side.  None where a side has nothing."""
        left, right = self.rows(experiment, what, ranks, theirs), self.rows(experiment, what, ranks, ours)
        mine, other = self.value(experiment, what, ranks, ours), self.value(experiment, what, ranks, theirs)
        if not left or not right or mine <= 0 or other <= 0 or right[0]["unit"] == "count":
            return None
        way = -1 if right[0]["unit"] == "per_s" else 1
        by_run = {row["run"]: row["value"] for row in left}
        pairs = [(by_run[row["run"]] / row["value"]) ** way for row in right
                 if row["run"] in by_run and row["value"] > 0 and by_run[row["run"]] > 0]
        middle = (other / mine) ** way
        return middle, min(pairs + [middle]), max(pairs + [middle])


def first_digit(number):
    """As one digit and a power of ten: 187 is 200."""
    return float(f"{number:.0e}")


def say(value, unit):
    """For a reader: three digits and a unit."""
    if value is None:
        return "–"
    if unit == "per_s":
        for size, letter in ((1e6, " M/s"), (1e3, " k/s")):
            if value >= size:
                return three(value / size) + letter
        return three(value) + "/s"
    if unit == "kib":
        return three(value / 1024) + " MiB" if value >= 1024 else three(value) + " KiB"
    if unit != "ns":
        return three(value)
    for size, word in ((1e9, " s"), (1e6, " ms"), (1e3, " µs")):
        if value >= size:
            return three(value / size) + word
    return three(value) + " ns"


def three(number):
    if number == 0:
        return "0"
    if abs(number) < 0.1:
        return f"{number:.2g}"
    digits = max(0, 2 - math.floor(math.log10(abs(number))))
    return f"{number:,.{min(digits, 2)}f}"
