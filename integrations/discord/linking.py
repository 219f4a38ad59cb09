"""/link, /unlink and /rank: which player of the game a user is."""
import discord
from discord import app_commands

import buttons, people, texts
from daemon import Refused


async def decide(bot, interaction, what, handle, user):
    """An organiser confirms or refuses a link."""
    if not bot.is_organiser(interaction.user):
        return await interaction.response.send_message(texts.ORGANISERS_ONLY, ephemeral=True)
    await interaction.response.defer()
    player, mention = people.player_of(user), f"<@{user}>"
    if what == "refuse":
        await removed(bot, player)
        said = texts.LINK_REFUSED.format(user=mention)
    else:
        body = {"by": people.player_of(interaction.user), "handle": handle or None}
        link = await bot.daemon.call("POST", "links", player, "confirm", body=body)
        said = texts.LINKED.format(user=mention, name=texts.plain(link["player"]["name"] or handle))
    await interaction.edit_original_response(content=said, view=None)


async def removed(bot, player):
    """Removes a link. Returns whether there was one."""
    try:
        await bot.daemon.call("DELETE", "links", player)
    except Refused as refused:
        if refused.status != 404:
            raise
        return False
    return True


async def is_confirmed(bot, player):
    try:
        return (await bot.daemon.call("GET", "links", player))["confirmed_at"] is not None
    except Refused as refused:
        if refused.status != 404:
            raise
        return False


def add_commands(bot):
    add_links(bot)

    @bot.tree.command(name="rank", description=texts.COMMANDS["rank"])
    @app_commands.describe(user=texts.OPTIONS["user"])
    @app_commands.guild_only()
    async def rank(interaction: discord.Interaction, user: discord.Member | None = None):
        await interaction.response.defer(thinking=True, ephemeral=True)
        who, place = user or interaction.user, bot.settings.place(interaction.channel_id)
        found = await bot.daemon.call("GET", "ratings", ids=people.player_of(who), ruleset=place.ruleset)
        one, name = (found["ratings"] or [{"known": False}])[0], texts.plain(who.display_name)
        said = texts.RANK_NEW.format(who=name)
        if one["known"]:
            division = texts.DIVISION.format(division=texts.plain(one["division"])) if one["division"] else ""
            deviation = f"{one['deviation']:.1f}" if one["deviation"] is not None else "?"
            games = texts.GAMES[one["games"] == 1].format(games=one["games"])
            said = texts.RANK.format(who=name, weight=f"{one['weight']:.1f}", deviation=deviation, games=games, division=division)
        await interaction.edit_original_response(content=said)


def add_links(bot):
    @bot.tree.command(name="link", description=texts.COMMANDS["link"])
    @app_commands.describe(name=texts.OPTIONS["name"])
    @app_commands.guild_only()
    async def link(interaction: discord.Interaction, name: str):
        await interaction.response.defer(thinking=True)
        link = await bot.daemon.call("PUT", "links", people.player_of(interaction.user), body={"player": name})
        user, player = interaction.user, link["player"]
        alike = texts.ALIKE if link.get("alike") else ""
        shown = {"user": user.mention, "name": texts.plain(player["name"] or name), "handle": player["handle"] or "-", "alike": alike}
        if link["confirmed_at"]:
            return await interaction.edit_original_response(content=texts.LINKED.format(**shown))
        handle = player["handle"] or ""
        view = buttons.row(("confirm", handle, user.id), ("refuse", "", user.id))
        await interaction.edit_original_response(content=texts.LINK_ASKED.format(**shown), view=view)

    @bot.tree.command(name="unlink", description=texts.COMMANDS["unlink"])
    @app_commands.describe(user=texts.OPTIONS["user"])
    @app_commands.guild_only()
    async def unlink(interaction: discord.Interaction, user: discord.Member | None = None):
        await interaction.response.defer(thinking=True)
        who, organiser = user or interaction.user, bot.is_organiser(interaction.user)
        player = people.player_of(who)
        said = texts.NO_LINK
        if not organiser and (who != interaction.user or await is_confirmed(bot, player)):
            said = texts.ORGANISERS_ONLY
        elif await removed(bot, player):
            said = texts.UNLINKED
        await interaction.edit_original_response(content=said.format(user=who.mention))
