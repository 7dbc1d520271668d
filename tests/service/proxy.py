"""A proxy as a load balancer is one: connections go to the backends in turn, past dead ones."""

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
        self._tasks: list[asyncio.Future[None]] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))

    async def _serve(self) -> None:
        self._loop, self._end = asyncio.get_running_loop(), asyncio.Event()
        server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        self._ready.set()
        await self._end.wait()
        server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        for writer in self._writers:  # that of a task which ended before it closed any, too
            writer.close()
        await asyncio.sleep(0)  # transports are closed by the loop's next turn

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self._tasks.append(asyncio.ensure_future(self._connected(reader, writer)))

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
    try:
        with contextlib.suppress(OSError):
            while part := await source.read(65536):
                sink.write(part)
                await sink.drain()
    finally:  # at the end of the proxy too: a socket left open is reported in any later test
        sink.close()


class LossyProxy(Proxy):
    """Loses the answer to the first request of the first connection, and breaks or mutes it."""

    def __init__(self, port: int, mutes: bool = False) -> None:
        super().__init__(port)
        self.lost, self.mutes = 0, mutes

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.lost:
            await super()._connected(reader, writer)
            return
        self.lost = 1
        behind, out = await asyncio.open_connection("127.0.0.1", self._backends[0])
        out.write(await reader.read(65536))
        await out.drain()
        await behind.read(65536)  # it was carried out
        out.close()
        if not self.mutes:
            writer.close()
