"""The effects of an edit as text: first what makes a check emptier, then behaviours, actions, properties, settings."""

from __future__ import annotations

from collections.abc import Iterator

import click

from floodmark.checkers.edits.difference import ActionChange, Difference, DistinguishingRun, VersionName
from floodmark.checkers.edits.property_changes import PropertyChange
from floodmark.checkers.edits.spec_edit import SpecEdit
from floodmark.checkers.edits.versions import Version
from floodmark.checkers.explanation.trace import change_lines, trace_lines
from floodmark.checkers.value_text import show_step
from floodmark.language.plurals import counted

Versions = tuple[Version, Version]


def lines(edit: SpecEdit, versions: Versions) -> Iterator[str]:
    """The full text for one spec."""
    less = [click.style(f"checks less: {sentence}", fg="red") for sentence in edit.emptier]
    first, *more = [*less, *sentences(edit, versions)]
    yield click.style(f"{edit.name}: {first}", bold=True)
    yield from (f"  {sentence}" for sentence in more)
    if edit.error:
        yield f"  not compared: {edit.error}"
    model = edit.model
    if model is not None:
        yield from _renames(model)
        for witness in model.witnesses:
            yield ""
            yield from witness_lines(witness, versions)
        if model.failure is not None:
            failure = model.failure
            label = versions[failure.version == "new"].label
            yield ""
            yield f"  {label} fails after {counted(len(failure.trace), 'step')}: {failure.message}"
            yield f"    ({versions[failure.version == 'new'].place(failure.file, failure.line)})"
            yield from (f"    {line}" for line in trace_lines(failure.model, failure.trace))
        if model.actions:
            yield ""
            yield "  actions"
            yield from (f"    {change.name}: {action_text(change)}" for change in model.actions)
    for prop in edit.properties:
        yield ""
        yield from _property(prop, versions)
    rest = [setting for setting in edit.settings if not setting.emptier]
    if rest or edit.designs:
        yield ""
        yield "  spec (was | now)"
        for setting in rest:
            yield f"    {setting.what}: {setting.was} | {setting.now}"
        for name in edit.designs:
            yield f"    known-bad design {name}: its own code changed"


def headline(edit: SpecEdit, versions: Versions) -> str:
    """The summary of a spec in one line."""
    return "; ".join(sentences(edit, versions))


def sentences(edit: SpecEdit, versions: Versions) -> list[str]:
    """The summary of a spec as sentences, additions before removals."""
    if edit.error and edit.model is None:
        return ["undetermined"]
    if edit.old is None:
        return ["a new spec; there is nothing to compare it with"]
    if edit.new is None:
        return ["the spec is gone"]
    if edit.unchanged:
        return ["nothing that it rests on has changed"]
    return ["undetermined"] if edit.model is None else behaviours(edit.model, versions)


def behaviours(model: Difference, versions: Versions) -> list[str]:
    """The added and the removed behaviours, a sentence each."""
    old = versions[0].label
    if model.is_same:
        how = {
            "graph": "no step, guard or initial state differs",
            "search": f"both versions took the same steps in all {counted(_searched(model), 'state')}",
        }[model.by or "search"]
        if model.alignment.only_old or model.alignment.only_new:
            how = "every run of one version is one of the other, in the variables that both have"
        return [f"the same behaviours: {how}"]
    found = []
    for version, answer in (("new", model.added), ("old", model.removed)):
        verb = "allows" if version == "new" else "forbids"
        if answer == "some":
            witness = next(each for each in model.witnesses if each.version == version)
            found.append(f"the edit {verb}, in {counted(len(witness.trace), 'step')}: {last_step(witness)}")
        elif answer == "undetermined":
            what = "more than before" if version == "new" else f"all that {old} allows"
            found.append(f"undetermined whether it allows {what}: {model.stopped}")
        else:
            found.append("it allows nothing new" if version == "new" else f"all that {old} allows is still allowed")
    return found


def _searched(model: Difference) -> int:
    return model.states.get("common", model.states.get("new", 0))


def last_step(witness: DistinguishingRun) -> str:
    """The distinguishing step, with its changes: ``server_grants(client=c1): granted: 1 -> 2``."""
    last = witness.trace[-1]
    if len(witness.trace) == 1:
        return f"beginning with {show_step(last.step)}"
    changed = change_lines(list(witness.model.variable_types), witness.trace[-2].state, last.state)
    return f"{show_step(last.step)}: {'; '.join(changed)}" if changed else show_step(last.step)


def witness_lines(witness: DistinguishingRun, versions: Versions) -> Iterator[str]:
    """A run of one version, and how the other version differs."""
    mine, other = _ordered(witness.version, versions)
    verb = "added" if witness.version == "new" else "removed"
    steps = counted(len(witness.trace), "step")
    yield f"  {verb}: a run of {steps} {_kind(witness, mine, other)}"
    marks = {len(witness.trace): f"{other.label} differs here" if witness.kind != "order" else "not in this order"}
    yield from (f"    {line}" for line in trace_lines(witness.model, witness.trace, lambda at: marks.get(at, "")))
    reason = witness.reason
    if reason is not None:
        place = other.place(reason.file, reason.line)
        yield f"    {other.label} {reason.text}" + (f" ({place})" if place else "")
        yield from (f"      {line}" for line in reason.lines)


def _ordered(version: VersionName, versions: Versions) -> Versions:
    return (versions[1], versions[0]) if version == "new" else versions


def _kind(witness: DistinguishingRun, mine: Version, other: Version) -> str:
    return {
        "start": f"begins as none of {other.label} does",
        "state": f"leads to a state that {other.label} does not reach",
        "step": f"ends with a step that {other.label} does not take there",
        "order": f"takes steps that {other.label} takes, too, but never one after the other like this",
    }[witness.kind]


def action_text(change: ActionChange) -> str:
    """The difference of an action, as the rest of a sentence."""
    found = []
    if change.old is None:
        found.append("new")
    elif change.new is None:
        found.append("gone")
    elif change.old != change.new:
        found.append(f"was called {change.old}")
    of = f"of {counted(change.common, 'common state')}"
    if change.more and change.less and change.old and change.new:
        found.append(f"leads elsewhere: to more in {change.more:,} and to less in {change.less:,} {of}")
    elif change.more:
        found.append(f"{'weaker: ' if change.old else ''}allows more in {change.more:,} {of}")
    elif change.less:
        found.append(f"{'stronger: ' if change.new else ''}allows less in {change.less:,} {of}")
    if change.gone:
        found.append("never fires now")
    return "; ".join(found)


def _renames(model: Difference) -> Iterator[str]:
    renames = [f"{new} was called {old}" for old, new in model.alignment.renamed_variables.items()]
    renames += [f"{new} was called {old} ({what})" for what, old, new in model.alignment.renames.changed]
    if renames:
        yield f"  taken for a new name: {', '.join(renames)}"
    for names, what in ((model.alignment.only_old, "gone"), (model.alignment.only_new, "new")):
        if names:
            it = "them" if len(names) > 1 else "it"
            yield f"  not compared, as only one version has {it}: {', '.join(names)} ({what})"


def _property(change: PropertyChange, versions: Versions) -> Iterator[str]:
    seen = f"in {counted(change.states, 'state')}"
    if change.why_not:
        yield f"  property {change.name} changed, and was not compared: it {change.why_not}"
        return
    if not change.weaker and not change.stronger:
        limits = "" if change.complete else ", not all that there are"
        yield f"  property {change.name} is written otherwise, and allows the same {seen} that were looked at{limits}"
        return
    yield f"  property {change.name} is {change.word} ({seen} that were looked at)"
    for example, text in ((change.weaker, "allowed now, and not before"), (change.stronger, "no longer allowed")):
        if example is not None:
            label = versions[example.source.version == "new"].label
            yield f"    {text}: what {example.source.name} of {label} does in {counted(len(example.trace), 'step')}"
            yield from (f"      {line}" for line in trace_lines(example.source.model, example.trace))
