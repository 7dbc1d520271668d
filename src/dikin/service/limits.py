"""The limits of the service: how much it accepts from a client, and how long it waits.

Slow heads, connections of one address and answers that nobody reads are limited by the proxy in
front of the service (`deploy/`).
"""

PATIENCE = 2.0
"""Seconds to wait for another process or for the database before answering with 503."""
LARGEST_REQUEST = 1_000_000
"""Bytes of the body of a request."""
READ_AT_ONCE = 65_536
"""Bytes of a body that the event loop parses itself, in about 5 ms at most. A thread parses larger
ones, so that small requests need not wait."""
DEEPEST_REQUEST = 32
"""Levels of nested lists and objects in a body."""
MOST_KEYS = 1000
"""Keys of one object in a body."""

BODY_SECONDS = 20.0
"""Seconds that the body of a request may take."""
IDLE_SECONDS = 30
"""Seconds for which a connection stays open between two requests."""
ANSWER_SECONDS = 10.0
"""Seconds that a study or the database may take for an answer; after that it is a 503."""
FINISH_SECONDS = 10
"""Seconds that running requests may still take once the service shuts down."""
CLOSE_SECONDS = 5.0
"""Seconds that open studies may take after that to be closed."""

CONNECTIONS = 1000
"""Connections; a request over any further one is answered with 503."""
IN_FLIGHT_EACH = 200
"""Requests of one token that are answered at the same time."""
AT_ONCE_EACH = 4
"""Requests of one token that a study takes at the same time; further ones wait for their turn."""
REQUESTS_A_SECOND = 1000.0
"""Calls of one token in a second, in the long run; so many may come at once. A request is one call,
and one more for each further trial that it asks for."""
BYTES_A_CALL = 1000
"""Bytes of a body that count as a further call."""
REFUSAL_SECONDS = 0.5
"""Seconds after which a call beyond these limits is refused: repeating it at once costs little."""
OPEN_STUDIES = 1000
"""Studies in memory at a time."""
IDLE_CONNECTIONS = 16
"""Connections of studies that nobody asks at the moment."""
UNUSED_SECONDS = 600.0
"""Seconds after which a study that nobody asks is closed."""
THREADS = 16
"""Studies that compute or write at a time."""

BATCH = 256
"""The most requests of a study that share a transaction."""
BATCH_SECONDS = 0.05
"""Seconds after which a transaction ends in any case, so that the first request need not wait."""
STATUS_SECONDS = 600.0
"""Seconds for which a status of a study without new rows is believed, but for its ages."""
SCRAPE_SECONDS = 0.1
"""Seconds that `/metrics` waits for studies with new rows; a later scrape has the others."""
TOKENS_FRESH = 2.0
"""Seconds for which tokens are cached: a revoked one is refused after that."""
