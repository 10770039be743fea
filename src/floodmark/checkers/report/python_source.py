"""Values as Python code, with the imports that the code needs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

import floodmark.language
from floodmark.language.values import Bag, Identifier, Map, Record, Seq, Set


class PythonCode:
    """Writes values as code and remembers which names the code mentions.

    ``names`` has, for each module, the names needed from it and what the code calls them: two modules may have
    different things of the same name. ``modules`` are those that are needed as a whole.
    """

    def __init__(self) -> None:
        self.names: dict[str, dict[str, str]] = {}
        self.modules: set[str] = set()
        self.taken: set[str] = set()

    def use(self, module: str, name: str) -> str:
        """Records that the code mentions ``name`` of ``module``; returns what the code calls it.

        A name of the language comes from ``floodmark``, wherever it is defined.
        """
        if module.startswith("floodmark.language.") and name in floodmark.language.__all__:
            module = "floodmark"
        known = self.names.setdefault(module, {})
        if name not in known:
            known[name] = self.fresh(name)
        return known[name]

    def fresh(self, name: str) -> str:
        """A name that nothing else in the code has: the given one, with a number if necessary."""
        numbered = (f"{name}_{number}" for number in itertools.count(2))
        chosen = next(it for it in itertools.chain([name], numbered) if it not in self.taken)
        self.taken.add(chosen)
        return chosen

    def use_module(self, module: str) -> None:
        """Records that the code mentions a module by its name."""
        self.modules.add(module)

    def value(self, value: Any) -> str:
        """An expression that makes an equal value: ``Set([Broker(1), Broker(2)])``."""
        match value:
            case Enum():
                return f"{self.name(type(value))}.{value.name}"
            case Identifier():
                return f"{self.name(type(value))}({value.number})"
            case Record():
                return f"{self.name(type(value))}({self._named(value._values)})"
            case Mapping():
                return f"{self.name(Map)}({{{self._entries(value)}}})"
            case AbstractSet():
                return self._collection(Set, value)
            case Seq():
                return self._collection(Seq, value)
            case Bag():
                return self._collection(Bag, value)
        return repr(value)

    def name(self, cls: type) -> str:
        """The name of a class."""
        first, dot, rest = cls.__qualname__.partition(".")
        return f"{self.use(cls.__module__, first)}{dot}{rest}"

    def _named(self, values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={self.value(item)}" for name, item in values.items())

    def _entries(self, entries: Mapping[Any, Any]) -> str:
        return ", ".join(f"{self.value(key)}: {self.value(item)}" for key, item in entries.items())

    def _collection(self, cls: type, items: Iterable[Any]) -> str:
        texts = [self.value(item) for item in items]
        return f"{self.name(cls)}([{', '.join(texts)}])" if texts else f"{self.name(cls)}()"
