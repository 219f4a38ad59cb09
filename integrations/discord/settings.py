"""The configuration of the bot: a TOML file, as example.toml shows. Every mistake ends the program with a reason."""
import os, re, tomllib
from dataclasses import dataclass, field


class Mistake(Exception):
    """What is wrong with the configuration."""


@dataclass(frozen=True)
class Place:
    """What is played in a channel."""

    ruleset: str
    voice: tuple  # names or ids of the voice channels of the teams
    lobby: str | None  # name or id of the voice channel to which people return
    queue: str | None
    hosted: bool  # whether the queue finds game servers


@dataclass(frozen=True)
class Settings:
    token: str = field(repr=False)
    daemon: str
    daemon_token: str = field(repr=False)
    organisers: str
    poll: float  # seconds between two looks at queues
    usual: Place
    channels: dict  # by the channel's id

    def place(self, channel):
        return self.channels.get(str(channel), self.usual)


def load(path):
    try:
        with open(path, "rb") as file:
            table = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        raise Mistake(f"{path}: {error}") from error
    discord, daemon = table.pop("discord", {}), table.pop("daemon", {})
    channels = table.pop("channel", [])
    usual = place_of(table, None)
    found = Settings(
        token=secret(discord, "DISCORD_TOKEN"),
        daemon=text(daemon, "url", "http://127.0.0.1:7998").rstrip("/"),
        daemon_token=secret(daemon, "EVENKEEL_TOKEN"),
        organisers=text(table, "organisers", "Organiser"),
        poll=number(table, "poll_seconds", 3.0),
        usual=usual,
        channels={snowflake(one): place_of(one, usual) for one in channels},
    )
    for left, name in ((table, path), (discord, "[discord]"), (daemon, "[daemon]"), *((one, "[[channel]]") for one in channels)):
        if left:
            raise Mistake(f"{name}: unknown key {next(iter(left))}")
    return found


def place_of(table, usual):
    """What a table says about what is played; `usual` says it otherwise."""
    voice = table.pop("voice", usual.voice if usual else ("Team 1", "Team 2"))
    hosted = table.pop("hosted", usual.hosted if usual else False)
    if not isinstance(voice, (list, tuple)) or not all(isinstance(one, str) for one in voice) or not isinstance(hosted, bool):
        raise Mistake("voice must be a list of names or ids in quotes, and hosted true or false")
    return Place(
        ruleset=text(table, "ruleset", usual.ruleset if usual else "pickup"),
        voice=tuple(voice),
        lobby=text(table, "lobby", usual.lobby if usual else None),
        queue=text(table, "queue", usual.queue if usual else None),
        hosted=hosted,
    )


def text(table, key, default):
    value = table.pop(key, default)
    if value is not None and (not isinstance(value, str) or not value):
        raise Mistake(f"{key} must be text in quotes")
    return value


def number(table, key, default):
    value = table.pop(key, default)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.05 <= value <= 60:
        raise Mistake(f"{key} must be 0.05 to 60")
    return value


def snowflake(table):
    value = table.pop("id", "")
    if not isinstance(value, str) or not re.fullmatch(r"\d{5,20}", value):
        raise Mistake("id of a [[channel]] must be an id of Discord: digits in quotes")
    return value


def secret(table, variable):
    """A token from the environment, from a file or from the configuration."""
    path, value = table.pop("token_file", None), table.pop("token", None)
    value, path = os.environ.get(variable) or value, os.environ.get(f"{variable}_FILE") or path
    if path and not value:
        try:
            with open(path, encoding="utf-8") as file:
                value = file.read(4096).strip()
        except OSError as error:
            raise Mistake(f"token_file: {error}") from error
    if not value:
        raise Mistake(f"a token is missing: set {variable}, {variable}_FILE, token_file or token")
    return value
