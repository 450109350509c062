# SPDX-License-Identifier: BSD-3-Clause
"""The report: one page that needs no network, from the rows of one run."""
import html
import statistics

import charts
import goals
import rows

# Of ratio bars, and of what is lost: what a reader asks first.  Words, experiment, what, ranks.
RATIOS = [
    ("Get: a number of the job", "get", "scalar"), ("Get: a number of a peer", "get", "peer"), ("Get: a string", "get", "string"),
    ("Get: 4 KiB", "get", "large"), ("Get into the caller's own value", "get", "static"), ("Get as a pointer", "get", "pointer"),
    ("Gets of all ranks at once", "gets", "gets"), ("Put + Commit, 64 bytes", "modex", "put_commit"),
    ("Put + Commit, 4 KiB", "modex", "put_commit_4k"), ("first Get of a peer", "modex", "first"),
    ("Get of each further peer", "modex", "further"), ("Get of what no fence has collected", "modex", "direct"),
    ("Fence", "fence", "empty"), ("Fence that collects 64 bytes a rank", "fence", "data"), ("Connect", "connect", "connect"),
    ("Disconnect", "connect", "disconnect"), ("Group construct", "group", "construct"), ("1 MiB: put, commit, fence, get", "blob", "blob"),
    ("event, one way, asleep", "oneway", "oneway"), ("event, one way, one CPU", "oneway_one_cpu", "oneway"),
    ("events at a rate, each receiver", "paced", "each"), ("events at a rate, the last receiver", "paced", "last"),
    ("events at a rate, busy CPUs", "paced_busy", "each"), ("burst, delivered", "burst", "delivered"),
    ("512 kept events", "late", "late"), ("Publish", "publish", "publish"), ("the first lookup of a key", "publish", "first"), ("Lookup", "publish", "lookup"), ("spawn", "spawn", "spawn"), ("bytes of output into a file", "output", "file"), ("bytes of output into a terminal", "output", "terminal"),
    ("query", "query", "query"), ("a tool's first answer", "query", "tool"), ("Init", "init", "init"), ("Init, CPU time", "init", "init_cpu"),
    ("Finalize", "init", "finalize"), ("the whole job", "init", "job"), ("private memory of a rank", "memory", "private"),
    ("private memory of the server", "memory", "server"), ("server's CPU: commit", "server_cpu", "commit"),
    ("server's CPU: fence", "server_cpu", "fence"), ("server's CPU: collecting fence", "server_cpu", "collect"),
    ("server's CPU: event", "server_cpu", "event"),
    ("server's CPU: the first 20 ms without a call, and a fence", "server_cpu", "idle"),
]
# The README's five, and the cards of the page.
HEADLINES = [("PMIx_Get", "get", "scalar", 2, "theirs"), ("put + commit", "modex", "put_commit", 2, "theirs"),
             ("fence", "fence", "empty", 2, "theirs"), ("event, one way", "oneway", "oneway", 2, "nodelay"),
             ("memory of a rank", "memory", "private", 2, "theirs")]
MAPS = [("map_libpmix", "libpmix"), ("map_heap", "heap"), ("map_private", "private, no file"), ("map_shared", "shared between processes"),
        ("map_libraries", "other libraries"), ("map_stacks", "stacks"), ("map_rest", "other files")]

PAGE = """
*{box-sizing:border-box} body{margin:0;background:var(--page);color:var(--ink);
font:15px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif}
main{max-width:1200px;margin:0 auto;padding:32px 20px 60px} h1{font-size:28px;margin:0 0 4px;letter-spacing:-.01em}
h2{font-size:19px;margin:40px 0 10px} p{max-width:78ch;margin:6px 0 12px} .note{color:var(--soft)} .facts{color:var(--soft);font-size:13.5px}
.panel{background:var(--panel);border:1px solid var(--grid);border-radius:10px;padding:14px;margin:12px 0}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(195px,1fr));gap:12px;margin:22px 0 6px} .card{margin:0;padding:14px 16px}
.card b{display:block;font-size:30px;line-height:1.15;color:var(--c0);font-variant-numeric:tabular-nums;letter-spacing:-.02em}
.card span{display:block} .card small{color:var(--soft);font-size:12.5px;display:block}
.two{display:grid;grid-template-columns:1fr 1fr;gap:12px} .three{display:grid;grid-template-columns:repeat(3,1fr);gap:12px}
.two .panel,.three .panel{margin:0} svg{display:block;width:100%;height:auto}
@media (max-width:900px){.two,.three{grid-template-columns:1fr}}
table{border-collapse:collapse;width:100%;font-size:13.5px;font-variant-numeric:tabular-nums} th{font-weight:600;text-align:right;color:var(--soft)}
td,th{padding:5px 9px;border-bottom:1px solid var(--grid);text-align:right;vertical-align:top;white-space:nowrap}
td:first-child,th:first-child{text-align:left} td.words{text-align:left;white-space:normal;color:var(--soft)} .yes{color:var(--c3)} .no{color:var(--c1);font-weight:600}
.warning{background:var(--c1);color:#fff;border-radius:10px;padding:14px 16px;margin:0 0 18px;font-weight:600} .warning p{margin:0;max-width:none}
tr.noisy td{color:var(--soft);opacity:.7} h3{font-size:15px;margin:0 0 8px}
.bar{display:grid;grid-template-columns:minmax(200px,330px) 1fr 58px 78px 78px;gap:0 10px;align-items:center;font-size:13.5px;padding:3px 0}
.bar b,.bar small{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap} .bar small{color:var(--soft);font-size:12.5px}
.track{position:relative;height:16px;display:block} .track i{position:absolute;font-style:normal} .rule{top:-3px;bottom:-3px;max-width:1px;background:var(--grid)}
.one{background:var(--axis)} .fill{top:0;bottom:0;border-radius:2px} .won{background:var(--c0)} .lost{background:var(--c1)}
.whisk{top:7px;height:2px;background:var(--ink);opacity:.75} .tick{transform:translateX(-50%);color:var(--soft);font-size:12px;white-space:nowrap}
.head b{color:var(--soft);font-weight:400}
@media (max-width:700px){.bar{grid-template-columns:1fr 50px 68px 68px} .bar>span:first-child{grid-column:1/-1} .tick:nth-child(even){display:none}}
summary{cursor:pointer;font-weight:600} a{color:var(--c0)} .scroll{overflow-x:auto} code{font-size:12.5px}
"""


def esc(words):
    return html.escape(str(words))


def panel(content):
    return f'<div class="panel">{content}</div>' if content else ""


def best_side(results, experiment, what, ranks):
    """The other side at its best: with TCP_NODELAY forced where that was run."""
    return next((side for side in ("nodelay", "theirs") if results.rows(experiment, what, ranks, side)), None)


def times(number):
    return f"{number:,.0f}" if number >= 10 else rows.three(number)


def cards(results):
    out = []
    for words, experiment, what, ranks, side in HEADLINES:
        ratio = results.ratio(experiment, what, ranks, side)
        if ratio:
            unit = results.rows(experiment, what, ranks, side)[0]["unit"]
            mine, other = (rows.say(results.value(experiment, what, ranks, s), unit) for s in ("shmix", side))
            out.append(f'<div class="panel card"><span>{esc(words)}</span><b>{times(ratio[0])} ×</b><small>{esc(mine)} instead of {esc(other)}'
                       f'</small><small>{times(ratio[1])} to {times(ratio[2])} in single runs</small></div>')
    return f'<div class="cards">{"".join(out)}</div>'


def all_ratios(results):
    """Bars of all that has two sides: (label, mine, theirs, middle, least, most)."""
    bars = []
    for words, experiment, what in RATIOS:
        for ranks in results.ranks(experiment, what, "shmix"):
            side = best_side(results, experiment, what, ranks)
            ratio = results.ratio(experiment, what, ranks, side) if side else None
            if ratio:
                unit = results.rows(experiment, what, ranks, side)[0]["unit"]
                bars.append((f"{words}, {ranks} rank{'s' * (ranks > 1)}", rows.say(results.value(experiment, what, ranks, "shmix"), unit),
                             rows.say(results.value(experiment, what, ranks, side), unit), *ratio))
    return bars


def event_curves(results):
    def of(experiment, what, ranks, side):
        return results.hist(experiment, what, ranks, side)

    return [("OpenPMIx, as shipped", 1, of("oneway", "oneway", 2, "theirs")),
            ("OpenPMIx, TCP_NODELAY", 2, of("oneway", "oneway", 2, "nodelay")),
            ("shmix, asleep", 0, of("oneway", "oneway", 2, "shmix")),
            ("a futex wake (limit)", 5, of("limits", "wake", 1, "shmix")),
            ("shmix, receiver polls", 3, of("polling", "polling", 2, "shmix")),
            ("shmix ring, polling", 6, of("ring", "ring_polling_120b", 1, "shmix"))]


def event_picture(results, alone=True):
    """@alone: the picture of README.md, whose curves all end where the shortest does."""
    return charts.percentiles("One event from rank to rank", event_curves(results), alone=alone, cut=alone)


def latencies(results):
    paced = [(label, colour, results.hist(experiment, "each", 2, side)) for label, colour, experiment, side in
             (("OpenPMIx, as shipped", 1, "paced", "theirs"), ("OpenPMIx, busy CPUs", 4, "paced_busy", "nodelay"),
              ("OpenPMIx, TCP_NODELAY", 2, "paced", "nodelay"), ("shmix, busy CPUs", 6, "paced_busy", "shmix"),
              ("shmix", 0, "paced", "shmix"))]
    gets = [(label, colour, results.hist("get", what, 2, side)) for label, colour, what, side in
            (("OpenPMIx, a number", 1, "scalar", "theirs"), ("shmix, 4 KiB", 4, "large", "shmix"), ("shmix, a string", 6, "string", "shmix"),
             ("shmix, a number", 0, "scalar", "shmix"), ("shmix, native", 3, "native", "shmix"))]
    modex = [(label, colour, results.hist("modex", what, 2, side)) for label, colour, what, side in
             (("OpenPMIx, put + commit", 1, "put_commit", "theirs"), ("OpenPMIx, first Get", 2, "first", "theirs"),
              ("shmix, put + commit", 0, "put_commit", "shmix"), ("shmix, first Get", 3, "first", "shmix"))]
    found = [panel(chart) for chart in (
        event_picture(results, alone=False), charts.percentiles("Events at a rate, from when they are due", paced),
        charts.percentiles("A Get (16 at a time)", gets), charts.percentiles("The address book of a job", modex)) if chart]
    return '<h2>How long it takes, and how often longer</h2><p class="note">x: percentile. y: latency. Both scales are ' \
           f'logarithmic, so that the rare long ones show.</p><div class="two">{"".join(found)}</div>' if found else ""


def points(results, experiment, what, side):
    return [(ranks, results.value(experiment, what, ranks, side), *results.spread(experiment, what, ranks, side))
            for ranks in results.ranks(experiment, what, side)]


def scaling(results):
    out = []
    for title, experiment, what, unit in (("Fence", "fence", "empty", "ns"), ("Fence that collects", "fence", "data", "ns"),
                                          ("Event to the last receiver", "paced", "last", "ns"), ("PMIx_Init", "init", "init", "ns"),
                                          ("The whole job", "init", "job", "ns"), ("Private memory of a rank", "memory", "private", "kib"),
                                          ("Server's CPU for a fence", "server_cpu", "fence", "ns"), ("Server's CPU for an event", "server_cpu", "event", "ns"),
                                          ("Get of each further peer", "modex", "further", "ns"), ("Burst, delivered", "burst", "delivered", "per_s")):
        lines = [(label, colour, points(results, experiment, what, side)) for label, colour, side in
                 (("shmix", 0, "shmix"), ("OpenPMIx, NODELAY", 2, "nodelay"), ("OpenPMIx", 1, "theirs"))]
        if max((len(line[2]) for line in lines), default=0) > 1:
            out.append(panel(charts.over_ranks(title, unit, lines)))
    return f'<h2>With more ranks</h2><div class="three">{"".join(out)}</div>' if out else ""


def memory(results):
    bars = []
    for ranks in results.ranks("memory", "pss", "shmix"):
        for side, label in (("shmix", "shmix"), ("theirs", "OpenPMIx")):
            values = [results.value("memory", what, ranks, side) for what, _ in MAPS]
            if values[0] is not None:
                bars.append((f"{label}, {ranks} ranks", [max(value or 0, 0) for value in values]))
    chart = charts.stacked("What a rank adds to the memory of the node, by mapping", [name for _, name in MAPS], bars)
    return f'<h2>Memory</h2><p class="note">Proportional sizes (PSS): a page that N processes map counts 1/N in each.</p>{panel(chart)}' \
        if bars else ""


def spread_words(spread, unit):
    return f"{rows.say(spread[0], unit)} to {rows.say(spread[1], unit)}"


def goals_table(found):
    out = ["<tr><th>what</th><th>shmix</th><th>goal</th><th></th><th>OpenPMIx</th><th>times better</th><th>limit of the machine</th>"
           "<th>times the limit</th></tr>"]
    for row in found:
        unit = row["unit"]
        mark = "" if row["reached"] is None else "noise decides" if row["noisy"] else '<span class="yes">✓ reached</span>' if row["reached"] else '<span class="no">✗ missed</span>'
        goal = "" if row["goal"] is None else esc(row["goal_words"]) + (
            f' = {rows.say(row["goal"], unit)}' if "W" in row["goal_words"] or "cop" in row["goal_words"] or "rank" in row["goal_words"] else "")
        ratio = row["ratio"]
        out.append(
            f'<tr{" class=noisy" * row["noisy"]}><td>{esc(row["words"])}</td><td title="{spread_words(row["spread"], unit)}">{rows.say(row["value"], unit)}</td><td>{goal}</td><td>{mark}</td>'
            f'<td>{rows.say(row["theirs"], unit) if row["theirs"] else ""}{" *" if row["side"] == "nodelay" else ""}</td>'
            f'<td>{f"{times(ratio[0])} ({times(ratio[1])} to {times(ratio[2])})" if ratio else ""}</td>'
            f'<td title="{esc(row["limit_words"])}">{rows.say(row["limit"], unit) if row["limit"] else ""}</td>'
            f'<td>{times(row["value"] / row["limit"]) if row["limit"] else ""}</td></tr>')
    return f'<div class="panel scroll"><table>{"".join(out)}</table></div>'


def losses(results, found):
    """Where shmix is slower than the other side, and the goals it misses, as lines."""
    out = [f"{bar[0]}: {bar[1]}, theirs {bar[2]} ({rows.three(bar[3])} times)" for bar in all_ratios(results) if bar[3] < 1]
    out += [f'{row["words"]}: {rows.say(row["value"], row["unit"])}, the goal is {rows.say(row["goal"], row["unit"])} ({row["goal_words"]})'
            for row in found if row["reached"] is False and not row["noisy"]]
    return "<ul>" + "".join(f"<li>{esc(line)}</li>" for line in out) + "</ul>" if out else "<p>Nothing in this run.</p>"


def figures_table(results):
    out = ["<tr><th>experiment, what</th><th>ranks</th><th>side</th><th>runs</th><th>median</th><th>least to most</th><th>ratio</th></tr>"]
    for experiment, what, ranks in results.by:
        for side, found in results.by[experiment, what, ranks].items():
            unit = found[0]["unit"]
            ratio = results.ratio(experiment, what, ranks, side) if side != "shmix" else None
            out.append(f"<tr><td>{esc(experiment)}, {esc(what)}</td><td>{ranks}</td><td>{side}</td><td>{len(found)}</td>"
                       f"<td>{rows.say(results.value(experiment, what, ranks, side), unit)}</td>"
                       f"<td>{spread_words(results.spread(experiment, what, ranks, side), unit)}</td>"
                       f"<td>{times(ratio[0]) if ratio else ''}</td></tr>")
    return f'<details class="panel scroll"><summary>All figures</summary><table>{"".join(out)}</table></details>'


def not_measured(results):
    lines = [f'{row["experiment"]}, {row["ranks"]} ranks, {row["side"]}: {row["why"]}' for row in results.failed]
    lines += sorted({f'{row["experiment"]}, {row["what"]}, {row["side"]}: {row["why"]}' for row in results.skipped})
    return "<h2>Not measured</h2><ul>" + "".join(f"<li>{esc(line)}</li>" for line in lines) + "</ul>" if lines else ""


def noise_warning(results):
    """A bar at the top of the page where the machine was too busy for its times to mean anything."""
    noise = goals.noise_ppm(row for sides in results.by.values() for found in sides.values() for row in found)
    if noise is None or noise <= goals.NOISE_MAX_PPM:
        return ""
    return (f'<div class="warning"><p>This machine was busy: other work took {noise / 1e4:.0f} % of the CPU time (limit: '
            f'{goals.NOISE_MAX_PPM / 1e4:.0f} %). Times below are not the times of this library. Goals that noise decides are grey. '
            "Close other programs and run it again; ratios are more robust than times.</p></div>")


def noise_words(results):
    ppm = [row["noise_ppm"] for sides in results.by.values() for found in sides.values() for row in found if row.get("noise_ppm") is not None]
    gaps = [row["noise_max_ns"] for sides in results.by.values() for found in sides.values() for row in found if row.get("noise_max_ns")]
    if not ppm:
        return ""
    return (f"Noise, measured before each program: the machine took the CPU away for {statistics.median(ppm) / 1e4:.2f} % of the time "
            f"(median; at worst {max(ppm) / 1e4:.1f} %), for {rows.say(max(gaps, default=0), 'ns')} at the longest.")


def page(results):
    machine, found = results.machine, goals.table(results)
    m = goals.Machine(results)
    peer = machine.get("peer") or "nothing"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1"><title>shmix: measured</title>
<style>{charts.COLOURS}{PAGE}{charts.CLASSES}</style></head><body><main>
{noise_warning(results)}<h1>shmix beside {esc(peer)}</h1>
<div class="facts">{esc(machine.get("cpu", ""))}, {machine.get("cpus", "?")} CPUs, {machine.get("memory_gib", "?")} GiB; Linux {esc(machine.get("kernel", ""))};
{esc(machine.get("compiler", ""))}; revision {esc(machine.get("revision", ""))}; load {machine.get("load", "?")} at the start; {esc(machine.get("date", ""))};
size {esc(machine.get("size", ""))}<br>{esc(noise_words(results))}</div>
{cards(results)}
<h2>Times better</h2>
<p class="note">The ratio of the medians over the runs; the thin line goes from the least to the largest ratio of two runs that lay side by side.
For events OpenPMIx has TCP_NODELAY forced, with which it is many times faster than as it is shipped. Orange bars: shmix is slower.
Another machine may give 2 to 3 times less or more.</p>
{panel(charts.ratio_bars("How many times better than " + peer, all_ratios(results)))}
{latencies(results)}
{scaling(results)}
{memory(results)}
<h2>Goals, the other library, and the limit of the machine</h2>
<p class="note">W, a futex wake across CPUs, is {rows.say(m.wake, "ns")} in this run, on one CPU {rows.say(m.wake_same_cpu, "ns")}; a cache line's way between
two CPUs {rows.say(m.line, "ns")}; a private hash probe {rows.say(m.probe, "ns")}. * with TCP_NODELAY forced.</p>
{goals_table(found)}
<h2>Where shmix is slower, and goals that it misses</h2>
{losses(results, found)}
{not_measured(results)}
<h2>How</h2>
<p>Each program is plain PMIx and runs on both libraries, in turns, with the order of the sides changed each time; each is bounded, and nothing is
thrown away. A run's figure is the median over its ranks, or their sum for a throughput. Programs that ask for a rate measure from the moment an event
was due, so that a stall counts for all that it delays. Ranks are bound to CPUs where there is one for each and one for the server.</p>
{figures_table(results)}
</main></body></html>
"""
