#!/usr/bin/env python3
"""An experiment on real OpenArena servers: random teams, or teams by Evenkeel. The daemon draws which, game by game.

    python3 integrations/openarena/experiment.py --evenkeel target/release/evenkeel --keep FOLDER

The plan, written down before the first run, which counts. That one had the seed 20041201. In a third of its matches the
sidecar said START too early, so that another arm was drawn for a game whose teams were there: it was not sure after 301
matches. With that mended, there is a second run, with the seed below, which was also written down before:

- Fourteen bots of five skills, four against four, chosen at random by the seed below; capture the flag, first to five.
- Three servers at once with one daemon. The daemon takes the bots for people; nobody but the game knows their skills.
- First 45 matches on random teams, without an experiment: the evenings before an administrator begins one.
- Then the experiment with everything as it is by default: one half of the games on random teams, one half on Evenkeel's, and
  a result counts as one-sided if it is among the worst fifth of those 45.
- It stops when the daemon calls its verdict sure, or after 300 matches.

FOLDER/status.json has what the daemon says in the end, FOLDER/course.jsonl what it said after each match, and
`evenkeel serve --db FOLDER/evenkeel.db` shows the page. Needs Debian's openarena-server.
"""

import argparse
import itertools
import json
import os
import signal
import sys
import threading
import time
import urllib.request
from pathlib import Path

from season import Program, Season
from server import PROGRAM

SEED = 20041202
SERVERS, BEFORE, AT_MOST = 3, 45, 300
RULESET = "baseoa.ctf"
CONFIG = f"""[experiment]
ruleset = "{RULESET}"
"""


class Lane(Season):
    """One of the servers, whose matches are learned by the daemon of all."""

    def __init__(self, name, args, folder, port):
        self.name, self.port = name, port
        super().__init__(args, folder)

    def start(self):
        self.server.start()


class Experiment:
    def __init__(self, args):
        self.args, self.folder = args, Path(args.keep)
        self.config = self.folder / "evenkeel.toml"
        self.course = self.folder / "course.jsonl"
        self.daemon, self.lanes = None, []
        self.lock = threading.Lock()
        self.failed = []

    def start(self):
        self.config.write_text("# No experiment yet.\n")
        command = [self.args.evenkeel, "serve", "--config", self.config, "--db", self.folder / "evenkeel.db",
                   "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        port_of = lambda what: int(self.daemon.wait_for(what + r"127\.0\.0\.1:(\d+)", 0, 60).group(1))
        port, self.web = port_of("listening address="), port_of("pages are at http://")
        for number in range(self.args.servers):
            name = f"server-{number + 1}"
            folder = self.folder / name
            folder.mkdir()
            os.chmod(folder, 0o755)
            self.lanes.append(Lane(name, self.args, folder, port))
            self.lanes[-1].start()

    def stop(self):
        for lane in self.lanes:
            lane.stop()
        if self.daemon:
            self.daemon.stop()

    def begin(self):
        """Begins the experiment as an administrator does: the file is saved, and the daemon takes it over."""
        since = self.daemon.size()
        self.config.write_text(CONFIG)
        if not self.daemon.wait_for("games of this ruleset belong to an experiment", since, 60):
            raise TimeoutError("the daemon did not begin the experiment")

    def status(self):
        """The running experiment, as `GET /v1/experiments` says it."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.web}/v1/experiments", timeout=30) as answer:
            return json.load(answer)["experiments"][0]

    def all(self, numbers, balanced, goes_on):
        """Plays matches on all servers, each of them the next number that is free, as long as it goes on."""
        def play(lane):
            try:
                # Before the experiment the sidecar never finds the time to choose teams.
                lane.attach(settle="0.5" if balanced else "60")
                while True:
                    with self.lock:
                        number = next(numbers, None)
                    if number is None or not goes_on():
                        return
                    lane.match(title, number, balanced=balanced)
            except Exception as error:  # the others go on; it is said in the end
                self.failed.append(f"{lane.name}: {error!r}")

        title = "experiment" if balanced else "before"
        threads = [threading.Thread(target=play, args=(lane,)) for lane in self.lanes]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def goes_on(self):
        """Looks after each match: whether the verdict is not sure yet, with fewer matches than the most."""
        with self.lock:
            status = self.status()
            matches = sum(arm["matches"] for arm in status["arms"])
            with open(self.course, "a", encoding="utf-8") as course:
                said = {"matches": matches, "sure": status["sure"], "verdict": status["verdict"]}
                course.write(json.dumps(said) + "\n")
            print(f"{matches}: {status['verdict']}", file=sys.stderr, flush=True)
            return not status["sure"] and matches < self.args.matches

    def run(self):
        self.all(iter(range(self.args.before)), False, lambda: True)
        self.begin()
        self.all(itertools.count(1_000), True, self.goes_on)
        time.sleep(2)  # The last match is learned within a second.
        status = self.status()
        (self.folder / "status.json").write_text(json.dumps(status, indent=1) + "\n")
        print(status["verdict"])
        for failure in self.failed:
            print(f"ended early: {failure}", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evenkeel", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--keep", required=True, type=os.path.abspath, help="a new folder for everything that is left")
    parser.add_argument("--servers", type=int, default=SERVERS)
    parser.add_argument("--before", type=int, default=BEFORE, help="matches before the experiment")
    parser.add_argument("--matches", type=int, default=AT_MOST, help="of the experiment, at most")
    parser.add_argument("--seed", type=int, default=SEED, help="of the lineups and the random teams before the experiment")
    args = parser.parse_args()
    if not os.access(PROGRAM, os.X_OK):
        sys.exit("openarena-server is not installed; see demo.sh --install")
    os.makedirs(args.keep)
    os.chmod(args.keep, 0o755)
    experiment = Experiment(args)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
    try:
        experiment.start()
        experiment.run()
    finally:
        experiment.stop()


if __name__ == "__main__":
    main()
