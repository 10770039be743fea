"""The effects of an edit, as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import click

from floodmark.checkers.edits.difference import ActionChange, Difference, DistinguishingRun, Reason
from floodmark.checkers.edits.property_changes import PropertyChange, PropertyExample
from floodmark.checkers.edits.spec_edit import SpecEdit
from floodmark.checkers.edits.text import Versions, headline, lines
from floodmark.checkers.edits.versions import Version
from floodmark.checkers.explanation.trace import trace_entries


def content(edits: Sequence[SpecEdit], versions: Versions) -> dict[str, Any]:
    """An object with both versions, and an entry for each spec."""
    return {
        "old": versions[0].label,
        "new": versions[1].label,
        "specs": [_spec(edit, versions) for edit in edits],
    }


def _spec(edit: SpecEdit, versions: Versions) -> dict[str, Any]:
    return {
        "name": edit.name,
        "status": "added" if edit.old is None else "removed" if edit.new is None else "compared",
        "same": edit.is_same,
        "unchanged": edit.unchanged,
        "undetermined": edit.is_undetermined,
        "headline": headline(edit, versions),
        "emptier": edit.emptier,
        "error": edit.error,
        "model": None if edit.model is None else _model(edit.model, versions),
        "properties": [_property(change) for change in edit.properties],
        "settings": [asdict(setting) for setting in edit.settings],
        "designs": edit.designs,
        "text": [click.unstyle(line) for line in lines(edit, versions)],
    }


def _model(model: Difference, versions: Versions) -> dict[str, Any]:
    alignment, failure = model.alignment, model.failure
    return {
        "added": model.added,
        "removed": model.removed,
        "same_by": model.by,
        "stopped": model.stopped,
        "variables": {
            "shared": [each.new for each in alignment.shared],
            "only_old": list(alignment.only_old),
            "only_new": list(alignment.only_new),
            "renamed": alignment.renamed_variables,
            "other_names": [{"of": of, "old": old, "new": new} for of, old, new in alignment.renames.changed],
        },
        "states": dict(model.states),
        "runs": [_witness(witness, versions) for witness in model.witnesses],
        "actions": [_action(change) for change in model.actions],
        "failure": None if failure is None else {
            "version": failure.version,
            "message": failure.message,
            "place": versions[failure.version == "new"].place(failure.file, failure.line),
            "trace": trace_entries(failure.model, failure.trace),
        },
        "seconds": model.seconds,
    }


def _witness(witness: DistinguishingRun, versions: Versions) -> dict[str, Any]:
    other = versions[witness.version == "old"]
    return {
        "version": witness.version,
        "kind": witness.kind,
        "trace": trace_entries(witness.model, witness.trace),
        "reason": None if witness.reason is None else _reason(witness.reason, other),
    }


def _reason(reason: Reason, other: Version) -> dict[str, Any]:
    return {"text": reason.text, "place": other.place(reason.file, reason.line), "lines": list(reason.lines)}


def _action(change: ActionChange) -> dict[str, Any]:
    return {
        "old": change.old, "new": change.new, "more": change.more, "less": change.less, "common": change.common,
        "never_fires_now": change.gone,
    }  # fmt: skip


def _property(change: PropertyChange) -> dict[str, Any]:
    return {
        "name": change.name,
        "change": change.word,
        "why_not": change.why_not,
        "states": change.states,
        "complete": change.complete,
        "weaker": _example(change.weaker),
        "stronger": _example(change.stronger),
    }


def _example(example: PropertyExample | None) -> dict[str, Any] | None:
    if example is None:
        return None
    source = example.source
    return {
        "version": source.version, "model": source.name, "trace": trace_entries(source.model, example.trace)
    }
