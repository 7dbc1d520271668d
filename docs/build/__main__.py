"""`python docs/build`: every page that is made from CSVs, written anew."""

from __future__ import annotations

from pathlib import Path

import evidence_page
import rates_page
import real_data_page
import which_learner_page

from dikin.serialization import replace_file

DOCS = Path(__file__).resolve().parent.parent
PAGES = {
    "evidence.md": (evidence_page.render, "evidence"),
    "rates.md": (rates_page.render, "rates"),
    "real_data.md": (real_data_page.render, "real_data"),
    "which_learner.md": (which_learner_page.render, "compare"),
}
"""Each page, what makes it, and the folder of its CSVs and its template."""

if __name__ == "__main__":
    for name, (render, folder) in PAGES.items():
        replace_file(DOCS / name, render(DOCS / folder).encode())
