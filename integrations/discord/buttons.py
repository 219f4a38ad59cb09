"""Buttons. A button says by its id what it is about, so that it works after the bot was started again."""
import discord

from shown import is_of_queue
from texts import BUTTONS, TEAM_WON

STYLES = {"start": discord.ButtonStyle.success, "won": discord.ButtonStyle.primary, "confirm": discord.ButtonStyle.success,
          "fixwon": discord.ButtonStyle.primary, "fixvoid": discord.ButtonStyle.danger}


class Button(
    discord.ui.DynamicItem[discord.ui.Button],
    template=r"ek:(?P<what>[a-z]{1,10}):(?P<value>[0-9a-f]{0,40}):(?P<of>[A-Za-z0-9-]{1,48})",
):
    def __init__(self, what, value, of):
        self.what, self.value, self.of = what, str(value), str(of)
        label = self.value if what in ("show", "ask") else BUTTONS.get(what, what)
        if what in ("won", "fixwon") and self.value.isdecimal():
            label = TEAM_WON.format(number=int(value) + 1)
        style = STYLES.get(what, discord.ButtonStyle.secondary)
        super().__init__(discord.ui.Button(label=label, style=style, custom_id=f"ek:{what}:{value}:{of}"))

    @classmethod
    async def from_custom_id(cls, interaction, item, match):
        return cls(match["what"], match["value"], match["of"])

    async def callback(self, interaction):
        await interaction.client.pressed(interaction, self.what, self.value, self.of)


def row(*buttons):
    view = discord.ui.View(timeout=None)
    for button in buttons:
        view.add_item(Button(*button))
    return view


def of_match(pickup):
    """The buttons below the message about a pick-up match."""
    own, place = pickup["pickup"], pickup["place"]
    if pickup["state"] == "picked":
        again = () if is_of_queue(pickup) else (("again", place, own),)
        return row(("start", place, own), *again, ("void", "", own))
    if pickup["state"] == "playing":
        won = [("won", team, own) for team in range(len(pickup["picked"]["teams"]))]
        return row(*won, ("draw", "", own), ("void", "", own))
    return row(("correct", "", own)) if pickup["match"] else row()


def of_correction(pickup):
    """The results that a recorded match may have instead of its own."""
    own, now = pickup["pickup"], pickup["result"] or {}
    results = [("fixwon", team, own) for team in range(len(pickup["picked"]["teams"])) if now.get("winner") != team]
    results += [(f"fix{outcome}", "", own) for outcome in ("draw", "void") if now.get("outcome") != outcome]
    return row(*results, ("keep", "", own))


def of_voiding(pickup):
    """Whether a match does not count."""
    own = pickup["pickup"]
    return row(("fixvoid" if pickup["state"] == "recorded" else "void", "", own), ("keep", "", own))


def of_choice(what, pickups):
    """A number for each of these matches."""
    return row(*((what, number, one["pickup"]) for number, one in enumerate(pickups, 1)))
