"""What is wrong with a wheel or a source archive, by its list of files."""

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

NEEDED = {
    *("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md"),
    *("RELEASING.md", "SECURITY.md", "Makefile", ".gitignore", ".ci/run"),
}
"""Files of the root that a test reads, or that a user looks for."""
FOLDERS = ("src", "tests", "docs", "examples", "deploy", "evidence", ".github")
"""Folders of which the source archive has every file that a test may read."""
READ_BY_TESTS = {".py", ".md", ".yml", ".yaml", ".js", ".css", ".html", ".sh", ".json"}
"""How the names of such files end."""
NEVER = {"__pycache__", ".git", ".venv", "site", ".hypothesis", "node_modules", ".DS_Store"}
"""What may lie about in a checkout, and belongs in no archive."""


def wheel_names(wheel: Path) -> list[str]:
    """Return the files in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        return archive.namelist()


def sdist_names(sdist: Path) -> list[str]:
    """Return the files in a source archive, without the folder that all of them are in."""
    with tarfile.open(sdist) as archive:
        names = [member.name for member in archive.getmembers() if member.isfile()]
    return [name.partition("/")[2] for name in names]


# Git looks into a checkout of another user too, as in a container that runs as root.
GIT = ["git", "-c", "safe.directory=*"]
LISTED = [*GIT, "ls-files", "--cached", "--others", "--exclude-standard", "-z"]


def below(root: Path, folder: str) -> set[str]:
    """Return the files of a folder, by their paths from there, without what git ignores."""
    start = root / folder
    if (root / ".git").exists():
        names = subprocess.check_output(LISTED, cwd=start, text=True).split("\0")[:-1]
    else:  # a source archive that was unpacked
        names = [path.relative_to(start).as_posix() for path in start.rglob("*")]
    return {name for name in names if (start / name).is_file() and not lies_about(name)}


def lies_about(name: str) -> bool:
    """Return whether a file is a secret, or something that a program left behind."""
    path = PurePosixPath(name)
    secret = path.name == ".env" or (path.parent.name == "secrets" and path.name != "README.md")
    return secret or bool(NEVER & set(path.parts))


def wheel_faults(names: Iterable[str], size: int = 0, root: Path = ROOT) -> list[str]:
    """Return what is wrong with a wheel of these files and bytes."""
    found = set(names)
    package = {name for name in found if ".dist-info/" not in name}
    wanted = {f"dikin/{name}" for name in below(root, "src/dikin")}
    faults = [f"{name} is not in the wheel" for name in sorted(wanted - package)]
    faults += [f"{name} is in the wheel, not in src" for name in sorted(package - wanted)]
    faults += [f"{name} is no file of a package" for name in sorted(package) if _foreign(name)]
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in found):
        faults.append("the licence is not in the wheel")
    return faults + _too_large(size, WHEEL_LIMIT)


def _foreign(name: str) -> bool:
    path = PurePosixPath(name)
    return path.suffix not in KINDS or "tests" in path.parts or lies_about(name)


def sdist_faults(names: Iterable[str], size: int = 0) -> list[str]:
    """Return what is wrong with a source archive of these files and bytes."""
    found = set(names)
    files = {f"{folder}/{name}" for folder in FOLDERS for name in below(ROOT, folder)}
    wanted = {name for name in files if PurePosixPath(name).suffix in READ_BY_TESTS} | NEEDED
    faults = [f"{name} is not in the source archive" for name in sorted(wanted - found)]
    faults += [f"{name} belongs in no archive" for name in sorted(filter(lies_about, found))]
    return faults + _too_large(size, SDIST_LIMIT)


def _too_large(size: int, limit: int) -> list[str]:
    return [f"{size:,} bytes, more than {limit:,}"] if size > limit else []
