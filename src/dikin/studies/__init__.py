"""Studies: learners that live in a database, shared by processes and safe from crashes."""
