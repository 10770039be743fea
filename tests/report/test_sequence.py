"""Sequence charts: who acts at each step, and who sends what to whom; as Mermaid, and on GitHub."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Annotated

import pytest

from floodmark import Bag, Between, Capacity, Constant, Identifier, Map, Model, Record, Set, action, initial, require
from floodmark.checkers.report import github
from floodmark.checkers.report.html.chart import chart
from floodmark.checkers.report.mermaid import _event, mermaid
from floodmark.checkers.report.sequence import MessageSequence, message_sequence, violation_sequence
from floodmark.checkers.search_result import TraceState, Violation
from floodmark.checkers.verdict.check import CheckSettings
from floodmark.checkers.verdict.result import CheckResult
from floodmark.language.reference import Step, fire, initial_states
from tests.support.outcomes import check, inside, tank_cases

ROOT = Path(__file__).parents[2]


class Node(Identifier, count="nodes", prefix="n"):
    """A machine."""


class Disk(Identifier, count="disks", prefix="d"):
    """What a machine writes to."""


class Ping(Record):
    """A message that says who gets it."""

    to: Node
    number: Annotated[int, Between(0, 3)]


class Network(Model):
    """Nodes that send pings by way of a bag, in which a message may be delivered twice."""

    nodes = Constant(3)
    disks = Constant(2)
    leader: Node | None
    pings: Annotated[Bag[Ping], Capacity(3)]
    seen: Map[Node, Set[Node]]

    @initial
    def start(self) -> None:
        self.leader = None
        self.pings = Bag()
        self.seen = Map({node: Set() for node in Node})

    @action
    def node_sends(self, node: Node, number: Annotated[int, Between(0, 3)]) -> None:
        self.pings.add(Ping(to=Node(1), number=number))

    @action
    def ping_arrives(self, ping: Ping, again: bool) -> None:
        if not again:
            self.pings.remove(ping)

    @action
    def controller_elects(self, node: Node) -> None:
        self.leader = node

    @action
    def leader_rests(self) -> None:
        pass

    @action
    def time_passes(self) -> None:
        self.pings = Bag()

    @action
    def marks(self) -> None:
        self.seen[Node(2)].add(Node(1))

    @action
    def space_ends(self, disk: Disk, node: Node) -> None:
        require(self.leader is None)

    @action
    def everything_stops(self) -> None:
        pass


def run(*steps: Step) -> MessageSequence:
    """The chart of a run of the network."""
    model = Network()
    (first, state), *_ = initial_states(model)
    trace = [TraceState(first, state)]
    for step in steps:
        after = fire(model, trace[-1].state, step)
        assert after is not None
        trace.append(TraceState(step, after))
    return message_sequence(model, trace)


def actors(chart: MessageSequence) -> list[str | None]:
    return [None if event.actor is None else chart.participants[event.actor] for event in chart.events]


def messages(chart: MessageSequence) -> list[tuple[str, int, str | None, int | None]]:
    return [
        (chart.participants[it.sender], it.sent, None if it.receiver is None else chart.participants[it.receiver],
         it.received)
        for it in chart.messages
    ]


def send(sender: int, number: int = 0) -> Step:
    return Step("node_sends", {"node": Node(sender), "number": number})


def arrive(number: int = 0, again: bool = False) -> Step:
    return Step("ping_arrives", {"ping": Ping(to=Node(1), number=number), "again": again})


def test_the_actor_of_a_step_is_its_parameter_or_the_role_in_its_name() -> None:
    steps = [send(2), Step("controller_elects", {"node": Node(3)}), Step("leader_rests"), Step("time_passes"),
             Step("marks"), Step("everything_stops")]
    chart = run(*steps)
    assert chart.participants == ["controller", "time", "n1", "n2", "n3"]
    assert actors(chart) == [None, "n2", "controller", "n3", "time", "n2", None]


def test_of_several_parameters_one_of_a_kind_that_acts_elsewhere_is_the_actor() -> None:
    chart = run(send(2), Step("space_ends", {"disk": Disk(1), "node": Node(3)}))
    assert chart.participants == ["n1", "n2", "n3"]
    assert actors(chart) == [None, "n2", "n3"]


def test_a_step_that_fails_is_drawn_without_a_state_after_it() -> None:
    model = Network()
    (first, state), *_ = initial_states(model)
    after = fire(model, state, send(2))
    assert after is not None
    chart = message_sequence(model, [TraceState(first, state), TraceState(send(2), after)], arrive(3))
    assert [event.action for event in chart.events] == ["start", "node_sends", "ping_arrives"]


def test_a_participant_that_is_told_something_is_one_of_the_others() -> None:
    chart = run(Step("controller_elects", {"node": Node(3)}))
    event = chart.events[1]
    assert [chart.participants[other] for other in event.others] == ["n3"]
    assert event.note == ""


def test_other_arguments_are_noted() -> None:
    assert [event.note for event in run(send(2, 3)).events] == ["", "number=3"]


def test_a_message_goes_from_who_adds_it_to_who_takes_it() -> None:
    chart = run(send(2), send(3, 1), arrive(1), arrive(0))
    assert messages(chart) == [("n2", 2, "n1", 5), ("n3", 3, "n1", 4)]


def test_a_message_that_nobody_takes_stays_on_its_way() -> None:
    assert messages(run(send(2), Step("leader_rests"))) == [("n2", 2, None, None)]


def test_a_message_may_be_delivered_twice() -> None:
    assert messages(run(send(2), arrive(again=True), arrive())) == [("n2", 2, "n1", 3), ("n2", 2, "n1", 4)]


def test_what_somebody_keeps_for_himself_is_no_message() -> None:
    assert messages(run(send(1), arrive())) == []


def found(spec: str, name: str) -> CheckResult:
    """The counterexample of a known-bad design of ours."""
    with inside(ROOT):
        (result,) = check(Path(spec), CheckSettings(workers=1, only_variant=name))
    return result


def test_a_counterexample_is_drawn_in_mermaid() -> None:
    assert mermaid(found("specs/alter_isr/core.toml", "IgnoresPendingExpand")).splitlines() == [
        "sequenceDiagram",
        "    participant P0 as controller",
        "    participant P1 as b1",
        "    participant P2 as b2",
        "    participant P3 as b3",
        "    Note over P0,P3: 1 start",
        "    P1->>P3: 2 leader_proposes_expand",
        "    P1-)P0: AlterIsrRequest(leader_epoch=0, isr={b1,b2,b3}, partition_epoch=0)",
        "    Note over P0: 3 controller_acknowledges(again=False)",
        "    Note over P1: 4 leader_appends",
        "    Note over P2: 5 follower_fetches",
        "    Note over P1: 6 leader_advances_high_watermark",
        "    Note over P0: 7 controller_writes",
        "    Note over P0: sent and on its way: "
        "LeaderAndIsr(leader=b1, leader_epoch=0, isr={b1,b2,b3}, partition_epoch=1)",
        "    Note over P0,P3: isr_holds_committed is false",
    ]


def test_text_cannot_end_a_line_of_mermaid(tmp_path: Path) -> None:
    with inside(tmp_path):
        case = tank_cases(tmp_path)[0]
    assert case.result is not None
    assert case.result.violation is not None
    object.__setattr__(case.result.violation, "property", "a; b # c\nd")
    last = mermaid(case.result).splitlines()[-1]
    assert last == "    Note over P0: a#59; b #35; c d is false"


def test_annotations_are_at_the_line_and_escaped(tmp_path: Path) -> None:
    with inside(tmp_path):
        (line,) = github.workflow_commands(tank_cases(tmp_path))
    command, text = line.removeprefix("::").split("::", 1)
    assert command == "error file=invariants/tank.py,line=8,title=tank Tank"
    assert "\n" not in text
    assert "%0A2  fill()%0A     level: 0 -> 1" in text


def test_the_summary_has_a_table_and_diagrams(tmp_path: Path) -> None:
    with inside(tmp_path):
        page = github.summary(tank_cases(tmp_path))
    rows = [line for line in page.splitlines() if line.startswith("| :")]
    assert [row.split(" | ")[0] for row in rows] == ["| :x:", "| :white_check_mark:", "| :white_check_mark:"]
    assert len(re.findall(r"^```mermaid\nsequenceDiagram\n(?:    .+\n)+```$", page, re.MULTILINE)) == 3
    assert page.count("<details>") == page.count("</details>") == 2
    assert page.index("### tank Tank: violated") < page.index("<details>")


def test_a_summary_never_exceeds_what_github_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with inside(tmp_path):
        every = tank_cases(tmp_path)
        whole = github.summary(every)
        monkeypatch.setattr(github, "MAX_SUMMARY_BYTES", len(whole) - 100)
        cut = github.summary(every)
    assert len(cut) < len(whole)
    assert "### tank Tank: violated" in cut
    assert cut.endswith("The rest does not fit here; `floodmark report RESULTS.json --as html` has everything.\n")


class Box(Identifier, count=2, prefix="x"):
    """Where letters lie."""


class Mail(Model):
    """Each box may be closed, which is None, or hold letters; who leads is known for each node."""

    nodes = Constant(2)
    inbox: Map[Box, Set[Ping] | None]
    leader: Map[Node, Node | None]

    @initial
    def start(self) -> None:
        self.inbox = Map({box: None for box in Box})
        self.leader = Map({node: None for node in Node})

    @action
    def leader_sends(self, box: Box, node: Node) -> None:
        self.leader[node] = node
        self.inbox[box] = Set({Ping(to=Node(2), number=1)})

    @action
    def box_closes(self, box: Box) -> None:
        self.inbox[box] = None


def test_a_container_that_was_none_brings_its_messages() -> None:
    model = Mail()
    ((first, state),) = initial_states(model)
    trace = [TraceState(first, state)]
    for step in [Step("leader_sends", {"box": Box(1), "node": Node(2)}), Step("box_closes", {"box": Box(1)})]:
        after = fire(model, trace[-1].state, step)
        assert after is not None
        trace.append(TraceState(step, after))
    chart = message_sequence(model, trace)
    (message,) = chart.messages
    assert (message.name, message.sent, message.received) == ("Ping", 2, 3)
    assert chart.participants[chart.events[1].actor or 0] == "n2"


class Role(Enum):
    """What a node is."""

    FOLLOWER = "follower"
    LEADER = "leader"


class Term(Record):
    """What a node has stored."""

    epoch: Annotated[int, Between(0, 3)]
    voted: Node | None


class Fate(Enum):
    """What happens to a call."""

    ANSWERED = "answered"
    RESPONSE_LOST = "response lost"
    REQUEST_LOST = "request lost"


class Calls(Model):
    """Nodes that call each other in one step, and a network that loses what is on its way."""

    nodes = Constant(2)
    role: Map[Node, Role]
    stored: Map[Node, Term]
    pings: Annotated[Bag[Ping], Capacity(3)]

    @initial
    def start(self) -> None:
        self.role = Map({node: Role.FOLLOWER for node in Node})
        self.stored = Map({node: Term(epoch=0, voted=None) for node in Node})
        self.pings = Bag()

    @action
    def node_calls(self, node: Node, other: Node, fate: Fate) -> None:
        self.stored[node].epoch += 1

    @action
    def node_wins(self, node: Node) -> None:
        self.role[node] = Role.LEADER

    @action
    def node_sends(self, node: Node) -> None:
        self.pings.add(Ping(to=Node(1), number=1))

    @action
    def network_loses(self, ping: Ping) -> None:
        self.pings.remove(ping)


def run_of(model: Model, *steps: Step) -> MessageSequence:
    begun, state = next(iter(initial_states(model)))
    trace = [TraceState(begun, state)]
    for step in steps:
        after = fire(model, trace[-1].state, step)
        assert after is not None
        trace.append(TraceState(step, after))
    return message_sequence(model, trace)


def test_what_an_argument_says_is_lost_is_drawn_as_lost() -> None:
    calls = [Step("node_calls", {"node": Node(1), "other": Node(2), "fate": fate}) for fate in Fate]
    drawn = run_of(Calls(), *calls)
    assert [event.lost for event in drawn.events] == ["", "", "back", "there"]
    picture = chart(drawn)
    crosses = [line for line in picture.iter("line") if line.get("class") == "lost"]
    assert len(crosses) == 2 * 2
    assert len([line for line in picture.iter("line") if line.get("class") == "asks open"]) == 2
    said = mermaid_of(drawn)
    assert [line for line in said if "-x" in line] == ["P1-xP0: lost", "P0-xP1: 4 node_calls(fate=REQUEST_LOST)"]


def test_a_message_that_is_lost_is_not_received() -> None:
    drawn = run_of(Calls(), Step("node_sends", {"node": Node(2)}),
                   Step("network_loses", {"ping": Ping(to=Node(1), number=1)}))
    (message,) = drawn.messages
    assert (message.lost, message.receiver, message.received) == (True, None, None)
    assert len([line for line in chart(drawn).iter("line") if line.get("class") == "lost"]) == 2
    assert any("sent and lost" in line for line in mermaid_of(drawn))


def mermaid_of(drawn: MessageSequence) -> list[str]:
    return [line for event in drawn.events for line in _event(drawn, event)]


def test_role_and_epoch_stand_on_the_lifelines_where_they_change() -> None:
    call = Step("node_calls", {"node": Node(2), "other": Node(1), "fate": Fate.ANSWERED})
    drawn = run_of(Calls(), call, Step("node_wins", {"node": Node(2)}), Step("node_sends", {"node": Node(2)}))
    assert drawn.participants == ["n1", "n2"]
    assert drawn.standings == {1: {0: "FOLLOWER e0", 1: "FOLLOWER e0"}, 2: {1: "FOLLOWER e1"}, 3: {1: "LEADER e1"}}
    texts = [it for it in chart(drawn).iter("text") if it.get("class") == "role"]
    assert [it.text for it in texts] == ["FOLLOWER e0", "FOLLOWER e0", "FOLLOWER e1", "LEADER e1"]
    lifelines = [it.get("x1") for it in chart(drawn).iter("line") if it.get("class") == "lifeline"]
    assert [it.get("x") for it in texts] == [lifelines[0], lifelines[1], lifelines[1], lifelines[1]]


def test_whoever_a_variable_names_has_its_role() -> None:
    result = found("specs/alter_isr/core.toml", "AssumesProposedIsr")
    assert result.subject is not None and result.violation is not None
    drawn = message_sequence(result.subject, result.violation.trace)
    said = {drawn.participants[at]: text for at, text in drawn.standings[1].items()}
    assert said["b1"] == "leader e0"
    assert said["b2"] == "ACTIVE"


def test_steps_of_chart_and_list_lead_to_each_other() -> None:
    drawing = chart(run_of(Calls(), Step("node_wins", {"node": Node(2)})), "", "here")
    assert [it.get("href") for it in drawing.iter("a")] == ["#here-step-1", "#here-step-2"]
    assert [it.get("id") for it in drawing.iter("g")] == ["here-chart-1", "here-chart-2"]


def test_a_loop_is_drawn() -> None:
    """Back from the last step to the first that is repeated; Mermaid has a box for that."""
    with inside(ROOT):
        spec = Path("specs/examples/alternating_bit.toml")
        (result,) = check(spec, CheckSettings(workers=1, only_variant="LosesEverything"))
    violation = result.violation
    assert violation is not None and result.subject is not None and violation.loop == 0
    drawn = violation_sequence(result.subject, violation)
    assert drawn.loop == 2
    picture = chart(drawn, "end", "here")
    out, up, back = [it for it in picture.iter("line") if it.get("class") == "loop"]
    heights = [float(it.get("y", "0")) for it in picture.iter("text") if it.get("class") == "step-number"]
    assert (float(out.get("y1", "0")), float(back.get("y1", "0"))) == (heights[2] + 1, heights[1] - 9)
    assert (up.get("y1"), up.get("y2")) == (out.get("y2"), back.get("y1"))
    assert up.get("x1") == up.get("x2") == out.get("x2") == back.get("x1")
    assert max(float(it.get("x", "0")) + float(it.get("width", "0")) for it in picture.iter("rect")) < float(
        up.get("x1", "0")
    ) < float(picture.get("width", "0"))
    said = mermaid(result).splitlines()
    at = said.index("    loop forever")
    assert [line.split()[3 if "Note" in line else 1] for line in said[at + 1 : at + 3]] == ["2", "3"]
    assert said[at + 3] == "    end"


def test_a_run_that_ends_for_ever_has_no_loop() -> None:
    """What nothing has to follow, and a state that is reached once, lead nowhere."""
    model = Calls()
    trace = (TraceState(*next(iter(initial_states(model)))),)
    for loop in (None, 0):
        violation = Violation("liveness", "ends", trace, loop=loop)
        assert violation_sequence(model, violation).loop is None
