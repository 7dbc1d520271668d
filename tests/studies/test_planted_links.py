"""Links that the owner of a folder puts beside a database: none is followed, whoever runs it."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

import dikin
from dikin import errors
from dikin.studies.database import open_database
from studies.small import plain

ENDINGS = ["-wal", "-shm", "-journal"]
NOBODY = 65534
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root may act for others")


AS_NOBODY = """
import os, sys
import dikin
from dikin.studies.database import open_database
open_database(sys.argv[1], 1.0)  # what is imported late may not be readable for others
os.setgroups([])
os.setgid(65534)
os.setuid(65534)
for file in sys.argv[1:]:
    try:
        with dikin.Study(file, "a", patience=60.0) as study:
            study.ask()
        print("asked")
    except dikin.DikinError as error:
        print(error)
"""


def ask_as_nobody(*files: str) -> list[str]:
    """What a client of another user than root prints, a line for each file."""
    run = subprocess.run(
        [sys.executable, "-c", AS_NOBODY, *files], capture_output=True, text=True, check=False
    )
    assert not run.stderr
    return run.stdout.splitlines()


def everything(folder: Path) -> dict[str, tuple[int, ...]]:
    """Owner, mode, size and time of change of all that lies in a folder and below."""
    found = {str(path): path.lstat() for path in [folder, *folder.rglob("*")]}
    return {
        path: (s.st_uid, s.st_gid, s.st_mode, s.st_size, s.st_mtime_ns) for path, s in found.items()
    }


@pytest.fixture
def study_file(file: str) -> str:
    """A study that nobody holds; where that is possible, it and its folder are another user's."""
    with dikin.Study(file, "a", plain()) as study:
        study.tell(study.ask(), 0.5)
    if os.geteuid() == 0:
        os.chown(Path(file).parent, NOBODY, NOBODY)
        os.chown(file, NOBODY, NOBODY)
    return file


@pytest.fixture
def victims(tmp_path: Path) -> Path:
    """A folder with a file, a hidden file and a folder that belong to somebody else."""
    tmp_path.chmod(0o777)
    (tmp_path / "file").write_bytes(b"precious")
    (tmp_path / ".hidden").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "file").write_bytes(b"precious")
    return tmp_path


def plant(study_file: str, ending: str, target: Path) -> Path:
    """Put a link in the place of a file beside a database."""
    beside = Path(f"{study_file}{ending}")
    if beside.is_dir():
        beside.rmdir()
    beside.unlink(missing_ok=True)
    beside.symlink_to(target)
    return beside


def ask(file: str) -> None:
    with dikin.Study(file, "a") as study:
        study.ask()


@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
@pytest.mark.parametrize("ending", ENDINGS)
def test_a_link_beside_a_database_is_refused(
    study_file: str, victims: Path, ending: str, target: str
) -> None:
    link = plant(study_file, ending, victims / target)
    before = everything(victims)
    with pytest.raises(errors.StoreError, match=f"{ending} is a link"):
        ask(study_file)
    assert everything(victims) == before
    assert link.is_symlink()
    link.unlink()
    ask(study_file)


@needs_root
@pytest.mark.parametrize("target", ["file", "nothing"])
def test_an_ordinary_user_follows_none_either(study_file: str, victims: Path, target: str) -> None:
    """A copy of the database for each ending, and one that may be asked."""
    folder, copies = Path(study_file).parent, []
    os.chown(victims / "file", NOBODY, NOBODY)
    for ending in (*ENDINGS, ""):
        copies.append(f"{folder}/copy{ending}.db")
        for beside in (file for file in folder.iterdir() if file.name.startswith("studies.db")):
            name = beside.name.removeprefix("studies.db")
            shutil.copy(beside, copies[-1] + name)
            os.chown(copies[-1] + name, NOBODY, NOBODY)
        if ending:
            plant(copies[-1], ending, victims / target)
    before = everything(victims)
    *refused, asked = ask_as_nobody(*copies)
    assert asked == "asked"
    for ending, words in zip(ENDINGS, refused, strict=True):
        assert f"{ending} is a link" in words
    assert everything(victims) == before


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_second_name_of_another_file_is_refused(
    study_file: str, ending: str, tmp_path: Path
) -> None:
    victim, beside = Path(study_file).parent / "victim", Path(f"{study_file}{ending}")
    victim.write_bytes(b"precious")
    beside.unlink(missing_ok=True)
    os.link(victim, beside)
    with pytest.raises(errors.StoreError, match=f"{ending} is a link"):
        ask(study_file)
    assert victim.read_bytes() == b"precious"
    assert victim.stat().st_uid == os.geteuid()


# --- the folder itself ---------------------------------------------------------------------------


def test_a_folder_that_became_a_link_is_not_followed(study_file: str, victims: Path) -> None:
    """Between the instant a client found the file and the one when it writes beside it."""
    path = Path(study_file).resolve()
    inside = path.parent / "inside"
    inside.mkdir()
    path.rename(inside / path.name)
    with closing(open_database(inside / path.name, 1.0)) as database:
        inside.rename(path.parent / "moved")
        inside.symlink_to(victims)
        before = everything(victims)
        with pytest.raises(errors.StoreError):
            database.begin()
    assert everything(victims) == before


# --- modes and owners ----------------------------------------------------------------------------


def modes(file: str) -> set[int]:
    """The modes of a database and of all beside it; of the folder without the right to look in."""
    beside = Path(file).parent.rglob("*")
    return {stat.S_IMODE(path.stat().st_mode) & 0o666 for path in beside}


@pytest.fixture
def generous() -> Iterator[None]:
    """A process that gives everybody everything it makes, unless it is told otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous")
def test_a_new_database_is_its_owners_alone(file: str) -> None:
    with dikin.Study(file, "a", plain()) as study:
        study.ask()
        names = {path.name for path in Path(file).parent.iterdir()}
        assert names == {f"studies.db{ending}" for ending in ("", "-wal", "-shm")}
        assert modes(file) == {0o600}


@pytest.mark.parametrize("mode", [0o600, 0o660, 0o666])
def test_what_is_made_beside_a_database_has_its_mode(file: str, mode: int) -> None:
    dikin.Study(file, "a", plain()).close()
    for beside in Path(file).parent.glob("studies.db-*"):
        beside.unlink()
    Path(file).chmod(mode)
    with dikin.Study(file, "a") as study:
        study.ask()
        assert modes(file) == {mode}


@needs_root
def test_what_root_makes_beside_a_database_belongs_to_its_owner(study_file: str) -> None:
    for beside in Path(study_file).parent.glob("studies.db-*"):
        beside.unlink()
    with dikin.Study(study_file, "a") as study:
        study.ask()
        found = [path.stat() for path in Path(study_file).parent.rglob("*")]
        assert len(found) == 3
        assert {(s.st_uid, s.st_gid) for s in found} == {(NOBODY, NOBODY)}


@needs_root
def test_a_group_that_shares_a_database_shares_what_is_beside_it(study_file: str) -> None:
    """As docs/live.md describes it: root makes the files, one of the group goes on."""
    folder = Path(study_file).parent
    folder.chmod(0o2770)
    for path in [folder, *folder.iterdir()]:
        os.chown(path, 0, NOBODY)
    subprocess.run(f"chmod g+rwX {study_file}*", shell=True, check=True)
    assert ask_as_nobody(study_file) == ["asked"]
    ask(study_file)
