"""Writes docs/for-assistants.md and llms.txt: ``python -m docs.tools.assistants``.

The page is for an assistant that writes a model. Its example is the README's, its lists are those of the
language and of the specs: what is accepted, what is refused and what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs.tools import language, spec
from docs.tools.language_examples import EXPRESSIONS, STATEMENTS, TYPES
from floodmark.checkers.verdict.result import MEANINGS
from floodmark.compiler import constructs

LEGEND = language.HEAD.strip().rpartition("\n\n")[2]
ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "for-assistants.md"
INDEX = ROOT / "llms.txt"

HEAD = """# Writing a model

Floodmark checks models of replication protocols. A model is a class of plain Python, its spec a TOML file. The search
visits every state within the spec's constants and prints a shortest counterexample. `python -m docs.tools.assistants`
writes this page from the language's own tables: what they do not have is refused, with file, line and what to write
instead.

## A whole model

`lease.py`:
"""

STEPS = """Its spec, `lease.toml`, in the same folder:

```toml
{spec}```

`floodmark check lease.toml` checks it; `floodmark show lease.toml` prints what it read.

## In this order

1. Write down the text's variables with the tightest types that hold their values, then one action for each atomic step.
   Name the section of the text, or the class and method, in each docstring.
2. Put the guards of an action first, as `require(...)`. Draw a message from what is in flight: `require(message in
   self.network)`.
3. Write properties of what users lose (a committed record, a second leader), not of how the protocol works. An
   invariant that repeats a rule finds nothing.
4. Add a `@reachable` property for each thing that the model has to be able to do.
5. Run `floodmark check`. It reports, without being asked, an action that never fired, a premise that was never true and
   a state space that a boundary cut off: each of these means that the model says less than it seems to.
6. Override one `@rule` in a subclass for each known mistake, and list it under `[[flawed]]` with the property that has
   to notice. `floodmark mutate` changes the model by small steps; a mutant that survives is a missing property.
7. `floodmark check --json - SPEC` prints results as JSON. Exit codes:

"""

MISTAKES = """## What goes wrong most often

- A model in which nothing happens has no violations. Look at the number of states and at how often each action fired.
- A property that is true by construction kills no mutant.
- A constant that is too small hides what needs another broker or another epoch: check at several sizes, with `[[row]]`.
- A message that can be delivered twice, late or never has to be so in the model: a `Set` that actions do not empty
  never loses a message, a `Bag` counts copies.
- An action that does two things atomically which the implementation does one after the other hides what can happen in
  between.

"""


TOOLS = """## As tools

`floodmark mcp` serves the commands by the Model Context Protocol, over standard input and output
(`pip install "floodmark[assistants]"`). A client's configuration names the command and the folder of the project:

```json
{"mcpServers": {"floodmark": {"command": "floodmark", "args": ["mcp", "path/to/project", "--max-seconds", "60"]}}}
```

The tools are `check`, `show`, `step`, `explain`, `mutate`, `prove`, `conform`, `simulate` and `diff`, which compares a
spec with that of a commit. Each call runs in a process of its own, within the server's time and memory or less, and
names files of the project only. Answers are data. `weak` lists what a green result does not show: actions that never
fire, each with the guard that came nearest and a run to the state where it stops the action; vacuous properties;
bounds. `step` walks a model along a path and gives the guard that stops each step. CPython runs the models, so serve
only projects whose code you would run.

"""


def main() -> None:
    """Writes both files."""
    PAGE.write_text(page(), encoding="utf-8")
    INDEX.write_text(index(), encoding="utf-8")


def page() -> str:
    """The page as Markdown."""
    return "".join(_parts())


def index() -> str:
    """The list of pages for assistants, in the form of llmstxt.org: each page of the README's last table."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    title, _, rest = readme.partition("\n\n")
    summary = rest.partition("\n\n")[0].replace("\n", " ")
    rows = re.findall(r"^\| (\[.*) \| (.*) \|$", readme.partition("## Read on")[2], re.MULTILINE)
    lines = [f"- {links}: {about}" for links, about in rows]
    return "\n".join([title, "", f"> {summary}", "", "## Pages", "", *lines]) + "\n"


def _parts() -> Iterator[str]:
    yield HEAD
    yield f"\n```python\n{_block('model')}```\n\n"
    yield STEPS.format(spec=_block("model spec"))
    yield "".join(f"   - {int(code)}: {text}\n" for code, text in MEANINGS.items())
    yield f"\n{MISTAKES}{TOOLS}## What a model consists of\n\n"
    yield f"{language.DECORATOR_HEAD.partition(chr(10) * 2)[2]}\n{language.decorators()}\n"
    yield "## Types\n\n" + _list((it.code, it.meaning) for it in TYPES.values())
    for title, sections in (("Expressions", EXPRESSIONS), ("Statements", STATEMENTS)):
        yield f"\n## {title}\n\n{LEGEND}\n\n" if sections is EXPRESSIONS else f"\n## {title}\n\n"
        yield _list((it.code, it.meaning) for examples in sections.values() for it in examples)
    yield "\n## What is refused, and what to write instead\n\n"
    yield _list(_refused())
    yield "\n" + spec.page().replace("\n# ", "\n## ").replace("# The spec", "## The spec", 1)


def _block(name: str) -> str:
    """The code block of the README behind a comment."""
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (found,) = re.findall(rf"<!-- {re.escape(name)} -->\n```\w+\n(.*?)```", readme, re.DOTALL)
    return str(found)


def _refused() -> Iterator[tuple[str, str]]:
    for syntax, instead in constructs.INSTEAD_OF_SYNTAX.items():
        yield syntax.__name__, instead
    for function, instead in constructs.INSTEAD_OF_FUNCTIONS.items():
        yield f"{_named(function)}(...)", instead.removeprefix("; ")
    for method, instead in constructs.INSTEAD_OF_METHODS.items():
        yield f".{method}(...)", instead.removeprefix("; ")
    for kind, methods in constructs.INSTEAD_OF_METHODS_OF.items():
        for method, instead in methods.items():
            yield f".{method}(...) of a {kind.__name__.removesuffix('Type')}", instead.removeprefix("; ")


def _named(function: Any) -> str:
    return str(getattr(function, "__qualname__", function))


def _list(rows: Any) -> str:
    return "".join(f"- {_code(code)}: {text}\n" for code, text in rows)


def _code(text: str) -> str:
    """Code in a line; several lines of it are joined as one could write them, for reading alone."""
    lines = [line.strip() if number else line for number, line in enumerate(text.splitlines())]
    return f"`{' / '.join(lines)}`"


if __name__ == "__main__":
    main()
