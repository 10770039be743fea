"""Writes docs/language.md: ``python -m docs.tools.language``.

The examples are in docs/tools/language_examples.py, and a test compiles each of them. What a type takes is computed,
and what a decorator means is the first paragraph of its docstring.
"""

from __future__ import annotations

import ast
import inspect
import itertools
from collections.abc import Iterable, Sequence
from pathlib import Path

from docs.tools.language_examples import EXPRESSIONS, STATEMENTS, TYPES, Example, Examples
from floodmark.language import fairness, members
from floodmark.language.model import sized
from floodmark.language.widths import FIRST_WIDTHS

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = ROOT / "docs" / "language.md"

HEAD = """# The language

A model is a class of plain Python; CPython runs it, and compilers read the same source. This page lists what that
source may contain: every type and operation in one line, with what it costs. `python -m docs.tools.language` writes it,
and a test compiles every example. Everything else is refused when the spec is read, with file, line and what to write
instead.

The keys of a spec are in `docs/spec.md`; a model's source never mentions its spec.

In the examples `self` is the model; `Broker` is an identifier, `State` an enum, `Vote` and `Beat` are records, `log` is
a sequence of epochs, `queue` one without a capacity, `isr` a set of brokers, `votes` a set of records with a capacity,
`network` a bag, `end` a map from brokers to offsets, `leader` a broker or None, and `x` and `y` are integers.
"""

TYPE_HEAD = """## Types

Each has finitely many values, except containers without a capacity (see below). Bounds and capacities are integers or
expressions over the model's constants, in quotes: `Between(0, "max_offset")`, `Capacity("2 * brokers")`. "Bits" is the
size of a value of the example in a stored state, which a search stores, copies and compares. At 10^8 states, 64 bits
more are 800 MB more.
"""

TYPE_TAIL = """### Containers without a capacity

A capacity is part of the model: one element more is a model error. Where the model has no such limit, leave it out:
`network: Bag[Message]`. A packed state still needs room, so a search begins with a width of 2 for each such container.
When a step needs more, CPython names the container, and the search restarts with twice that width and says so. Its
result comes from one search with room for everything; nothing is ever truncated. Widths, counts and digests depend on
the model alone, not on the number of workers; `check` shows the widths with the largest sizes.

- The cost: a container takes up to twice the bits of one with the exact capacity, and a restart repeats the search so
  far. If that matters, declare the largest sizes that `check` shows as capacities.
- If nothing bounds a container the model has infinitely many states; the search ends at a limit, or where a variable
  takes more than 4,096 bits, and is undetermined.
- The type of an action's parameter may be or contain such a container only if the parameter is drawn: `require(entries
  in self.sent)`. Parameters of `@initial` and of liveness properties cannot be drawn, so they need a capacity.
- A field of the same name has the same width in all records.
- `prove --method bmc` widens as a search does. A proof by induction begins in any state of the declared types, so it
  requires a capacity. An export has the widths that a search found.
"""

EXPRESSION_HEAD = """## Expressions

Costs are those of compiled code, for each state in which it is evaluated; "size" is a container's capacity, not its
number of elements. Costs of nested expressions multiply. Compiled code evaluates nothing that CPython would not
evaluate: `and`, `or`, `if ... else` and the folds short-circuit.
"""

STATEMENT_HEAD = """## Statements

In an action every assignment is to a variable of the model, or to a local. Values are immutable: what looks like a
change in place, `self.isr.add(b)`, assigns to the variable, and a local keeps the value that it had. A value outside
the variable's type is a model error with its line; nothing wraps around.
"""

DECORATOR_HEAD = """## Decorators

A class derived from `Model` may have these methods; properties may also be functions in a file of their own, and then
the type of their parameter says which model they are about. Undecorated methods and plain functions are helpers,
inlined wherever they are called. Brackets may be empty: `@action()`.

An action, the method that sets the initial state, and a property of runs may have parameters, each with its type. A
type of at most 4,096 values is enumerated: truth values, integers, enums, identifiers, records, sets and maps of these
(`votes: Map[Broker, bool]`), also optional. A sequence, a bag, and a set with a capacity are drawn from the state
instead, as is what has more values: `require(entries in self.sent)`. To choose an order, take a map of places. An
invariant takes the model alone and says `all(... for b in Broker)`; `@transition` takes the model before and after.

`@fair` covers an action with any arguments, `@fair(strong=True)` likewise, and `@fair(each="broker")` each broker
separately; `each` is a parameter, a field of one, or a method that takes parameters of the action. A mapping with
`@refines` returns the other model in a state, with a value for each of its variables: `return
Memory(value=self.current())`.

A property may ask `enabled(self.sends)`: whether some parameters make an action possible in the state. All guards of
such an action stand at its beginning. A property of runs may ask it only of a model without bounds.
"""

TAIL = """## What costs most

- **Bits.** Leave out a variable that can be computed from others. `Set[T]` takes one bit for each possible element, and
  with a capacity, or with more than 1,024 possible elements, as many slots as it has room for. A map takes its value
  for each key. Tight bounds are the cheapest optimisation.
- **Successors.** An action is tried with every value of its parameters. A parameter that the first `require` draws from
  a set or a bag of the state (`require(vote in self.votes)`) takes only the elements of that container. The guard must
  be in the action itself, since a guard in a helper is tested only after the choice.
- **Slots.** Sets with a capacity, bags and sequences are compared and sorted slot by slot: `|` of two sets of capacity
  n takes n * n comparisons, `add` of one element n.
- **Code.** Helpers are inlined at each call and specialised for their arguments there. A helper that is large together
  with the helpers that it calls becomes a function, which its calls share; proofs for every size and exports refuse
  such a function.
"""


def main() -> None:
    """Writes the page."""
    PAGE.write_text(page(), encoding="utf-8")


def page() -> str:
    """The page as Markdown."""
    parts = [HEAD, TYPE_HEAD, _types(), TYPE_TAIL, EXPRESSION_HEAD, *_sections(EXPRESSIONS), STATEMENT_HEAD]
    parts += [*_sections(STATEMENTS), DECORATOR_HEAD, decorators(), TAIL]
    return "\n".join(part.rstrip("\n") + "\n" for part in parts)


def _types() -> str:
    model = sized(Examples(), FIRST_WIDTHS)
    rows = []
    for name, example in TYPES.items():
        bits = model.variable_types[name].bits
        rows.append([f"`{example.code}`", example.meaning, str(bits), example.cost])
    return _table(["type", "values", "bits", "the bits are"], rows)


def _sections(sections: dict[str, list[Example]]) -> Iterable[str]:
    for title, examples in sections.items():
        yield f"### {title}\n"
        yield _table(["", "means", "costs"], [[f"`{it.code}`", it.meaning, it.cost] for it in examples])


def decorators() -> str:
    """What each decorator marks, as a table."""
    rows = [[f"`@{name}`", _first_paragraph(doc)] for name, doc in _docs().items()]
    return _table(["decorator", "meaning"], rows)


def _docs() -> dict[str, str]:
    """The docstring of each decorator: the string below an assignment, or that of a function."""
    found: dict[str, str] = {}
    body = ast.parse(inspect.getsource(members)).body
    for before, after in itertools.pairwise(body):
        match before, after:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="_mark"))), ast.Expr(
                value=ast.Constant(value=str() as text)
            ):
                found[name] = text
    for function in (members.ranking, members.refines, fairness.fair, fairness.unfair):
        found[function.__name__] = inspect.getdoc(function) or ""
    return found


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().partition("\n\n")[0].replace("``", "`").split())


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [_row(header), _row(["---"] * len(header)), *(_row(row) for row in rows)]
    return "\n".join(lines) + "\n"


def _row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    main()
