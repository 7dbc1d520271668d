"""Labels of tables as formulas: plain text such as sigma_t = t^-0.3 in the language of figures."""

from __future__ import annotations

import re

GREEK = "alpha beta delta eta kappa lambda mu nu rho sigma tau"
LETTERS = "T t d B"
"""What stands for a number where it stands alone in a label; other letters are words."""
_POWER = r"(?:\^(?:\([^()]*\)|-?[\w.]+))?"
_NAMES = "|".join([*GREEK.split(), *LETTERS.split()])
_SYMBOL = rf"(?:{_NAMES})(?:_[A-Za-z0-9]+)?(?!-?[A-Za-z]){_POWER}"
_TERM = rf"(?:(?:\d+(?:\.\d+)? ?)?{_SYMBOL}|\(?\bln T\b\)?{_POWER}|(?:O|sqrt)\({_SYMBOL}\))"
_NUMBER = r"-?\d+(?:\.\d+)?(?:/\d+)?(?![\w%])"
_FORMULA = re.compile(rf"(?<![\w'.`(]){_TERM}(?:(?: (?:=|\+|<|<=) | )(?:{_TERM}|{_NUMBER}))*")


def maths(label: str) -> str:
    r"""A label of a table with its formulas as a figure has them.

    >>> maths("first T^(3/4) rounds flat")
    'first $T^{3/4}$ rounds flat'
    >>> maths("sigma_t = 0.9 t^-0.25")
    '$\\sigma_{t} = 0.9\\,t^{-0.25}$'
    """
    return _FORMULA.sub(lambda match: f"${_typeset(match[0])}$", label.replace("$", r"\$"))


def _typeset(formula: str) -> str:
    """Plain text such as sigma_t = t^-0.3 in the language of formulas."""
    text = re.sub(r"\^\(([^()]*)\)|\^(-?[\w.]+)", lambda m: f"^{{{m[1] or m[2]}}}", formula)
    text = re.sub(r"sqrt\(([^()]*)\)", r"\\sqrt{\1}", text)
    text = re.sub(r"_([A-Za-z0-9]+)", r"_{\1}", text)
    text = re.sub(rf"(?<![A-Za-z\\])({'|'.join(GREEK.split())}|ln)(?![A-Za-z])", r"\\\1", text)
    return re.sub(r"(?<=[\w})]) (?=[\w\\(])", r"\\,", text)
