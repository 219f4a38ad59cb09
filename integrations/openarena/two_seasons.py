"""Two seasons of the same people at the same time, each on a real server of its own: random teams, and teams by Evenkeel.

Each has a daemon of its own that knows nobody at first. Before each match the teams are drawn at random, the same in both
seasons; in the second one the sidecar then chooses others.
"""

import argparse
import json
import os
import random
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path

import figures
from season import Program

# The points that end a match, and a difference of which it is called one-sided.
POINTS, FAR = 20, 10
# How long a match may take, in seconds.
LIMIT = 300
# How the sidecar says that the daemon has the match.
OVER = r"the game is over: \S+ (recorded|unrated.*)"


class Season:
    """One of the two seasons. The people and their skills, the ruleset, `open`, `match` and `parts` are the game's own."""

    # Everybody's skill, 1 to 5; nobody but the game knows it.
    people = {}
    ruleset = ""

    def __init__(self, title, args, folder, settle):
        self.title, self.evenkeel, self.seed, self.count = title, args.evenkeel, args.seed, args.matches
        self.folder = Path(folder) / title
        self.folder.mkdir(parents=True, exist_ok=True)
        os.chmod(self.folder, 0o755)
        self.settle = settle
        # What an earlier run has played in this folder is not played again.
        self.results = self.folder / "results.jsonl"
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        self.games, self.error = [json.loads(line) for line in lines][:self.count], None
        self.daemon = self.sidecar = None

    def open(self):
        """Starts the game server, the sidecar and the players."""
        raise NotImplementedError

    def match(self, number):
        """Plays a match on the teams that are drawn for it: its score, everybody's team, and what the daemon did with it."""
        raise NotImplementedError

    def parts(self):
        """What is to be stopped, beside the daemon and the sidecar."""
        raise NotImplementedError

    def start(self):
        command = [self.evenkeel, "serve", "--db", self.folder / "evenkeel.db", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        self.port = int(self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, 60).group(1))
        if len(self.games) < self.count:
            self.open()

    def attach(self, engine, *options):
        """Starts the sidecar."""
        command = [self.evenkeel, "sidecar", engine, "--daemon", f"127.0.0.1:{self.port}", "--server", self.title,
                   "--settle", self.settle, *options]
        self.sidecar = Program(command, self.folder / "sidecar.log")

    def stop(self):
        for part in (*self.parts(), self.sidecar, self.daemon):
            if part:
                part.stop()

    def draw(self, number):
        """Everybody's random team in this match."""
        names = list(self.people)
        random.Random(f"{self.seed}:{number}").shuffle(names)
        return {name: int(at >= len(names) // 2) for at, name in enumerate(names)}

    def play(self):
        """All matches, one after the other."""
        try:
            for number in range(len(self.games), self.count):
                score, teams, told = self.match(number)
                self.note({"match": number, "score": score, "teams": teams, "told": told})
        except Exception as error:  # reported by the main thread
            self.error = error

    def note(self, game):
        skill = [sum(self.people[name] for name, side in game["teams"].items() if side == team) for team in (0, 1)]
        self.games.append({**game, "skill": skill})
        with open(self.results, "a", encoding="utf-8") as results:
            results.write(json.dumps(self.games[-1]) + "\n")
        red, blue = game["score"]
        print(f"{self.title} {game['match']}: {red}:{blue}, skill {skill[0]}:{skill[1]}, {game['told']}",
              file=sys.stderr, flush=True)

    def learned(self):
        """Spearman's correlation of the weights that were learned and the skills."""
        asked = f"GAME {self.ruleset}\n" + "".join(f"PLAYER {name}\n" for name in self.people) + "QUIT\n"
        with socket.create_connection(("127.0.0.1", self.port), 10) as line:
            line.sendall(asked.encode())
            said = b""
            while more := line.recv(4096):
                said += more
        words = [answer.split() for answer in said.decode().splitlines()]
        known = {word[1]: float(word[2]) for word in words if word[0] == "PLAYER" and len(word) == 3}
        return figures.spearman([known[name] for name in known], [self.people[name] for name in known]), len(known)


def report(seasons):
    played = [season.games for season in seasons]
    skills = lambda games: [abs(game["skill"][0] - game["skill"][1]) for game in games]
    print("95 % intervals in brackets\n")
    print(figures.rows([
        ("", [season.title for season in seasons]),
        ("matches", [str(len(games)) for games in played]),
        (f"mean difference of points, of {POINTS}", [figures.of_mean(list(map(figures.gap, games))) for games in played]),
        (f"difference of {FAR} or more", [figures.of_share(games, lambda game: figures.gap(game) >= FAR) for games in played]),
        ("mean difference of the teams' skills", [figures.of_mean(skills(games)) for games in played]),
        ("Spearman, weights and skill, afterwards", [figures.of_correlation(*season.learned()) for season in seasons]),
    ]))
    print(f"\nmean difference of points, Evenkeel less random: {figures.paired(*played)}")


def run(about, kind, missing):
    """Plays both seasons; `missing` is what this machine lacks for them, if anything."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evenkeel", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--matches", type=int, default=60, help="of each season")
    parser.add_argument("--seed", type=int, default=1, help="of the random teams")
    parser.add_argument("--keep", help="a folder for logs, results and databases, which are deleted otherwise; "
                        "what an earlier run has played there is not played again")
    args = parser.parse_args()
    if missing:
        sys.exit(missing)
    with tempfile.TemporaryDirectory(prefix="evenkeel-seasons-") as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o755)
        # In the first season the sidecar never finds the time to choose teams.
        seasons = [kind("random", args, folder, "60"), kind("Evenkeel", args, folder, kind.settled)]
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
        try:
            for season in seasons:
                season.start()
            threads = [threading.Thread(target=season.play) for season in seasons]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            for season in seasons:
                if season.error:
                    print(f"{season.title} ended early: {season.error}", file=sys.stderr)
            if not all(season.games for season in seasons):
                sys.exit("no match was played")
            report(seasons)
        finally:
            for season in seasons:
                season.stop()
