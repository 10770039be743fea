"""A digest of a model's behaviour: every state-changing step from its reachable states, wherever it leads.

Properties look at states and at steps. They see a step to a state outside the boundary, that state itself, and an
initial state outside the boundary, so these count. What no property sees does not: the name of a step, in how many ways
it can be taken, and which states within the boundary are initial. A step that changes nothing is left out by
convention: a property that rejects it would reject waiting, too. (Where one does, or where deadlocks are looked for, a
mutant that breaks it is killed before anyone asks whether it is equal.)
"""

from __future__ import annotations

import hashlib
from functools import cache

import numpy as np

from floodmark.checkers.codegen.jit import GOOD, MachineCode, object_image
from floodmark.checkers.codegen.loop_compiler import Word, Words, call_model, compile_loops, exported, offset, words_at
from floodmark.checkers.kernel.compiled_model import build_kernel
from floodmark.checkers.kernel.loops import SEED_1, SEED_2, fingerprint, same
from floodmark.checkers.kernel.memory import reserve
from floodmark.checkers.native.search import reachable_set
from floodmark.checkers.search_result import Options
from floodmark.compiler.layout import Layout, digest_text
from floodmark.language.model import Model
from floodmark.language.reference import initial_states, within_boundary

NW = 1

# The input of ``sum_steps``, an array of words.
STATES, NUMBER, EXPAND, OUT, CONTEXT, SUM_1, SUM_2 = range(7)
FIELDS = 7


@exported
def sum_steps(w: Words) -> Word:
    """Adds up the fingerprints of all steps from the states: each pair of states once, and none from a state to
    itself."""
    states = words_at(w[STATES])
    out = words_at(w[OUT])
    context = words_at(w[CONTEXT])
    for i in range(w[NUMBER]):
        state = offset(states, i * NW)
        made = call_model(w[EXPAND], state, out, context)
        seed_1 = fingerprint(state, SEED_1)
        seed_2 = fingerprint(state, SEED_2)
        for j in range(made):
            after = offset(out, j * NW)
            known = same(after, state)
            for k in range(j):
                known = known | same(after, offset(out, k * NW))
            if known == 0:
                w[SUM_1] = w[SUM_1] + fingerprint(after, seed_1)
                w[SUM_2] = w[SUM_2] + fingerprint(after, seed_2)
    return 0


def steps_digest(model: Model) -> str:
    """The digest of a model's steps. Raises what ``reachable_set`` raises; the model has been searched before."""
    rows, model = reachable_set(model, Options(workers=1))
    states = np.ascontiguousarray(rows)
    kernel = build_kernel(model, {}, symmetry=False, bounded=False)
    interface = kernel.interface
    out = reserve((interface.most_successors + 1) * interface.layout.words)
    context = reserve(interface.context_words + 1)
    fields = np.zeros(FIELDS, dtype=np.uint64)
    fields[STATES], fields[NUMBER] = states.ctypes.data, len(states)
    fields[EXPAND] = kernel.model.address("expand")
    fields[OUT], fields[CONTEXT] = out.ctypes.data, context.ctypes.data
    _loops(interface.layout.words).function("sum_steps", 1)(fields.ctypes.data)
    return digest_text(int(fields[SUM_1]), int(fields[SUM_2])) + _starts_outside(model, interface.layout)


def _starts_outside(model: Model, layout: Layout) -> str:
    """The hash of the initial states that lie outside the boundary."""
    outside = {layout.pack(state) for _, state in initial_states(model) if not within_boundary(model, state)}
    return hashlib.sha256(repr(sorted(outside)).encode()).hexdigest() if outside else ""


@cache
def _loops(words: int) -> MachineCode:
    module = str(compile_loops([fingerprint, same, sum_steps], {"NW": words}))
    return MachineCode([object_image({"steps": module}, lambda: module, GOOD)])
