"""The changes that mutants make."""

from pathlib import Path

from evidence.mutants import Places, drawn, known

SOURCE = b'''"""A docstring with 1 < 2."""

LIMIT = 3


def inside(x: float, margin: float = 0.5) -> bool:
    if not x < LIMIT and True:
        print(x)
    return x + margin > min(x * 2, 7)
'''
CHANGES = {
    *((3, "3", "4"), (6, "0.5", "0.55"), (7, "not ", ""), (7, "<", "<="), (7, "and", "or")),
    *((7, "True", "False"), (8, "print(x)", "None"), (9, ">", ">="), (9, "+", "-")),
    *((9, "min", "max"), (9, "*", "/"), (9, "2", "3"), (9, "7", "8")),
}


def test_every_rule_changes_one_place() -> None:
    found = Places("module", SOURCE).found
    assert {(each.line, each.before, each.after) for each in found} == CHANGES
    lines = SOURCE.splitlines()
    for mutation in found:
        changed = mutation.of(SOURCE).splitlines()
        differ = [i for i, line in enumerate(changed, 1) if line != lines[i - 1]]
        assert differ == [mutation.line]
        assert mutation.after.encode() in changed[mutation.line - 1]


def test_a_draw_is_the_same_again_for_each_package() -> None:
    draw = drawn(["theory", "curvature"], 4)
    assert draw == drawn(["theory"], 4) + drawn(["curvature"], 4)
    assert [each.package for each in draw] == ["theory"] * 4 + ["curvature"] * 4
    assert draw[:2] == drawn(["theory"], 2)


def test_faults_of_a_list_that_are_gone_are_left_out(tmp_path: Path) -> None:
    file = tmp_path / "known.csv"
    line = "vectors,from __future__,from __past__\nvectors,no such text,\n"
    file.write_text(f"module,before,after\n{line}", encoding="utf-8")
    (found,) = known(file)
    assert found[0] == "vectors"
    assert found[3:] == ("from __future__", "from __past__")
