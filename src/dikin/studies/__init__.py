"""Studies: tuners stored in a database, shared by processes and safe from crashes."""
