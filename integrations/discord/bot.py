"""A Discord bot for pick-up matches and queues of Evenkeel.

python3 bot.py bot.toml

The daemon keeps the state of every match, so that the bot can be stopped, killed or run twice at any time.
"""
import asyncio, logging, sys

import discord
from discord import app_commands

import buttons, people, queueing, settings, texts, watch
from daemon import Daemon, Refused, Unreachable

RECENT = 50  # pick-up matches that are looked at after a start
ANSWERED = (10062, 40060)  # Discord's errors for an interaction that is too old, or that another bot has answered


class Bot(discord.Client):
    def __init__(self, found):
        nobody = discord.AllowedMentions.none()
        super().__init__(intents=discord.Intents(guilds=True, voice_states=True), allowed_mentions=nobody)
        self.settings, self.daemon = found, Daemon(found)
        self.tree = app_commands.CommandTree(self)
        self.tree.on_error = self.failed
        self.watch = watch.Watch(self)

    async def setup_hook(self):
        await self.daemon.open()
        self.add_dynamic_items(buttons.Button)
        add_commands(self)
        queueing.add_commands(self)
        await self.tree.sync()
        self.watching = asyncio.create_task(self.watch.run())

    async def close(self):
        await super().close()
        await self.daemon.close()

    async def on_ready(self):
        """Moves the people of matches that began while the bot was away."""
        logging.info("ready")
        try:
            for pickup in await self.daemon.pickups(state="playing", limit=RECENT):
                channel = self.get_channel(int(pickup["channel"] or 0))
                if channel:
                    await self.move(channel, pickup)
        except (Refused, Unreachable, ValueError) as error:
            logging.warning("the matches that are played are not known: %s", error)

    async def move(self, channel, pickup):
        """Moves the people of a match to where they belong now. Returns what to say about it."""
        place = self.settings.place(channel.id)
        where = people.seats if pickup["state"] == "playing" else people.homes
        stuck = await people.gather(channel.guild, list(where(channel.guild, place, pickup)))
        return texts.NOT_MOVED.format(names=", ".join(map(texts.plain, stuck))) if stuck else None

    def is_organiser(self, user):
        roles = [role.name for role in getattr(user, "roles", ())]
        return self.settings.organisers in roles or user.guild_permissions.manage_guild

    # Buttons

    async def pressed(self, interaction, what, value, of):
        """Does what a button says."""
        try:
            if what in ("confirm", "refuse"):
                await self.decide_link(interaction, what, value, of)
            elif what in ("accept", "decline"):
                await queueing.answer_match(interaction, what, value, of)
            else:
                await self.change(interaction, what, value, of)
        except Exception as error:
            await self.failed(interaction, error)

    async def change(self, interaction, what, value, of):
        """A button below a match: shows the match as it is afterwards."""
        await interaction.response.defer()
        user, organiser = people.player_of(interaction.user), self.is_organiser(interaction.user)
        if what in ("again", "start"):
            now = await self.daemon.pickup("GET", of)
            plays = any(player["id"] == user for team in now["picked"]["teams"] for player in team["players"])
            if not plays and not organiser:
                return await interaction.followup.send(texts.NOT_YOURS, ephemeral=True)
            body = {"place": int(value)}
        else:
            body = {"by": user, "organiser": organiser}
        if what in ("won", "draw"):
            body |= {"winner": int(value)} if what == "won" else {"draw": True}
            what = "result"
        try:
            pickup = await self.daemon.pickup("POST", of, what, body=body)
        except Refused as refused:
            if refused.status == 409:  # somebody was faster: show what is now
                await self.show(interaction, await self.daemon.pickup("GET", of))
            raise
        await self.show(interaction, pickup)
        if pickup["state"] != "picked" and (said := await self.move(interaction.channel, pickup)):
            await interaction.followup.send(said, ephemeral=True)

    async def show(self, interaction, pickup):
        await interaction.edit_original_response(content=texts.match(pickup), view=buttons.of_match(pickup))

    async def decide_link(self, interaction, what, handle, user):
        if not self.is_organiser(interaction.user):
            return await interaction.response.send_message(texts.ORGANISERS_ONLY, ephemeral=True)
        await interaction.response.defer()
        player, mention = people.player_of(user), f"<@{user}>"
        if what == "refuse":
            try:
                await self.daemon.call("DELETE", "links", player)
            except Refused as refused:
                if refused.status != 404:
                    raise
            said = texts.LINK_REFUSED.format(user=mention)
        else:
            body = {"by": people.player_of(interaction.user), "handle": handle or None}
            link = await self.daemon.call("POST", "links", player, "confirm", body=body)
            said = texts.LINKED.format(user=mention, name=texts.plain(link["player"]["name"] or handle))
        await interaction.edit_original_response(content=said, view=None)

    async def failed(self, interaction, error):
        """Says why something did not work, to the user alone."""
        error = getattr(error, "original", error)
        if isinstance(error, discord.HTTPException) and error.code in ANSWERED:
            return
        if isinstance(error, Refused):
            said = await self.refusal(interaction, str(error))
        elif isinstance(error, Unreachable):
            said = texts.UNREACHABLE
        else:
            logging.error("an interaction has failed", exc_info=error)
            said = texts.FAILED
        try:
            if interaction.response.type == discord.InteractionResponseType.deferred_channel_message:
                await interaction.edit_original_response(content=said)
            elif interaction.response.is_done():
                await interaction.followup.send(said, ephemeral=True)
            else:
                await interaction.response.send_message(said, ephemeral=True)
        except discord.HTTPException as lost:
            logging.warning("an answer is lost: %s", lost)

    async def refusal(self, interaction, text):
        """A refusal of the daemon, with the names of users instead of their ids."""
        for id in {int(one) for one in people.PLAYER.findall(text)}:
            person = interaction.guild and await people.member(interaction.guild, id)
            text = text.replace(f"discord-{id}", person.display_name if person else str(id))
        return texts.cut(texts.plain(text, 500))


def add_commands(bot):
    tree, daemon = bot.tree, bot.daemon

    @tree.command(name="teams", description=texts.COMMANDS["teams"])
    @app_commands.describe(players=texts.OPTIONS["players"])
    @app_commands.guild_only()
    async def teams(interaction: discord.Interaction, players: str = ""):
        users = people.mentioned(players) or people.in_voice(interaction.user)
        if len(users) < 2:
            return await interaction.response.send_message(texts.TOO_FEW, ephemeral=True)
        await interaction.response.defer(thinking=True)
        names = {}
        for user in users:
            person = await people.member(interaction.guild, user)
            if person is None:
                return await interaction.edit_original_response(content=texts.NOBODY_HERE.format(who=f"<@{user}>"))
            names[people.player_of(user)] = person.display_name
        place = bot.settings.place(interaction.channel_id)
        game = {"ruleset": place.ruleset, "players": [{"id": player} for player in names]}
        body = {"channel": str(interaction.channel_id), "names": names, "game": game}
        await bot.show(interaction, await daemon.pickup("PUT", str(interaction.id), body=body))

    async def own(interaction, *states):
        """The latest match of the channel in one of these states: the user's own before those of others."""
        where, user = str(interaction.channel_id), people.player_of(interaction.user)
        for player in (user, None):
            found = await daemon.pickups(channel=where, player=player)
            if found := [one for one in found if one["state"] in states]:
                return found[0]
        return None

    @tree.command(name="result", description=texts.COMMANDS["result"])
    @app_commands.guild_only()
    async def result(interaction: discord.Interaction):
        await interaction.response.defer(thinking=True)
        pickup = await own(interaction, "playing")
        if pickup is None:
            return await interaction.edit_original_response(content=texts.NO_MATCH)
        await bot.show(interaction, pickup)

    @tree.command(name="void", description=texts.COMMANDS["void"])
    @app_commands.guild_only()
    async def void(interaction: discord.Interaction):
        await interaction.response.defer(thinking=True)
        organiser = bot.is_organiser(interaction.user)
        states = ("playing", "picked") + (("recorded",) if organiser else ())
        pickup = await own(interaction, *states)
        if pickup is None:
            return await interaction.edit_original_response(content=texts.NO_MATCH)
        body = {"by": people.player_of(interaction.user), "organiser": organiser}
        pickup = await daemon.pickup("POST", pickup["pickup"], "void", body=body)
        await bot.show(interaction, pickup)
        await bot.move(interaction.channel, pickup)

    @tree.command(name="why", description=texts.COMMANDS["why"])
    @app_commands.guild_only()
    async def why(interaction: discord.Interaction):
        await interaction.response.defer(thinking=True, ephemeral=True)
        found = await daemon.pickups(channel=str(interaction.channel_id), limit=1)
        await interaction.edit_original_response(content=texts.why(found[0]) if found else texts.NO_PICKS)

    @tree.command(name="rank", description=texts.COMMANDS["rank"])
    @app_commands.describe(user=texts.OPTIONS["user"])
    @app_commands.guild_only()
    async def rank(interaction: discord.Interaction, user: discord.Member | None = None):
        await interaction.response.defer(thinking=True, ephemeral=True)
        who, place = user or interaction.user, bot.settings.place(interaction.channel_id)
        found = await daemon.call("GET", "ratings", ids=people.player_of(who), ruleset=place.ruleset)
        one, name = (found["ratings"] or [{"known": False}])[0], texts.plain(who.display_name)
        said = texts.RANK_NEW.format(who=name)
        if one["known"]:
            division = texts.DIVISION.format(division=texts.plain(one["division"])) if one["division"] else ""
            deviation = f"{one['deviation']:.1f}" if one["deviation"] is not None else "?"
            said = texts.RANK.format(who=name, weight=f"{one['weight']:.1f}", deviation=deviation, games=one["games"], division=division)
        await interaction.edit_original_response(content=said)

    @tree.command(name="link", description=texts.COMMANDS["link"])
    @app_commands.describe(name=texts.OPTIONS["name"])
    @app_commands.guild_only()
    async def link(interaction: discord.Interaction, name: str):
        await interaction.response.defer(thinking=True)
        link = await daemon.call("PUT", "links", people.player_of(interaction.user), body={"player": name})
        user, player = interaction.user, link["player"]
        shown = {"user": user.mention, "name": texts.plain(player["name"] or name), "handle": player["handle"] or "-"}
        if link["confirmed_at"]:
            return await interaction.edit_original_response(content=texts.LINKED.format(**shown))
        handle = player["handle"] or ""
        view = buttons.row(("confirm", handle, user.id), ("refuse", "", user.id))
        await interaction.edit_original_response(content=texts.LINK_ASKED.format(**shown), view=view)


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    try:
        found = settings.load(sys.argv[1])
    except settings.Mistake as error:
        raise SystemExit(f"{sys.argv[1]}: {error}") from error
    Bot(found).run(found.token, root_logger=True)


if __name__ == "__main__":
    main()
