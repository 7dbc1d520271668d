"""How much the service takes from a client, and how long it waits: in one place, for all of it."""

PATIENCE = 2.0
"""Seconds to wait for another process or for the database before an answer of 503."""
LARGEST_REQUEST = 1_000_000
"""Bytes of a body."""
LARGEST_HEAD = 16_384
"""Bytes of a head that has not come at once."""
MOST_PIECES = 10_000
"""Chunks in which a body may come, or packets; to take in as many takes a tenth of a second."""
READ_AT_ONCE = 65_536
"""Bytes of a body that the event loop reads itself, in some 5 ms at most; what is larger is read in
a thread, for which small requests do not wait."""
DEEPEST_REQUEST = 32
"""Lists and objects within each other in a body."""
MOST_KEYS = 1000
"""Keys of one object in a body."""
FAULTS = 5
"""Faults of one request that an error lists."""

MOST_VALUES = 1000
"""Values of a setting of a tuner; entries of a point of a domain."""
MOST_PARTS = 100
"""Parameters of a tuner that are shares; parts of a domain."""
MOST_CONSTRAINTS = 100
"""Constraints of a tuner."""
LONGEST_CONSTRAINT = 10_000
"""Characters of one."""
LONGEST_NAME = 100
"""Characters of the name of a share; the library allows a parameter no more."""
MOST_ENTRIES = 25_000
"""Of the matrix of a polytope: to find its centre takes a second or two."""
LARGEST_STATE = 300_000
"""Numbers in the state of a learner or tuner; to write them takes a fifth of a second."""

AT_ONCE = 1000
"""Queries that may be asked for, and rounds that may be read, in one request."""
NUMBERS_AT_ONCE = 200_000
"""Numbers in a page of history; where points are large it has fewer rounds."""

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


def rounds_at_once(limit: int, size: int) -> int:
    """How many rounds one answer has, at most `limit`: fewer where a point has many numbers.

    Each round has a point, the best guess after it and, by name, the point again.
    """
    return max(1, min(limit, NUMBERS_AT_ONCE // (3 * size)))
