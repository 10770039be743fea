"""Tests ``floodmark lsp``: messages at lines from answers, and the server with the client of its own package."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from floodmark.checkers.assistants import worker
from floodmark.checkers.assistants.budget import Budget
from floodmark.checkers.editor.diagnostics import EditorMessage, hover_text, messages, specs_about
from tests.support.command import REPOSITORY, floodmark
from tests.support.gates import forget
from tests.support.outcomes import inside

MODEL = '''
from typing import Annotated

from floodmark import Between, Model, action, implies, invariant, require


class Tank(Model):
    """A tank."""

    level: Annotated[int, Between(0, 3)] = 0

    @action
    def fill(self) -> None:
        require(self.level < 2)
        self.level += 1

    @action
    def bursts(self) -> None:
        require(self.level > 2)
        self.level = 0

    @invariant
    def low(self) -> bool:
        return self.level < 2

    @invariant
    def empty_if_full(self) -> bool:
        return implies(self.level > 2, self.level == 0)
'''
GREEN = 'model = "tank.py:Tank"\ninvariants = ["empty_if_full"]\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "tank.py").write_text(MODEL)
    (tmp_path / "tank.toml").write_text('model = "tank.py:Tank"\n')
    return tmp_path.resolve()


def checked(root: Path, tool: str = "check") -> dict[str, Any]:
    forget(root)
    with inside(root):
        return worker.answer({"tool": tool, "arguments": {"spec": "tank.toml"}, "seconds": 60, "memory": 4 << 30})


def test_a_violated_property_shows_at_its_line_with_the_steps(project: Path) -> None:
    (found,) = messages("tank.toml", checked(project))
    assert (found.file, found.line, found.severity, found.code) == ("tank.py", 23, "error", "violated")
    assert found.text.splitlines()[1:] == ["1  initial()", "2  fill()", "3  fill()"]


def test_what_weakens_a_green_check_shows_at_its_line(project: Path) -> None:
    (project / "tank.toml").write_text(GREEN)
    found = messages("tank.toml", checked(project))
    assert {it.severity for it in found} == {"warning"}
    assert [(it.line, it.code) for it in found] == [(18, "never fired"), (28, "vacuous")]
    assert "bursts never fires: it requires self.level > 2, that is" in found[0].text


def test_a_refusal_and_a_scenario_show_at_their_lines(project: Path) -> None:
    (project / "tank.toml").write_text(f'{GREEN}[[scenario]]\nname = "bursts at once"\nsteps = ["bursts"]\n')
    assert [(it.file, it.line, it.code) for it in messages("tank.toml", checked(project))][:2] == [
        ("tank.toml", 1, "holds"), ("tank.toml", 3, "scenario"),
    ]  # fmt: skip
    (project / "tank.py").write_text(MODEL.replace("self.level = 0", "self.level = print()"))
    (refused,) = messages("tank.toml", checked(project))
    assert (refused.file, refused.line, refused.severity) == ("tank.py", 20, "error")
    (project / "tank.toml").write_text("modell = 1\n")
    assert messages("tank.toml", checked(project))[0].file == "tank.toml"


def test_a_model_is_checked_by_the_specs_about_it(project: Path) -> None:
    (project / "deep.toml").write_text('model = "tank.py:Tank"\ntier = "deep"\n')
    (project / "other.py").write_text("")
    assert specs_about(project, project / "tank.py") == ["tank.toml"]
    assert specs_about(project, project / "other.py") == []
    assert specs_about(REPOSITORY, REPOSITORY / "model/alter_isr/core.py")[:1] == ["specs/alter_isr/core.toml"]


def test_a_file_of_properties_is_checked_by_the_specs_about_its_model(project: Path) -> None:
    (project / "more.py").write_text("")
    (project / "tank.toml").write_text('model = "tank.py:Tank"\ninvariant_files = ["more.py"]\n')
    assert specs_about(project, project / "more.py") == ["tank.toml"]
    listed = specs_about(REPOSITORY, REPOSITORY / "invariants/alter_isr/core.py")
    assert listed[:1] == ["specs/alter_isr/core.toml"]


def test_a_spec_that_cannot_be_read_shows_its_error_when_its_model_is_saved(project: Path) -> None:
    (project / "tank.toml").write_text('model = "tank.py:Tank"\nlimits = \n')
    (project / "other.toml").write_text('model = "other.py:Tank"\nlimits = \n')
    assert specs_about(project, project / "tank.py") == ["tank.toml"]


class Editor:
    """An editor that is told of messages; ``answers`` has what the checks of a spec find."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        from floodmark.checkers.editor import server

        self.workspace = SimpleNamespace(root_path=str(root))
        self.told: dict[str, list[str]] = {}
        self.answers: dict[str, dict[str, Any]] = {}
        monkeypatch.setattr(server, "answer", lambda root, tool, asked, budget: self.answers.get(asked["spec"], {
            "results": []}))
        known: Any = self
        self.files = server._Files(known, Budget())

    def text_document_publish_diagnostics(self, given: Any) -> None:
        self.told[given.uri] = [each.message for each in given.diagnostics]

    def saves(self, file: Path) -> None:
        asyncio.run(self.files.check(file.as_uri()))


def refused(text: str, file: str) -> dict[str, Any]:
    return {"verdict": "error", "error": text, "place": {"file": file, "line": 2}}


def test_a_message_goes_away_with_its_cause_whichever_file_is_saved(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygls", reason="the extra floodmark[editor] is not installed")
    editor = Editor(project, monkeypatch)
    editor.answers["tank.toml"] = refused("no", "tank.py")
    editor.saves(project / "tank.toml")
    shown = (project / "tank.py").as_uri()
    assert editor.told[shown] == ["no"]
    editor.answers.clear()
    editor.saves(project / "tank.py")
    assert editor.told[shown] == []
    editor.answers["tank.toml"] = refused("again", "tank.py")
    editor.saves(project / "tank.py")
    assert editor.told[shown] == ["again"]
    (project / "tank.toml").rename(project / "renamed.toml")
    editor.saves(project / "tank.py")
    assert editor.told[shown] == []


def test_messages_are_shown_in_the_file_that_the_editor_opened_if_it_is_a_link(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pygls", reason="the extra floodmark[editor] is not installed")
    link = tmp_path.parent / f"link_{tmp_path.name}"
    link.symlink_to(project)
    editor = Editor(link, monkeypatch)
    editor.answers["tank.toml"] = refused("no", "tank.py")
    editor.saves(link / "tank.py")
    assert editor.told == {(link / "tank.py").as_uri(): ["no"]}


def test_a_name_says_its_type_and_its_bits(project: Path) -> None:
    described = checked(project, "show")
    assert hover_text("level", described) == "`level: 0..3`  \n2 bits in `tank.toml`"
    assert hover_text("fill", described) is None


@pytest.mark.slow
def test_an_editor_is_told_of_what_it_opens(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pygls", reason="the extra floodmark[editor] is not installed")
    from lsprotocol import types
    from pygls.lsp.client import LanguageClient

    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(REPOSITORY), *sys.path]))
    uri = (project / "tank.py").as_uri()
    code = "import floodmark.__main__ as it; it.main()"

    async def talk() -> tuple[Any, Any]:
        client = LanguageClient("test", "1")
        told: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

        def published(given: Any) -> None:
            if given.diagnostics and not told.done():
                told.set_result(given)

        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(published)
        await client.start_io(sys.executable, "-c", code, "lsp")
        await client.initialize_async(types.InitializeParams(types.ClientCapabilities(), root_uri=project.as_uri()))
        client.initialized(types.InitializedParams())
        document = types.TextDocumentItem(uri, "python", 1, MODEL)
        client.text_document_did_open(types.DidOpenTextDocumentParams(document))
        found = await asyncio.wait_for(told, 60)
        at = types.HoverParams(types.TextDocumentIdentifier(uri), types.Position(23, 22))
        hovered = await client.text_document_hover_async(at)
        await client.shutdown_async(None)
        client.exit(None)
        stop: Any = client.stop  # without types
        await stop()
        return found, hovered

    found, hovered = asyncio.run(talk())
    assert (found.uri, found.diagnostics[0].range.start.line) == (uri, 22)
    assert hovered.contents.value.startswith("`level: ")


def test_without_the_package_the_command_says_what_to_install(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("floodmark.checkers.command_line.servers.find_spec", lambda _: None)
    ended = floodmark("lsp", at=project)
    assert (ended.code, "pip install 'floodmark[editor]'" in ended.err) == (2, True)


def test_what_has_no_place_is_shown_at_the_beginning_of_the_spec() -> None:
    answered = {"verdict": "error", "error": "no"}
    assert messages("specs/a.toml@row", answered) == [EditorMessage("specs/a.toml", 1, "error", "error", "no")]


def test_files_belong_to_the_folder_that_the_editor_opened_or_to_their_own(tmp_path: Path) -> None:
    pytest.importorskip("pygls", reason="the extra floodmark[editor] is not installed")
    from floodmark.checkers.editor.server import _Files

    def root(opened: str | None) -> Path:
        server: Any = SimpleNamespace(workspace=SimpleNamespace(root_path=opened))
        return _Files(server, Budget())._root(tmp_path / "model/a.py")

    assert root(None) == tmp_path / "model"
    assert root(str(tmp_path)) == tmp_path.resolve()


def test_the_same_message_of_two_specs_is_shown_once() -> None:
    answered = {"verdict": "error", "error": "no", "place": {"file": "a.py", "line": None}}
    assert messages("a.toml", answered) == [EditorMessage("a.py", 1, "error", "error", "no")]
