"""Files that earlier versions wrote, with the values that were read from them then."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def expected(version: str = "state8") -> Any:
    return json.loads(gzip.decompress((FOLDER / version / "expected.json.gz").read_bytes()))


def saved(version: str = "state8") -> list[bytes]:
    """Return the saved tuners and learners."""
    with zipfile.ZipFile(FOLDER / version / "saved.zip") as archive:
        return [archive.read(name) for name in archive.namelist()]


def sqlite_file(folder: Path, version: str = "state8") -> Path:
    """A copy of the SQLite file that may be written."""
    file = folder / "studies.sqlite"
    file.write_bytes(gzip.decompress((FOLDER / version / "studies.sqlite.gz").read_bytes()))
    return file


def postgres_dump() -> bytes:
    """The same studies as SQL, for `psql`."""
    return gzip.decompress((FOLDER / "state8" / "postgres.sql.gz").read_bytes())
