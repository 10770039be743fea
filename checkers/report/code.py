"""Values as Python code, with the imports that the code needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from enum import Enum
from typing import Any

from model.language.values import Bag, Identifier, Map, Record, Seq, Set


class Code:
    """Writes values down and remembers what it mentions: names of modules in ``names``, whole ones in ``modules``."""

    def __init__(self) -> None:
        self.names: dict[str, set[str]] = {}
        self.modules: set[str] = set()

    def use(self, module: str, name: str) -> None:
        """The code mentions ``name`` of ``module``."""
        self.names.setdefault(module, set()).add(name)

    def use_module(self, module: str) -> None:
        """The code mentions a module by its name."""
        self.modules.add(module)

    def value(self, value: Any) -> str:
        """The expression that makes an equal value: ``Set([Broker(1), Broker(2)])``."""
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
        self.use(cls.__module__, cls.__qualname__.partition(".")[0])
        return cls.__qualname__

    def _named(self, values: Mapping[str, Any]) -> str:
        return ", ".join(f"{name}={self.value(item)}" for name, item in values.items())

    def _entries(self, entries: Mapping[Any, Any]) -> str:
        return ", ".join(f"{self.value(key)}: {self.value(item)}" for key, item in entries.items())

    def _collection(self, cls: type, items: Iterable[Any]) -> str:
        texts = [self.value(item) for item in items]
        return f"{self.name(cls)}([{', '.join(texts)}])" if texts else f"{self.name(cls)}()"
