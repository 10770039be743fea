"""Finds successors that a state already has, whose steps need not be judged again.

Two kinds are frequent: a step that leaves the state as it is, and one that leads where the step before it led, because
the two differ in a choice that made no difference. Where a successor is made, the code only asks whether it may be one
of them; ``again`` then looks for it in ``out``.

Why a verdict does not depend on it:

- The rows of ``out`` below ``total`` are the successors that this call of ``expand`` kept, all words of each, and each
  was judged from this state. A hint only chooses which of them is compared, word for word; so a wrong or stale one at
  worst has a step judged again. An action that is called by itself, as in a walk, finds ``BEFORE`` to be 0, and then
  its rows are those since it was called.
- To judge a step is a function of the two states: a transition property, a refinement and a boundary read neither the
  action nor its arguments. What it leaves is a bit that is set (the step is broken, a failure, a premise that is met)
  or a memory of what was evaluated (``memory.py``); doing it twice leaves what doing it once does.
- What counts steps is elsewhere. How often an action fired, and with that how many states were generated, is counted
  before the successor is looked at. A successor outside the boundary is in no row, so each such step is judged, and
  counted as cut.
- A row is left out only where a search asks for it (``DISTINCT``), and only if an equal one stays. So a search finds
  the same states, a state with an enabled step has a successor (it is no deadlock), and the orbits of its successors
  are the same. Everything else gets every row: coverage, walks, edges for liveness (which have their own code), two
  versions that are compared, single steps.
"""

from __future__ import annotations

from collections.abc import Sequence

from floodmark.checkers.codegen import llvm_ir as ir
from floodmark.checkers.codegen.bits import I1, I64, Value, const
from floodmark.compiler.guard_order import GuardOrder
from floodmark.language.types import BoolType, EnumType

AGAIN = "again"
BEFORE, STAYED, DISTINCT = range(4, 7)
"""Places in the context: how many successors the actions before this one had, 0 for an action that is called by itself;
a hint which of all of them is the state itself; 1 where successors are left out that came before, else 0."""


def often_repeats(steps: GuardOrder) -> bool:
    """Whether an action tries the values of an enumeration one after the other: a message may be lost, or may not."""
    return bool(steps.choices) and isinstance(steps.choices[-1].parameter.type, EnumType | BoolType)


def may_repeat(
    builder: ir.IRBuilder, state: Value, place: Value, number: Value, words: Sequence[Value], latest: bool
) -> Value:
    """Whether a successor of these words, at its place in ``out``, is the state itself, or with ``latest`` the
    successor before it, if its action had any: ``number`` are those so far."""
    stays = _same(builder, state, words)
    if not latest:
        return stays
    some = builder.icmp_unsigned("!=", number, const(0))
    before = builder.gep(place, [builder.sub(const(0), builder.mul(builder.zext(some, I64), const(len(words))))])
    return builder.or_(stays, builder.and_(some, _same(builder, before, words)))


def emit_again(function: ir.Function, judge: ir.Function, width: int) -> None:
    """``again``: (state*, place*, context*, number) -> the successors that are to be kept of the one at ``place``, as
    ``judge`` would say it. ``number`` are the successors that the action had before."""
    builder = ir.IRBuilder(function.append_basic_block("entry"))
    state, place, context, number = function.args
    words = [builder.load(builder.gep(place, [const(index)])) for index in range(width)]
    total = builder.add(builder.load(builder.gep(context, [const(BEFORE)])), number)
    hint = builder.gep(context, [const(STAYED)])
    found: Value = const(0, I1)
    for position in (builder.load(hint), builder.sub(total, const(1))):
        exists = builder.icmp_unsigned("<", position, total)
        back = builder.select(exists, builder.sub(position, total), const(0))
        earlier = builder.gep(place, [builder.mul(back, const(width))])
        found = builder.or_(found, builder.and_(exists, _same(builder, earlier, words)))
    with builder.if_then(found):
        builder.ret(builder.sub(const(1), builder.load(builder.gep(context, [const(DISTINCT)]))))
    builder.store(total, hint)
    builder.ret(builder.call(judge, [state, place, context]))


def _same(builder: ir.IRBuilder, place: Value, words: Sequence[Value]) -> Value:
    differs: Value = const(0)
    for index, word in enumerate(words):
        differs = builder.or_(differs, builder.xor(builder.load(builder.gep(place, [const(index)])), word))
    return builder.icmp_unsigned("==", differs, const(0))
