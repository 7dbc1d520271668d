"""A web server with one worker: while it serves a request, the others wait in its queue.

Its first line of output is its port, which the system chose. Each line of its input is a number of
milliseconds, what a request takes from then on, and is repeated when it counts. The end of its
input is its own end, so that it cannot outlive the program that started it, however that ends.
"""

from __future__ import annotations

import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Worker:
    """Serves one request at a time."""

    def __init__(self) -> None:
        self.milliseconds = 0.0
        self._busy = threading.Lock()

    def serve(self) -> None:
        with self._busy:
            time.sleep(self.milliseconds / 1000)


WORKER = Worker()


class Handler(BaseHTTPRequestHandler):
    """One connection. Waiting for the worker is the queue."""

    protocol_version = "HTTP/1.1"  # connections stay open
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        WORKER.serve()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """A line for each request would be thousands."""


class Server(ThreadingHTTPServer):
    """Speaks of no connection that the other end gave up: its program may end at any instant."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def main() -> None:
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    for line in sys.stdin:
        WORKER.milliseconds = float(line)
        print(line, end="", flush=True)


if __name__ == "__main__":
    main()
