"""What all figures share: a style, colours that everyone distinguishes, and a way to the disk."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

from dikin.serialization import replace_file

# Okabe and Ito's palette (2008), which people with any colour vision can distinguish.
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"]
GREY = "#777777"


def pyplot() -> Any:
    """Matplotlib in the style of every figure here, without a screen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})
    return plt


def save_figure(figure: Any, file: Path, **options: Any) -> None:
    """Write a figure as PNG, the file replaced as a whole."""
    content = io.BytesIO()
    figure.savefig(content, format="png", **({"dpi": 120} | options))
    pyplot().close(figure)
    replace_file(file, content.getvalue())
