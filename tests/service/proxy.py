"""A proxy as a load balancer is one: connections go to the backends in turn, past dead ones."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from typing import Self


class Proxy:
    """Listens at a port of this machine until the end of `with`."""

    def __init__(self, *ports: int) -> None:
        self._backends = ports
        self._turns = itertools.count()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        async with server:
            await self._end.wait()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = next(self._turns)
        for step in range(len(self._backends)):
            port = self._backends[(first + step) % len(self._backends)]
            with contextlib.suppress(OSError):
                behind, out = await asyncio.open_connection("127.0.0.1", port)
                await asyncio.gather(_copy(reader, out), _copy(behind, writer))
                return
        writer.close()

    def __enter__(self) -> Self:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._end.set)
        self._thread.join()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Pass on what comes, until one side ends."""
    with contextlib.suppress(OSError):
        while part := await source.read(65536):
            sink.write(part)
            await sink.drain()
    sink.close()
