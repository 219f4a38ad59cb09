"""What the bot says. Translate it here. The daemon's own sentences are in English: those that people meet are translated by
`REFUSALS`, and the others are shown as they are. Names come from strangers: `plain` makes them safe."""
import re

import discord

HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
LONGEST = 1_900  # characters of a message, below Discord's limit

COMMANDS = {
    "teams": "Make even teams of your voice channel, or of the people you mention",
    "result": "Say who has won; organisers correct a result",
    "void": "Say that a match does not count",
    "join": "Wait for a match in this channel's queue, alone or with friends",
    "leave": "Leave the queue, with everybody you joined with",
    "status": "How long you wait, where your match is, and what is played here",
    "link": "Say which player of the game you are; an organiser confirms it",
    "unlink": "Remove a link; a confirmed one is removed by an organiser",
    "why": "Why the last teams of this channel are as they are",
    "rank": "Your weight, or somebody else's",
}
OPTIONS = {
    "players": "Mention them: @ann @bob …; without this, everybody in your voice channel",
    "friends": "Mention those who play on your team: @ann @bob",
    "say": "What the queue asks for: tier=5 modes=a,b",
    "name": "The name in the game, or the handle on the pages",
    "user": "Somebody else",
    "match": "The number of a recorded match",
}
BUTTONS = {"again": "Other teams", "start": "Start", "draw": "Draw", "void": "Does not count", "confirm": "Confirm", "refuse": "Refuse",
           "accept": "Accept", "decline": "Decline", "correct": "Correct the result", "fixdraw": "Draw", "fixvoid": "Does not count",
           "keep": "Leave it as it is"}

TOO_FEW = "At least two people are needed: join a voice channel with them, or mention them."
NOT_MENTIONED = "I do not know who `{words}` is. Mention people: type `@`, and choose them from the list."
A_BOT = "{who} is a bot, and cannot play."
NOBODY_HERE = "{who} is not on this Discord server."
UNREACHABLE = "Evenkeel does not answer now. Nothing is lost: try again in a moment."
FAILED = "That did not work; the bot's log says why. Tell whoever runs the bot."
NOT_YOURS = "Only players of this match and organisers can do that."
NO_MATCH = "No match is played in this channel. `/teams` makes teams; an organiser can correct a recorded match."
NO_SUCH_MATCH = "No match of this channel has the number {match}, or it is older than 30 days."
WHICH_RESULT = "Which match do you mean?"
WHICH_VOID = "Which match does not count?"
LINE = "**{number}** · {head} · {names}"
CORRECTING = "What is the right result? Only organisers can correct it."
VOIDING = "Does this match not count?"
NO_QUEUE = "This channel has no queue."
NOT_WAITING = "You are not in this queue."
LEFT = "You have left the queue{friends}."
WITH_FRIENDS = ", with {names}"
WAITS = "You wait in {queue}, for {waited} s so far{eta}."
ETA = "; about {eta} s to go"
PROPOSED = "A match is proposed to you: {seconds} s to accept."
MATCHED = "You are in match {match}. It is announced here as soon as it can begin."
MATCHED_IN = {
    "picked": "Your match is announced in this channel. *Start* begins it.",
    "playing": "You are playing. Afterwards, one of each team says who has won: `/result`.",
    "recorded": "Your last match is over, and recorded. `/join` waits for the next one.",
    "void": "Your last match does not count. `/join` waits for the next one.",
}
GO = "Your match {match} is at `{address}`. Your pass: `{password}`"
ENDED = "Your last ticket has ended: {state}. `/join` begins a new one."
ACCEPTED = "Accepted."
DECLINED = "Declined: you have left the queue."
PLAYING_HERE = "Playing here: {names}"
ORGANISERS_ONLY = "Only organisers can do that."
LINK_ASKED = "{user} says they are **{name}** ({handle}). An organiser confirms it.{alike}"
ALIKE = "\nThis player is a user of Discord, too. Confirm it only if both accounts belong to the same person."
LINKED = "{user} counts as **{name}** now. It takes a moment until `/rank` and `/teams` know it."
LINK_REFUSED = "The link of {user} was refused."
UNLINKED = "{user} has no link any more, and counts as themselves. It takes a moment until `/rank` and `/teams` know it."
NO_LINK = "{user} has no link."
NO_PICKS = "No teams were made in this channel lately."
RANK = "{who}: weight {weight} ± {deviation}, {games}{division}."
GAMES = {True: "1 game", False: "{games} games"}
RANK_NEW = "{who} has no rated match yet, and counts as a newcomer."
DIVISION = ", {division}"
GO_ALL = "**Match {match}** is at `{address}`. {names}: `/status` tells you your pass."
RESULT = "**Result of match {match}**: {result}{scores}"
NOT_MOVED = "I could not move {names}. Allow me to move members in both voice channels."
NO_ROOMS = "Nobody was moved to {rooms}: this Discord server has no such voice channel. `voice` in the bot's configuration names them."
TOO_FEW_ROOMS = "There are {teams} teams, and the bot's configuration names {rooms} voice channels."
ROOMS_TAKEN = "Another match is played in {rooms}, so nobody was moved. Find rooms of your own."

HEADS = {
    "picked": "**Teams** · {ruleset}{place}",
    "playing": "**Playing** · {ruleset}. Afterwards, one of each team says who has won.",
    "recorded": "**Match {match}** · {ruleset} · {result}{unrated}",
    "void": "**Does not count** · {ruleset}",
}
SHORT_HEADS = {"picked": "not begun", "playing": "is played now", "recorded": "match {match}: {result}", "void": "match {match}: does not count"}
OTHER = " · choice {number}"
TEAM = "**Team {number}**{chance}: {names}"
CHANCE = " ({percent} %)"
TEAM_WON = "Team {number} has won"
DRAW = "A draw"
ABANDONED = "abandoned"
UNRATED = " · not rated: {reason}"
SAID = "{who} says: {result}"
SAYS_VOID = "it does not count"
ALSO = "Why: {why}"

# Why the teams are as they are
EVEN = "Of 100 such matches, Team 1 is expected to win {percent}."
ALL_NEW = "Nobody has a rated match yet, so everybody counts the same."
STRONGEST = "The strongest are {one} on Team {team} and {two} on Team {other}."
WEAKEST = "The weakest are {one} on Team {team} and {two} on Team {other}."
PLACED = "{name} (Team {team})"
NEWCOMERS = "New here, and counted as average: {names}."
BY_QUEUE = "The queue has formed these teams."
INSTEAD = "With {name} on Team {team} instead, Team 1 would win {percent} of 100."
# Lines of the daemon about people, and what they become.
ASKED = (
    (r"party given up: (.+)", "These friends could not play together: {0}."),
    (r"the party of (.+) is torn.*", "No team has room for all of these friends: {0}."),
    (r"wishes for a team: (\d+) of (\d+) granted", "Wishes for a team: {0} of {1} granted."),
    (r"wish not granted: (.+) to team (\d+), ([^:]+).*", "The wish of {0} for {1} was not granted: {2}."),
)

# What the daemon answers to a call that it refuses, and what people read instead.
REFUSALS = (
    (r"(.+) does not play in this match", "{0} does not play in this match."),
    (r"there are other teams by now", "There are other teams by now: look at the message again."),
    (r"the match is recorded with another result.*", "The match is recorded with another result. An organiser can correct it with the button below it."),
    (r"the match is void", "This match does not count any more. `/teams` makes new teams."),
    (r"(.+) plays in another match, which has no result yet", "{0} plays in another match, which has no result yet. `/result` ends it."),
    (r"with the right report, only your own matches of the last 24 hours", "The match is older than a day: whoever runs Evenkeel can make it void."),
    (r"nobody called (.+) has played", "Nobody called {0} has played."),
    (r"(\d+) players are called (.+): state one of (.+)", "{0} players are called {1}. Type one of these instead of the name: {2}"),
    (r"this identity counts as a player already.*", "You count as another player already. `/unlink` removes that link."),
    (r"player: this is the same identity", "That is you already."),
    (r"player: must not be empty", "The name is missing."),
    (r"player: must .*", "This cannot be a name."),
    (r"handle: the link is to another player|the link has changed: look again|nobody has asked for a link.*",
     "This question is out of date: the link has changed since. Type `/link` again."),
    (r"players\[(\d+)\]\.id: is the same player as .*", "Two of these people count as one player: see `/unlink`."),
    (r".*\.id: .* is there twice", "Somebody is there twice."),
    (r"a ticket of (\d+) players: (?:1 to )?(\d+) fits? on a team", "You are {0} together, and a team of this queue has room for {1}."),
    (r"(.+) is in another ticket", "{0} waits already. `/leave` leaves the queue."),
    (r"(.+) is in a match that is being played", "{0} plays in a match."),
    (r"the player is in no ticket of yours in this match|no such match waits to be accepted", "This match is not proposed any more."),
    (r"there is no queue (.+)", "Evenkeel has no queue {0}: tell whoever runs the bot."),
    (r"you have no pick-up match of this name", "This match is older than 30 days, and its buttons do not work any more."),
    (r"the match has not begun", "The match has not begun."),
    (r"the match has begun", "The match has begun."),
    (r"(.+): the queue has no attribute (.+)", "This queue does not ask for {1}."),
    (r"(.+): (.+) is missing", "This queue asks for {1}: `/join say: {1}=…`"),
    (r"([^:]+): ([^:]+) must be (.+)", "{0}: {1} must be {2}."),
    (r"players\[\d+\]\.?([^:]*): invalid (?:type|value).*", "This queue cannot read `say`: a value of {0} has the wrong form."),
)
WRONG = "Evenkeel does not accept this: {text}"


def plain(text, most=48):
    """Text that is shown as it is: without control characters, formatting, links and mentions."""
    text = HIDDEN.sub(" ", str(text))
    text = text if len(text) <= most else text[: most - 1] + "…"
    return discord.utils.escape_markdown(text, as_needed=False).replace("@", "@\u200b").replace("<", "\\<")


def cut(text):
    """Text that fits into a message."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def refusal(text):
    """What people read when the daemon refuses something; None if they cannot do anything about it."""
    for pattern, said in REFUSALS:
        if found := re.fullmatch(pattern, text, re.DOTALL):
            return said.format(*(plain(part, 200) for part in found.groups()))
    return None
