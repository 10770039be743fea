"""The output in an editor: a message at a line for each finding of a check, and the type of a variable."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from floodmark.checkers.project import spec_address
from floodmark.checkers.project.spec import Spec, find, read
from floodmark.language.errors import SourceError

Severity = Literal["error", "warning"]
MAX_SPECS = 4
"""Specs that are checked when a model's file is saved: the first of the quick tier that are about it."""


@dataclass(frozen=True, slots=True)
class EditorMessage:
    """A message at a line, counted from 1. ``code`` is what kind of finding it is."""

    file: str
    line: int
    severity: Severity
    code: str
    text: str


def specs_about(root: Path, file: Path) -> list[str]:
    """The specs to check when a file changes, as the command names them: a spec itself, or those of its project whose
    model is in the file, or whose properties are, one that is named like the file first. No code runs to find them. A
    spec that mentions the file's name and cannot be read is checked, too, so that its error is shown."""
    if file.suffix == ".toml":
        return [_name(root, file)]
    folders = [folder for folder in (root / "specs", file.parent) if folder.is_dir()]
    found: list[str] = []
    for address in dict.fromkeys(find(folders, "all")):
        try:
            spec = read(address)
        except SourceError:
            if _mentions(spec_address.split_address(address)[0], file.stem):
                found.append(_name(root, address))
            continue
        if spec.tier == "quick" and _is_about(spec, file.resolve()):
            found.append(_name(root, address))
    found.sort(key=lambda name: Path(spec_address.split_address(Path(name))[0]).stem != file.stem)
    return found[:MAX_SPECS]


def _is_about(spec: Spec, file: Path) -> bool:
    """Whether a file has the model of a spec, or properties of it: the spec lists it, or its name is the model's."""
    model = _model_file(spec)
    if file == model or file in [each.resolve() for each in spec.invariant_files]:
        return True
    of_model = file.stem.removesuffix("_scenarios").removesuffix("_lemmas")
    return "invariants" in file.parts and model is not None and of_model == model.stem


def _mentions(spec: Path, name: str) -> bool:
    try:
        return name in spec.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False


def _name(root: Path, address: Path) -> str:
    file, row = spec_address.split_address(address)
    whole = file.resolve()
    return str(spec_address.join_address(whole.relative_to(root) if whole.is_relative_to(root) else whole, row))


def _model_file(spec: Spec) -> Path | None:
    where = spec.model.rpartition(":")[0]
    for path in (spec.path.parent / where, spec.path.parent / f"{where}.py"):
        if path.suffix == ".py" and path.is_file():
            return path.resolve()
    found = spec.project.find(where) if not where.endswith(".py") else None
    return None if found is None else found.resolve()


def messages(spec: str, answered: Mapping[str, Any]) -> list[EditorMessage]:
    """The messages about the answer to a check of a spec."""
    if "results" not in answered:
        place = answered.get("place") or {"file": spec_address.split_address(Path(spec))[0].as_posix(), "line": 1}
        return [EditorMessage(place["file"], place["line"] or 1, "error", answered["verdict"], answered["error"])]
    found = [each for result in answered["results"] for each in _of_result(result)]
    return list(dict.fromkeys(found))


def _of_result(result: Mapping[str, Any]) -> Iterator[EditorMessage]:
    spec = spec_address.split_address(Path(result["spec"]))[0].as_posix()
    prop = result["property"]
    if not result["expected"]:
        place = result["place"] or (prop and prop["place"]) or {"file": spec, "line": 1}
        text = f"{result['design']}: {result['said']}"
        shown = result["counterexample"]
        steps = [] if shown is None else [each["step"] for each in shown["steps"]]
        yield EditorMessage(place["file"], place["line"] or 1, _severity(result), result["verdict"], _with(text, steps))
    yield from (
        EditorMessage(spec, each["line"] or 1, "error", "scenario", f"scenario {each['name']}: {each['problem']}")
        for each in result["scenarios"] if each["problem"]
    )
    for weak in [] if result["known_bad"] else result["weak"]:
        if weak["kind"] == "never fired":
            place, near = weak["place"], weak["nearest_guard"]
            why = "" if near is None else f": {near['guard']}, after {', '.join(near['after'])}"
            text = f"{weak['action']} never fires{why}"
            yield EditorMessage(place["file"], place["line"], "warning", "never fired", text)
        elif weak["kind"] == "vacuous":
            place, text = weak["place"], f"{weak['property']} is vacuous: {weak['text']}"
            yield EditorMessage(place["file"], place["line"], "warning", "vacuous", text)
        elif weak["kind"] in ("cut", "nothing checked"):
            yield EditorMessage(spec, 1, "warning", weak["kind"], weak["text"])


def _severity(result: Mapping[str, Any]) -> Severity:
    return "warning" if result["verdict"] == "undetermined" else "error"


def _with(text: str, steps: Sequence[str]) -> str:
    return "\n".join([text, *(f"{number}  {step}" for number, step in enumerate(steps, 1))])


def hover_text(word: str, answered: Mapping[str, Any]) -> str | None:
    """The Markdown description of a name of a model, from the answer to ``show``; None for an unknown name."""
    for spec in answered.get("specs", ()):
        for variable in spec["variables"]:
            if variable["name"] == word:
                return f"`{word}: {variable['type']}`  \n{variable['bits']} in `{spec['spec']}`"
        if word in spec["constants"]:
            return f"`{word} = {spec['constants'][word]}` in `{spec['spec']}`"
    return None
