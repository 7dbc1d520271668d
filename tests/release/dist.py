"""`make dist`: a wheel and a source archive, checked and tried as a user gets them.

python tests/release/dist.py [--out dist]
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from release.archives import ROOT, sdist_faults, sdist_names, wheel_faults, wheel_names

TRIED_FROM_THE_ARCHIVE = ("tests/release", "tests/test_readme.py", "tests/test_structure.py")
"""Tests that read many of the files: one that was left out would show."""


def run(*command: str | Path, cwd: Path | None = None, **environment: str) -> str:
    """Return what a command prints, and end where it fails."""
    streams: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=os.environ | environment, check=False, **streams)
    if done.returncode:
        last = "\n".join(done.stdout.splitlines()[-40:])
        raise SystemExit(f"{' '.join(map(str, command))}\n{last}")
    return done.stdout


def build(out: Path) -> tuple[Path, Path]:
    shutil.rmtree(out, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", out, ROOT)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return wheel, sdist


def refuse(faults: list[str]) -> None:
    """End where something is wrong."""
    if faults:
        raise SystemExit("\n".join(faults))


def try_wheel(wheel: Path, folder: Path) -> None:
    """Install the wheel alone, and do what a user does first."""
    venv.create(folder / "venv", with_pip=True)
    programs = folder / "venv" / ("Scripts" if os.name == "nt" else "bin")
    python, dikin = programs / "python", programs / "dikin"
    run(python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel)
    version = wheel.name.split("-")[1]
    where = run(python, "-I", "-c", "import dikin; print(dikin.__file__)", cwd=folder)
    if not Path(where.strip()).is_relative_to(folder):
        raise SystemExit(f"dikin came from {where.strip()}, not from the wheel")
    (six_lines,) = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.S)
    run(python, "-I", "-c", six_lines, cwd=folder)
    if version not in run(dikin, "--version"):
        raise SystemExit(f"dikin --version does not say {version}")
    store = ("--url", folder / "studies.db")
    run(dikin, "study", "create", "shop", "--param", "price=1:14:4", "--maximize", *store)
    if "shop" not in run(dikin, "study", "list", *store):
        raise SystemExit("the study that was created is not listed")


def try_sdist(sdist: Path, folder: Path) -> str:
    """Run tests from the unpacked archive; how many it has."""
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    (root,) = folder.glob("dikin-*")
    source = {"PYTHONPATH": str(root / "src")}
    pytest = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider")
    collected = run(*pytest, "--collect-only", cwd=root, **source)
    run(*pytest, *TRIED_FROM_THE_ARCHIVE, cwd=root, **source)
    return collected.strip().splitlines()[-1]


def main() -> None:
    """Build, check, try."""
    parser = argparse.ArgumentParser(description="Builds and checks what a release consists of.")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="where the archives go")
    out = parser.parse_args().out
    wheel, sdist = build(out)
    print(run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist).strip())
    refuse(wheel_faults(wheel_names(wheel), wheel.stat().st_size))
    refuse(sdist_faults(sdist_names(sdist), sdist.stat().st_size))
    for archive, names in ((wheel, wheel_names(wheel)), (sdist, sdist_names(sdist))):
        print(f"{archive.name}: {len(names)} files, {archive.stat().st_size:,} bytes")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for one, again in zip((wheel, sdist), build(folder / "again"), strict=True):
            if one.read_bytes() != again.read_bytes():
                raise SystemExit(f"{one.name} has other bytes when it is built again")
        try_wheel(wheel, folder)
        print("the wheel, installed alone: the six lines, --version, study create")
        print(f"the source archive, unpacked: {try_sdist(sdist, folder)}")


if __name__ == "__main__":
    main()
