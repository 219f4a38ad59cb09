#!/usr/bin/env python3
"""Short matches of other types on real Teeworlds servers: last team standing with four players, and a duel.

    integrations/teeworlds/kinds.py --evenkeel target/release/evenkeel [--keep DIR]

Prints a transcript: requests (>) and replies (<) of the daemon, and a line `proved:` for each point. About two minutes; needs
Debian's package teeworlds-server. All ports are on loopback.
"""

import os
import random
import subprocess

import game
import live
from story import run

# A round of LTS ends with the last player of a team, and this match with the second round that one of them has won.
ROUNDS = "sv_gametype lts\nsv_warmup 10\nsv_scorelimit 2\nsv_timelimit 0\n"
DUEL = "sv_gametype dm\nsv_player_slots 2\nsv_warmup 5\nsv_scorelimit 50\nsv_timelimit 20\nadd_vote short \"sv_scorelimit 2\"\n"


class Kinds(live.Live):
    """One server after the other."""

    def open(self, kind, rules, names):
        """Starts a server with these rules; returns the transcript's mark before its first player."""
        self.stop()
        self.players = self.daemon = self.sidecar = None
        self.server = game.Server(self.folder / kind, rules)
        self.config = ["--db", str(self.folder / f"{kind}.db")]
        self.server.start()
        self.begin()
        mark = self.transcript.mark()
        self.players = game.Players(self.server.port, random.Random(1))
        for name in names:
            self.players.join(name, live.SKILLS[name])
        for name in names:
            self.wait(f"JOIN of {name}", "> daemon", f"^JOIN {name} ", mark)
        return mark

    def record(self, mark, *ended):
        """Waits for the end of the match: as it is stored, and as `ingest` finds it in the output."""
        self.wait("START", "> daemon", "^START$", mark)
        self.wait("END", "> daemon", "^END", mark)
        self.wait("the record", "< daemon", r"^END \S+ recorded$", mark)
        self.server.wait_for("start match", self.limit, "the next match", self.server.size())
        again = ["--db", str(self.folder / "again.db")]
        subprocess.run([self.evenkeel, "ingest", *again, str(self.server.log)], check=True, stdout=subprocess.DEVNULL)
        return (self.matches(*source, ended=ended)[-1] for source in (self.config, again))


def rounds(kinds):
    """LTS: the teams are chosen in the warm-up, and the score counts rounds."""
    mark = kinds.open("lts", ROUNDS, ("ann", "bob", "ivy", "jim"))
    kinds.wait("the choice of teams", "< daemon", "^BALANCE ", mark)
    kinds.settle("the chosen teams", lambda teams: kinds.chosen(mark).items() <= teams.items())
    stored, read = kinds.record(mark, "won")
    assert stored["scores"] == read["scores"] and max(read["scores"]) == 2, (stored, read)
    kinds.proved(f"LTS: teams were chosen, and the match of rounds is recorded: {read['scores']}, as in the output")


def duel(kinds):
    """A game without teams: nobody is moved, and the points decide. A vote lowers the limit in the match."""
    mark = kinds.open("dm", DUEL, ("ann", "ivy"))
    kinds.wait("START", "> daemon", "^START$", mark)
    kinds.players.vote("short")
    kinds.server.wait_for("voted option 'short'", kinds.limit, "the vote")
    stored, read = kinds.record(mark, "undecided")
    sent = kinds.transcript.since(mark, "> daemon")
    assert not any(line.startswith(("BALANCE", "REBALANCE", "PLACE")) for line in sent), sent
    points = [{player["id"]: player["points"] for player in match["players"]} for match in (stored, read)]
    assert points[0] == points[1] and max(points[0].values()) == 2 and "scores" not in stored, (stored, read)
    kinds.proved(f"duel: no team was chosen, and the match is recorded at the limit of the vote: {points[0]}, as in the output")


def story(kinds):
    duel(kinds)
    rounds(kinds)


if __name__ == "__main__":
    missing = None if os.access(game.PROGRAM, os.X_OK) else "teeworlds-server is not installed"
    run(__doc__, "evenkeel-teeworlds-", Kinds, story, missing)
