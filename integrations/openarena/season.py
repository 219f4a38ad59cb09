#!/usr/bin/env python3
"""Two seasons of bots on a real OpenArena server: random teams, then teams by Evenkeel. See demo.sh."""

import argparse
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures
from server import PROGRAM, Server

# Everybody's true skill, 1 to 5; nobody but the game knows it.
SKILLS = {
    "Sarge": 5, "Grunt": 5, "Tony": 4, "Neko": 4, "Major": 4, "Liz": 3, "Kyonshi": 3, "Ayumi": 3,
    "Penguin": 2, "Merman": 2, "Rai": 2, "Gargoyle": 1, "Jenna": 1, "Beret": 1,
}
LEVELS = ["ps37ctf", "am_thornish", "oa_ctf4ish", "ctf_gate1"]
# Who changes skill in mid-season.
SWAPPED = ("Sarge", "Gargoyle")
# A game of ten minutes takes ten seconds here: none is too short to learn from.
ENVIRONMENT = {"EVENKEEL_RATING_MIN_SECONDS": "0", **os.environ}
# How long one game may take, in seconds: a tie can go on for ever.
LIMIT = 240


def lineup(seed, match, here=None, away=None):
    """The level and the two random teams of a match, with one bot and without another; the same in every arm."""
    rng = random.Random(f"{seed}:{match}")
    level = rng.choice(LEVELS)
    always = [here] if here else []
    others = [bot for bot in SKILLS if bot not in (here, away)]
    bots = [*always, *rng.sample(others, 8 - len(always))]
    rng.shuffle(bots)
    return level, {"red": bots[:4], "blue": bots[4:]}


class Program:
    """A part of Evenkeel, whose output is kept in a file and read from there."""

    def __init__(self, command, output):
        self.output = Path(output)
        self.began = self.output.stat().st_size if self.output.exists() else 0
        with open(self.output, "ab") as out:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                cwd=self.output.parent, env=ENVIRONMENT)

    def size(self):
        return self.output.stat().st_size

    def wait_for(self, pattern, since, limit):
        """The first match of the pattern in what was written after `since`; None when there is none in time."""
        until = time.monotonic() + limit
        while time.monotonic() < until:
            with open(self.output, "rb") as out:
                out.seek(since)
                found = re.search(pattern, out.read().decode("utf-8", "replace"))
            if found:
                return found
            if self.process.poll() is not None:
                raise RuntimeError(f"it has ended; see {self.output}")
            time.sleep(0.05)
        return None

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(15)


class Season:
    name = "demo"

    def __init__(self, args, folder):
        self.args, self.folder = args, Path(folder)
        self.server = Server(folder)
        self.skills = dict(SKILLS)
        self.daemon = self.sidecar = None
        self.results = self.folder / "results.jsonl"
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        self.games = [json.loads(line) for line in lines]

    def start(self):
        self.server.start()
        command = [self.args.evenkeel, "serve", "--listen", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        found = self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, 30)
        self.port = int(found.group(1))

    def stop(self):
        """Everything that was started, whatever happened to it."""
        for program in (self.sidecar, self.daemon):
            if program:
                program.stop()
        self.server.stop()

    def attach(self, *options, settle="0.5"):
        """Starts the sidecar, over another if there was one. It chooses teams once nobody has come for so many seconds."""
        if self.sidecar:
            self.sidecar.stop()
        command = [
            self.args.evenkeel, "sidecar", "idtech3", "--log", self.server.log, "--rcon",
            f"127.0.0.1:{self.server.port}", "--password-file", self.server.password_file, "--daemon",
            f"127.0.0.1:{self.port}", "--server", self.name, "--settle", settle,
            "--treat-bots-as-players", *options]
        self.sidecar = Program(command, self.folder / "sidecar.log")

    def weights(self):
        """What the daemon thinks of everybody, by name; a client's question like any other."""
        asked = "GAME baseoa.ctf\n" + "".join(f"PLAYER {bot}\n" for bot in SKILLS) + "QUIT\n"
        with socket.create_connection(("127.0.0.1", self.port), 10) as line:
            line.sendall(asked.encode())
            said = b""
            while more := line.recv(4096):
                said += more
        words = (answer.split() for answer in said.decode().splitlines())
        return {word[1]: float(word[2]) for word in words if word[0] == "PLAYER" and len(word) == 3}

    def match(self, arm, match, here=None, away=None, balanced=False):
        """One match, again if anything went wrong on the way to it; None when it had no end."""
        level, teams = lineup(self.args.seed, match, here, away)
        for _ in range(3):
            began, size = time.monotonic(), self.sidecar.size()
            try:
                self.server.warm_up(level, teams, self.skills)
                if balanced and not self.sidecar.wait_for(r"teams are as chosen, ratio ([\d.]+)", size, 30):
                    raise TimeoutError("no teams were chosen")
                score, sides, minutes = self.server.play(LIMIT)
            except TimeoutError as error:
                print(f"{arm} {match}: {error}", file=sys.stderr, flush=True)
                if "end of the game" in str(error):
                    return None
                continue
            over = self.sidecar.wait_for(r"the game is over: \S+ (recorded|unrated.*)", size, 15)
            told = over.group(1) if over else "unheard of"
            game = {
                "arm": arm, "match": match, "level": level, "random": [teams["red"], teams["blue"]],
                "teams": sides, "true_skill": [[self.skills[bot] for bot in side] for side in sides],
                "score": score, "minutes": round(minutes, 2), "told": told,
                "wall": round(time.monotonic() - began, 1),
            }
            with open(self.results, "a", encoding="utf-8") as results:
                results.write(json.dumps(game) + "\n")
            skill = [sum(side) for side in game["true_skill"]]
            print(f"{arm} {match}: {level} {score[0]}:{score[1]}, skill {skill[0]}:{skill[1]}, {told}, "
                  f"{game['wall']} s", file=sys.stderr, flush=True)
            self.games.append(game)
            return game
        return None

    def arm(self, title, count, balanced):
        """All matches of an arm, but those that an earlier run has played; and the weights afterwards."""
        done = {game["match"] for game in self.games if game["arm"] == title}
        self.attach(*([] if balanced else ["--dry-run"]))
        for match in range(count):
            if match not in done:
                self.match(title, match, balanced=balanced)
        kept = self.folder / f"weights-{title}.json"
        if kept.exists() and self.games and self.games[-1]["arm"] != title:
            weights = json.loads(kept.read_text())
        else:
            weights = self.weights()
            kept.write_text(json.dumps(weights))
        known = [bot for bot in SKILLS if bot in weights]
        r = figures.spearman([weights[bot] for bot in known], [SKILLS[bot] for bot in known]) if known else 0.0
        return [game for game in self.games if game["arm"] == title], (r, len(known))

    def swap(self, count):
        """Two bots change skills; what they weigh after every game they play from then on. A game has one of
        them, in turns: two who swap skills and are on one team change nothing about it."""
        before = self.weights()
        first, second = SWAPPED
        self.skills[first], self.skills[second] = self.skills[second], self.skills[first]
        rows = {bot: [(before[bot], "")] for bot in SWAPPED}
        for match in range(2 * count):
            here, away = SWAPPED if match % 2 == 0 else SWAPPED[::-1]
            game = self.match("swapped", 100_000 + match, here, away, balanced=True)
            if game:
                time.sleep(1.0)  # New weights are seen within a second.
                own = 0 if here in game["teams"][0] else 1
                score = "{}:{}".format(game["score"][own], game["score"][1 - own])
                rows[here].append((self.weights()[here], score))
        # Where they belong now: where the others of that skill are.
        level = lambda skill: figures.mean([before[bot] for bot in before if SKILLS[bot] == skill and bot not in SWAPPED])
        half = {bot: (before[bot] + level(self.skills[bot])) / 2 for bot in SWAPPED}
        return rows, half


def crossing(rows, half):
    """The first game after which a weight is beyond half-way to where it belongs now."""
    weights = [weight for weight, _ in rows]
    beyond = [game for game, weight in enumerate(weights) if (weight < half) != (weights[0] < half)]
    return f"after {beyond[0]} games" if beyond else f"not within {len(weights) - 1} games"


def report(season, args):
    arms, correlations = {}, {}
    for title, count, balanced in (("random", args.random, False), ("Evenkeel", args.balanced, True)):
        if count:
            games, correlations[title] = season.arm(title, count, balanced)
            if games:
                arms[title] = games
    config = subprocess.run([args.evenkeel, "config", "show"], capture_output=True, text=True, check=True).stdout
    system = re.search(r'^rating\.system = "(.*)"', config, re.M).group(1)
    print(f"rating system: {system}; 95 % intervals in brackets\n")
    print(figures.table(arms, correlations))
    if len(arms) == 2:
        print(f"\nmean capture difference, Evenkeel less random: {figures.paired(*arms.values())}")
    if args.swap:
        rows, half = season.swap(args.swap)
        first, second = SWAPPED
        print(f"\n{first} plays with the skill of {second} now, and {second} with that of {first}.\n")
        print(f"| games since | {first} | score | {second} | score |\n| ---: | ---: | ---: | ---: | ---: |")
        for game in range(max(map(len, rows.values()))):
            cells = [rows[bot][game] if game < len(rows[bot]) else (float("nan"), "") for bot in SWAPPED]
            print("| {} | {:.1f} | {} | {:.1f} | {} |".format(game, *cells[0], *cells[1]))
        for bot in SWAPPED:
            print(f"\n{bot}: half-way to the others of that skill ({half[bot]:.1f}) {crossing(rows[bot], half[bot])}", end="")
        print()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--evenkeel", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--random", type=int, default=60, help="matches with random teams")
    parser.add_argument("--balanced", type=int, default=60, help="matches with Evenkeel's teams")
    parser.add_argument("--swap", type=int, default=0, help="matches of each of two bots after they have swapped skills")
    parser.add_argument("--seed", type=int, default=1, help="of the lineups and the random teams")
    parser.add_argument("--keep", help="a folder for logs, results and the database, which are deleted otherwise; "
                        "what an earlier run has played there is not played again")
    args = parser.parse_args()
    if not os.access(PROGRAM, os.X_OK):
        sys.exit("openarena-server is not installed; see demo.sh --install")
    if args.keep:
        os.makedirs(args.keep, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="evenkeel-demo-") as temporary:
        os.chmod(temporary, 0o755)
        season = Season(args, args.keep or temporary)
        # So that a signal, too, stops what was started.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit("told to stop"))
        try:
            season.start()
            report(season, args)
        finally:
            season.stop()


if __name__ == "__main__":
    main()
