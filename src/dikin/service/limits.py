"""The limits of the service: how much it accepts from a client, and how long it waits."""

PATIENCE = 2.0
"""Seconds to wait for another process or for the database before answering with 503."""
LARGEST_REQUEST = 1_000_000
"""Bytes of the body of a request."""
LARGEST_HEAD = 16_384
"""Bytes of the head of a request that arrives in pieces."""
MOST_PIECES = 10_000
"""Chunks or packets in which a body may arrive; receiving that many takes a tenth of a second."""
READ_AT_ONCE = 65_536
"""Bytes of a body that the event loop parses itself, in about 5 ms at most. A thread parses larger
ones, so that small requests need not wait."""
DEEPEST_REQUEST = 32
"""Levels of nested lists and objects in a body."""
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
"""Characters of a constraint."""
LONGEST_NAME = 100
"""Characters of the name of a share; the library allows no more for a parameter."""
MOST_ENTRIES = 25_000
"""Entries of the matrix of a polytope: finding its centre takes a second or two."""
LARGEST_STATE = 300_000
"""Numbers in the state of a learner or tuner; writing them takes a fifth of a second."""

AT_ONCE = 1000
"""Queries that one request may ask for, and rounds that it may read."""
NUMBERS_AT_ONCE = 200_000
"""Numbers in a page of history; it has fewer rounds if points are large."""

HEAD_SECONDS = 20.0
"""Seconds that the head of a request may take, from its first byte or from the connection on."""
BODY_SECONDS = 20.0
"""Seconds that the body of a request may take."""
SEND_SECONDS = 20.0
"""Seconds in which a client must read what was sent to it, before the service holds more back."""
ANSWER_SECONDS = 10.0
"""Seconds that a study or the database may take for an answer; after that it is a 503."""
FINISH_SECONDS = 10
"""Seconds that running requests may still take once the service shuts down."""
CLOSE_SECONDS = 5.0
"""Seconds that open studies may take after that to be closed."""

CONNECTIONS = 4000
"""Connections; fewer where the system allows few file descriptors."""
CONNECTIONS_EACH = 500
"""Connections of one address that is not a proxy's."""
DESCRIPTORS = 800
"""File descriptors for all but connections: an open study needs up to ten."""
PIPELINE = 32
"""Requests that a connection may send before the first of them is answered."""
IN_FLIGHT_EACH = 200
"""Requests of one token that are answered at the same time."""
LARGE_EACH = 8
"""Of these, requests whose answers are large."""
LONG, LONG_EACH = 2, 1
"""Verifications and trims at a time, and of one token."""
REQUESTS_A_SECOND = 1000.0
"""Requests of one token in a second, in the long run; so many may come at once."""
COMPUTING = 0.8
"""Seconds of computing in a second that tokens share equally while requests of several wait."""
COMPUTED_AT_ONCE = 5.0
"""Seconds of computing that a token may use before that."""
STREAMS = 200
"""Concurrent streams of events."""
STREAMS_EACH = 40
"""Concurrent streams of one visitor."""
LOG_EVERY = 60.0
"""Seconds between two lines of the log of one kind, where clients could otherwise fill it."""
OPEN_STUDIES = 64
"""Studies open at a time; each has a thread and a connection to the database."""

BATCH = 256
"""The most requests of a study that share a commit."""
BATCH_SECONDS = 0.05
"""Seconds after which a commit is made in any case, so that the first request need not wait."""
LONGEST_TURN = 0.1
"""Seconds for which a study may keep other studies in the same file from writing."""
TOKENS_FRESH = 2.0
"""Seconds for which tokens are cached: a revoked one is refused after that."""
STORE_FRESH = 1.0
"""Seconds for which it is cached whether the store can be reached."""
EVENTS_EVERY = 1.0
"""Seconds between two events of a stream."""
EVENT_ROUNDS = 2000
"""Rounds in the first event of a stream."""


def rounds_at_once(limit: int, size: int) -> int:
    """The number of rounds in one answer, at most `limit`: fewer if a point has many numbers.

    Each round has a point, the best guess after it and, by name, the point again.
    """
    return max(1, min(limit, NUMBERS_AT_ONCE // (3 * size)))
