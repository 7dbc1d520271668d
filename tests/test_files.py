"""Files that are written: whole or not at all, with the mode they had, and never a device."""

import os
import stat
from pathlib import Path

import pytest

import dikin
from dikin.errors import NotAFileError
from dikin.files import replace_file


def learner() -> dikin.Predictive:
    return dikin.Predictive(dikin.Ball(2), seed=1)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_that_exists_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "tuner.json"
    file.write_text("old")
    file.chmod(mode)
    learner().save(file)
    assert stat.S_IMODE(file.stat().st_mode) == mode
    assert dikin.load(file).rounds == 0


def test_a_new_file_has_the_mode_that_files_have(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    learner().save(tmp_path / "tuner.json")
    assert (tmp_path / "tuner.json").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_file_that_exists_keeps_its_owner(tmp_path: Path) -> None:
    file = tmp_path / "tuner.json"
    file.write_text("old")
    os.chown(file, 4321, 4322)
    learner().save(file)
    found = file.stat()
    assert (found.st_uid, found.st_gid) == (4321, 4322)


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    file, link = tmp_path / "real" / "tuner.json", tmp_path / "link.json"
    file.write_text("old")
    link.symlink_to(file)
    learner().save(link)
    assert link.is_symlink()
    assert dikin.load(file).rounds == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real"]


def test_a_link_to_nothing_makes_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "link.json").symlink_to(tmp_path / "new.json")
    learner().save(tmp_path / "link.json")
    assert (tmp_path / "new.json").exists()
    assert (tmp_path / "link.json").is_symlink()


@pytest.mark.parametrize("kind", ["folder", "pipe", "device", "link to a folder"])
def test_what_is_no_file_is_refused_and_stays(tmp_path: Path, kind: str) -> None:
    target = tmp_path / "target"
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    elif kind == "device":
        target = Path("/dev/null")
    else:
        target.symlink_to(tmp_path)
    before = os.stat(target).st_mode
    with pytest.raises(NotAFileError, match=r"folder|device or a pipe"):
        learner().save(target)
    assert os.stat(target).st_mode == before
    assert not list(tmp_path.glob("*.part"))


@pytest.mark.parametrize("path", [None, b"tuner.json", 3, "a\0b"])
def test_what_is_no_path_is_refused(path: object) -> None:
    with pytest.raises(NotAFileError, match="path"):
        learner().save(path)  # type: ignore[arg-type]
    with pytest.raises(NotAFileError, match="path"):
        dikin.load(path)  # type: ignore[arg-type]


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        replace_file(tmp_path / "nowhere" / "file", b"")
