"""Compares the results of a run with the lock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from floodmark.checkers.gate.drift import (
    DriftSources,
    compared_designs,
    entry_gone,
    entry_new,
    renaming,
    table_drift,
    where,
    where_designs,
)
from floodmark.checkers.gate.entries import (
    FLAWED,
    designs_of,
    flawed_entry,
    proof_entry,
    proof_tier,
    relative,
    spec_entry,
    unchecked_entry,
    with_designs,
)
from floodmark.checkers.gate.job import Sources
from floodmark.checkers.gate.lock import Lock, LockEntry
from floodmark.checkers.gate.plan import GatePlan
from floodmark.checkers.gate.renames import Renames, rename_entries, renames
from floodmark.checkers.gate.scope import GateScope
from floodmark.checkers.project import spec_address
from floodmark.checkers.project.paths import shown
from floodmark.checkers.project.spec import Tier
from floodmark.checkers.verdict.gate_outcome import Drift
from floodmark.checkers.verdict.proof_result import ProofResult
from floodmark.checkers.verdict.result import CheckResult, ExitCode


class LockComparison:
    """``now`` is the lock that the results alone would give, without errors. ``renew`` is whether to write it if no
    failure prevents that."""

    def __init__(
        self,
        scope: GateScope,
        tier: Tier,
        plan: GatePlan,
        found: Mapping[tuple[str, str | None], tuple[CheckResult, Sources]],
        proved: Mapping[str, tuple[ProofResult, Sources]],
        renew: bool,
    ) -> None:
        self.scope = scope
        self.renew = renew
        self.tier = tier
        self.plan = plan
        self.found = found
        self.proved = proved
        self.specs = {scope.name_of(spec): spec for spec in plan.every}
        self.now = self._entries()

    def _entries(self) -> Lock:
        now = Lock()
        for name in dict.fromkeys(job.name for job in self.plan.checks):
            model = self.found.get((name, None))
            if model is None:
                now.specs[name] = with_designs(unchecked_entry(self.specs[name]), self._designs(name))
            elif _tells_something(model[0]):
                now.specs[name] = with_designs(spec_entry(*model, self.specs[name]), self._designs(name))
        for name, (proved, sources) in self.proved.items():
            if proved.exit_code in (ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED):
                is_claim = proved.method == "claim"  # claims are quick: every run of that tier answers all of them
                entry = proof_entry(proved, sources, "quick" if is_claim else self.tier)
                (now.claims if is_claim else now.proofs)[name] = entry
        return now

    def _designs(self, name: str) -> dict[str, LockEntry]:
        """The entries of the known-bad designs of a spec that were checked in this run."""
        return {
            variant: flawed_entry(*found)
            for (spec, variant), found in self.found.items()
            if spec == name and variant is not None and _tells_something(found[0])
        }

    def drift(self, locked: Lock | None) -> Iterator[Drift]:
        """The differences from the lock."""
        if locked is None:
            if self.plan.every or self.plan.broken:
                note = "there is no lock" if self.renew else "there is no lock; write it with --update-lock"
                yield Drift(shown(self.scope.lock), "lock", "-", "-", note, str(self.scope.lock))
            return
        names = self._renames(locked)
        for was, name in names.items():
            spec = self.specs[name]
            yield renaming(name, was, (shown(spec.path), spec.first_line))
        locked = rename_entries(locked, names)
        yield from self._spec_drift(locked)
        yield from self._design_drift(locked)
        yield from self._proof_drift(locked)
        yield from self._mutant_drift(locked)

    def _renames(self, locked: Lock) -> Renames:
        """The specs that have another name in the lock."""
        left = [name for name in locked.specs if name not in self.specs and self.scope.has(name)]
        gone = [name for name in left if self._is_read(name)]
        new = {name: spec for name, spec in self.specs.items() if name not in locked.specs}
        return renames(gone, new, locked) if gone and new else {}

    def _is_read(self, name: str) -> bool:
        """Whether a name in the lock does not belong to a file that could not be read."""
        unread = {self.scope.name(Path(result.spec)) for result in self.plan.broken}
        return unread.isdisjoint((name, spec_address.of_file(name)))

    def _mutant_drift(self, locked: Lock) -> Iterator[Drift]:
        """The models or properties that changed after their mutants were last tried."""
        for name, spec in self.specs.items():
            if name not in self.now.specs or (name, None) not in self.found or name not in locked.mutants:
                continue
            for key in ("source", "predicates"):
                was = locked.mutants[name].sources.get(key, "-")
                now = self.now.specs[name].get(key, "-")
                if was != now:
                    note = f"its mutants were not tried since; run floodmark mutate {shown(spec.address)} --update-lock"
                    yield Drift(name, "mutants", was, now, note, shown(spec.path), spec.line("mutation"))
                    break

    def _spec_drift(self, locked: Lock) -> Iterator[Drift]:
        models = {job.name for job in self.plan.checks if job.variant is None}
        for name, entry in self.now.specs.items():
            if name in models and name not in locked.specs:
                result = self.found[name, None][0]
                yield entry_new(name, entry, _what(name), (result.spec, result.spec_line))
            elif name in models:
                was = self._comparable(name, locked.specs[name], entry)
                yield from table_drift(name, was, entry, self._where(name))
            else:
                yield from self._unchecked_model(name, locked)
                was = self._comparable(name, locked.specs.get(name, {}), entry)
                yield from compared_designs(name, was, entry, self._where(name))
        for name, entry in locked.specs.items():
            if name in models or not self._is_read(name) or not self.scope.has(name):
                continue
            place = (str(self.scope.lock), locked.lines.get(f"specs.{name}"))
            if name not in self.specs:
                yield entry_gone(name, entry, _what(name), place, f"is gone{self._lost(name, entry)}")
            elif entry.get("tier") == self.tier:
                yield entry_gone(name, entry, _what(name), place, f"is no longer in the {self.tier} tier")

    def _lost(self, name: str, entry: LockEntry) -> str:
        """The checks that are gone with a removed spec, where other rows of its file remain."""
        rows = [spec for each, spec in self.specs.items() if spec_address.of_file(each) == spec_address.of_file(name)]
        if not rows:
            return ""
        left = {flawed.name for spec in rows for flawed in spec.flawed}
        designs = [design for design in entry.get("flawed", {}) if design.split()[0] not in left]
        nor = f", nor are the known-bad designs {', '.join(designs)}" if designs else ""
        return f": no row of the file has its constants{nor}"

    def _where(self, name: str) -> DriftSources:
        designs = {variant: found[0] for (spec, variant), found in self.found.items() if spec == name and variant}
        model = self.found.get((name, None))
        return where_designs(designs) if model is None else where(model[0], designs)

    def _unchecked_model(self, name: str, locked: Lock) -> Iterator[Drift]:
        """A model of which this run checked only known-bad designs, while the model's own tier never checked it:
        failing designs give no evidence about an unchecked model."""
        if "verdict" not in locked.specs.get(name, {}):
            spec = self.specs[name]
            note = f"the model was never checked; run floodmark gate --tier {spec.tier} --update-lock"
            yield Drift(name, "model", "-", "-", note, shown(spec.path), spec.line("tier"))

    def _design_drift(self, locked: Lock) -> Iterator[Drift]:
        """Known-bad designs that the lock has in this tier and that moved to the other tier, or that are gone while
        nothing else of their spec is in this tier."""
        checked = {job.name for job in self.plan.checks}
        for name, spec in self.specs.items():
            for variant, entry in designs_of(locked.specs.get(name, {})).items():
                now = self._tier_now(name, variant)
                if entry["tier"] != self.tier or now == self.tier or (now is None and name in checked):
                    continue
                why = "is no longer checked" if now is None else f"is no longer in the {self.tier} tier"
                yield entry_gone(f"{name} {variant}", entry, "known-bad design", (shown(spec.path), None), why)

    def _tier_now(self, name: str, variant: str) -> Tier | None:
        """The tier of a known-bad design; None if the spec has it no more."""
        return self.plan.tiers.get((name, variant))

    def _comparable(self, name: str, was: LockEntry, now: LockEntry) -> LockEntry:
        """An entry of the lock without the known-bad designs that this run did not check or that had no result."""
        silent = {variant for spec, variant in self.found if spec == name} - set(now.get(FLAWED, {}))
        designs = {
            variant: relative(entry, now["tier"] if entry["tier"] == self.tier else was.get("tier", ""))
            for variant, entry in designs_of(was).items()
            if variant not in silent and self._tier_now(name, variant) in (self.tier, None)
        }
        rest = {key: value for key, value in was.items() if key != FLAWED}
        return {**rest, FLAWED: designs} if designs else rest

    def _proof_drift(self, locked: Lock) -> Iterator[Drift]:
        listed = {f"{name} {proving.name}" for name, spec in self.specs.items() for proving in spec.prove}
        unread = [self.scope.name(Path(result.spec)) for result in self.plan.broken]
        unread += [f"{proved.name}." for proved in self.plan.broken_claims]
        for section, what in (("claims", "claim"), ("proofs", "proof")):
            before: dict[str, LockEntry] = getattr(locked, section)
            after: dict[str, LockEntry] = getattr(self.now, section)
            for name, entry in after.items():
                proved = self.proved[name][0]
                at = DriftSources((proved.spec, proved.line))
                if name not in before:
                    yield entry_new(name, entry, what, at.spec)
                else:
                    yield from table_drift(name, before[name], entry, at)
            for name, entry in before.items():
                if name in self.proved or name.startswith(tuple(unread)) or not self.scope.has(name):
                    continue
                place = (str(self.scope.lock), locked.lines.get(f"{section}.{name}"))
                if name not in listed:
                    yield entry_gone(name, entry, what, place)
                elif proof_tier(entry) == self.tier:
                    yield entry_gone(name, entry, what, place, f"is no longer in the {self.tier} tier")

    def merged(self, locked: Lock) -> Lock:
        """The lock updated with the results of this run; entries of specs of another tier or folder stay."""
        locked = rename_entries(locked, self._renames(locked))
        names = self.specs
        proofs = {f"{name} {proving.name}" for name, spec in names.items() for proving in spec.prove}
        kept = {name: entry for name, entry in locked.specs.items() if name in names or not self.scope.has(name)}
        others = {name: entry for name, entry in locked.proofs.items() if name in proofs or not self.scope.has(name)}
        elsewhere = {name: entry for name, entry in locked.claims.items() if not self.scope.has(name)}
        return replace(
            locked,
            specs={**kept, **{name: self._merged(name, kept.get(name, {})) for name in self.now.specs}},
            proofs={**others, **self.now.proofs},
            claims={**elsewhere, **self.now.claims},
            mutants={name: each for name, each in locked.mutants.items() if name in names or not self.scope.has(name)},
        )

    def _merged(self, name: str, was: LockEntry) -> LockEntry:
        """The entry of a spec with this run's results, and with the lock's for the other tier."""
        now = self.now.specs[name]
        model = now if (name, None) in self.found or not was else was
        elsewhere = {
            variant: entry
            for variant, entry in designs_of(was).items()
            if self._tier_now(name, variant) not in (self.tier, None)
        }
        return with_designs(model, {**elsewhere, **designs_of(now)})


def _what(name: str) -> str:
    return "spec" if spec_address.of_file(name) == name else "row"


def _tells_something(result: CheckResult) -> bool:
    """Whether a result has more content than an error or a check that never began."""
    return result.subject is not None and result.exit_code in (
        ExitCode.AS_EXPECTED, ExitCode.NOT_AS_EXPECTED, ExitCode.UNDETERMINED, ExitCode.NOTHING_CHECKED
    )
