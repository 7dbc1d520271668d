"""What stands between single backticks in a docstring: code, with a link if it is a public name."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from api_pages import entries
from docutils import nodes
from numpydoc.xref import DEFAULT_LINKS
from sphinx.addnodes import pending_xref

if TYPE_CHECKING:
    from sphinx.application import Sphinx


@cache
def known() -> dict[str, str]:
    """The full name of every public name, and of a class by its last part.

    A function's last part is often the name of an argument too: `smoothness`.
    """
    public = entries()
    classes = {thing.__name__: name for name, thing in public.items() if isinstance(thing, type)}
    return classes | {name: name for name in public}


def code(
    name: str, rawtext: str, text: str, lineno: int, inliner: Any, *_: Any
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """The role: `text` as code."""
    literal = nodes.literal(rawtext, text, classes=["xref", "py"])
    path = known().get(text.removesuffix("()"))
    if path is None:
        return [nodes.literal(rawtext, text)], []
    link = pending_xref(rawtext, literal, refdomain="py", reftype="obj", reftarget=path)
    link["refexplicit"], link["refdoc"] = True, inliner.document.settings.env.docname
    return [link], []


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect to Sphinx, and take off numpydoc's links to pages of other projects."""
    DEFAULT_LINKS.clear()
    app.add_role("name", code)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
