"""Builds HTML and SVG elements; text and attributes are always escaped."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree.ElementTree import Element, tostring

Part = Element | str | None | Iterable["Part"]
"""The possible content of an element; None adds nothing."""


def tag(name: str, /, *parts: Part, **attributes: str | float | bool) -> Element:
    """An element. ``class_`` is the attribute class, an underscore stands for a hyphen, False omits an attribute."""
    element = Element(name)
    for key, value in attributes.items():
        if value is not False:
            element.set(key.rstrip("_").replace("_", "-"), "" if value is True else _text(value))
    _append(element, parts)
    return element


def code(text: str) -> list[Part]:
    """Code that may be broken after an opening bracket, so that names stay whole."""
    pieces = re.split(r"(?<=[({])(?=\w)", text)
    return [pieces[0], *(part for piece in pieces[1:] for part in (tag("wbr"), piece))]


def page(root: Element) -> str:
    """The document with this root element."""
    return f"<!doctype html>\n{tostring(root, encoding='unicode', method='html')}\n"


def _append(element: Element, parts: Iterable[Part]) -> None:
    for part in parts:
        if part is None:
            continue
        if isinstance(part, Element):
            element.append(part)
        elif isinstance(part, str):
            _append_text(element, part)
        else:
            _append(element, part)


def _append_text(element: Element, text: str) -> None:
    if len(element):
        element[-1].tail = (element[-1].tail or "") + text
    else:
        element.text = (element.text or "") + text


def _text(value: str | float) -> str:
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else str(value)
