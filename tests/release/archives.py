"""What is wrong with a wheel or a source archive, by its list of files."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parents[2]

KINDS = {".py", ".typed", ".js", ".css", ".html"}
"""How the names of the package's files end. Tables and pictures are of the documentation."""
WHEEL_LIMIT = 1_000_000
"""Bytes. It has half of that: one that is twice as large has something in it that nobody meant."""
SDIST_LIMIT = 20_000_000
"""Bytes; most of them are figures and tables of the documentation."""

NEEDED = (
    "pyproject.toml",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "CITATION.cff",
    "CONTRIBUTING.md",
    "RELEASING.md",
    "SECURITY.md",
    "Makefile",
    ".gitignore",
    ".ci/run",
)
"""Files of the root that a test reads, or that a user looks for."""
FOLDERS = ("src", "tests", "docs", "examples", "deploy", "evidence", ".github")
"""Folders of which the source archive has every file that a test may read."""
READ_BY_TESTS = {".py", ".md", ".yml", ".yaml", ".js", ".css", ".html", ".sh", ".json"}
"""How the names of such files end."""
NEVER = {"__pycache__", ".git", ".venv", "site", ".hypothesis", "node_modules", ".DS_Store"}
"""What may lie about in a checkout, and belongs in no archive."""


def wheel_names(wheel: Path) -> list[str]:
    """The files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def sdist_names(sdist: Path) -> list[str]:
    """The files in a source archive, without the folder that all of them are in."""
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    return [name.partition("/")[2] for name in names]


TRUSTED = "safe.directory=*"
"""Git looks into a checkout of another user too, as in a container that runs as root."""


def below(root: Path, folder: str) -> set[str]:
    """The files of a folder, by their paths from there, without what git ignores."""
    start = root / folder
    if (root / ".git").exists():
        listed = subprocess.run(
            ["git", "-c", TRUSTED, "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
            cwd=start,
            capture_output=True,
            check=True,
        )
        names = listed.stdout.decode().split("\0")[:-1]
    else:  # a source archive that was unpacked
        names = [path.relative_to(start).as_posix() for path in start.rglob("*")]
    return {name for name in names if (start / name).is_file() and not lies_about(name)}


def lies_about(name: str) -> bool:
    """Whether a file is a secret, or something that a program left behind."""
    path = PurePosixPath(name)
    secret = path.name == ".env" or (path.parent.name == "secrets" and path.name != "README.md")
    return secret or bool(NEVER & set(path.parts))


def suffix(name: str) -> str:
    """How a name ends."""
    return PurePosixPath(name).suffix


def wheel_faults(names: Iterable[str], root: Path = ROOT) -> list[str]:
    """What is wrong with the files of a wheel."""
    found = set(names)
    package = {name for name in found if ".dist-info/" not in name}
    wanted = {f"dikin/{name}" for name in below(root, "src/dikin")}
    faults = [f"{name} is not in the wheel" for name in sorted(wanted - package)]
    faults += [f"{name} is in the wheel, not in src" for name in sorted(package - wanted)]
    faults += [f"{name} is no file of a package" for name in sorted(package) if _foreign(name)]
    licences = [name for name in found if name.endswith(".dist-info/licenses/LICENSE")]
    return faults + ([] if licences else ["the licence is not in the wheel"])


def _foreign(name: str) -> bool:
    parts = PurePosixPath(name).parts
    return suffix(name) not in KINDS or "tests" in parts or lies_about(name)


def sdist_faults(names: Iterable[str], root: Path = ROOT) -> list[str]:
    """What is wrong with the files of a source archive."""
    found = set(names)
    wanted = {
        f"{folder}/{name}"
        for folder in FOLDERS
        for name in below(root, folder)
        if suffix(name) in READ_BY_TESTS
    }
    missing = sorted((wanted | set(NEEDED)) - found)
    faults = [f"{name} is not in the source archive" for name in missing]
    litter = sorted(filter(lies_about, found))
    return faults + [f"{name} belongs in no archive" for name in litter]


def size_faults(path: Path, limit: int) -> list[str]:
    """Whether an archive is larger than it should be."""
    size = path.stat().st_size
    return [f"{path.name} has {size:,} bytes; more than {limit:,}"] if size > limit else []
