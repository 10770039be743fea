"""The protocol models that Floodmark ships, for programs: ``from floodmark.protocols.alter_isr.core import AlterIsr``.

``floodmark.protocols.alter_isr.core`` is the module that specs of the shipped project know as ``model.alter_isr.core``,
so there is one copy of each class. Files that a spec reads write ``from model.alter_isr.core import AlterIsr``, which
means a repository's own file where it has that protocol.
"""

from floodmark.checkers.project.modules import offer_protocols

__path__: list[str] = []
"""Makes this a package, whose modules are found by name."""

offer_protocols(__name__)
