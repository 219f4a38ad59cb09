"""A Discord bot for queues of Evenkeel: slash commands to join and leave, pings with the address, results.

python3 bot.py bot.toml --register    sets the slash commands of the guilds
python3 bot.py bot.toml               runs the bot
"""
import argparse, json, logging, signal, sys, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import interactions, rest, settings, webhooks
from daemon import Asker, Ear
from memory import Memory

LONGEST = 128 * 1024  # bytes of a request
AT_ONCE = 32  # requests at the same time


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10  # seconds to wait for any part of a request

    def do_POST(self):
        bot = self.server.bot
        if not bot.places.acquire(blocking=False):
            return self.reply(503)
        try:
            self.handle_post(bot)
        except OSError:
            self.close_connection = True
        except Exception:
            logging.exception("a request has failed")
            self.reply(500)
        finally:
            bot.places.release()

    def handle_post(self, bot):
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdecimal() or int(length) > LONGEST:
            return self.reply(413 if length else 411)
        body = self.rfile.read(int(length))
        if len(body) < int(length):
            raise ConnectionError("the request is cut off")
        if self.path == "/interactions":
            self.interact(bot, body)
        elif self.path == "/evenkeel":
            self.receive(bot, body)
        else:
            self.reply(404)

    def interact(self, bot, body):
        signature = self.headers.get("X-Signature-Ed25519", "")
        timestamp = self.headers.get("X-Signature-Timestamp", "")
        if not interactions.is_signed(bot.settings.public_key, signature, timestamp, body):
            return self.reply(401)  # Discord tries whether wrong signatures are refused
        try:
            interaction = json.loads(body)
            answer = bot.commands.answer(interaction) if isinstance(interaction, dict) else None
        except (ValueError, AttributeError, TypeError):
            answer = None
        self.reply(200 if answer else 400, answer)

    def receive(self, bot, body):
        headers = {name.lower(): value for name, value in self.headers.items()}
        if not webhooks.is_signed(bot.settings.keys, headers, body):
            return self.reply(401)
        known = webhooks.receive(bot.settings, bot.memory, body)
        bot.poster.wake.set()
        self.reply(204 if known else 400)

    def reply(self, status, content=None):
        body = json.dumps(content).encode() if content else b""
        self.send_response(status)
        if body:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if status >= 400:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64

    def handle_error(self, request, client_address):
        logging.debug("a connection has failed", exc_info=True)


class Bot:
    def __init__(self, found):
        self.settings, self.memory = found, Memory(found.database)
        self.commands = interactions.Commands(found, Asker(found), self.memory)
        self.poster = rest.Poster(found, self.memory)
        self.ear = Ear(found, self.heard)
        self.places = threading.BoundedSemaphore(AT_ONCE)
        self.server = Server(found.listen, Handler)
        self.server.bot = self

    def heard(self, words):
        webhooks.push(self.memory, words)
        self.poster.wake.set()

    def run(self):
        self.poster.start()
        self.ear.start()
        host, port = self.server.server_address[:2]
        logging.info("listening on %s:%d", host, port)
        self.server.serve_forever()


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("configuration")
    args.add_argument("--register", action="store_true", help="set the slash commands of the guilds, and end")
    args = args.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s", stream=sys.stderr)
    try:
        found = settings.load(args.configuration)
    except settings.Mistake as error:
        raise SystemExit(f"{args.configuration}: {error}") from error
    if args.register:
        return rest.register(found)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    Bot(found).run()


if __name__ == "__main__":
    main()
