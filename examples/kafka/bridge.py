"""Kafka's classes in a Java machine of this process (JPype).

JPype rather than py4j, which PySpark brings: a call stays in the process, and with py4j it is a round trip over a
socket (``python -m benchmarks.kafka`` measures both). Each version has a class loader of its own, so several versions
run side by side. No thread of Kafka runs: what is called here returns when it is done.

Most of the controller is visible to its own package only, so its constructors and methods are called by reflection.
"""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jpype
from libraries import Libraries, NoKafka

sys.path.append(str(Path(__file__).parent.parent))

from find_java import NoJava, find_java


class NotInVersion(NoKafka):
    """A version of Kafka has no such class, method or field."""


def start() -> None:
    """Starts the Java machine, which lasts as long as the process, or until ``end``."""
    if jpype.isJVMStarted():
        return
    try:
        java = find_java().resolve()
    except NoJava as reason:
        raise NoKafka(str(reason)) from None
    found = sorted(java.parent.parent.rglob("libjvm.*")) + sorted(java.parent.parent.rglob("jvm.dll"))
    if not found:
        raise NoKafka(f"the Java in {java.parent.parent} has no libjvm; set JAVA_HOME to one that has")
    jpype.startJVM(str(found[0]), "-Xmx512m", "-XX:+UseSerialGC", "-Xshare:auto", convertStrings=True)


def end() -> None:
    """Ends it before the process does, for good. Ending it runs code of Java, which takes signals for its own. A tool
    that has put its own handler in place of Java's and then takes it away, as pytest's faulthandler does when the tests
    are over, leaves none, and the next signal of Java's would end the process with a segmentation fault.
    """
    if jpype.isJVMStarted():
        jpype.shutdownJVM()


class Classes:
    """The classes of one version.

    The wrappers of JPype are made once for each class and method: that takes longer than the calls.
    """

    def __init__(self, libraries: Libraries) -> None:
        start()
        self.libraries = libraries
        urls = [jpype.java.io.File(str(jar)).toURI().toURL() for jar in libraries.jars]
        self._loader = jpype.java.net.URLClassLoader(jpype.JArray(jpype.java.net.URL)(urls))
        self._types: dict[str, Any] = {}
        self._methods: dict[tuple[Any, ...], Any] = {}

    def __str__(self) -> str:
        return str(self.libraries)

    def type(self, name: str) -> Any:
        """A class by its name below org.apache.kafka, such as ``controller.ReplicationControlManager$Builder``.

        Those in Scala, and Scala's own, have their full names: ``kafka.cluster.Partition``.
        """
        if name not in self._types:
            full = name if name.startswith(("kafka.", "scala.")) else f"org.apache.kafka.{name}"
            try:
                self._types[name] = jpype.JClass(self._loader.loadClass(full))
            except jpype.JException as error:
                raise NotInVersion(f"{self} has no class {full} ({error})") from None
        return self._types[name]

    def new(self, name: str, *arguments: Any) -> Any:
        """An object, by whichever constructor takes the arguments, whether it is public or not."""
        kind = self.type(name)
        constructor = self._fitting(kind, "a constructor", lambda: kind.class_.getDeclaredConstructors(), arguments)
        return self._unwrapped(lambda: constructor.newInstance(_list(arguments)))

    def call(self, target: Any, name: str, *arguments: Any) -> Any:
        """Calls a method of an object, or a static one of a class, whether it is public or not.

        An exception of Kafka's comes as it is, not wrapped by reflection.
        """
        static = isinstance(target, jpype.JClass)
        kind = target if static else type(target)
        method = self._fitting(
            kind, name, lambda: [each for each in _methods_of(kind.class_) if each.getName() == name], arguments)
        return self._unwrapped(lambda: method.invoke(None if static else target, _list(arguments)))

    def field(self, target: Any, name: str) -> Any:
        """The value of a field, whether it is public or not."""
        return self._field(target, name).get(target)

    def set_field(self, target: Any, name: str, value: Any) -> None:
        self._field(target, name).set(target, _boxed(value))

    def _field(self, target: Any, name: str) -> Any:
        key = (type(target), name)
        if key not in self._methods:
            kind = type(target).class_
            try:
                found = kind.getDeclaredField(name)
            except jpype.JException:
                raise NotInVersion(f"{self} has no field {name} in {kind.getName()}") from None
            found.setAccessible(True)
            self._methods[key] = found
        return self._methods[key]

    def look_up_here(self) -> None:
        """Classes that Kafka looks up by their names, as its settings have them, are those of this version."""
        jpype.java.lang.Thread.currentThread().setContextClassLoader(self._loader)

    def first_of(self, *names: str) -> str:
        """The first of several names of a class that this version has: some were renamed."""
        for name in names[:-1]:
            if self.has_type(name):
                return name
        self.type(names[-1])
        return names[-1]

    def first_field(self, target: Any, *names: str) -> str:
        """The first of several fields of an object that this version has."""
        for name in names[:-1]:
            with contextlib.suppress(NotInVersion):
                self._field(target, name)
                return name
        return names[-1]

    def has_type(self, name: str) -> bool:
        with contextlib.suppress(NotInVersion):
            return self.type(name) is not None
        return False

    def has(self, name: str, method: str) -> bool:
        """Whether a class of this version has a method of this name."""
        return any(each.getName() == method for each in _methods_of(self.type(name).class_))

    def flags(self, target: Any, method: str, arguments: int) -> list[bool]:
        """False for each parameter that this version's method has besides so many: later versions append flags."""
        for each in _methods_of(target.getClass()):
            if each.getName() == method:
                return [False] * (int(each.getParameterCount()) - arguments)
        raise NotInVersion(f"{self}: {target.getClass().getName()} has no {method}")

    def implement(self, name: str, methods: dict[str, Callable[..., Any]]) -> Any:
        """An interface of Kafka's, public or not, of which some methods are called, and implemented by functions.

        A default method that is not given is the interface's own.
        """

        def invoke(proxy: Any, method: Any, arguments: Any) -> Any:
            given = methods.get(str(method.getName()))
            if given is None and method.isDefault():
                return jpype.java.lang.reflect.InvocationHandler.invokeDefault(proxy, method, arguments)
            if given is None:
                return _OF_OBJECTS[str(method.getName())](proxy, *(arguments or ()))
            return _boxed(given(*(arguments or ())))

        handler = jpype.JProxy(jpype.java.lang.reflect.InvocationHandler, dict={"invoke": invoke})
        interfaces = jpype.JArray(jpype.java.lang.Class)([self.type(name).class_])
        return jpype.java.lang.reflect.Proxy.newProxyInstance(self._loader, interfaces, handler)

    def _fitting(
        self, kind: Any, name: str, given: Callable[[], Sequence[Any]], arguments: Sequence[Any]
    ) -> Any:
        key = (kind, name, tuple(map(type, arguments)))
        found = self._methods.get(key)
        if found is None:
            among = given()
            fitting = [each for each in among if _takes(each, arguments)]
            if not fitting:
                kinds = ", ".join(type(each).__name__ for each in arguments)
                takes = "; ".join(str(each) for each in among) or "nothing of this name"
                raise NotInVersion(f"{self}: {kind.class_.getName()} has no {name} that takes ({kinds}), but {takes}")
            found = self._methods[key] = fitting[0]
            found.setAccessible(True)
        return found

    def _unwrapped(self, call: Callable[[], Any]) -> Any:
        try:
            return call()
        except jpype.JException as error:
            inner = getattr(error, "getTargetException", None)
            if inner is None:
                raise
            raise inner() from None


def _list(arguments: Sequence[Any]) -> Any:
    return _array_of_objects()([_boxed(each) for each in arguments])


@functools.cache
def _array_of_objects() -> Any:
    return jpype.JArray(jpype.java.lang.Object)


def _boxed(value: Any) -> Any:
    """An object of Java: a number of Python is an int, not a long."""
    box = _boxes().get(type(value))
    return value if box is None else box(value)


@functools.cache
def _boxes() -> dict[type, Any]:
    kinds = jpype.java.lang
    return {int: kinds.Integer, bool: kinds.Boolean, jpype.JLong: kinds.Long, jpype.JShort: kinds.Short,
            jpype.JByte: kinds.Byte}


_OF_OBJECTS: dict[str, Callable[..., Any]] = {
    "equals": lambda proxy, other: _boxed(proxy is other),
    "hashCode": lambda proxy: _boxed(id(proxy) & 0x7FFFFFFF),
    "toString": lambda proxy: "implemented in Python",
}

_BOXES = {"int": "java.lang.Integer", "long": "java.lang.Long", "short": "java.lang.Short", "byte": "java.lang.Byte",
          "boolean": "java.lang.Boolean"}


def _takes(method: Any, arguments: Sequence[Any]) -> bool:
    kinds = list(method.getParameterTypes())
    return len(kinds) == len(arguments) and all(map(_fits, kinds, arguments))


def _fits(kind: Any, value: Any) -> bool:
    if value is None:
        return not kind.isPrimitive()
    boxed = _boxed(value) if not isinstance(value, str) else jpype.JString(value)
    if kind.isPrimitive():
        widened = {str(boxed.getClass().getName())}
        widened |= {"java.lang.Long"} if "java.lang.Integer" in widened else set()
        return _BOXES.get(str(kind.getName())) in widened
    return bool(kind.isInstance(boxed))


def _methods_of(kind: Any) -> list[Any]:
    """The methods of a class and of its bases, its own first."""
    found: list[Any] = []
    while kind is not None:
        found += list(kind.getDeclaredMethods())
        kind = kind.getSuperclass()
    return found
