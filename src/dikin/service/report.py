"""The page of a study as one file with its data in it, which opens without a service."""

from __future__ import annotations

import json
import os
import re
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path

import dikin
from dikin.errors import ParameterError, StateError, shown
from dikin.files import path_of, replace_file
from dikin.service.endpoints import page
from dikin.studies.study import Study

PAGE = files("dikin.service") / "page"
SCRIPTS = ("dom", "api", "series", "charts", "overview", "study", "page")
"""Each imports only those before it."""
IMPORT = re.compile(r"^import .*?;\n", re.M | re.S)


def write_report(study: Study, path: str | os.PathLike[str]) -> Path:
    """Write the page of a study to an HTML file, and return its path."""
    file = path_of(path)
    if file.suffix.lower() not in (".html", ".htm"):
        raise ParameterError(f"a report is an HTML page: name it .html, got {shown(path)}")
    seen = page(study)
    if not seen["study"]["rounds"]:
        raise StateError(f"study {study.name!r} has no rounds to report on yet")
    seen["written"] = f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    replace_file(file, _page_with(json.dumps(seen)).encode())
    return file


def _page_with(data: str) -> str:
    text, style = ((PAGE / name).read_text(encoding="utf-8") for name in ("index.html", "page.css"))
    scripts = (IMPORT.sub("", (PAGE / f"{name}.js").read_text("utf-8")) for name in SCRIPTS)
    script = re.sub(r"^export ", "", "\n".join(scripts), flags=re.M)
    inlined = data.replace("<", "\\u003c")
    parts = {
        "{version}": dikin.__version__,
        '<link rel="stylesheet" href="/page/page.css">': f"<style>\n{style}</style>",
        '<script type="module" src="/page/page.js"></script>': "",
        "</body>": f'<script type="application/json" id="data">{inlined}</script>\n'
        f'<script type="module">\n{script}</script>\n</body>',
    }
    for old, new in parts.items():
        text = text.replace(old, new)
    return text
