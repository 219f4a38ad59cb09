"""The daemon, over `/v1`. Every call may be said twice, so one without an answer is sent again."""
import asyncio, json, logging
from urllib.parse import quote, urlencode

import aiohttp

LIMIT = 20.0  # seconds for a call with all its repetitions
ONCE = 5.0  # seconds for one request


class Refused(Exception):
    """The daemon has answered that it does not do this."""

    def __init__(self, status, detail):
        super().__init__(detail)
        self.status = status


class Unreachable(Exception):
    """The daemon has not answered in time."""


class Daemon:
    def __init__(self, settings):
        self.url, self.token, self.session = settings.daemon, settings.daemon_token, None

    async def open(self):
        self.session = aiohttp.ClientSession(
            headers={"Authorization": f"Bearer {self.token}"}, timeout=aiohttp.ClientTimeout(total=ONCE))

    async def close(self):
        if self.session:
            await self.session.close()

    async def call(self, method, *path, body=None, limit=LIMIT, **query):
        """The answer; None where there is none. The parts of the path and the query may contain anything."""
        url = "/".join([self.url, "v1", *(quote(str(part), safe="") for part in path)])
        if query := {key: value for key, value in query.items() if value is not None}:
            url += "?" + urlencode(query)
        clock = asyncio.get_running_loop().time
        until, wait = clock() + limit, 0.1
        while True:
            try:
                return await self.once(method, url, body)
            except (aiohttp.ClientError, asyncio.TimeoutError, Unreachable) as error:
                if clock() + wait >= until:
                    raise Unreachable(str(error)) from error
                logging.debug("%s %s: %s", method, url, error)
            await asyncio.sleep(wait)
            wait = min(2 * wait, 2.0)

    async def once(self, method, url, body):
        async with self.session.request(method, url, json=body) as answer:
            raw = await answer.read()
            content = json.loads(raw) if raw and "json" in answer.content_type else None
            if answer.status in (429, 503):
                raise Unreachable(str(content))
            if answer.status >= 400:
                raise Refused(answer.status, (content or {}).get("detail", str(answer.status)))
            return content

    def pickup(self, method, pickup, *what, body=None):
        return self.call(method, "pickups", pickup, *what, body=body)

    async def pickups(self, **query):
        return (await self.call("GET", "pickups", **query))["pickups"]
