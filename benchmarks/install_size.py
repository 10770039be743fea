"""The disk space of an installation: ``python -m benchmarks.install_size``.

For Floodmark without extras and for each of its extras, as pyproject.toml has them: the sizes of the files of all
packages that it needs and that the lines above do not, as they are installed in this environment.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

from packaging.requirements import Requirement

EXTRAS = ("", "spark", "java")


def needed(lines: Iterable[str], known: set[str]) -> Iterator[str]:
    """The installed packages that requirements stand for and need, except known ones, which this adds to."""
    for requirement in map(Requirement, lines):
        name = re.sub(r"[-_.]+", "-", requirement.name).lower()
        if name in known or (requirement.marker is not None and not requirement.marker.evaluate({"extra": ""})):
            continue
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        known.add(name)
        yield name
        yield from needed(requires(name) or (), known)


def size(package: str) -> int:
    """Bytes of the files of an installed package."""
    paths = (Path(str(file.locate())) for file in distribution(package).files or ())
    return sum(path.stat().st_size for path in paths if path.is_file())


def main() -> None:
    """Prints a line for each extra."""
    project = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = {"": project["dependencies"], **project["optional-dependencies"]}
    known: set[str] = set()
    for extra in EXTRAS:
        sizes = {name: size(name) for name in needed(asked[extra], known)}
        largest = sorted(sizes, key=lambda name: -sizes[name])[:4]
        what = f"floodmark[{extra}]" if extra else "floodmark"
        listed = ", ".join(f"{name} {sizes[name] / 1e6:,.0f}" for name in largest)
        print(f"{what:18} {sum(sizes.values()) / 1e6:7,.0f} MB  of which {listed}")


if __name__ == "__main__":
    main()
