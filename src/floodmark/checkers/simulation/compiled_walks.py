"""The machine code for walks: each action of a model as a function of its own, its properties, and the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from floodmark.checkers.codegen.jit import GOOD, UNOPTIMISED, MachineCode, object_image, processor
from floodmark.checkers.codegen.loop_compiler import compile_loops
from floodmark.checkers.codegen.model_module import (
    ACTION,
    CANDIDATES,
    MAX_CANDIDATES,
    Interface,
    candidates_part,
    parts,
    whole,
)
from floodmark.checkers.kernel.compiled_model import code_hash
from floodmark.checkers.simulation.walk_loops import WALK_LOOPS
from floodmark.compiler.program import read_program
from floodmark.language.model import Model


@dataclass(frozen=True, slots=True)
class WalkCode:
    """The code of a walker. ``actions`` are the addresses of the actions' functions, in the interface's order."""

    interface: Interface
    model: MachineCode
    actions: tuple[int, ...]
    loop: MachineCode


def build_walk_code(model: Model, properties: Mapping[str, Callable[..., bool]], good: bool) -> WalkCode:
    """Compiles a model with its constants and properties, or takes the code from the cache. Optimised (``good``) code
    takes a second or more to compile; unoptimised code consists of the parts that a search begins with."""
    program = read_program(model, properties)
    made_of, interface = parts(program, None)
    made_of = [part for part in made_of if part.name != "expand"]
    if len(program.actions) <= MAX_CANDIDATES:
        made_of.append(candidates_part(program, interface))
    symbols = [part.name for part in made_of if part.name.startswith(ACTION)]
    hashed = code_hash("checkers/simulation")
    if good:
        key = {"walks": " ".join(part.key for part in made_of), "compiler": hashed}
        images = [object_image(key, lambda: whole(made_of, program.name, [*symbols, CANDIDATES]), GOOD)]
    else:
        keys = [{"part": part.key, "compiler": code_hash()} for part in made_of]
        images = [object_image(key, part.module, UNOPTIMISED) for key, part in zip(keys, made_of, strict=True)]
    constants = {"NW": interface.layout.words, "BMI2": int("+bmi2" in processor()["features"].split(","))}
    key = {"loop": hashed, "constants": repr(constants)}
    loop = object_image(key, lambda: compile_loops(WALK_LOOPS, constants), GOOD)
    code = MachineCode(images)
    return WalkCode(interface, code, tuple(code.address(symbol) for symbol in symbols), MachineCode([loop]))
