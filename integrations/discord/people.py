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


async def member(guild, user):
    """A member of a guild; None if there is none."""
    try:
        return guild.get_member(user) or await guild.fetch_member(user)
    except discord.NotFound:
        return None


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


async def gather(guild, places):
    """Moves people, by their ids, to voice channels: those who are in one, and in another. Returns who could not be."""
    stuck = []
    for user, channel in places:
        person = guild.get_member(user)
        if not channel or not person or not person.voice or not person.voice.channel or person.voice.channel == channel:
            continue
        try:
            await person.move_to(channel)
        except discord.HTTPException:
            stuck.append(person.display_name)
    return stuck


def seats(guild, place, pickup):
    """The voice channel of each player of a pick-up match."""
    for team, name in zip(pickup["picked"]["teams"], place.voice):
        channel = voice_channel(guild, name)
        for player in team["players"]:
            if user := user_of(player["id"]):
                yield user, channel


def homes(guild, place, pickup):
    """The lobby for each player of a pick-up match who is still in a channel of the teams."""
    lobby, rooms = voice_channel(guild, place.lobby), [voice_channel(guild, name) for name in place.voice]
    for user, _ in seats(guild, place, pickup):
        person = guild.get_member(user)
        if person and person.voice and person.voice.channel in rooms:
            yield user, lobby
