"""Tests definitions: what a file says has another hash wherever it means something else, and only there."""

from __future__ import annotations

from pathlib import Path

import pytest

from floodmark.checkers.gate.closure import Numbering
from floodmark.checkers.gate.definitions import parsed

NESTED = "def f(a):\n    n = 0\n    def g():\n{0}        n = a\n    g()\n    return n\n"
BRANCH = "def f(a):\n    if a:\n        g(1)\n{0}        g(2)\n"
LOOP = "def f(a):\n    for n in a:\n        g(1)\n{0}        g(2)\n"
TRIED = "def f(a):\n    try:\n        g(1)\n{0}        g(2)\n{1}        g(3)\n    finally:\n        g(4)\n"

DIFFERENT = {
    "the second default": ("def f(a=1, b=2): return a", "def f(a=1, b=3): return a"),
    "the second default by name": ("def f(*, a=1, b=2): return a", "def f(*, a=1, b=3): return a"),
    "a default by name that follows none": ("def f(*, a, b=2): return a", "def f(*, a, b=3): return a"),
    "which of two parameters has the default": ("def f(*, a=1, b): return a", "def f(*, a, b=1): return a"),
    "the second annotation": ("def f(a: int, b: int): return a", "def f(a: int, b: bool): return a"),
    "the annotation of the second": ("def f(a: int, b): return a", "def f(a, b: int): return a"),
    "an annotation, or what is returned": ("def f(a: int): return a", "def f(a) -> int: return a"),
    "the second decorator": ("@g\n@h(1)\ndef f(): return 1", "@g\n@h(2)\ndef f(): return 1"),
    "the order of decorators": ("@g\n@h\ndef f(): return h", "@h\n@g\ndef f(): return h"),
    "the second base": ("class C(A, len): a = len", "class C(A, int): a = len"),
    "the second base's argument": ("class C(A, g(1)): pass", "class C(A, g(2)): pass"),
    "the second keyword of a class": ("class C(A, a=1, b=2): pass", "class C(A, a=1, b=3): pass"),
    "a decorator of a class": ("@g(1)\n@g(2)\nclass C: pass", "@g(1)\n@g(3)\nclass C: pass"),
    "the second condition of a comprehension": ("x = [n for n in g if n if n > 1]", "x = [n for n in g if n if n > 2]"),
    "the condition of the second loop":
        ("x = [n for n in g for m in n if m > 1]", "x = [n for n in g for m in n if m]"),
    "which loop has the condition": ("x = [n for n in g if n for m in g]", "x = [n for n in g for m in g if n]"),
    "the body of a lambda": ("f = lambda a: a + 1", "f = lambda a: a + 2"),
    "a default of a lambda": ("f = lambda a, b=1: a", "f = lambda a, b=2: a"),
    "a lambda that takes one, or any number": ("f = lambda a: a", "f = lambda *a: a"),
    "a function that is a coroutine": ("def f(): return 1", "async def f(): return 1"),
    "a keyword parameter": ("def f(a, b): return a", "def f(a, *, b): return a"),
    "what follows an if": (BRANCH.format(""), BRANCH.format("    else:\n")),
    "what follows the branches": (BRANCH.format("    else:\n"), BRANCH.format("    else:\n        pass\n    if a:\n")),
    "what follows a loop": (LOOP.format(""), LOOP.format("    else:\n")),
    "what is tried": (TRIED.format("", "    except g:\n"), TRIED.format("    except g:\n", "")),
    "what happens where nothing failed":
        (TRIED.format("    except g:\n", ""), TRIED.format("    except g:\n", "    else:\n")),
    "arguments in a list of their own": ("x = g([1, 2], [3])", "x = g([1], [2, 3])"),
    "a target more": ("a = b = 1", "a = (b := 1)"),
    "what with opens": ("with g as a, h: pass", "with g, h as a: pass"),
    "the end of a comparison": ("x = 1 < 2 < 3", "x = (1 < 2) < 3"),
    "what is joined": ("x = a and b and c", "x = a and (b and c)"),
    "a key of a dictionary": ("x = {**a, 'b': 1}", "x = {'a': 1, **b}"),
    "a name of the function around": (NESTED.format(""), NESTED.format("        nonlocal n\n")),
    "a name of the file": (NESTED.format(""), NESTED.format("        global n\n")),
    "the end of a slice": ("x = a[1:]", "x = a[:1]"),
    "a conversion": ("x = f'{a!r}'", "x = f'{a!s}'"),
    "a number of another type": ("x = 1", "x = 1.0"),
    "a truth for a number": ("x = 1", "x = True"),
    "bytes for text": ("x = b'a'", "x = 'a'"),
    "an alternative of a pattern": ("match a:\n  case 1 | 2: b = 1", "match a:\n  case 1 | 3: b = 1"),
    "a guard of a pattern": ("match a:\n  case 1 if a: b = 1", "match a:\n  case 1: b = 1"),
    "a key of a pattern": ("match a:\n  case {'b': 1, 'c': _}: b = 1", "match a:\n  case {'b': _, 'c': 1}: b = 1"),
    "the rest of a pattern": ("match a:\n  case {'b': 1}: c = 1", "match a:\n  case {'b': 1, **r}: c = 1"),
    "a star in a pattern": ("match a:\n  case [b, c]: pass", "match a:\n  case [b, *c]: pass"),
    "an attribute of a pattern": ("match a:\n  case C(b=1, c=2): pass", "match a:\n  case C(c=1, b=2): pass"),
    "a value or a name in a pattern": ("match a:\n  case C.b: pass", "match a:\n  case c: pass"),
}
SAME = {
    "the variable of one of two comprehensions":
        ("def f(a): return [n for n in a], [n for n in a]", "def f(a): return [n for n in a], [m for m in a]"),
    "a local of one of two functions within":
        ("def f(a):\n  def g(n): return n\n  def h(n): return n\n  return g, h",
         "def f(a):\n  def g(n): return n\n  def h(m): return m\n  return g, h"),
    "the parameter of a lambda that hides another":
        ("def f(n): return (lambda n: n)(n)", "def f(n): return (lambda m: m)(n)"),
    "a member that only assignments make":
        ("class C:\n  def f(self): self.a = 1\n  def g(self): return self.a",
         "class C:\n  def f(self): self.b = 1\n  def g(self): return self.b"),
    "a member that is deleted and added to":
        ("class C:\n  def f(self): self.a += 1; del self.c", "class C:\n  def f(self): self.b += 1; del self.d"),
    "a parameter of a function whose annotation has a scope":
        ("from __future__ import annotations\ndef f(a: (lambda b: b)): return [a for _ in a]",
         "from __future__ import annotations\ndef f(c: (lambda b: b)): return [c for _ in c]"),
    "layout": ("x = [1, 2]", "x = [  # two\n    1,\n    2,\n]"),
    "a docstring": ("def f():\n  'It is one.'\n  return 1", "def f():\n  return 1"),
    "the spelling of a text": ("x = 'a' 'b'", 'x = "ab"'),
    "the spelling of a number": ("x = 0x10", "x = 16"),
    "parentheses": ("x = (a + b) * c", "x = ((a + b) * (c))"),
    "else and if": ("def f(a):\n  if a: g()\n  elif b: h()", "def f(a):\n  if a: g()\n  else:\n    if b: h()"),
}


def said(text: str) -> str:
    """The hash of what a file with this text says."""
    return Numbering().hash(parsed(Path("/of/no/project/model.py"), text).every)


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_meaning_has_another_hash(name: str) -> None:
    one, other = DIFFERENT[name]
    assert said(one) != said(other)


@pytest.mark.parametrize("name", SAME)
def test_the_same_meaning_has_the_same_hash(name: str) -> None:
    one, other = SAME[name]
    assert said(one) == said(other)
