# SPDX-License-Identifier: BSD-3-Clause
"""The table of experiments: what is run, with how many ranks, how often, and for how long at most.

A row's numbers are for the sizes smoke, quick and full.  A new experiment is a program in bench/compare (plain PMIx,
question and prediction in its head) and a row here.
"""
SIZES = ("smoke", "quick", "full")
JOB, OWN_HOST, ALONE, AROUND = "job", "own host", "alone", "around"  # around: it starts the launcher itself
BOTH, EVENTS, OURS = ("shmix", "theirs"), ("shmix", "nodelay", "theirs"), ("shmix",)


class Experiment:
    def __init__(self, name, program, ranks, args, sides=BOTH, kind=JOB, bound_s=20, rounds=(None, None, None),
                 runs=(1, 3, 5), theirs=None, one_cpu=False, foreign=False):
        """@ranks, @rounds, @runs: by size.  @args: its words, {rounds} among them; @theirs: the rounds of the other side,
        where it is too slow for ours.  @one_cpu: all of it is bound to one CPU.  @foreign: the ranks have the other
        library on our side too, so that a gateway serves each of them."""
        self.name, self.program, self.args, self.sides, self.kind = name, program, args, sides, kind
        self.bound_s, self.one_cpu, self.foreign = bound_s, one_cpu, foreign
        self.ranks, self.rounds, self.runs = (dict(zip(SIZES, row)) for row in (ranks, rounds, runs))
        self.theirs = dict(zip(SIZES, theirs)) if theirs else self.rounds

    def words(self, size, side, ranks, rounds=None):
        count = rounds or (self.rounds if side == "shmix" else self.theirs)[size]
        return [word.format(rounds=count, ranks=ranks) for word in self.args.split()]


TWO = ((2,), (2,), (2,))
SMALL = ((3,), (2, 16), (2, 16, 64))
ONCE = (1, 1, 3)

TABLE = [
    Experiment("limits", "compare-limits", ((1,), (1,), (1,)), "{rounds}", OURS, ALONE, rounds=(5, 200, 1000)),
    Experiment("init", "compare-init", SMALL, "1", runs=(1, 5, 15)),
    Experiment("get", "compare-get", ((3,), (2,), (2, 16, 64)), "{rounds}", rounds=(8, 2000, 4000),
               theirs=(8, 200, 100), bound_s=30),
    Experiment("modex", "compare-modex", SMALL, "{rounds}", rounds=(4, 64, 64), theirs=(4, 16, 16), bound_s=30),
    Experiment("fence", "compare-fence", ((3,), (2, 16, 64), (2, 16, 64)), "{rounds}", rounds=(16, 128, 256), theirs=(16, 48, 48), bound_s=40),
    Experiment("connect", "compare-connect", ((3,), (2,), (2, 16, 64)), "{rounds}", rounds=(8, 64, 64)),
    Experiment("publish", "compare-publish", ((3,), (2,), (2, 16)), "{rounds}", rounds=(8, 64, 64)),
    Experiment("group", "compare-group", ((3,), (2,), (2, 16, 64)), "{rounds}", rounds=(8, 64, 64)),
    Experiment("group_many", "compare-group_many", ((3,), (), (2, 64)), "{rounds}", rounds=(8, 64, 64), bound_s=60,
               runs=ONCE),
    Experiment("many_keys", "compare-many_keys", ((3,), (), (2, 16)), "{rounds}", rounds=(1, 1, 1)),
    Experiment("blob", "compare-blob", TWO, "{rounds}", rounds=(2, 16, 32), theirs=(2, 4, 8)),
    Experiment("gets", "compare-gets", ((3,), (2,), (1, 2, 16, 64)), "{rounds}", rounds=(8, 200, 200)),
    Experiment("memory", "compare-memory", SMALL, "1", runs=(1, 1, 3)),
    Experiment("server_cpu", "compare-server_cpu", ((3,), (2, 16), (2, 16, 64)), "{rounds}", rounds=(8, 256, 256),
               theirs=(8, 32, 32), bound_s=30),
    Experiment("query", "compare-query", ((1,), (1,), (1,)), "{rounds} {ranks}", kind=OWN_HOST, rounds=(8, 64, 64), theirs=(8, 16, 16)),
    Experiment("tools", "compare-tools", ((2,), (), (2,)), "{rounds} {ranks}", kind=OWN_HOST, rounds=(8, 1000, 1000),
               bound_s=60, runs=ONCE),
    Experiment("spawn", "compare-spawn", ((1,), (1,), (1,)), "{rounds} 16", rounds=(1, 8, 16), theirs=(1, 1, 1), bound_s=40),
    Experiment("output", "compare-output", ((2,), (2,), (1, 2, 8)), "{rounds} {ranks}", kind=AROUND, rounds=(1, 64, 128), theirs=(1, 32, 64),
               bound_s=60),
    Experiment("oneway", "event_oneway", TWO, "{rounds}", EVENTS, rounds=(50, 3000, 10000), theirs=(8, 40, 100)),
    Experiment("oneway_one_cpu", "event_oneway", ((), (2,), (2,)), "{rounds}", ("shmix", "nodelay"), one_cpu=True,
               rounds=(50, 3000, 10000), theirs=(8, 500, 1000)),
    Experiment("polling", "event_polling", TWO, "{rounds}", OURS, rounds=(50, 3000, 10000)),
    Experiment("ring", "bench-ring_polling", ((1,), (1,), (1,)), "{rounds}", OURS, ALONE, rounds=(20, 20000, 100000)),
    Experiment("paced", "compare-event_paced", ((3,), (2, 9), (2, 3, 5, 9, 17, 33, 65)), "{rounds} 500", EVENTS,
               rounds=(20, 800, 2000), bound_s=30),
    Experiment("paced_busy", "compare-event_paced", ((), (2,), (2,)), "{rounds} 500 4", EVENTS,
               rounds=(20, 800, 2000), bound_s=30),
    Experiment("burst", "event_burst", ((3,), (2, 9), (2, 9, 65)), "{rounds}", ("shmix", "nodelay"),
               rounds=(500, 100000, 100000), theirs=(100, 2000, 2000), bound_s=60),
    *(Experiment("gateway_" + name, program, ((2,), (), (2, 16)), "{rounds}", sides, rounds=rounds, bound_s=40, foreign=True)
      for name, program, sides, rounds in (("init", "compare-init", BOTH, (1, 1, 1)), ("fence", "compare-fence", BOTH, (16, 128, 256)),
                                           ("modex", "compare-modex", BOTH, (4, 16, 16)), ("keys", "compare-many_keys", BOTH, (1, 1, 1)))),
    Experiment("gateway_oneway", "event_oneway", ((2,), (), (2,)), "{rounds}", EVENTS, rounds=(8, 100, 100), foreign=True),
    Experiment("late", "event_late", TWO, "{rounds}", ("shmix", "nodelay"), rounds=(2, 20, 20), theirs=(1, 1, 1),
               bound_s=20),
]


def chosen(only):
    """The rows that --only names, or all."""
    names = [name for name in only.split(",") if name]
    unknown = [name for name in names if name not in {row.name for row in TABLE}]
    if unknown:
        raise SystemExit(f"bench: no experiment '{unknown[0]}'; there are: {', '.join(row.name for row in TABLE)}")
    return [row for row in TABLE if not names or row.name in names]
