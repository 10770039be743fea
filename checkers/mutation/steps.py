"""A digest of what a model can do: of its reachable states and of every step between two different ones.

Two searches with one digest found the same graph, whatever its steps are called, how many ways there are to take one,
and where a step changes nothing: no property that looks at states, or at steps that change something, tells them apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from checkers.explicit.flood import SEED_1, SEED_2, fingerprint, same
from checkers.explicit.kernel import build_kernel
from checkers.explicit.loops import Word, Words, call_model, compile_loops, exported, offset, words_at
from checkers.explicit.machine import GOOD, MachineCode, object_image
from checkers.explicit.memory import reserve
from checkers.explicit.module import OUTSIDE
from checkers.explicit.search import reachable_set
from checkers.exploration import Options
from model.compiler.layout import digest_text
from model.language.model import Model

NW = 1

# What ``sum_steps`` is given, an array of words.
STATES, NUMBER, EXPAND, OUT, CONTEXT, SUM_1, SUM_2 = range(7)
FIELDS = 7


@exported
def sum_steps(w: Words) -> Word:
    """Adds up the fingerprints of all steps from the states: of each pair of states once, and of none to itself."""
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
    states = np.ascontiguousarray(reachable_set(model, Options(workers=1)))
    kernel = build_kernel(model, {}, symmetry=False)
    interface = kernel.interface
    out = reserve((interface.most_successors + 1) * interface.layout.words)
    context = reserve(interface.context_words + 1)
    context[OUTSIDE] = (1 << 64) - 1
    fields = np.zeros(FIELDS, dtype=np.uint64)
    fields[STATES], fields[NUMBER] = states.ctypes.data, len(states)
    fields[EXPAND] = kernel.model.address("expand")
    fields[OUT], fields[CONTEXT] = out.ctypes.data, context.ctypes.data
    _loops(interface.layout.words).function("sum_steps", 1)(fields.ctypes.data)
    return digest_text(int(fields[SUM_1]), int(fields[SUM_2]))


@cache
def _loops(words: int) -> MachineCode:
    constants = {"NW": words}
    module = str(compile_loops([fingerprint, same, sum_steps], constants))
    return MachineCode([object_image({"steps": module}, lambda: module, GOOD)])
