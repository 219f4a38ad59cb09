#!/usr/bin/env python3
"""Real clients on a real OpenArena server who are asked before one of them is moved. See live.sh --asked.

A vote passes twice in a game of four against two. The first time nobody volunteers: who was named is warned and then
moved. The second time players write !switch: one who is no good choice stays, and one who is moves at once.
"""

import re
import time

import live
from live import Live, other, sizes

# How long players are asked, in seconds: longer than the warning before a move.
ASK = 30


class Asking(Live):
    config = f"[rebalance]\nask_seconds = {ASK}\n[auto_balance]\nrules = \"off\"\n"
    options = ["--settle", "2", "--treat-bots-as-players", "--vote", "50"]


def sees(story, name, pattern, mark):
    """The line of the chat that a client shows."""
    until = time.monotonic() + live.LIMIT
    while not (found := re.search(pattern, story.clients[name].sees()[mark:])):
        if time.monotonic() > until:
            raise TimeoutError(f"{name} does not see {pattern}")
        time.sleep(0.1)
    story.transcript.add(f"{name} sees", found.group(0))
    return found


def vote(story, first):
    """A human goes to the other team, so that it is four against two. Then all vote, `first` begins. Returns what was
    offered: the player, the team that loses one, and when."""
    teams = story.teams()
    name, team = next((name, teams[name]) for name in story.clients if name != first)
    story.choose(name, other(team))
    story.settle("four against two", lambda teams: sizes(teams) == [2, 4])
    mark = story.transcript.mark()
    for voter in sorted(story.clients, key=lambda voter: voter != first):
        story.say(voter, "!balance")
    found = story.wait("the offer", "< daemon", rf"^\* OFFER (\S+) (\d) (\d) {ASK}$", mark)
    return story.name_of(found.group(1)), live.TEAMS[int(found.group(2))], time.monotonic(), mark


def nobody_wants_to(story):
    marks = {name: len(client.sees()) for name, client in story.clients.items()}
    named, team, asked, mark = vote(story, "ann")
    seen = sees(story, "bob", rf"{other(team)} needs 1 player of {team}: write !switch within \d+ s", marks["bob"])
    story.proved(f"everybody is asked: {seen.group(0)}")
    found = sees(story, "cid", rf"in (\d+) s {named} goes to {other(team)}", marks["cid"])
    assert 15 <= int(found.group(1)) <= 20, found.group(0)
    assert story.teams().get(named) == team, "moved too early"
    story.proved(f"the warning names {named}, who is still on {team}")
    story.wait("the move", "< daemon", r"^\* MOVE (\S+) ", mark)
    waited = time.monotonic() - asked
    assert ASK - 2 <= waited <= ASK + 5, waited
    story.settle("the move", lambda teams: teams.get(named) == other(team) and sizes(teams) == [3, 3])
    story.proved(f"nobody volunteered: {named} was moved after {waited:.0f} s, 3 against 3")


def one_wants_to(story):
    # The next vote can begin a minute after the last one.
    time.sleep(62)
    named, team, asked, mark = vote(story, "bob")
    there = [name for name in story.humans(story.teams(), team) if name != named]
    volunteer = there[0] if there else named
    wrong = story.humans(story.teams(), other(team))
    if wrong:
        before = len(story.clients[wrong[0]].sees())
        story.say(wrong[0], "!switch")
        sees(story, wrong[0], "nobody of your team has to change", before)
        story.proved(f"{wrong[0]}, on the other team, is told so")
    answer, gone = switch(story, volunteer, mark), volunteer
    if answer != "taken":
        story.proved(f"{volunteer} volunteered, but {named} was a better choice: {answer}")
        gone = named
        assert switch(story, named, mark) == "taken", "who was named may go at once"
    assert time.monotonic() - asked < ASK, "before the time was over"
    story.settle("the move", lambda teams: teams.get(gone) == other(team) and sizes(teams) == [3, 3])
    story.proved(f"{gone} agreed and has gone to {other(team)} at once, 3 against 3")


def switch(story, name, mark):
    """A player volunteers. Returns the daemon's answer."""
    story.say(name, "!switch")
    found = story.wait("the answer", "< daemon", rf"^SWITCH {story.clients[name].guid} ([a-z-]+)$", mark)
    return found.group(1)


def story(asking):
    asking.start()
    live.warm_up(asking)
    live.play(asking)
    # Loading the map, no human is a late arrival.
    asking.settle("three against three", lambda teams: sizes(teams) == [3, 3])
    nobody_wants_to(asking)
    one_wants_to(asking)


if __name__ == "__main__":
    live.run(__doc__, "evenkeel-asked-", Asking, story)
