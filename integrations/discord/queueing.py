"""/join, /leave and /status: the queue of a channel."""
import discord
from discord import app_commands

import buttons, people, shown, texts
from daemon import Refused

WAITING = ("queued", "proposed")


def stated(text):
    """What a user says of themselves for the queue: `tier=5 modes=a,b`."""
    found = {}
    for word in (text or "").split():
        name, _, value = word.partition("=")
        values = [int(one) if one.isascii() and one.isdecimal() else one for one in value.split(",")]
        found[name] = values if len(values) > 1 else values[0]
    found.pop("id", None)
    return found


async def tickets(bot, queue, user):
    found = await bot.daemon.call("GET", "queues", queue, "tickets", player=people.player_of(user))
    return found["tickets"]


def add_commands(bot):
    tree, daemon = bot.tree, bot.daemon

    async def queue_of(interaction):
        """The queue of the channel; None, with an answer, if it has none."""
        queue = bot.settings.place(interaction.channel_id).queue
        if queue is None:
            await interaction.response.send_message(texts.NO_QUEUE, ephemeral=True)
        else:
            await interaction.response.defer(thinking=True, ephemeral=True)
        return queue

    @tree.command(name="join", description=texts.COMMANDS["join"])
    @app_commands.describe(friends=texts.OPTIONS["friends"], say=texts.OPTIONS["say"])
    @app_commands.guild_only()
    async def join(interaction: discord.Interaction, friends: str = "", say: str = ""):
        if words := people.unknown(friends):
            said = texts.NOT_MENTIONED.format(words=texts.plain(words, 100).replace("`", ""))
            return await interaction.response.send_message(said, ephemeral=True)
        if queue := await queue_of(interaction):
            users = dict.fromkeys([interaction.user.id, *people.mentioned(friends)])
            players = [{**stated(say), "id": people.player_of(user)} for user in users]
            path = ("queues", queue, "tickets", interaction.id)
            ticket = await daemon.call("PUT", *path, body={"players": players})
            await show(interaction, queue, ticket)

    @tree.command(name="leave", description=texts.COMMANDS["leave"])
    @app_commands.guild_only()
    async def leave(interaction: discord.Interaction):
        if queue := await queue_of(interaction):
            own = [one for one in await tickets(bot, queue, interaction.user) if one["state"] in WAITING]
            said = texts.NOT_WAITING
            for one in own:
                left = await daemon.call("DELETE", "queues", queue, "tickets", one["ticket"])
                if left["state"] == "cancelled":
                    friends = [f"<@{people.user_of(player)}>" for player in one["players"] if people.user_of(player) != interaction.user.id]
                    said = texts.LEFT.format(friends=texts.WITH_FRIENDS.format(names=", ".join(friends)) if friends else "")
            await interaction.edit_original_response(content=said)

    @tree.command(name="status", description=texts.COMMANDS["status"])
    @app_commands.guild_only()
    async def status(interaction: discord.Interaction):
        place = bot.settings.place(interaction.channel_id)
        await interaction.response.defer(thinking=True, ephemeral=True)
        own = await tickets(bot, place.queue, interaction.user) if place.queue else []
        if own:
            try:
                ticket = await daemon.call("GET", "queues", place.queue, "tickets", own[0]["ticket"])
                return await show(interaction, place.queue, ticket)
            except Refused as refused:
                if refused.status != 404:
                    raise
        playing = await daemon.pickups(channel=str(interaction.channel_id), state="playing")
        lines = [texts.PLAYING_HERE.format(names=" – ".join(shown.line_up(one, team) for team in one["picked"]["teams"])) for one in playing]
        said = "\n".join(lines) or (texts.NOT_WAITING if place.queue else texts.NO_MATCH)
        await interaction.edit_original_response(content=texts.cut(said))


async def show(interaction, queue, ticket):
    """Says to the user alone what the state of a ticket is."""
    state, view = ticket["state"], None
    if state == "queued":
        eta = texts.ETA.format(eta=ticket["eta"]) if ticket.get("eta") else ""
        said = texts.WAITS.format(queue=texts.plain(queue), waited=ticket.get("waited", 0), eta=eta)
    elif state == "proposed":
        said = texts.PROPOSED.format(seconds=ticket["seconds"])
        view = buttons.row(("accept", ticket["match"], interaction.channel_id), ("decline", ticket["match"], interaction.channel_id))
    elif state == "go":
        own = people.player_of(interaction.user)
        passes = {one["player"]: one["pass"] for one in ticket["passes"]}
        said = texts.GO.format(match=ticket["match"], address=ticket["address"], password=passes.get(own, "?"))
    elif state == "matched":
        said = await matched(interaction.client, ticket["match"])
    else:
        said = texts.ENDED.format(state=state)
    await interaction.edit_original_response(content=said, view=view)


async def matched(bot, match):
    """What became of a match of a queue without game servers: a pick-up match, once it is announced."""
    try:
        pickup = await bot.daemon.pickup("GET", f"queue-{match}")
    except Refused as refused:
        if refused.status != 404:
            raise
        return texts.MATCHED.format(match=match)
    return texts.MATCHED_IN[pickup["state"]]


async def answer_match(interaction, what, match, channel):
    """Accepts or declines a match that is proposed, for the user who has pressed the button."""
    bot, user = interaction.client, interaction.user
    await interaction.response.defer()
    queue = bot.settings.place(channel).queue
    own = [one for one in await tickets(bot, queue, user) if one["match"] == int(match)]
    if own:
        body = {"match": int(match), "player": people.player_of(user)}
        await bot.daemon.call("POST", "queues", queue, "tickets", own[0]["ticket"], what, body=body)
    said = texts.ACCEPTED if what == "accept" else texts.DECLINED
    await interaction.edit_original_response(content=said if own else texts.NOT_WAITING, view=None)
