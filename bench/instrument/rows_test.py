# SPDX-License-Identifier: BSD-3-Clause
"""Histograms against distributions that are known, ratios, and what is made of a program's lines."""
import math
import os
import tempfile
import unittest
from unittest import mock

import charts
import record
import report
import rows


def step_of(value):
    """The smallest value of the step of bench/hist.h that @value falls into."""
    bits = max(0, int(value).bit_length() - 7)
    return int(value) >> bits << bits


def hist_of(values):
    return rows.merge([[(step_of(value), 1)] for value in values])


class Histograms(unittest.TestCase):
    def test_shares_of_a_uniform_and_an_exponential_distribution(self):
        count = 100000
        for name, inverse in (("uniform", lambda share: 1000 + 99000 * share),
                              ("exponential", lambda share: -20000 * math.log(1 - share))):
            hist = hist_of(inverse((i + 0.5) / count) for i in range(count))
            for share in (0.01, 0.25, 0.5, 0.9, 0.99, 0.999):
                want = inverse(share)
                self.assertLess(abs(rows.at_share(hist, share) - want), 0.016 * want + 1, f"{name} {share}")

    def test_an_hgrm_file_is_what_hdrhistogram_prints(self):
        text = rows.hgrm(hist_of(range(1, 101)), per=1.0).splitlines()
        self.assertEqual(text[0].split(), ["Value", "Percentile", "TotalCount", "1/(1-Percentile)"])
        table = [line.split() for line in text[2:] if not line.startswith("#")]
        self.assertEqual(table[0], ["1.000", "0.000000000000", "1", "1.00"])
        half = next(line for line in table if line[1] == "0.500000000000")
        self.assertEqual(half, ["50.000", "0.500000000000", "50", "2.00"])
        self.assertEqual(table[-1], ["100.000", "1.000000000000", "100"])
        self.assertEqual(text[-3], "#[Mean    =       50.500, StdDeviation   =       28.866]")
        shares = [float(line[1]) for line in table]
        self.assertEqual(shares, sorted(shares))

    def test_an_hgrm_file_names_its_unit_and_its_machine(self):
        text = rows.hgrm(hist_of([5000]), about=["values in microseconds", "one CPU"]).splitlines()
        self.assertEqual(text[:2], ["# values in microseconds", "# one CPU"])
        self.assertEqual(text[2].split()[0], "Value")

    def test_a_value_is_printed_as_the_largest_of_its_step(self):
        self.assertEqual([rows.highest(value) for value in (0, 127, 128, 256, 1 << 20)],
                         [0, 127, 129, 259, (1 << 20) + (1 << 14) - 1])


class Figures(unittest.TestCase):
    def test_a_run_is_the_median_of_its_ranks_and_the_sum_of_throughputs(self):
        found = rows.samples_of([{"rank": rank, "fence_us": us, "gets_per_s": 10} for rank, us in enumerate((1, 9, 2))])
        self.assertEqual([(row["what"], row["unit"], row["value"]) for row in found],
                         [("fence", "ns", 2000), ("gets", "per_s", 30)])

    def test_what_a_side_has_not_is_a_row_with_its_reason(self):
        self.assertEqual(rows.samples_of([{"what": "native", "skipped": "no such way"}]),
                         [{"row": "skipped", "what": "native", "why": "no such way"}])

    def results(self, ours, theirs, unit):
        return rows.Results([{"row": "sample", "experiment": "e", "what": "w", "ranks": 2, "side": side, "run": run,
                              "unit": unit, "value": value}
                             for side, values in (("shmix", ours), ("theirs", theirs)) for run, value in enumerate(values)])

    def test_a_ratio_is_above_one_where_ours_is_better_and_has_its_range(self):
        self.assertEqual(self.results((1, 2, 4), (10, 10, 80), "ns").ratio("e", "w", 2, "theirs"), (5, 5, 20))
        self.assertEqual(self.results((10, 10, 10), (1, 2, 5), "per_s").ratio("e", "w", 2, "theirs"), (5, 2, 10))
        self.assertIsNone(self.results((1,), (), "ns").ratio("e", "w", 2, "theirs"))

    def test_words(self):
        self.assertEqual([rows.say(value, "ns") for value in (0, 4.25, 999, 1500, 2.5e6)],
                         ["0 ns", "4.25 ns", "999 ns", "1.50 µs", "2.50 ms"])
        self.assertEqual([rows.three(number) for number in (0.00213, 0.5, 1234.5)], ["0.0021", "0.50", "1,234"])
        self.assertEqual([rows.first_digit(number) for number in (187, 0.34, 96)], [200, 0.3, 100])


class Recorded(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        patch = mock.patch.object(record, "TOP", self.folder.name)
        patch.start()
        self.addCleanup(patch.stop)
        self.data = os.path.join(self.folder.name, "recorded.jsonl")
        self.write("README.md", "# Words\n\n## What you get\n")
        os.mkdir(os.path.join(self.folder.name, "docs"))

    def write(self, name, text):
        with open(os.path.join(self.folder.name, name), "w") as f:
            f.write(text)

    def read(self, name):
        with open(os.path.join(self.folder.name, name)) as f:
            return f.read()

    def record(self, ours):
        found = [{"row": "machine", "date": "2026-01-02T03:04:05", "cpu": "one", "cpus": 2}]
        for _, experiment, what, ranks, side in report.HEADLINES:
            found += [{"row": "sample", "experiment": experiment, "what": what, "ranks": ranks, "side": name, "run": 0, "unit": "ns",
                       "value": value, "hist": [[value, 1]]} for name, value in (("shmix", ours), (side, 50))]
        self.write("recorded.jsonl", "".join(rows.json.dumps(row) + "\n" for row in found))

    def test_readme_quotes_the_recorded_run_and_nothing_else(self):
        self.write("docs/performance.md", "# Figures\n")
        self.assertEqual(record.main([self.data, "--check"]), 0)  # nothing is recorded, nothing is quoted
        self.write("docs/performance.md", "# Figures\n\n" + record.BEGIN + record.END + "\n")
        self.record(10)
        self.assertEqual(record.main([self.data, "--check"]), 1)
        self.assertEqual(record.main([self.data]), 0)
        self.assertEqual(self.read("README.md").count("| 10.0 ns | 50.0 ns | **5.00** (5.00 to 5.00) |"), 5)
        self.assertEqual(record.main([self.data, "--check"]), 0)
        right = self.read("README.md")
        self.write("README.md", right.replace("**5.00**", "**6.00**", 1))
        self.assertEqual(record.main([self.data, "--check"]), 1)
        self.write("README.md", right)
        self.record(5)  # another run
        self.assertEqual(record.main([self.data, "--check"]), 1)
        self.assertEqual(record.main([self.data]), 0)
        self.assertEqual(self.read("README.md").count("**10**"), 5)
        figures = self.read("docs/performance.md")
        self.assertIn("| Fence, 2 ranks | 5.00 ns | 50.0 ns | 10 (10 to 10) |", figures)
        self.write("docs/performance.md", figures.replace("50.0 ns", "60.0 ns", 1))
        self.assertEqual(record.main([self.data, "--check"]), 1)
        self.write("docs/performance.md", figures)
        self.assertEqual(record.main([self.data, "--check"]), 0)
        self.write("latency.svg", "drawn by hand")
        self.assertEqual(record.main([self.data, "--check"]), 1)

    def page_with_noise(self, goal_ppm, limit_ppm):
        found = [{"row": "sample", "experiment": experiment, "what": what, "ranks": ranks, "side": "shmix", "run": 0, "unit": "ns", "value": 50,
                  "noise_ppm": ppm} for experiment, what, ranks, ppm in (("limits", "wake", 1, limit_ppm), ("fence", "empty", 2, goal_ppm),
                                                                         ("get", "scalar", 2, goal_ppm))]
        return report.page(rows.Results([{"row": "machine"}] + found))

    def test_goals_that_noise_decides_are_grey_and_the_page_warns(self):
        quiet, busy, limit = self.page_with_noise(90000, 90000), self.page_with_noise(110000, 110000), self.page_with_noise(0, 110000)
        self.assertEqual([page.count(">noise decides<") for page in (quiet, busy, limit)], [0, 2, 1])  # the fence's goal is made of W
        self.assertEqual([page.count('class="warning"') for page in (quiet, busy, limit)], [0, 1, 0])
        self.assertLess(busy.index('class="warning"'), busy.index("<h1>"))

    def test_the_picture_ends_every_curve_at_the_shortest(self):
        curves = [("long", 0, [[1000, 9000], [900000, 1000]]), ("short", 1, [[1000, 200]])]
        self.assertIn(">99.9 %<", charts.percentiles("t", curves))
        self.assertNotIn(">99.9 %<", charts.percentiles("t", curves, cut=True))
        self.assertIn(">10,000<", charts.percentiles("t", curves, cut=True))  # the samples, beside p50 and p99

    def test_a_page_of_a_run_that_lacks_most_is_drawn_too(self):
        self.record(10)
        page = report.page(rows.Results(rows.read(self.data)))
        self.assertIn("5.00 ×", page)
        self.assertNotIn("http://", page.replace("http://www.w3.org/2000/svg", ""))
        self.assertNotIn("https://", page)
        report.page(rows.Results([{"row": "machine"}]))


unittest.main()
