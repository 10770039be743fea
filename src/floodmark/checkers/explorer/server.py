"""Serves the explorer's page on the loopback address, and runs its requests in the main thread.

Requests are read in threads of their own, since browsers open connections that they do not use; each hands its question
to the main thread and waits. So a model runs where a debugger expects it, and one question at a time.

Only this machine can connect, and only to the name that the page was given: a request whose ``Host`` is another is
refused, because a foreign page may have its own name resolved to this address. Questions are JSON and from the page
itself, so a foreign page cannot even ask them without reading the answers.
"""

from __future__ import annotations

import importlib.resources
import json
import queue
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from floodmark.checkers.explorer.session import PageAddress, Session
from floodmark.language.errors import SourceError

LOOPBACK = "127.0.0.1"
MAX_REQUEST_BYTES = 1 << 20
"""Bytes of a question; a larger one is refused."""

_SECONDS_TO_WAKE = 0.2

_EXPLORE, _REPORT = "floodmark.checkers.explorer", "floodmark.checkers.report.html"
_FILES: Mapping[str, tuple[str, str, str]] = {
    "/": (_EXPLORE, "page.html", "text/html"),
    "/explore.css": (_EXPLORE, "explore.css", "text/css"),
    "/explore.js": (_EXPLORE, "explore.js", "text/javascript"),
    "/page.css": (_REPORT, "page.css", "text/css"),
    "/pins.js": (_REPORT, "pins.js", "text/javascript"),
}
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


@dataclass
class _Job:
    """A question that waits for the main thread. ``answer`` is there once ``done`` is set."""

    path: str
    body: Any
    done: threading.Event = field(default_factory=threading.Event)
    answer: tuple[HTTPStatus, Any] = (HTTPStatus.SERVICE_UNAVAILABLE, {"error": "the explorer has ended"})


class Explorer:
    """The server of a session. ``port`` 0 takes any that is free."""

    def __init__(self, session: Session, port: int = 0) -> None:
        self.session = session
        self.jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self.server = _Server((LOOPBACK, port), _Handler)
        self.server.explorer = self

    @property
    def address(self) -> str:
        """The address of the page: ``http://127.0.0.1:41234/``."""
        return f"http://{LOOPBACK}:{self.server.server_port}/"

    @property
    def hosts(self) -> tuple[str, str]:
        """The names by which the page may be requested."""
        return f"{LOOPBACK}:{self.server.server_port}", f"localhost:{self.server.server_port}"

    def run(self) -> None:
        """Answers questions, in the calling thread, until ``stop`` or a KeyboardInterrupt."""
        with self._listening():
            while (job := self._next()) is not None:
                try:
                    job.answer = self._answer(job)
                finally:
                    job.done.set()

    def _next(self) -> _Job | None:
        """The next question; None at the end. It wakes up now and then, because a signal need not wake it."""
        while True:
            with suppress(queue.Empty):
                return self.jobs.get(timeout=_SECONDS_TO_WAKE)

    def stop(self) -> None:
        """Ends ``run``, from another thread."""
        self.jobs.put(None)

    @contextmanager
    def _listening(self) -> Iterator[None]:
        listener = threading.Thread(target=self.server.serve_forever, name="explorer", daemon=True)
        listener.start()
        try:
            yield
        finally:
            self.server.shutdown()
            self.server.server_close()

    def ask(self, path: str, body: Any) -> tuple[HTTPStatus, Any]:
        """Hands a question to the main thread and waits for its answer."""
        job = _Job(path, body)
        self.jobs.put(job)
        job.done.wait()
        return job.answer

    def _answer(self, job: _Job) -> tuple[HTTPStatus, Any]:
        questions: dict[str, Callable[[], Any]] = {
            "/overview": self.session.overview,
            "/walk": lambda: self.session.answer(PageAddress.of(job.body)),
            "/search": lambda: self.session.search(_design(job.body)),
            "/stop": lambda: self.session.stop(_design(job.body)),
        }
        try:
            return HTTPStatus.OK, questions[job.path]()
        except ValueError as error:
            return HTTPStatus.BAD_REQUEST, {"error": str(error)}
        except SourceError as error:
            return HTTPStatus.UNPROCESSABLE_ENTITY, {"error": str(error)}
        except Exception as error:
            text = f"internal error in floodmark: {type(error).__name__}: {error}"
            return HTTPStatus.INTERNAL_SERVER_ERROR, {"error": text}


_QUESTIONS = frozenset({"/overview", "/walk", "/search", "/stop"})


def _design(body: Any) -> str:
    if not isinstance(body, dict) or not isinstance(body.get("design"), str):
        raise ValueError("name a design")
    name: str = body["design"]
    return name


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    explorer: Explorer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Says nothing of a page that is closed before it has its answer."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    server_version = "floodmark"
    sys_version = ""
    timeout = 60
    """Seconds after which a silent connection is closed."""

    def do_GET(self) -> None:
        if not self._is_for_us():
            return
        file = _FILES.get(self.path)
        if file is None:
            self._send(HTTPStatus.NOT_FOUND, "text/plain", b"there is nothing here\n")
            return
        package, name, kind = file
        content = importlib.resources.files(package).joinpath(name).read_bytes()
        self._send(HTTPStatus.OK, f"{kind}; charset=utf-8", content)

    def do_POST(self) -> None:
        if not self._is_for_us():
            return
        if self.path not in _QUESTIONS:
            self._refuse(HTTPStatus.NOT_FOUND, "there is nothing here")
            return
        if self.headers.get_content_type() != "application/json":
            self._refuse(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a question is JSON")
            return
        try:
            length = int(self.headers.get("Content-Length", ""))
            if not 0 <= length <= MAX_REQUEST_BYTES:
                raise ValueError
            body = json.loads(self.rfile.read(length))
        except (ValueError, RecursionError):
            self._refuse(HTTPStatus.BAD_REQUEST, "this is not a request")
            return
        status, answer = self.server.explorer.ask(self.path, body)
        self._send(status, "application/json", json.dumps(answer).encode())

    def _is_for_us(self) -> bool:
        """Refuses a request to another name, and one that a page from elsewhere makes."""
        hosts = self.server.explorer.hosts
        origin = self.headers.get("Origin")
        if self.headers.get("Host") not in hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "this address answers only to the name that the explorer printed")
        elif origin is not None and origin.removeprefix("http://") not in hosts:
            self._refuse(HTTPStatus.FORBIDDEN, "requests from other pages are refused")
        else:
            return True
        return False

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self._send(status, "application/json", json.dumps({"error": why}).encode())

    def _send(self, status: HTTPStatus, kind: str, content: bytes) -> None:
        self.send_response(status)
        for name, value in {**_HEADERS, "Content-Type": kind, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing: the terminal is the debugger's."""
