"""Users of Discord as players of the daemon, and the voice channels in which they are."""
import re

import discord

PLAYER = re.compile(r"discord-(\d{5,20})")
MENTION = re.compile(r"<@!?(\d{5,20})>")


def player_of(user):
    return f"discord-{getattr(user, 'id', user)}"


def user_of(player):
    """The id of the user who is this player; None for players of other clients."""
    found = PLAYER.fullmatch(player)
    return int(found[1]) if found else None


def mentioned(text):
    """The ids of the users whom a text mentions, each once."""
    return list(dict.fromkeys(int(one) for one in MENTION.findall(text or "")))


def unknown(text):
    """What of a text mentions nobody."""
    return re.sub(r"[\s,;]+", " ", MENTION.sub(" ", text or "")).strip()


async def member(guild, user):
    """A member of a guild; None if there is none."""
    try:
        return guild.get_member(user) or await guild.fetch_member(user)
    except discord.NotFound:
        return None


def named(text, names):
    """A text of the daemon, with names instead of ids. One pass: a name that looks like an id stays as it is."""
    ids = "|".join(re.escape(id) for id in sorted(names, key=len, reverse=True))
    return re.sub(rf"(?<![\w-])(?:{ids})(?!\w)", lambda found: names[found[0]], text) if names else text


def in_voice(user):
    """The ids of the people in the voice channel of a member."""
    state = getattr(user, "voice", None)
    if not state or not state.channel:
        return []
    is_bot = lambda id: (found := user.guild.get_member(id)) is not None and found.bot
    return [id for id in state.channel.voice_states if not is_bot(id)]


def voice_channel(guild, name):
    """The voice channel with this name or id."""
    is_it = lambda one: name in (str(one.id), one.name)
    return next((one for one in guild.voice_channels if is_it(one)), None) if name else None


def rooms(guild, place):
    """The voice channels of the teams of a channel, None for each that is missing."""
    return [voice_channel(guild, name) for name in place.voice]


def where(guild, user):
    """The voice channel in which a user is."""
    person = guild.get_member(user)
    return person.voice.channel if person and person.voice else None


def players(pickup):
    """The ids of the users who play in a pick-up match."""
    teams = pickup["picked"]["teams"]
    return [user for team in teams for player in team["players"] if (user := user_of(player["id"]))]


def missing(guild, place, pickup):
    """The rooms of the teams that this Discord server does not have, if anybody would have to be moved."""
    if not any(where(guild, user) for user in players(pickup)):
        return []
    return [name for name, room in zip(place.voice, rooms(guild, place)) if room is None]


def taken(guild, place, pickup, others):
    """The rooms of the teams in which somebody is who plays in another match."""
    own, found = players(pickup), {}
    for user in (user for other in others for user in players(other) if user not in own):
        room = where(guild, user)
        if room and room in rooms(guild, place):
            found[room.id] = room.name
    return list(found.values())


async def gather(guild, places):
    """Moves people, by their ids, to voice channels: those who are in one, and in another. Returns who could not be."""
    stuck = []
    for user, channel in places:
        person, now = guild.get_member(user), where(guild, user)
        if not channel or not now or now == channel:
            continue
        try:
            await person.move_to(channel)
        except discord.HTTPException:
            stuck.append(person.display_name)
    return stuck


def seats(guild, place, pickup):
    """The voice channel of each player of a pick-up match."""
    for team, channel in zip(pickup["picked"]["teams"], rooms(guild, place)):
        for player in team["players"]:
            if user := user_of(player["id"]):
                yield user, channel


def homes(guild, place, pickup):
    """The lobby for each player of a pick-up match who is still in a channel of the teams."""
    lobby = voice_channel(guild, place.lobby)
    return [(user, lobby) for user in players(pickup) if where(guild, user) in rooms(guild, place)]
