# SPDX-License-Identifier: BSD-3-Clause
"""The table of goals: what is measured, what it has to reach, and the limit of the machine beside it.

`m` gives the machine's own figures of the same run: m.wake, m.wake_same_cpu, m.line, m.probe, m.copy (nanoseconds), m.cpus.
A goal or limit is None where there is none.
"""
import statistics


class Machine:
    def __init__(self, results):
        def limit(what):
            return results.value("limits", what, 1, "shmix") or 0

        self.wake, self.wake_same_cpu, self.line = limit("wake"), limit("wake_same_cpu"), limit("line_transfer")
        self.probe, self.copy, self.cpus = limit("hash_probe"), limit("copy_1mib_fresh"), results.machine.get("cpus", 1)


US = 1e3
NOISE_MAX_PPM = 100000  # above it other work, not the library, decides a time
# words, experiment, what, ranks, goal of m, its words, limit of m, its words
GOALS = [
    ("PMIx_Get, value is there", "get", "scalar", 2, lambda m: 100, "100 ns", lambda m: m.probe, "a probe of a private hash table"),
    ("Get by a native handle", "get", "native", 2, lambda m: 30, "30 ns", lambda m: m.probe, "a probe of a private hash table"),
    ("Put + Commit, 64 bytes", "modex", "put_commit", 2, lambda m: 1 * US, "1 µs", lambda m: m.line, "a cache line's way"),
    ("Put + Commit, 4 KiB", "modex", "put_commit_4k", 2, lambda m: 4 * US, "4 µs", lambda m: m.copy / 256, "a copy of 4 KiB into fresh memory"),
    ("first Get of a peer's value", "modex", "first", 2, lambda m: 1 * US, "1 µs", lambda m: m.probe, "a probe of a private hash table"),
    ("Fence, 2 ranks", "fence", "empty", 2, lambda m: 2 * m.wake + 5 * US, "2 W + 5 µs", lambda m: 2 * m.wake, "two wakes across CPUs"),
    ("Fence that collects, 2 ranks", "fence", "data", 2, lambda m: 2 * m.wake + 5 * US, "2 W + 5 µs", lambda m: 2 * m.wake, "two wakes across CPUs"),
    ("Fence, 64 ranks", "fence", "empty", 64, lambda m: 640 * US / m.cpus, "10 µs of CPU a rank", lambda m: 64 * m.wake_same_cpu / m.cpus,
     "a wake on one CPU for each rank"),
    ("event, receiver asleep", "oneway", "oneway", 2, lambda m: m.wake + 5 * US, "W + 5 µs", lambda m: m.wake, "one wake across CPUs"),
    ("event at a rate, from when it is due", "paced", "each", 2, lambda m: 2 * m.wake + 3 * US, "2 W + 3 µs", lambda m: m.wake, "one wake across CPUs"),
    ("event, all on one CPU", "oneway_one_cpu", "oneway", 2, lambda m: 2 * m.wake_same_cpu + 3 * US, "2 W + 3 µs", lambda m: m.wake_same_cpu,
     "one wake on one CPU"),
    ("event, receiver polls, rank to rank", "polling", "polling", 2, lambda m: 1 * US, "1 µs", lambda m: 2 * m.line, "two ways of a cache line"),
    ("event, receiver polls the ring", "ring", "ring_polling_120b", 1, lambda m: 0.4 * US, "0.4 µs", lambda m: 2 * m.line,
     "two ways of a cache line"),
    ("burst through the server", "burst", "delivered", 2, lambda m: 1e6, "1,000,000/s", None, ""),
    ("512 kept events, late handler", "late", "late", 2, lambda m: 100 * US, "100 µs", None, ""),
    ("PMIx_Init, 2 ranks", "init", "init", 2, lambda m: 500 * US, "500 µs", None, ""),
    ("PMIx_Init, CPU time, 16 ranks", "init", "init_cpu", 16, lambda m: 500 * US, "500 µs", None, ""),
    ("PMIx_Finalize, CPU time, 16 ranks", "init", "finalize_cpu", 16, lambda m: 500 * US, "500 µs", None, ""),
    ("1 MiB: put, commit, fence, get", "blob", "blob", 2, lambda m: 3 * m.copy, "3 copies", lambda m: m.copy, "one copy into fresh memory"),
    ("memory of a rank's own, 2 ranks", "memory", "private", 2, lambda m: 200, "200 KiB", None, ""),
    ("memory of a rank's own, 64 ranks", "memory", "private", 64, lambda m: 200, "200 KiB", None, ""),
    ("server's CPU, commit", "server_cpu", "commit", 2, lambda m: 1 * US, "1 µs", None, ""),
    ("server's CPU, event to 15 ranks", "server_cpu", "event", 16, None, "", None, ""),
    ("the whole job, 16 ranks", "init", "job", 16, None, "", None, ""),
    ("PMIx_Spawn of 16 children", "spawn", "spawn", 1, None, "", None, ""),
    ("16 spawned children are ready", "spawn", "ready", 1, None, "", None, ""),
    ("bytes of output into a file, 2 ranks", "output", "file", 2, lambda m: 1e9, "1 GB/s", None, ""),
    ("bytes of output into a terminal, 2 ranks", "output", "terminal", 2, None, "", None, ""),
]


def noise_ppm(found):
    """The median of how much of the CPU time other work took just before each of these rows, or None."""
    ppm = [row["noise_ppm"] for row in found if row.get("noise_ppm") is not None]
    return statistics.median(ppm) if ppm else None


def is_noisy(results, found, of_machine):
    """Whether noise decides the goal of the rows @found.  @of_machine: the goal is made of the machine's own figures."""
    limits = results.rows("limits", "wake", 1, "shmix") if of_machine else []
    return max(noise_ppm(found) or 0, noise_ppm(limits) or 0) > NOISE_MAX_PPM


def table(results):
    """Rows of what was measured: a dict each."""
    machine, out = Machine(results), []
    for words, experiment, what, ranks, goal, goal_words, limit, limit_words in GOALS:
        found = results.rows(experiment, what, ranks, "shmix")
        if not found:
            continue
        value, unit = results.value(experiment, what, ranks, "shmix"), found[0]["unit"]
        theirs = next((side for side in ("nodelay", "theirs") if results.rows(experiment, what, ranks, side)), None)
        aim = goal(machine) if goal else None
        out.append({"words": words, "unit": unit, "value": value, "spread": results.spread(experiment, what, ranks, "shmix"),
                    "goal": aim, "goal_words": goal_words, "side": theirs,
                    "theirs": results.value(experiment, what, ranks, theirs) if theirs else None,
                    "ratio": results.ratio(experiment, what, ranks, theirs) if theirs else None,
                    "limit": (limit(machine) or None) if limit else None, "limit_words": limit_words,
                    "noisy": aim is not None and is_noisy(results, found, "W" in goal_words or "cop" in goal_words),
                    "reached": None if aim is None else value >= aim if unit == "per_s" else value <= aim})
    return out
