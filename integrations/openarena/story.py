"""What the stories on real servers have in common: a transcript, waiting for its lines, points, and a folder."""

import argparse
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tap import Transcript


def assert_picked(database, except_for=()):
    """Every match that has ended counts as picked, and has the decision that picked its teams, except for these ids."""
    query = """SELECT id, EXISTS (SELECT 1 FROM match_chances c WHERE c.match_id = m.id AND c.cause = 'picked'),
                      EXISTS (SELECT 1 FROM decisions d WHERE d.match_id = m.id AND d.kind = 'balance')
               FROM matches m WHERE outcome <> 'abandoned' ORDER BY id"""
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    found = [row for row in connection.execute(query) if row[0] not in except_for]
    connection.close()
    assert found and all(picked and decided for _, picked, decided in found), f"match, picked, decided: {found}"


class Story:
    """An evening on a real server. `start`, `stop` and the rest of it are the game's own."""

    # Far longer than anything here takes, in seconds.
    limit = 120

    def __init__(self, evenkeel, folder):
        self.evenkeel, self.folder = evenkeel, Path(folder)
        self.transcript = Transcript()
        self.points = 0

    def wait(self, what, source, pattern, mark, again=None):
        """The first match of the pattern in what came from a source after the mark. Calls `again` every 2 seconds."""
        began = asked = time.monotonic()
        while time.monotonic() < began + self.limit:
            for text in self.transcript.since(mark, source):
                if found := re.search(pattern, text):
                    return found
            if again and time.monotonic() > asked + 2:
                again()
                asked = time.monotonic()
            time.sleep(0.05)
        raise TimeoutError(f"{what} did not come within {self.limit} s")

    def proved(self, what):
        self.points += 1
        self.transcript.add("proved:", what)

    def follow(self, source, shown, shortened=str):
        """Copies the lines of the game's log into the transcript; prints those that `shown` finds. Never returns."""
        done = 0
        while True:
            lines = self.server.news().split("\n")[:-1]
            for line in lines[done:]:
                self.transcript.add(source, shortened(line.strip()), shown.search(line) is not None)
            done = len(lines)
            time.sleep(0.05)

    def matches(self, *arguments, ended=("won", "draw")):
        """The stored matches that have ended so, oldest first."""
        command = [self.evenkeel, "export", *arguments]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        matches = [json.loads(line) for line in text.splitlines()]
        matches = [match for match in matches if match.get("outcome") in ended]
        return sorted(matches, key=lambda match: match["start"])


def run(about, prefix, kind, story, missing):
    """Plays a story with a `kind` of evening, in a folder that is deleted unless --keep names one; `missing` is what this
    machine lacks for it, if anything."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evenkeel", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--keep", help="a folder for the logs and the database, which are deleted otherwise")
    args = parser.parse_args()
    if missing:
        sys.exit(missing)
    with tempfile.TemporaryDirectory(prefix=prefix) as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o755)
        live = kind(args.evenkeel, folder)
        # So that a signal, too, stops what was started.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
        try:
            story(live)
            print(f"{live.points} points proved in {time.monotonic() - live.transcript.began:.0f} s")
        finally:
            live.stop()
