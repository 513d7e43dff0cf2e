"""Pages that a person writes and a script fills."""

from pathlib import Path

import pytest

from tetrarchia_eval.marked_page import filled


def test_what_stands_between_the_marks_is_written_anew_and_nothing_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("Mine.\n<!-- table: written by docs/make.py -->\nold\n<!-- end of table -->\nMine too.\n")

    assert filled(page, "/some/where/make.py", {"table": "new"}) == page.read_text().replace("old", "new")


@pytest.mark.parametrize("text", ["", "<!-- end of table -->\n<!-- table: written by docs/make.py -->\n"])
def test_a_page_without_its_marks_is_one_sentence(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)

    with pytest.raises(ValueError, match=r"^page\.md needs the marks"):
        filled(page, "make.py", {"table": "new"})
