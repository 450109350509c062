# SPDX-License-Identifier: BSD-3-Clause
"""Charts as SVG: percentiles of latencies, lines over ranks, ratio bars, stacked bars.

Colours are those of Okabe and Ito, which people of every colour vision can tell apart, and lines differ in
dashes as well.  They are classes (STYLE), so that a page or a picture by itself follows the reader's light or dark.
"""
import html
import math

import rows

STYLE = """
.bg{fill:var(--paper)} text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;fill:var(--ink)}
.soft{fill:var(--soft)} .big{font-size:15px;font-weight:600} .bold{font-weight:600} .end{text-anchor:end} .mid{text-anchor:middle}
.grid{stroke:var(--grid);stroke-width:1;fill:none} .axis{stroke:var(--axis);stroke-width:1;fill:none}
.line{fill:none;stroke-width:2.25;stroke-linejoin:round;stroke-linecap:round} .whisker{stroke:var(--ink);stroke-width:1.5;fill:none;opacity:.75}
"""
LIGHT = {"paper": "#ffffff", "panel": "#ffffff", "page": "#f6f7f9", "ink": "#1c2430", "soft": "#5b6675", "grid": "#e6e9ee",
         "axis": "#b4bcc8", "c0": "#0072b2", "c1": "#d55e00", "c2": "#c98a00", "c3": "#009e73", "c4": "#b35c8f", "c5": "#7b8794",
         "c6": "#3fa0d8"}
DARK = {"paper": "#171c24", "panel": "#171c24", "page": "#0f1319", "ink": "#e8ecf2", "soft": "#9aa6b5", "grid": "#262e3a",
        "axis": "#465264", "c0": "#56b4e9", "c1": "#ff8a3d", "c2": "#f0c05a", "c3": "#2fcf9f", "c4": "#e39ac4", "c5": "#9aa6b5",
        "c6": "#9fd6f7"}
DASHES = ["", "", "7 4", "", "2 4", "5 3", "9 3 2 3"]


def variables(colours):
    return "".join(f"--{name}:{value};" for name, value in colours.items())


COLOURS = f":root{{{variables(LIGHT)}}} @media (prefers-color-scheme:dark){{:root{{{variables(DARK)}}}}}"
CLASSES = STYLE + "".join(f".s{i}{{stroke:var(--c{i})}} .f{i}{{fill:var(--c{i})}} " for i in range(7))


def text(x, y, words, classes=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}">{html.escape(str(words))}</text>'


def svg(width, height, parts, title, alone=False):
    style = f"<style>{COLOURS}{CLASSES}</style><rect class=\"bg\" width=\"100%\" height=\"100%\" rx=\"8\"/>" if alone else ""
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="{html.escape(title)}"' +
            (f' width="{width}" height="{height}"' if alone else "") + f">{style}" + "".join(parts) + "</svg>")


def decades(low, high):
    """Powers of ten from below @low to above @high."""
    begin = math.floor(math.log10(low))
    return begin, max(math.ceil(math.log10(high)), begin + 1)


class LogScale:
    def __init__(self, low, high, begin, end):
        self.low, self.high = math.log10(low), math.log10(high)
        self.begin, self.end = begin, end

    def at(self, value):
        share = (math.log10(max(value, 1e-12)) - self.low) / max(self.high - self.low, 1e-9)
        return self.begin + (self.end - self.begin) * min(max(share, 0), 1)


def ends_apart(ends, gap, low, high):
    """Move labels so that none covers another: [(y, ...)] -> the same with new y."""
    ends = sorted(ends)
    for i in range(1, len(ends)):
        ends[i] = (max(ends[i][0], ends[i - 1][0] + gap), *ends[i][1:])
    over = ends[-1][0] - high if ends else 0
    if over > 0:
        ends[-1] = (high, *ends[-1][1:])
        for i in range(len(ends) - 2, -1, -1):
            ends[i] = (min(ends[i][0], ends[i + 1][0] - gap), *ends[i][1:])
    return [(max(y, low), *rest) for y, *rest in ends]


def percentiles(title, curves, width=640, height=340, alone=False, note=""):
    """Latency over percentile, as HdrHistogram's plotter draws it: right, 1/(1-p), up, the latency, both logarithmic.
    @curves: (label, index of the colour, histogram)."""
    curves = [curve for curve in curves if curve[2]]
    if not curves:
        return ""
    left, right, top, bottom = 62, width - 196, 46, height - 40
    drawn = [(label, colour, rows.percentiles(hist)) for label, colour, hist in curves]
    low, high = decades(min(max(p[0][0], 1) for _, _, p in drawn), max(p[-1][0] for _, _, p in drawn))
    deepest = max(sum(count for _, count in hist) for _, _, hist in curves)
    deepest = min(max(deepest, 100), 100000)
    x, y = LogScale(1, deepest, left, right), LogScale(10 ** low, 10 ** high, bottom, top)
    out = [text(16, 24, title, "big")]
    for power in range(low, high + 1):
        out.append(f'<path class="grid" d="M{left} {y.at(10 ** power):.1f}H{right}"/>' +
                   text(left - 8, y.at(10 ** power) + 4, rows.say(10 ** power, "ns").replace(".00", "").replace(".0", ""), "soft end"))
    for share, label in ((0, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %")):
        if 1 / (1 - share) <= deepest * 1.01 and (share > 0 or x.at(2) - left > 44):
            at = x.at(1 / (1 - share))
            out.append(f'<path class="grid" d="M{at:.1f} {top}V{bottom}"/>' + text(at, bottom + 18, label, "soft mid"))
    out.append(f'<path class="axis" d="M{left} {bottom}H{right}"/>')
    out.append(text((left + right) / 2, height - 6, note or "percentile: so many took no longer", "soft mid"))
    ends = []
    for label, colour, points in drawn:
        points = [(value, share) for value, share, _ in points if share < 1 and 1 / (1 - share) <= deepest * 1.01]
        steps = [f"{x.at(1 / (1 - share)):.1f} {y.at(value):.1f}" for value, share in points]
        dash = f' stroke-dasharray="{DASHES[colour]}"' if DASHES[colour] else ""
        out.append(f'<path class="line s{colour}"{dash} d="M{"L".join(steps)}"/>')
        ends.append((y.at(points[-1][0]) + 4, label, colour))
    for at, label, colour in ends_apart(ends, 15, top, bottom):
        dash = f' stroke-dasharray="{DASHES[colour]}"' if DASHES[colour] else ""
        out.append(f'<path class="line s{colour}"{dash} d="M{right + 8} {at - 4:.1f}h22"/>' + text(right + 37, at, label))
    return svg(width, height, out, title, alone)


def over_ranks(title, unit, lines, width=400, height=270):
    """@lines: (label, index of the colour, [(ranks, value, least, most)])."""
    lines = [(label, colour, points) for label, colour, points in lines if points]
    if not lines:
        return ""
    left, right, top, bottom = 62, width - 18, 64, height - 40
    counts = sorted({point[0] for _, _, points in lines for point in points})
    values = [max(v, 1e-3) for _, _, points in lines for point in points for v in point[1:]]
    low, high = decades(min(values), max(values))
    x = LogScale(counts[0] * 0.85, counts[-1] * 1.18, left, right)
    y = LogScale(10 ** low, 10 ** high, bottom, top)
    out, at = [text(16, 24, title, "big")], 16
    for label, colour, _ in lines:
        out.append(f'<circle class="f{colour}" cx="{at + 4}" cy="41" r="4"/>' + text(at + 13, 45, label, "soft"))
        at += 30 + 6.9 * len(label)
    for power in range(low, high + 1):
        out.append(f'<path class="grid" d="M{left} {y.at(10 ** power):.1f}H{right}"/>' +
                   text(left - 8, y.at(10 ** power) + 4, rows.say(10 ** power, unit).replace(".00", "").replace(".0", ""), "soft end"))
    for count in counts:
        out.append(text(x.at(count), bottom + 18, count, "soft mid"))
    out.append(f'<path class="axis" d="M{left} {bottom}H{right}"/>' + text((left + right) / 2, height - 6, "ranks", "soft mid"))
    for _, colour, points in lines:
        dash = f' stroke-dasharray="{DASHES[colour]}"' if DASHES[colour] else ""
        out.append(f'<path class="line s{colour}"{dash} d="M' +
                   "L".join(f"{x.at(n):.1f} {y.at(max(v, 1e-3)):.1f}" for n, v, _, _ in points) + '"/>')
        for n, v, least, most in points:
            out.append(f'<path class="line s{colour}" style="stroke-width:1" d="M{x.at(n):.1f} {y.at(max(least, 1e-3)):.1f}V{y.at(most):.1f}"/>'
                       f'<circle class="f{colour}" cx="{x.at(n):.1f}" cy="{y.at(max(v, 1e-3)):.1f}" r="3.5"/>')
    return svg(width, height, out, title)


def ratio_bars(title, bars, width=1120):
    """@bars: (label, words of ours, words of theirs, middle, least, most); logarithmic from 1."""
    if not bars:
        return ""
    step, left, right, top = 26, 330, width - 250, 62
    height = top + step * len(bars) + 36
    low, high = decades(min(min(bar[4] for bar in bars), 1), max(bar[5] for bar in bars))
    low = min(low, 0) if min(bar[4] for bar in bars) < 1 else 0
    x = LogScale(10 ** low, 10 ** high, left, right)
    out = [text(16, 24, title, "big"), text(right + 76, 48, "ours", "soft"), text(right + 160, 48, "theirs", "soft")]
    for power in range(low, high + 1):
        at = x.at(10 ** power)
        out.append(f'<path class="{"axis" if power == 0 else "grid"}" d="M{at:.1f} {top - 8}V{height - 30}"/>' +
                   text(at, height - 12, f"{10 ** power:g} ×", "soft mid"))
    for number, (label, mine, other, middle, least, most) in enumerate(bars):
        y = top + step * number
        one, end = x.at(1), x.at(middle)
        out.append(text(left - 12, y + 13, label, "end") +
                   f'<rect class="f{0 if middle >= 1 else 1}" x="{min(one, end):.1f}" y="{y + 2}" width="{max(abs(end - one), 1):.1f}" height="15" rx="2"/>'
                   f'<path class="whisker" d="M{x.at(least):.1f} {y + 9.5}H{x.at(most):.1f}M{x.at(least):.1f} {y + 5.5}v8M{x.at(most):.1f} {y + 5.5}v8"/>' +
                   text(max(x.at(most), one) + 8, y + 14, rows.three(middle) if middle < 10 else f"{middle:,.0f}", "bold") +
                   text(right + 76, y + 14, mine, "soft") + text(right + 160, y + 14, other, "soft"))
    return svg(width, height, out, title)


def stacked(title, names, bars, width=1120):
    """@bars: (label, [values in KiB]); @names: what the parts are."""
    if not bars:
        return ""
    step, left, right, top = 34, 200, width - 90, 76
    height = top + step * len(bars) + 34
    most = max(sum(values) for _, values in bars) or 1
    out, at = [text(16, 24, title, "big")], 16
    for colour, name in enumerate(names):
        out.append(f'<rect class="f{colour}" x="{at}" y="38" width="11" height="11" rx="2"/>' + text(at + 17, 48, name, "soft"))
        at += 34 + 6.6 * len(name)
    tick = 10 ** math.floor(math.log10(most))
    tick = tick / 2 if most / tick < 3 else tick
    for mark in range(int(most / tick) + 1):
        x = left + (right - left) * mark * tick / most
        out.append(f'<path class="grid" d="M{x:.1f} {top - 8}V{height - 28}"/>' +
                   text(x, height - 10, rows.say(mark * tick, "kib").replace(".00", ""), "soft mid"))
    for number, (label, values) in enumerate(bars):
        y, x = top + step * number, left
        out.append(text(left - 12, y + 16, label, "end"))
        for colour, value in enumerate(values):
            wide = (right - left) * max(value, 0) / most
            if wide >= 0.4:
                out.append(f'<rect class="f{colour}" x="{x:.1f}" y="{y}" width="{max(wide - 1, 0.4):.1f}" height="22"/>')
            x += wide
        out.append(text(x + 8, y + 16, rows.say(sum(values), "kib"), "bold"))
    return svg(width, height, out, title)
