"""Checks of the Discord bot's parts with hostile input: python3 checks.py INTEGRATIONS"""
import base64, hashlib, hmac, json, os, sys, tempfile, time

sys.path.insert(0, os.path.join(sys.argv[1], "discord"))
import interactions, rest, settings, text, webhooks
from memory import Memory

EVIL = "@everyone <@1> <@&2> **b** `c` [x](https://evil) \u202e\n# head ||" + "z" * 5000
HERE = settings.Channel("2" * 18, "3" * 18, "pickup", ("hosted", "recorded", "formed"), {})


class Found:
    keys = (b"k" * 24,)
    channels = (HERE,)
    of_queue = settings.Settings.of_queue


def names_cannot_ping_or_format():
    shown = text.plain(EVIL)
    assert "@everyone" not in shown and "<@" not in shown.replace("\\<", ""), shown
    assert "\n" not in shown and "\u202e" not in shown and len(shown) < 200
    assert text.plain("a*b") == "a\\*b"
    assert "`" not in text.code("a`b\n")[1:-1]
    for odd in ("discord-1@everyone", "discord-", "discord-123\n", "x", "", 7, None):
        assert text.user_of(odd) is None, odd


def messages_fit_and_ping_only_the_players():
    seats = [{"player": f"discord-{10**17 + n}"} for n in range(150)] + [{"player": EVIL}] * 3
    data = {"match": 1, "queue": "pickup", "map": EVIL, "address": EVIL, "teams": [{"players": seats}],
            "chances": {"picked": {"win": [0.25, 0.75], "humans": [7, 5], "bots": [0, 1]}, "started": None}}
    for kind in ("formed", "hosted"):
        found = webhooks.messages(Found(), {"type": f"match.{kind}", "data": data})
        assert len(found) > 1
        assert "As picked (7 v 6), team 2 has a chance of 75 % to win." in found[-1][1]["content"]
        for channel, body in found:
            assert channel == HERE.channel and len(body["content"]) <= 2000
            allowed = body["allowed_mentions"]
            assert allowed["parse"] == [] and len(allowed["users"]) <= 100
            assert all(f"<@{user}>" in body["content"] for user in allowed["users"])
    data |= {"outcome": "won", "winner": 0, "closeness": 0.5}
    data["teams"] = [{"score": 3, "players": [{"player": "x", "name": EVIL}]}, {"score": 1.5, "players": None}, 7]
    data["teams"].pop()
    data["chances"]["started"] = {"win": [0.5, 0.5]}
    (_, body), = webhooks.messages(Found(), {"type": "match.recorded", "data": data})
    assert "3 : 1.5" in body["content"] and "Closeness: 50 %" in body["content"]
    assert "As picked (7 v 6), team 2 had" in body["content"] and "As started, team 1 had" in body["content"]
    assert body["allowed_mentions"]["users"] == []
    odd = (None, 7, [], {}, {"win": 7}, {"win": [None]}, {"win": [10**400, 1]}, {"win": [float("nan"), 1e400]},
           {"win": ["x"], "humans": "y"})
    for one in odd:
        data["chances"] = {"picked": one, "started": one}
        (_, body), = webhooks.messages(Found(), {"type": "match.recorded", "data": data})
        assert "chance" not in body["content"], one
        data["chances"] = one
        webhooks.messages(Found(), {"type": "match.recorded", "data": data})


def contents_of_any_form_are_refused_and_not_posted_twice(folder):
    memory = Memory(os.path.join(folder, "a.db"))
    forms = [b"", b"{", b"[]", b"7", b'{"id":7}', b'{"id":"e","data":{"queue":"pickup","teams":7},"type":"match.formed"}']
    for form in forms:
        assert webhooks.receive(Found(), memory, form) is False, form
    assert memory.due() == []
    event = {"id": "evt_1", "type": "match.recorded", "data": {"queue": "pickup", "match": 1, "teams": []}}
    for _ in range(3):
        assert webhooks.receive(Found(), memory, json.dumps(event).encode()) is True
    (number, channel, nonce, body, tries), = memory.due()
    assert channel == HERE.channel and len(nonce) <= 25 and tries == 0
    memory.again(number, 60)
    assert memory.due() == [] and Memory(os.path.join(folder, "a.db")).due() == []
    memory.run("UPDATE posts SET at = 0")
    assert memory.tidy() == 1


def signatures_of_webhooks():
    key, body, now = Found.keys[0], b'{"a":1}', time.time()

    def headers(key=key, at=int(now), event="evt_1", version="v1"):
        digest = hmac.new(key, f"{event}.{at}.".encode() + body, hashlib.sha256).digest()
        signed = f"{version},{base64.b64encode(digest).decode()}"
        return {"webhook-id": event, "webhook-timestamp": str(at), "webhook-signature": signed}

    good = headers()
    assert webhooks.is_signed(Found.keys, good, body, now)
    assert webhooks.is_signed((b"o" * 24, key), {**good, "webhook-signature": "v1,AA== " + good["webhook-signature"]}, body, now)
    for bad in (headers(key=b"x" * 24), headers(at=int(now) - 301), headers(at=int(now) + 301), headers(version="v2"),
                {**good, "webhook-id": "evt_2"}, {**good, "webhook-timestamp": "²"}, {**good, "webhook-signature": "é"}, {}):
        assert not webhooks.is_signed(Found.keys, bad, body, now), bad
    assert not webhooks.is_signed(Found.keys, good, body + b" ", now)


def signatures_of_discord():
    # The third test of RFC 8032, 7.1, has a message of two bytes: here "1" is the timestamp's and 0xaf... is not text,
    # so the message is signed anew.
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    key = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
    public = key.public_key().public_bytes_raw()
    signed = key.sign(b"1000" + b"{}").hex()
    assert interactions.is_signed(public, signed, "1000", b"{}", 1100)
    assert not interactions.is_signed(public, signed, "1000", b"{}", 1301)
    assert not interactions.is_signed(public, signed, "1000", b"{ }", 1100)
    assert not interactions.is_signed(public, signed, "100", b"0{}", 1100), "the parts may not move"
    for bad in ("", "00" * 64, signed + "00", "é", signed.upper()[:-2] + "gg"):
        assert not interactions.is_signed(public, bad, "1000", b"{}", 1100), bad


def options_are_those_of_the_channel():
    channel = settings.channel_of({"guild": "2" * 18, "channel": "3" * 18, "queue": "pickup",
                                   "option": [{"name": "role", "type": "string", "required": True}]})
    stated = lambda value: list(interactions.attributes(channel, [{"name": "role", "value": value}]))
    assert stated('a "b" \\') == ['role="a \\"b\\" \\\\"']
    assert stated(True) == ['role="true"']
    for bad in ("a\nCANCEL x", "\x00", "z" * 65, None, ["a"], {}):
        try:
            stated(bad)
        except ValueError:
            continue
        raise AssertionError(f"{bad!r} is taken")


def waits_are_bounded():
    assert rest.number("nan", 1.0) <= 3600 and rest.number("1e99", 1.0) == 3600 and rest.number(None, 5.0) == 5.0
    assert rest.number("-5", 1.0) == 0.0 and rest.number([], 2.0) == 2.0


with tempfile.TemporaryDirectory() as folder:
    names_cannot_ping_or_format()
    messages_fit_and_ping_only_the_players()
    contents_of_any_form_are_refused_and_not_posted_twice(folder)
    signatures_of_webhooks()
    signatures_of_discord()
    options_are_those_of_the_channel()
    waits_are_bounded()
print("all checks pass")
