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
    except (OSError, ValueError) as error:
        raise Mistake(getattr(error, "strerror", None) or str(error)) from error
    discord, daemon = section(table, "discord"), section(table, "daemon")
    channels, folder = table.pop("channel", []), os.path.dirname(path)
    if not isinstance(channels, list) or not all(isinstance(one, dict) for one in channels):
        raise Mistake("channel must be sections [[channel]]")
    usual = place_of(table, None)
    found = Settings(
        token=secret(discord, "DISCORD_TOKEN", folder),
        daemon=text(daemon, "url", "http://127.0.0.1:7998").rstrip("/"),
        daemon_token=secret(daemon, "EVENKEEL_TOKEN", folder),
        organisers=text(table, "organisers", "Organiser"),
        poll=number(table, "poll_seconds", 3.0),
        usual=usual,
        channels={snowflake(one): place_of(one, usual) for one in channels},
    )
    for left, name in ((table, "the file"), (discord, "[discord]"), (daemon, "[daemon]"), *((one, "[[channel]]") for one in channels)):
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


def section(table, name):
    value = table.pop(name, {})
    if not isinstance(value, dict):
        raise Mistake(f"{name} must be a section [{name}]")
    return value


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


def secret(table, variable, folder):
    """A token from the environment, from a file or from the configuration. A file that the configuration names is looked for
    in the folder of the configuration."""
    value, path = text(table, "token", None), text(table, "token_file", None)
    value = os.environ.get(variable) or value
    path = os.environ.get(f"{variable}_FILE") or (path and os.path.join(folder, path))
    if path and not value:
        try:
            with open(path, encoding="utf-8") as file:
                value = file.read(4096).strip()
        except (OSError, UnicodeDecodeError) as error:
            raise Mistake(f"token_file {path}: {getattr(error, 'strerror', None) or error}") from error
    if not value:
        raise Mistake(f"a token is missing: set {variable}, {variable}_FILE, token_file or token")
    return value
