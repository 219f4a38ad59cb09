"""Checks of the bot's parts without Discord: hostile names, mentions, and its configuration.

python3 checks.py BOT_FOLDER    in an empty folder
"""
import os, sys

sys.path.insert(0, sys.argv[1])
import people, queueing, settings, shown, texts

HOSTILE = ["@everyone", "<@500000000000000001>", "<@&1>", "*b*_i_`c`", "[a](http://x)", "\u202eabc", "# head", "a\nb", "||x||", "x" * 500]


def pickup(names):
    players = [{"id": f"discord-{n:05}"} for n in range(len(names))]
    return {"pickup": "p", "state": "picked", "ruleset": "a*b*", "place": 0, "names": {one["id"]: name for one, name in zip(players, names)},
            "picked": {"teams": [{"players": players[::2], "chance": 0.5}, {"players": players[1::2], "chance": None}],
                       "why": ["discord-00000 and discord-000001 @everyone"] * 40},
            "said": [], "result": None, "match": None, "reason": None}


for name in HOSTILE:
    plain = texts.plain(name)
    assert len(plain) <= 100 and "\n" not in plain and "\u202e" not in plain, plain
    assert "@everyone" not in plain and "<@" not in plain.replace("\\<", ""), plain
said = shown.match(pickup(HOSTILE * 6))
assert len(said) <= 2000 and "@everyone" not in said, said
assert len(shown.why(pickup(HOSTILE))) <= 2000
of = pickup(["Ann", "Bob"])
assert shown.named(of, "discord-00000 and discord-000001, discord-00001") == "Ann and discord-000001, Bob"
# A name that is the id of another, or a part of one, is not replaced once more.
of["names"] = {"discord-00000": "discord-00001", "discord-00001": "\\1 discord-00000"}
assert shown.named(of, "discord-00000, discord-00001") == "discord-00001, \\1 discord-00000"
assert people.named("discord-123450 and discord-12345", {"discord-12345": "Ann", "discord-123450": "Bob"}) == "Bob and Ann"
of["names"] = {"discord-00000": "Ann", "discord-00001": "Bob"}
# Why the teams are as they are: what became of friends and wishes, with names, and teams counted from 1.
of["picked"]["why"] = [
    "chance of team 0 to win 0.502973, ratio 1.000000", "picked: ratio_gap 0.010515 costs 1.0515",
    "party given up: discord-00000, discord-00001", "wishes for a team: 1 of 2 granted",
    "wish not granted: discord-00001 to team 0, the teams would be too uneven: chance of the weaker team 0.3 at best, instead of 0.5",
    "with discord-00000 on team 1 instead: chance of team 0 to win 0.362757, ratio 0.662716"]
assert shown.why(of).split("\n") == [
    "- Of 100 such matches, Team 1 is expected to win 50.", "- These friends could not play together: Ann, Bob.", "- Wishes for a team: 1 of 2 granted.",
    "- The wish of Bob for Team 1 was not granted: the teams would be too uneven.",
    "- Nobody has a rated match yet, so everybody counts the same.", "- With Ann on Team 2 instead, Team 1 would win 36 of 100."], shown.why(of)
assert people.mentioned("<@500000000000000001> <@!500000000000000002> <@500000000000000001> 5") == [500000000000000001, 500000000000000002]
assert people.user_of("discord-500000000000000001") == 500000000000000001 and people.user_of("guid") is None
assert queueing.stated("tier=5 modes=a,b sure=yes id=x") == {"tier": 5, "modes": ["a", "b"], "sure": "yes"}

GOOD = "ruleset = 'futsal'\n[discord]\ntoken = 'a'\n[daemon]\ntoken = 'b'\n[[channel]]\nid = '300000000000000001'\nqueue = 'quick'\n"


def load(text):
    with open("bot.toml", "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(text)
    return settings.load("bot.toml")


found = load(GOOD)
assert found.place(300000000000000001).queue == "quick" and found.place(5).queue is None
assert found.place(300000000000000001).voice == ("Team 1", "Team 2") and "'a'" not in repr(found)
for wrong in (GOOD.replace("futsal'", "futsal"), GOOD.replace("queue", "colour"), GOOD.replace("id = '3", "id = 'x"),
              GOOD.replace("token = 'b'", ""), "voice = 3\n" + GOOD, GOOD.replace("[discord]", "discord = 'x'\n[other]"), "channel = 'x'\n" + GOOD.split("[[")[0],
              "channel = ['x']\n" + GOOD.split("[[")[0], GOOD.replace("'a'", "5"), GOOD.replace("token = 'a'", "token_file = 5"), "\udcff", "poll_seconds = 0\n" + GOOD, "colour = 1\n" + GOOD):
    try:
        load(wrong)
    except settings.Mistake:
        continue
    raise AssertionError(wrong)
try:
    settings.load("nofile.toml")
except settings.Mistake as mistake:
    assert "nofile" not in str(mistake), f"the name is said twice: {mistake}"
# A file with a token is looked for beside the configuration, as the daemon does it.
os.mkdir("elsewhere")
for name, content in (("a.token", "secret\n"), ("bot.toml", GOOD.replace("token = 'a'", "token_file = 'a.token'"))):
    with open(os.path.join("elsewhere", name), "w", encoding="utf-8") as file:
        file.write(content)
assert settings.load("elsewhere/bot.toml").token == "secret"
# What the daemon answers is said in words for people.
for answer, words in (("handle: the link is to another player", "out of date"), ("player: must have at most 255 bytes", "cannot be a name"),
                      ("a ticket of 3 players: 1 to 2 fit on a team", "3 together"), ("Ann: tier is missing", "tier=…"),
                      ("Ann: tier must be a whole number from 1 to 9", "must be a whole number"), ("the match is void", "does not count"),
                      ("players[0].wish: invalid value: integer `-1`, expected u8", "wrong form")):
    assert words in texts.refusal(answer), answer
assert texts.refusal("a sentence that nobody has translated") is None
assert people.unknown("<@500000000000000001>, <@!500000000000000002>") == "" and people.unknown("ann <@500000000000000001>") == "ann"
print("all checks pass")
