"""``floodmark export``: a spec's model, or one of its known-bad designs, as files for another checker."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from floodmark.checkers.export import promela, tla
from floodmark.checkers.native.engine import NativeEngine
from floodmark.checkers.project.properties import Property, functions_by_name
from floodmark.checkers.verdict.check import Check, CheckSettings, one_check
from floodmark.compiler.program import Program, growing_parts, read_program
from floodmark.language.errors import SourceError
from floodmark.language.model import Model, grows, sized
from floodmark.language.reference import initial_states, within_boundary
from floodmark.language.widths import FIRST_WIDTHS, Widths


def export(
    path: Path, as_tla: bool, folder: Path, only_variant: str | None, constants: dict[str, int]
) -> Iterator[str]:
    """Writes the files and returns a line for each. Raises SourceError for a construct that cannot be expressed."""
    check = one_check(path, only_variant, CheckSettings(constants=constants))
    if as_tla:
        module = tla_module(check)
        files = {f"{module.name}.tla": module.text, f"{module.name}.cfg": module.config}
    else:
        process = promela_process(check)
        files = {f"{process.name}.pml": process.text}
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        yield f"wrote {folder / name}"
    left_out = [prop.name for prop in check.properties() if prop.is_liveness]
    if left_out:
        yield f"left out, since only properties of states and steps are exported: {', '.join(left_out)}"


def tla_module(check: Check) -> tla.TlaModule:
    """The model of a check, with its properties of states and steps, as a TLA+ module."""
    model, program = _read(check)
    initial = [state for _, state in initial_states(model)]
    return tla.module(program, initial, model.constant_values, check.options.deadlock)


def promela_process(check: Check) -> promela.Process:
    """The model of a check, with its properties of states and steps, as a Promela process."""
    model, program = _read(check)
    initial = [state for _, state in initial_states(model)]
    inside = [within_boundary(model, state) for state in initial]
    return promela.process(program, initial, model.constant_values, inside, check.options.deadlock)


def _read(check: Check) -> tuple[Model, Program]:
    """The model and its program, with the widths that a search needs for containers without a capacity.

    The export asserts these widths, so the other checker reports any larger container.
    """
    model = check.model()
    of_states = [prop for prop in check.properties() if not prop.is_liveness]
    functions = functions_by_name(of_states)
    program = read_program(sized(model, FIRST_WIDTHS), functions)
    if not grows(model) and not any(growing_parts(program)):
        return model, program
    return model, read_program(sized(model, _widths(check, model, of_states)), functions)


def _widths(check: Check, model: Model, properties: Sequence[Property]) -> Widths:
    found = NativeEngine().search(check, model, properties, None)
    if found.complete or found.violations:
        return Widths(found.widths)
    message = f"the widths of containers without a capacity are unknown: the search was ended by {found.stopped}"
    raise SourceError(f"{message}; give them capacities, or raise the limit", *type(model).source_position())
