"""Where things stand in a message sequence chart: on their lifelines, in their order, and beside each other."""

from __future__ import annotations

from itertools import pairwise
from xml.etree.ElementTree import Element

from floodmark.checkers.report.html.chart import chart
from floodmark.checkers.report.sequence import Event, Message, MessageSequence

NAMES = ["b1", "controller_of_all", "b3"]
EVENTS = [
    Event(1, "asks", "asks()", "with a note", 0, (1, 2)),
    Event(2, "loses", "loses()", "", 0, (2,), "there"),
    Event(3, "sends", "sends()", "another note", 2, ()),
    Event(4, "ends", "ends()", "", 1, (0,), "back"),
]
MESSAGES = [Message("vote", "vote", 2, 3), Message("fetch", "fetch", 2, 3, addressee=0)]
STANDINGS = {1: {0: "leader in epoch 12 of this term", 1: "follower in epoch 12 of that", 2: "voter"}}


def drawn() -> Element:
    return chart(MessageSequence(NAMES, EVENTS, MESSAGES, STANDINGS))


def at(element: Element, name: str) -> float:
    return float(element.get(name, "nan"))


def of(kind: str, shape: str) -> list[Element]:
    return [it for it in drawn().iter(shape) if it.get("class") == kind]


def lifelines() -> list[float]:
    return [at(line, "x1") for line in of("lifeline", "line")]


def test_each_participant_has_a_box_for_its_name_on_its_lifeline() -> None:
    boxes = of("participant", "rect")
    assert all(abs(at(box, "x") + at(box, "width") / 2 - x) < 0.2 for box, x in zip(boxes, lifelines(), strict=True))
    assert len(boxes) == 3
    assert all(7 * len(name) < at(box, "width") < 7 * len(name) + 40 for name, box in zip(NAMES, boxes, strict=True))
    assert all(at(one, "x") + at(one, "width") < at(other, "x") for one, other in pairwise(boxes))


def test_an_arrow_ends_at_whom_the_step_is_about_with_its_head_behind() -> None:
    heads = [it for it in drawn().iter("polygon") if "asks" in it.get("class", "")]
    lines, places = of("asks", "line"), lifelines()
    for head, line, actor, other in zip(heads, lines, (0, 0, 1), (1, 2, 0), strict=True):
        tip, *sides = [tuple(map(float, point.split(","))) for point in head.get("points", "").split()]
        start, forth = places[actor], 1 if other > actor else -1
        assert abs(tip[0] - places[other]) < 0.1 and at(line, "x1") == start
        assert all(0 < (x - start) * forth < (tip[0] - start) * forth for x in (at(line, "x2"), *(x for x, _ in sides)))
    assert at(lines[0], "y1") < at(lines[1], "y1")


def test_what_is_lost_ends_on_its_way() -> None:
    there, back = of("asks open", "line")
    left, middle, right = lifelines()
    assert left == at(there, "x1") < at(there, "x2") < right - 20
    assert left == at(back, "x1") < at(back, "x2") < middle - 20


def test_nothing_of_a_step_stands_on_something_else_of_it() -> None:
    labels = of("action", "rect")
    places = [at(label, "y") for label in labels]
    notes = [at(note, "y") for note in of("note", "text")]
    arrows = [at(line, "y1") for line in [*of("asks", "line"), *of("asks open", "line")]]
    arrows += [at(line, "y1") for line in of("message open", "line")]
    roles = [at(text, "y") for text in of("role", "text")]
    below = [at(label, "y") + at(label, "height") for label in labels]
    assert [place for place in sorted([*places, *notes, *arrows, *roles]) if place in notes] == sorted(notes)
    assert below[0] < notes[0] < arrows[0] < arrows[1] < roles[0] < places[1]
    assert below[2] < notes[1] < min(y for y in arrows if y > places[2])
    assert len(arrows) == 7 and all(other - one > 15 for one, other in pairwise(sorted(arrows)))


def test_roles_that_do_not_fit_beside_each_other_stand_below_each_other() -> None:
    roles = of("role", "text")
    assert {text.text: at(text, "x") for text in roles} == dict(zip(STANDINGS[1].values(), lifelines(), strict=True))
    for one in roles:
        for other in roles:
            if one is not other and at(one, "y") == at(other, "y"):
                wide = 6 * (len(one.text or "") + len(other.text or "")) / 2
                assert abs(at(one, "x") - at(other, "x")) >= wide
    assert len({at(text, "y") for text in roles}) > 1
