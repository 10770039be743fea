"""docs/for-assistants.md and llms.txt are what the tool writes, and nothing of the language is left out."""

from __future__ import annotations

import re

from docs.tools import language
from docs.tools.assistants import INDEX, PAGE, ROOT, index, page
from docs.tools.language_examples import EXPRESSIONS, STATEMENTS, TYPES
from floodmark.compiler import constructs


def test_both_files_are_what_the_tool_writes() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run python -m docs.tools.assistants"
    assert INDEX.read_text(encoding="utf-8") == index(), "run python -m docs.tools.assistants"


def test_the_page_has_all_that_the_language_has() -> None:
    text = page()
    for examples in (TYPES.values(), *EXPRESSIONS.values(), *STATEMENTS.values()):
        for example in examples:
            assert example.meaning in text, example.code
            assert example.code.splitlines()[0] in text
    replacements = (constructs.INSTEAD_OF_SYNTAX, constructs.INSTEAD_OF_FUNCTIONS, constructs.INSTEAD_OF_METHODS)
    for instead in (*replacements, *constructs.INSTEAD_OF_METHODS_OF.values()):
        assert all(said.removeprefix("; ") in text for said in instead.values())
    assert language.decorators() in text


def test_the_list_of_pages_names_pages_that_there_are() -> None:
    targets = re.findall(r"\]\(([^)]+)\)", INDEX.read_text(encoding="utf-8"))
    assert len(targets) > 10
    assert all((ROOT / target).exists() for target in targets)
    assert str(PAGE.relative_to(ROOT)) in targets
