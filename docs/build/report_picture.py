"""The picture of a report in docs/guide.md, taken in Chromium.

    python docs/build/report_picture.py

A shop of 1 500 visits with a daily cycle, fixed by its seeds; a quarter of a minute.
"""

from __future__ import annotations

import math
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

import dikin

PICTURE = Path(__file__).resolve().parents[1] / "images" / "report.png"
ROUNDS, WIDTH = 1500, 820


def shop(file: Path) -> dikin.Study:
    """A study whose best price is 9 and whose visitors come by day."""
    tuner = dikin.Tuner(
        {"price": dikin.Real(1, 14, start=5), "ads": dikin.Real(0, 60, start=40)},
        maximize=True,
        holdback=0.1,
        guard=0.02,
        covariates={"hour": dikin.Cycle(24)},
        seed=7,
    )
    study, noise = dikin.Study(file, "shop", tuner), random.Random(1)
    for t in range(ROUNDS):
        trial = study.ask(covariates={"hour": t % 24})
        lost = 2 * (trial["price"] - 9) ** 2 + 0.05 * (trial["ads"] - 20) ** 2
        day = 40 * math.sin(2 * math.pi * t / 24)
        study.tell(trial, 500 - lost + day + noise.gauss(0, 15))
    return study


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        with shop(Path(folder) / "studies.db") as study:
            study.report(page)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        window = browser.new_page(
            viewport={"width": WIDTH, "height": 800}, color_scheme="light", device_scale_factor=1.5
        )
        window.goto(page.as_uri())
        end = window.locator("section").nth(2).bounding_box()
        assert end is not None
        top: Any = {"x": 0, "y": 0, "width": WIDTH, "height": end["y"]}
        window.screenshot(path=PICTURE, full_page=True, clip=top)
        browser.close()


if __name__ == "__main__":
    main()
