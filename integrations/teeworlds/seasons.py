#!/usr/bin/env python3
"""Two seasons of the same twelve people on real Teeworlds servers: random teams, and teams by Evenkeel.

    integrations/teeworlds/seasons.py --evenkeel target/release/evenkeel [--matches 60] [--keep DIR]

Team deathmatch to 20 points. Both seasons are played at the same time, each on a server of its own with a daemon of its own
that knows nobody at first. Before each match the teams are drawn at random, the same in both seasons; in the second one the
sidecar then chooses others. A match takes about 40 seconds.
"""

import argparse
import json
import os
import random
import re
import signal
import socket
import sys
import tempfile
import threading
from pathlib import Path

import game

sys.path.append(str(Path(__file__).resolve().parent.parent / "openarena"))
import figures
from season import Program

# Everybody's skill; nobody but the game knows it.
SKILLS = {"ann": 5, "bob": 5, "cid": 5, "dan": 4, "eve": 4, "fay": 3, "gus": 3, "hal": 2, "ivy": 2, "jim": 1, "kim": 1, "leo": 1}
RULES = "sv_gametype tdm\nsv_scorelimit 20\nsv_timelimit 3\nsv_respawn_delay_tdm 1\nsv_warmup 15\n"
LIMIT = 240
FAR = 10


class Season:
    def __init__(self, title, args, folder, settle):
        self.title, self.evenkeel, self.seed, self.count = title, args.evenkeel, args.seed, args.matches
        self.folder = Path(folder) / title
        self.folder.mkdir(parents=True, exist_ok=True)
        os.chmod(self.folder, 0o755)
        self.server = game.Server(self.folder, RULES)
        self.began = self.server.size() if self.server.log.exists() else 0
        self.settle = settle
        # What an earlier run has played in this folder is not played again.
        self.results = self.folder / "results.jsonl"
        lines = self.results.read_text().splitlines() if self.results.exists() else []
        self.games, self.error = [json.loads(line) for line in lines][:self.count], None
        self.players = self.daemon = self.sidecar = None

    def start(self):
        command = [self.evenkeel, "serve", "--db", self.folder / "evenkeel.db", "--listen", "127.0.0.1:0", "--web", "127.0.0.1:0"]
        self.daemon = Program(command, self.folder / "daemon.log")
        self.port = int(self.daemon.wait_for(r"listening address=127\.0\.0\.1:(\d+)", self.daemon.began, 60).group(1))
        if len(self.games) == self.count:
            return
        self.server.start()
        self.sidecar = Program(
            [self.evenkeel, "sidecar", "teeworlds", "--log", self.server.log, "--rcon", f"127.0.0.1:{self.server.console_port}",
             "--password-file", self.server.password_file, "--daemon", f"127.0.0.1:{self.port}", "--server", self.title,
             "--settle", self.settle], self.folder / "sidecar.log")
        self.players = game.Players(self.server.port, random.Random(self.seed))
        for name, skill in SKILLS.items():
            self.players.join(name, skill)

    def stop(self):
        for part in (self.players, self.sidecar, self.daemon, self.server):
            if part:
                part.stop()

    def draw(self, number):
        """Random teams, by the console."""
        names = list(SKILLS)
        random.Random(f"{self.seed}:{number}").shuffle(names)
        found = re.findall(r"\[game\]: team_join player='(\d+):(.*)' team=-?\d\n", self.server.news(self.began))
        slots = {name: slot for slot, name in found}
        for at, name in enumerate(names):
            self.server.command(f"set_team {slots[name]} {int(at >= len(names) // 2)}")

    def play(self):
        """All matches, one after the other."""
        if len(self.games) == self.count:
            return
        try:
            self.server.wait_for(f"team_join player='{len(SKILLS) - 1}:", 30, "the last player", self.began)
            for number in range(len(self.games), self.count):
                self.draw(number)
                self.match(number)
        except Exception as error:  # reported by the main thread
            self.error = error

    def match(self, number):
        size, told = self.server.size(), self.sidecar.size()
        started = self.server.wait_for(r"\[game\]: start match type='TDM'", 60, "the start", size)
        teams = self.server.teams()
        over = self.sidecar.wait_for(r"the game is over: \S+ (recorded|unrated.*)", told, LIMIT)
        if not (started and over):
            raise TimeoutError(f"match {number} has no end")
        skill = [sum(SKILLS[name] for name, side in teams.items() if side == team) for team in (0, 1)]
        score = list(self.players.scores())
        self.games.append({"match": number, "score": score, "teams": teams, "skill": skill, "told": over.group(1)})
        with open(self.results, "a", encoding="utf-8") as results:
            results.write(json.dumps(self.games[-1]) + "\n")
        print(f"{self.title} {number}: {score[0]}:{score[1]}, skill {skill[0]}:{skill[1]}, {over.group(1)}", file=sys.stderr, flush=True)

    def correlation(self):
        """Spearman's of the weights that were learned and the skills."""
        asked = "GAME teeworlds.tdm\n" + "".join(f"PLAYER {name}\n" for name in SKILLS) + "QUIT\n"
        with socket.create_connection(("127.0.0.1", self.port), 10) as line:
            line.sendall(asked.encode())
            said = b""
            while more := line.recv(4096):
                said += more
        words = [answer.split() for answer in said.decode().splitlines()]
        known = {word[1]: float(word[2]) for word in words if word[0] == "PLAYER" and len(word) == 3}
        return figures.spearman([known[name] for name in known], [SKILLS[name] for name in known]), len(known)


def report(seasons):
    def mean(values):
        low, high = figures.bootstrap(values)
        return f"{figures.mean(values):.2f} ({low:.2f} to {high:.2f})"

    def far(games):
        count = sum(figures.gap(game) >= FAR for game in games)
        low, high = figures.wilson(count, len(games))
        return f"{100 * count / len(games):.0f} % ({100 * low:.0f} to {100 * high:.0f})"

    def learned(season):
        r, n = season.correlation()
        low, high = figures.fisher(r, n)
        return f"{r:.2f} ({low:.2f} to {high:.2f})"

    rows = [
        ("matches", lambda s: str(len(s.games))),
        ("mean difference of points, of 20", lambda s: mean([figures.gap(game) for game in s.games])),
        (f"difference of {FAR} or more", lambda s: far(s.games)),
        ("mean difference of the teams' skills", lambda s: mean([abs(g["skill"][0] - g["skill"][1]) for g in s.games])),
        ("Spearman, weights and skill, afterwards", learned),
    ]
    print("95 % intervals in brackets\n\n| | " + " | ".join(s.title for s in seasons) + " |\n| --- |" + " ---: |" * len(seasons))
    for name, cell in rows:
        print(f"| {name} | " + " | ".join(cell(s) for s in seasons) + " |")
    print(f"\nmean difference of points, Evenkeel less random: {figures.paired(*(s.games for s in seasons))}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--evenkeel", required=True, type=os.path.abspath, help="the program")
    parser.add_argument("--matches", type=int, default=60, help="of each season")
    parser.add_argument("--seed", type=int, default=1, help="of the random teams")
    parser.add_argument("--keep", help="a folder for logs, results and databases, which are deleted otherwise; "
                        "what an earlier run has played there is not played again")
    args = parser.parse_args()
    if not os.access(game.PROGRAM, os.X_OK):
        sys.exit("teeworlds-server is not installed")
    with tempfile.TemporaryDirectory(prefix="evenkeel-teeworlds-") as temporary:
        folder = os.path.abspath(args.keep or temporary)
        os.makedirs(folder, exist_ok=True)
        os.chmod(folder, 0o755)
        # In the first season the sidecar never finds the time to choose teams.
        seasons = [Season("random", args, folder, "60"), Season("Evenkeel", args, folder, "1")]
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
            report(seasons)
        finally:
            for season in seasons:
                season.stop()


if __name__ == "__main__":
    main()
