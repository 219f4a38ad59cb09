"""Pick-up matches: /teams, /result, /void and /why, and the buttons below their messages."""
import datetime

import discord
from discord import app_commands

import buttons, people, shown, texts
from daemon import Refused

CHOICES = 5  # matches that are offered when it is not clear which one is meant: one row of buttons
ABANDONED = 12 * 3600  # seconds after which nobody waits for teams that have not begun, or plays a match without a result
SEARCHED = 50  # matches of a channel that are looked at


def age(pickup):
    """Seconds since it has changed."""
    changed = datetime.datetime.fromisoformat(pickup["changed_at"].replace("Z", "+00:00"))
    return (datetime.datetime.now(datetime.timezone.utc) - changed).total_seconds()


async def show(interaction, pickup):
    await interaction.edit_original_response(content=shown.match(pickup), view=buttons.of_match(pickup))


async def ask_void(interaction, pickup):
    """Asks whether a match does not count."""
    if pickup["state"] == "void":
        return await show(interaction, pickup)
    await interaction.edit_original_response(content=shown.match(pickup, texts.VOIDING), view=buttons.of_voiding(pickup))


async def ask_result(interaction, pickup):
    """Asks for the right result of a match that has one."""
    if pickup["match"] is None:
        return await show(interaction, pickup)
    content = shown.match(pickup, texts.CORRECTING)
    await interaction.edit_original_response(content=content, view=buttons.of_correction(pickup))


# Buttons

async def pressed(bot, interaction, what, value, of):
    """A button below a match: shows the match as it is afterwards."""
    organiser = bot.is_organiser(interaction.user)
    if (what.startswith("fix") or what == "correct") and not organiser:
        return await interaction.response.send_message(texts.ORGANISERS_ONLY, ephemeral=True)
    await interaction.response.defer()
    now = await bot.daemon.pickup("GET", of)
    if what in ("show", "keep"):
        return await show(interaction, now)
    if what == "ask":
        return await ask_void(interaction, now)
    if what == "correct":
        return await ask_result(interaction, now)
    if what.startswith("fix"):
        return await show(interaction, await correct(bot, interaction, what[3:], value, now))
    await change(bot, interaction, what, value, now)


async def change(bot, interaction, what, value, now):
    """Changes a match, and moves its people if that has begun or ended it."""
    of, user, organiser = now["pickup"], people.player_of(interaction.user), bot.is_organiser(interaction.user)
    if what in ("again", "start"):
        plays = any(player["id"] == user for player, _ in shown.seats(now))
        if not plays and not organiser:
            return await interaction.followup.send(texts.NOT_YOURS, ephemeral=True)
        body = {"place": int(value)}
    else:
        body = {"by": user, "organiser": organiser}
    if what in ("won", "draw"):
        body |= {"winner": int(value)} if what == "won" else {"draw": True}
        what = "result"
    try:
        pickup = await bot.daemon.pickup("POST", of, what, body=body)
    except Refused as refused:
        if refused.status == 409:  # somebody was faster: show what is now
            await show(interaction, await bot.daemon.pickup("GET", of))
        raise
    await show(interaction, pickup)
    for said in await bot.settle(interaction.channel, pickup):
        await interaction.followup.send(said, ephemeral=True)


async def correct(bot, interaction, outcome, value, now):
    """Puts another result in the place of the recorded one. Stopped in between, the match is void, and can be corrected."""
    by = {"by": people.player_of(interaction.user), "organiser": True}
    if now["state"] == "recorded":
        now = await bot.daemon.pickup("POST", now["pickup"], "void", body=by)
    if outcome == "void":
        return now
    result = {"winner": int(value)} if outcome == "won" else {"draw": True}
    return await bot.daemon.pickup("POST", now["pickup"], "result", body=by | result)


# Commands

async def choose(interaction, what, question, found, one):
    """Asks which of these matches is meant; a single one is shown by `one`."""
    if not found:
        return await interaction.edit_original_response(content=texts.NO_MATCH)
    if len(found) == 1:
        return await one(interaction, found[0])
    found = found[:CHOICES]
    lines = [question, *(shown.line(number, pickup) for number, pickup in enumerate(found, 1))]
    await interaction.edit_original_response(content=texts.cut("\n".join(lines)), view=buttons.of_choice(what, found))


async def of_channel(bot, interaction, match):
    """The matches of the channel, the latest first; with a number, only the recorded one of this number."""
    found = await bot.daemon.pickups(channel=str(interaction.channel_id), limit=SEARCHED)
    return [one for one in found if one["match"] == match] if match else found


def plays_in(user, pickup):
    return any(player["id"] == people.player_of(user) for player, _ in shown.seats(pickup))


async def wanted(interaction, given):
    """The ids of the users of /teams; None, with an answer, if somebody cannot be meant."""
    if words := people.unknown(given):
        said = texts.NOT_MENTIONED.format(words=texts.plain(words, 100).replace("`", ""))
    elif len(users := people.mentioned(given) or people.in_voice(interaction.user)) < 2:
        said = texts.TOO_FEW
    else:
        return users
    await interaction.response.send_message(said, ephemeral=True)
    return None


def add_commands(bot):
    add_teams(bot)
    add_results(bot)

    @bot.tree.command(name="why", description=texts.COMMANDS["why"])
    @app_commands.guild_only()
    async def why(interaction: discord.Interaction):
        await interaction.response.defer(thinking=True, ephemeral=True)
        found = await bot.daemon.pickups(channel=str(interaction.channel_id), limit=1)
        await interaction.edit_original_response(content=shown.why(found[0]) if found else texts.NO_PICKS)


def add_teams(bot):
    @bot.tree.command(name="teams", description=texts.COMMANDS["teams"])
    @app_commands.describe(players=texts.OPTIONS["players"])
    @app_commands.guild_only()
    async def teams(interaction: discord.Interaction, players: str = ""):
        users = await wanted(interaction, players)
        if users is None:
            return
        await interaction.response.defer(thinking=True)
        names = {}
        for user in users:
            person = await people.member(interaction.guild, user)
            if person is None or person.bot:
                said = texts.A_BOT if person else texts.NOBODY_HERE
                return await interaction.edit_original_response(content=said.format(who=f"<@{user}>"))
            names[people.player_of(user)] = person.display_name
        place = bot.settings.place(interaction.channel_id)
        game = {"ruleset": place.ruleset, "players": [{"id": player} for player in names]}
        body = {"channel": str(interaction.channel_id), "names": names, "game": game}
        await show(interaction, await bot.daemon.pickup("PUT", str(interaction.id), body=body))


def add_results(bot):
    @bot.tree.command(name="result", description=texts.COMMANDS["result"])
    @app_commands.describe(match=texts.OPTIONS["match"])
    @app_commands.guild_only()
    async def result(interaction: discord.Interaction, match: int | None = None):
        await interaction.response.defer(thinking=True)
        found = await of_channel(bot, interaction, match)
        if match:
            return await one_of(interaction, found, match, show)
        playing = [one for one in found if one["state"] == "playing"]
        found = [one for one in playing if plays_in(interaction.user, one)][:1] or playing
        if not found and bot.is_organiser(interaction.user):
            found = [one for one in await of_channel(bot, interaction, None) if one["match"]]
        await choose(interaction, "show", texts.WHICH_RESULT, found, show)

    @bot.tree.command(name="void", description=texts.COMMANDS["void"])
    @app_commands.describe(match=texts.OPTIONS["match"])
    @app_commands.guild_only()
    async def void(interaction: discord.Interaction, match: int | None = None):
        await interaction.response.defer(thinking=True)
        found, organiser = await of_channel(bot, interaction, match), bot.is_organiser(interaction.user)
        if match:
            return await one_of(interaction, found, match, ask_void)
        mine = [one for one in found if organiser or plays_in(interaction.user, one)]
        begun = [one for one in mine if one["state"] == "playing"]
        picked = [one for one in mine if one["state"] == "picked" and age(one) < ABANDONED]
        recorded = [one for one in mine if one["state"] == "recorded" and organiser]
        await choose(interaction, "ask", texts.WHICH_VOID, begun + recorded + picked[:1], ask_void)

    async def one_of(interaction, found, match, one):
        if not found:
            return await interaction.edit_original_response(content=texts.NO_SUCH_MATCH.format(match=match))
        await one(interaction, found[0])
