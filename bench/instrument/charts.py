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


def percentile_ticks(x, deepest, left, top, bottom):
    out = []
    for share, label in ((0, "0 %"), (0.5, "50 %"), (0.9, "90 %"), (0.99, "99 %"), (0.999, "99.9 %"), (0.9999, "99.99 %")):
        if 1 / (1 - share) <= deepest * 1.01 and (share > 0 or x.at(2) - left > 44):
            at = x.at(1 / (1 - share))
            out.append(f'<path class="grid" d="M{at:.1f} {top}V{bottom}"/>' + text(at, bottom + 18, label, "soft mid"))
    return out


def dash_of(colour):
    return f' stroke-dasharray="{DASHES[colour]}"' if DASHES[colour] else ""


def percentile_legend(curves, top, width):
    """A row for each curve, slowest first: its line, its name, p50, p99 and the number of samples."""
    columns = (width - 210, width - 110, width - 16)
    out = [text(at, top, word, "soft end") for at, word in zip(columns, ("p50", "p99", "samples"))]
    slowest_first = sorted(curves, key=lambda curve: -rows.at_share(curve[2], 0.5))
    for number, (label, colour, hist) in enumerate(slowest_first):
        y = top + 22 * (number + 1)
        words = [rows.say(rows.at_share(hist, share), "ns") for share in (0.5, 0.99)] + [f"{rows.samples(hist):,}"]
        out.append(f'<path class="line s{colour}"{dash_of(colour)} d="M16 {y - 5}h28"/>' + text(54, y, label) +
                   "".join(text(at, y, word, "end") for at, word in zip(columns, words)))
    return out


def percentiles(title, curves, width=640, height=300, alone=False, cut=False):
    """Latency over percentile, as HdrHistogram's plotter draws it: right, 1/(1-p), up, the latency, both logarithmic.
    Below it stands a table of the curves.  @curves: (label, index of the colour, histogram).  @cut: every curve ends at
    the percentile at which the one with the fewest samples ends."""
    curves = [curve for curve in curves if curve[2]]
    if not curves:
        return ""
    left, right, top, bottom = 66, width - 20, 46, height - 40
    drawn = [(colour, rows.percentiles(hist)) for _, colour, hist in curves]
    low, high = decades(min(max(p[0][0], 1) for _, p in drawn), max(p[-1][0] for _, p in drawn))
    counts = [rows.samples(hist) for _, _, hist in curves]
    deepest = min(max(min(counts) if cut else max(counts), 100), 100000)
    x, y = LogScale(1, deepest, left, right), LogScale(10 ** low, 10 ** high, bottom, top)
    out = [text(16, 24, title, "big")]
    for power in range(low, high + 1):
        out.append(f'<path class="grid" d="M{left} {y.at(10 ** power):.1f}H{right}"/>' +
                   text(left - 8, y.at(10 ** power) + 4, rows.say(10 ** power, "ns").replace(".00", "").replace(".0", ""), "soft end"))
    out += percentile_ticks(x, deepest, left, top, bottom)
    out.append(f'<path class="axis" d="M{left} {bottom}H{right}"/>')
    out.append(text((left + right) / 2, height - 6, "x: percentile.  y: latency.  Both are logarithmic.", "soft mid"))
    for colour, points in drawn:
        steps = [f"{x.at(1 / (1 - share)):.1f} {y.at(value):.1f}" for value, share, _ in points
                 if share < 1 and 1 / (1 - share) <= deepest * 1.01]
        out.append(f'<path class="line s{colour}"{dash_of(colour)} d="M{"L".join(steps)}"/>')
    out += percentile_legend(curves, height + 22, width)
    return svg(width, height + 22 * (len(curves) + 1) + 14, out, title, alone)


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
        out.append(f'<path class="line s{colour}"{dash_of(colour)} d="M' +
                   "L".join(f"{x.at(n):.1f} {y.at(max(v, 1e-3)):.1f}" for n, v, _, _ in points) + '"/>')
        for n, v, least, most in points:
            out.append(f'<path class="line s{colour}" style="stroke-width:1" d="M{x.at(n):.1f} {y.at(max(least, 1e-3)):.1f}V{y.at(most):.1f}"/>'
                       f'<circle class="f{colour}" cx="{x.at(n):.1f}" cy="{y.at(max(v, 1e-3)):.1f}" r="3.5"/>')
    return svg(width, height, out, title)


def ratio_bars(title, bars):
    """Ratios as rows of HTML, which fold on a narrow screen.  @bars: (label, words of ours, words of theirs, middle, least,
    most); logarithmic, with an axis at 1."""
    if not bars:
        return ""
    low, high = decades(min(min(bar[4] for bar in bars), 1), max(bar[5] for bar in bars))
    x = LogScale(10 ** low, 10 ** high, 0, 100)

    def span(classes, begin, end):
        return f'<i class="{classes}" style="left:{begin:.2f}%;width:{max(end - begin, 0.2):.2f}%"></i>'

    grid = "".join(span("rule one" if power == 0 else "rule", x.at(10 ** power), 0) for power in range(low, high + 1))
    ticks = "".join(f'<i class="tick" style="left:{x.at(10 ** power):.2f}%">{10 ** power:g} ×</i>' for power in range(low, high + 1))
    out = [f'<h3>{html.escape(title)}</h3><div class="bars"><div class="bar head"><span></span><span class="track">{ticks}</span>'
           '<b>ratio</b><small>shmix</small><small>theirs</small></div>']
    for label, mine, other, middle, least, most in bars:
        one, end = sorted((x.at(1), x.at(middle)))
        ratio = rows.three(middle) if middle < 10 else f"{middle:,.0f}"
        out.append(f'<div class="bar"><span>{html.escape(label)}</span><span class="track">{grid}'
                   f'{span("fill won" if middle >= 1 else "fill lost", one, end)}{span("whisk", x.at(least), x.at(most))}</span>'
                   f'<b>{ratio}</b><small>{mine}</small><small>{other}</small></div>')
    return "".join(out) + "</div>"


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
