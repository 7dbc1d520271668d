"""How much the service takes from a client, and how long it waits: in one place, for all of it."""

PATIENCE = 2.0
"""Seconds to wait for another process or for the database before an answer of 503."""
LARGEST_REQUEST = 1_000_000
"""Bytes of a body."""
DEEPEST_REQUEST = 32
"""Lists and objects within each other in a body."""
LARGEST_DIMENSION = 2000
"""Of a domain that is described by a number: its points and matrices take memory."""
AT_ONCE = 1000
"""Queries that may be asked for, and rounds that may be read, in one request."""

HEAD_SECONDS = 20.0
"""How long the head of a request may take, from its first byte or from the connection on."""
BODY_SECONDS = 20.0
"""How long its body may take."""
FINISH_SECONDS = 10
"""How long requests that have begun may take once the service is told to end."""

CONNECTIONS = 1000
"""Requests and streams at a time; more are answered with 503."""
STREAMS = 200
"""Streams of events at a time."""
STREAMS_EACH = 40
"""Streams of one visitor."""
OPEN_STUDIES = 64
"""Studies that are kept open; each has a thread and a connection to the database."""

BATCH = 256
"""Requests of a study that share a commit at most."""
BATCH_SECONDS = 0.05
"""After which a commit comes in any case, so that the first of many does not wait for the last."""
TOKENS_FRESH = 2.0
"""Seconds for which tokens that were read are believed: a revoked one is refused after these."""
STORE_FRESH = 1.0
"""Seconds for which it is believed that the store can be reached, or cannot."""
EVENTS_EVERY = 1.0
"""Seconds between two events of a stream."""
EVENT_ROUNDS = 2000
"""Rounds that a stream begins with."""
