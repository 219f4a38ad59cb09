"""Buttons. A button says by its id what it is about, so that it works after the bot was started again."""
import discord

from texts import BUTTONS, TEAM_WON

STYLES = {"start": discord.ButtonStyle.success, "won": discord.ButtonStyle.primary, "confirm": discord.ButtonStyle.success}


class Button(
    discord.ui.DynamicItem[discord.ui.Button],
    template=r"ek:(?P<what>[a-z]{1,10}):(?P<value>[0-9a-f]{0,40}):(?P<of>[A-Za-z0-9-]{1,48})",
):
    def __init__(self, what, value, of):
        self.what, self.value, self.of = what, str(value), str(of)
        label = TEAM_WON.format(number=int(value) + 1) if what == "won" else BUTTONS[what]
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
        return row(("start", place, own), ("again", place, own), ("void", "", own))
    if pickup["state"] == "playing":
        won = [("won", team, own) for team in range(len(pickup["picked"]["teams"]))]
        return row(*won, ("draw", "", own), ("void", "", own))
    return row()
