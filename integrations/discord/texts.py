"""Everything that the bot says. Translate it here. Names and ids of players come from strangers: `plain` makes them safe."""
import re

import discord

HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
LONGEST = 1_900  # characters of a message, below Discord's limit

COMMANDS = {
    "teams": "Make even teams of your voice channel, or of the people you name",
    "result": "Say who has won",
    "void": "Say that your match does not count",
    "join": "Wait for a match in this channel's queue, alone or with friends",
    "leave": "Leave the queue, with everybody you joined with",
    "status": "How long you wait, where your match is, and what is played here",
    "link": "Say which player of the game you are; an organiser confirms it",
    "why": "Why the last teams of this channel are as they are",
    "rank": "Your weight, or somebody else's",
}
OPTIONS = {
    "players": "Mention them: @ann @bob …; without this, everybody in your voice channel",
    "friends": "Mention those who play on your team: @ann @bob",
    "say": "What the queue asks for: tier=5 modes=a,b",
    "name": "The name in the game, or the handle on the pages",
    "user": "Somebody else",
}
BUTTONS = {"again": "Other teams", "start": "Start", "draw": "Draw", "void": "Does not count", "confirm": "Confirm", "refuse": "Refuse",
           "accept": "Accept", "decline": "Decline"}

TOO_FEW = "Two people at least: join a voice channel with them, or name them."
NOBODY_HERE = "{who} is not on this Discord server."
UNREACHABLE = "Evenkeel does not answer now. Nothing is lost: try again in a moment."
FAILED = "That did not work; the bot's log says why. Try again."
NOT_YOURS = "Only players of this match and organisers can do that."
NO_MATCH = "No match is played in this channel. `/teams` makes teams."
NO_QUEUE = "This channel has no queue."
NOT_WAITING = "You are not in this queue."
LEFT = "You have left the queue{friends}."
WITH_FRIENDS = ", with {names}"
WAITS = "You wait in {queue}, for {waited} s so far{eta}."
ETA = "; about {eta} s to go"
PROPOSED = "A match is proposed to you: {seconds} s to accept."
MATCHED = "You are in match {match}. It is announced here as soon as it can begin."
GO = "Your match {match} is at `{address}`. Your pass: `{password}`"
ENDED = "Your last ticket has ended: {state}. `/join` begins a new one."
ACCEPTED = "Accepted."
DECLINED = "Declined: you have left the queue."
PLAYING_HERE = "Playing here: {names}"
ORGANISERS_ONLY = "Only organisers can do that."
LINK_ASKED = "{user} says to be **{name}** ({handle}). An organiser confirms it."
LINKED = "{user} is **{name}** now: the matches count together."
LINK_REFUSED = "{user} is not tied to anybody."
NO_PICKS = "No teams were made in this channel lately."
RANK = "{who}: weight {weight} ± {deviation}, {games} games{division}."
RANK_NEW = "{who} has no rated match yet, and counts as a newcomer."
DIVISION = ", {division}"
GO_ALL = "**Match {match}** is at `{address}`. {names}: `/status` tells you your pass."
RESULT = "**Result of match {match}**: {result} {scores}"
NOT_MOVED = "I could not move {names}. May I move members in both voice channels?"

HEADS = {
    "picked": "**Teams** · {ruleset}{place}",
    "playing": "**Playing** · {ruleset}. Afterwards, one of each team says who has won.",
    "recorded": "**Match {match}** · {ruleset} · {result}{unrated}",
    "void": "**Does not count** · {ruleset}",
}
OTHER = " · choice {number}"
TEAM = "**Team {number}**{chance}: {names}"
CHANCE = " ({percent} %)"
TEAM_WON = "Team {number} has won"
DRAW = "A draw"
UNRATED = " · not rated: {reason}"
SAID = "{who} says: {result}"
SAYS_VOID = "it does not count"
ALSO = "Why: {why}"


def plain(text, most=48):
    """Text that is shown as it is: without control characters, formatting, links and mentions."""
    text = HIDDEN.sub(" ", str(text))
    text = text if len(text) <= most else text[: most - 1] + "…"
    return discord.utils.escape_markdown(text, as_needed=False).replace("@", "@\u200b").replace("<", "\\<")


def cut(text):
    """Text that fits into a message."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def result_of(outcome):
    """A result in words."""
    if outcome["outcome"] == "won":
        return TEAM_WON.format(number=outcome["winner"] + 1)
    return DRAW if outcome["outcome"] == "draw" else SAYS_VOID


def named(pickup, text):
    """A text of the daemon, with names instead of the ids of this pick-up match."""
    for player, name in sorted(pickup["names"].items(), key=lambda pair: -len(pair[0])):
        text = re.sub(rf"(?<![\w-]){re.escape(player)}(?!\w)", lambda _: name, text)
    return text


def line_up(pickup, team):
    names = [plain(pickup["names"].get(player["id"], player["id"])) for player in team["players"]]
    return ", ".join(names)


def why(pickup):
    """Why the teams are as they are, line by line."""
    lines = [plain(named(pickup, line), 300) for line in pickup["picked"].get("why") or []]
    return cut("\n".join(f"- {line}" for line in lines) or NO_PICKS)


def match(pickup):
    """The message about a pick-up match."""
    head = HEADS[pickup["state"]].format(
        ruleset=plain(pickup["ruleset"]),
        place=OTHER.format(number=pickup["place"] + 1) if pickup["place"] else "",
        match=pickup["match"],
        result=result_of(pickup["result"]) if pickup["result"] else "",
        unrated=UNRATED.format(reason=plain(pickup["reason"])) if pickup["reason"] else "")
    lines = [head]
    for number, team in enumerate(pickup["picked"]["teams"], 1):
        chance = team.get("chance")
        chance = "" if chance is None else CHANCE.format(percent=round(100 * chance))
        lines.append(TEAM.format(number=number, chance=chance, names=line_up(pickup, team)))
    if pickup["state"] == "picked":
        lines += [ALSO.format(why=plain(named(pickup, line), 200)) for line in (pickup["picked"].get("why") or [])[:4]]
    if pickup["state"] == "playing":
        for said in pickup["said"]:
            who = plain(pickup["names"].get(said["by"], said["by"]))
            lines.append(SAID.format(who=who, result=result_of(said)))
    return cut("\n".join(lines))
