"""Whether everything that names a version names the one that is to be released.

python tests/release/ready.py v0.2.0
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def stated(pattern: str, text: str) -> str | None:
    """What a line of a file states, without quotes."""
    found = re.search(pattern, text, flags=re.M)
    return found and found[1].strip("\"'")


def release_faults(tag: str, root: Path = ROOT) -> list[str]:
    """What is not ready for a release under this tag."""
    package, changelog, citation = (
        (root / name).read_text(encoding="utf-8")
        for name in ("src/dikin/__init__.py", "CHANGELOG.md", "CITATION.cff")
    )
    version, faults = tag.removeprefix("v"), []
    if tag != f"v{version}" or not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        faults.append(f"a tag is v and a version, such as v1.0.0; got {tag}")
    for name, found in (
        ("dikin.__version__", stated(r"^__version__ = (.*)$", package)),
        ("CITATION.cff", stated(r"^version: (.*)$", citation)),
    ):
        if found != version:
            faults.append(f"{name} says version {found}, the tag {version}")
    dated = stated(rf"^## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)$", changelog)
    if dated is None:
        faults.append(f"CHANGELOG.md has no heading such as: ## {version} (2030-01-31)")
    elif stated(r"^date-released: (.*)$", citation) != dated:
        faults.append(f"date-released of CITATION.cff is not {dated}, as CHANGELOG.md says")
    return faults


if __name__ == "__main__":
    found = release_faults(sys.argv[1])
    print("\n".join(found) or f"{sys.argv[1]} can be released")
    sys.exit(bool(found))
