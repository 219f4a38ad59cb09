"""A Discord bot for pick-up matches and queues of Evenkeel.

python3 bot.py bot.toml

The daemon keeps the state of every match, so that the bot can be stopped, killed or run twice at any time.
"""
import asyncio, logging, sys

import discord
from discord import app_commands

import buttons, linking, people, pickups, queueing, settings, texts, watch
from daemon import Daemon, Refused, Unreachable

RECENT = 50  # pick-up matches that are looked at after a start
FORGOTTEN = 600  # seconds after which a bot that starts again moves nobody: by then, people are where they want to be
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
        for commands in (pickups, linking, queueing):
            commands.add_commands(self)
        await self.tree.sync()
        self.watching = asyncio.create_task(self.watch.run())

    async def close(self):
        await super().close()
        await self.daemon.close()

    async def on_ready(self):
        """Moves the people of matches that have just begun or ended while the bot was away."""
        self.look_for_rooms()
        try:
            for pickup in await self.daemon.pickups(limit=RECENT):
                channel = self.get_channel(int(pickup["channel"] or 0))
                if channel and pickups.age(pickup) < FORGOTTEN:
                    await self.settle(channel, pickup)
        except (Refused, Unreachable, ValueError) as error:
            logging.warning("the pick-up matches are not known: %s", error)
        logging.info("ready")

    def look_for_rooms(self):
        """Logs the voice channels of the configuration that no server of the bot has."""
        places = [self.settings.usual, *self.settings.channels.values()]
        names = dict.fromkeys(name for place in places for name in (*place.voice, place.lobby) if name)
        for name in names:
            if not any(people.voice_channel(guild, name) for guild in self.guilds):
                logging.warning("voice, lobby: there is no voice channel %s", name)

    # Moves

    async def settle(self, channel, pickup):
        """Moves the people of a match to where they belong now, once: they go where they want afterwards. Returns what to
        say about it."""
        if not pickup["to_move"]:
            return []
        place, guild = self.settings.place(channel.id), channel.guild
        if pickup["state"] == "playing":
            said = await self.to_rooms(guild, place, pickup)
        else:
            said = self.not_moved(await people.gather(guild, people.homes(guild, place, pickup)))
        try:
            await self.daemon.pickup("POST", pickup["pickup"], "moved", body={"state": pickup["state"]})
        except (Refused, Unreachable) as error:
            logging.warning("the daemon does not know that people were moved: %s", error)
        return said

    async def to_rooms(self, guild, place, pickup):
        """Moves the teams to their rooms, unless another match is played there."""
        others = await self.daemon.pickups(state="playing", limit=RECENT)
        others = [one for one in others if one["pickup"] != pickup["pickup"] and pickups.age(one) < pickups.ABANDONED]
        if taken := people.taken(guild, place, pickup, others):
            return [texts.ROOMS_TAKEN.format(rooms=", ".join(map(texts.plain, taken)))]
        said = []
        if missing := people.missing(guild, place, pickup):
            said.append(texts.NO_ROOMS.format(rooms=", ".join(map(texts.plain, missing))))
        if 0 < len(place.voice) < (teams := len(pickup["picked"]["teams"])):
            said.append(texts.TOO_FEW_ROOMS.format(teams=teams, rooms=len(place.voice)))
        return said + self.not_moved(await people.gather(guild, list(people.seats(guild, place, pickup))))

    def not_moved(self, stuck):
        return [texts.NOT_MOVED.format(names=", ".join(map(texts.plain, stuck)))] if stuck else []

    # Who may, and what has failed

    def is_organiser(self, user):
        roles = [role.name for role in getattr(user, "roles", ())]
        return self.settings.organisers in roles or user.guild_permissions.manage_guild

    async def pressed(self, interaction, what, value, of):
        """Does what a button says."""
        try:
            if what in ("confirm", "refuse"):
                await linking.decide(self, interaction, what, value, of)
            elif what in ("accept", "decline"):
                await queueing.answer_match(interaction, what, value, of)
            else:
                await pickups.pressed(self, interaction, what, value, of)
        except Exception as error:
            await self.failed(interaction, error)

    async def failed(self, interaction, error):
        """Says why something did not work, to the user alone."""
        error = getattr(error, "original", error)
        if isinstance(error, discord.HTTPException) and error.code in ANSWERED:
            return
        if isinstance(error, Refused):
            said = await self.refusal(interaction, error)
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

    async def refusal(self, interaction, refused):
        """What people read of a refusal of the daemon, with the names of users instead of their ids."""
        text, names = str(refused), {}
        for found in people.PLAYER.finditer(text):
            person = interaction.guild and await people.member(interaction.guild, int(found[1]))
            names[found[0]] = person.display_name if person else found[1]
        text = people.named(text, names)
        if said := texts.refusal(text):
            return texts.cut(said)
        if refused.status in (401, 403):  # the token, or its rights
            logging.error("the daemon refuses this bot: %s", text)
            return texts.FAILED
        return texts.cut(texts.WRONG.format(text=texts.plain(text, 500)))


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
