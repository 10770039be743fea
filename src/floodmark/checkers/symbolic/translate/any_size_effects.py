"""The effect of loops over any number of elements: those that only add to sets, and those that keep the best element.
"""

from __future__ import annotations

from floodmark.checkers.symbolic.terms.booleans import Truth, as_term, conj, disj, implied, negation, substituted
from floodmark.checkers.symbolic.translate.any_size_loops import Addition, BestElementLoop, additions, selection
from floodmark.checkers.symbolic.translate.evaluation import Evaluate, EvaluationContext
from floodmark.checkers.symbolic.values.components import Relation, replaced_in, symbols_in
from floodmark.checkers.symbolic.values.types import UnsupportedError, Value
from floodmark.checkers.symbolic.values.value import Values
from floodmark.compiler import ir
from floodmark.language.types import SetType, Type


class AnySizeLoops:
    """Runs such loops (``any_size_loops.py`` says what is known after them)."""

    def __init__(self, context: EvaluationContext, evaluate: Evaluate) -> None:
        self._context = context
        self._values = context.values
        self._evaluate = evaluate

    def run(self, node: ir.For, domain: Relation) -> None:
        best = selection(node)
        if best is None:
            self._fold(node, domain)
        else:
            self._select(node, domain, best)

    def _fold(self, node: ir.For, domain: Relation) -> None:
        """A loop over any number of elements, which adds to sets."""
        context, values = self._context, self._values
        item = values.components.variable(node.variable.type, node.variable.name)
        context.locals[node.variable.slot] = item
        found: list[tuple[ir.Local, Value]] = []
        with context.for_each(item):
            there = domain.holds(item)
            for addition in additions(node):
                taken = there
                for condition, truth in addition.conditions:
                    with context.under(taken):
                        value = self._evaluate(condition)
                    taken = conj((taken, value if truth else negation(value)))
                element = _element(addition.target.type)
                with context.under(taken):
                    value = self._evaluate(addition.added)
                    fits, added = values.cast(addition.added.type, SetType(element), value)
                    context.fail_unless(fits, addition.added.at)
                more = _every_addition(values, item, taken, added)
                if addition.optional:
                    more = self._some_of(element, more)
                if addition.alone:
                    first = self._first_condition(addition)
                    first_round = conj((taken, implied(first, self._is_within(element, added, more))))
                    some = values.quantifiers.of_some(item, first_round)
                    values.axioms.add([more.term], implied(values.quantifiers.of_some(item, taken), some))
                found.append((addition.target, more))
        for target, more in found:
            context.assign(target, _union(context.locals[target.slot], more))

    def _select(self, node: ir.For, domain: Relation, loop: BestElementLoop) -> None:
        """A loop over any number of elements that keeps the best.

        If finitely many elements satisfy the conditions, one of them is best. If it is better than the initial number,
        a witness represents the element of the last change. An unconstrained order chooses the witness among equally
        good ones.
        """
        context, values = self._context, self._values
        item = values.components.variable(node.variable.type, node.variable.name)
        context.locals[node.variable.slot] = item
        for own in loop.own:
            if own.target.slot in context.locals:
                name = own.target.name
                raise UnsupportedError(f"{name} has a value before the loop; give it another name in the loop")
        with context.for_each(item):
            chosen = domain.holds(item)
            with context.under(chosen):
                for own in loop.own:
                    context.locals[own.target.slot] = self._evaluate(own.value)
            for condition in loop.conditions:
                with context.under(chosen):
                    chosen = conj((chosen, self._evaluate(condition)))
            with context.under(chosen):
                start, number = context.locals[loop.best.slot], self._evaluate(loop.number)
            better = conj((chosen, values.numbers.compare(loop.op, number, start)))
            with context.under(better):
                found = [(it.target, self._evaluate(it.value)) for it in loop.kept]
            for own in loop.own:
                del context.locals[own.target.slot]
        kept = next(value for target, value in found if target.slot == loop.best.slot)
        if values.numbers.equal(kept, number) is not True:
            raise UnsupportedError(f"{loop.best.name} has to become the number that it is compared with")
        bound = symbols_in(item)
        kept_terms = (term for target, value in found for term in values.components.arguments(target.type, value))
        over = values.axioms.free(as_term(chosen), as_term(better), *kept_terms, besides=bound)
        witness = [values.axioms.chosen("best", mine.sort(), over) for mine in bound]

        def there(value: Value) -> Value:
            return replaced_in(value, lambda term: substituted(term, bound, witness))

        order = values.numbers.at_most
        most = (there(number), number) if loop.op in ("<", "<=") else (number, there(number))
        values.axioms.add(witness, implied(better, conj((there(better), order(*most)))))
        some = values.quantifiers.of_some(item, better)
        for target, value in found:
            old = context.locals.get(target.slot)
            if old is not None:  # else nothing after the loop reads it, as the loop may have kept none
                context.assign(target, values.either(target.type, some, there(value), old))

    def _first_condition(self, addition: Addition) -> Truth:
        """The conditions of the first addition, before anything has been added."""
        return conj(
            self._evaluate(condition) if truth else negation(self._evaluate(condition))
            for condition, truth in addition.unknown
        )

    def _is_within(self, element: Type, part: Relation, whole: Relation) -> Truth:
        item = self._values.components.variable(element, "each")
        return self._values.quantifiers.of_every(item, implied(part.holds(item), whole.holds(item)))

    def _some_of(self, element: Type, every: Relation) -> Relation:
        """An unconstrained subset of a set."""
        values, axioms = self._values, self._values.axioms
        item = values.components.variable(element, "part")
        indices = values.components.arguments(element, item)
        statement = as_term(every.holds(item))
        over = axioms.free(statement, besides=indices)
        sets = values.components.set_sort(element)
        part = axioms.chosen("part", sets.sort, over)
        axioms.add([part], implied(sets.holds(part, *indices), statement))
        return Relation(lambda known: sets.holds(part, *values.components.arguments(element, known)), None, part)


def _element(kind: Type) -> Type:
    assert isinstance(kind, SetType)
    return kind.element


def _every_addition(values: Values, item: Value, taken: Truth, added: Relation) -> Relation:
    """The elements that all rounds add."""
    return Relation(lambda known: values.quantifiers.of_some(item, conj((taken, added.holds(known)))), None)


def _union(a: Relation, b: Relation) -> Relation:
    return Relation(lambda known: disj((a.holds(known), b.holds(known))), None)
