"""Merz's scheduling allocator: resources go to clients in the order of a schedule."""

from typing import Annotated

from floodmark import (
    Between,
    Capacity,
    Constant,
    Identifier,
    Map,
    Model,
    Seq,
    Set,
    action,
    always_eventually,
    fair,
    initial,
    invariant,
    leads_to,
    require,
)


class Client(Identifier, count="clients", prefix="c"):
    """A client that asks for sets of resources."""


class Resource(Identifier, count="resources", prefix="r"):
    """What one client at a time can hold."""


Place = Annotated[int, Between(0, "clients")]


class Allocator(Model):
    """An allocator that gives what the schedule allows."""

    clients = Constant(3)
    resources = Constant(2)
    wants: Map[Client, Set[Resource]]
    holds: Map[Client, Set[Resource]]
    schedule: Annotated[Seq[Client], Capacity("clients")]

    @initial
    def start(self) -> None:
        self.wants = Map({client: Set() for client in Client})
        self.holds = Map({client: Set() for client in Client})
        self.schedule = Seq()

    def available(self, resource: Resource) -> bool:
        return all(resource not in self.holds[client] for client in Client)

    def unscheduled(self) -> Set[Client]:
        return Set(client for client in Client if len(self.wants[client]) > 0 and client not in self.schedule)

    @action
    def client_requests(self, client: Client, resources: Set[Resource]) -> None:
        require(not self.wants[client] and not self.holds[client])
        require(len(resources) > 0)
        self.wants[client] = resources

    @action
    @fair(each="client")
    def allocator_gives(self, client: Client, resources: Set[Resource]) -> None:
        require(len(resources) > 0)
        require(resources <= self.wants[client])
        require(all(self.available(resource) for resource in resources))
        require(client in self.schedule)
        for other in self.schedule:
            if other == client:
                break
            require(resources.isdisjoint(self.wants[other]))
        if resources == self.wants[client]:
            self.schedule = Seq(other for other in self.schedule if other != client)
        self.holds[client] |= resources
        self.wants[client] -= resources

    @action
    @fair(each="client")
    def client_returns_everything(self, client: Client) -> None:
        """A client that waits for nothing has to give back all that it holds."""
        require(not self.wants[client])
        require(len(self.holds[client]) > 0)
        self.holds[client] = Set()

    @action
    def client_returns(self, client: Client, resources: Set[Resource]) -> None:
        """Any other part may go back, also before the whole request is satisfied."""
        require(len(resources) > 0)
        require(resources <= self.holds[client])
        require(len(self.wants[client]) > 0 or resources != self.holds[client])
        self.holds[client] -= resources

    @action
    @fair
    def allocator_schedules(self, place: Map[Client, Place]) -> None:
        """All that wait join the schedule at once, each at a place of its own; the others have place 0."""
        waiting = self.unscheduled()
        require(len(waiting) > 0)
        require(all(place[client] > 0 if client in waiting else place[client] == 0 for client in Client))
        require(all(place[client] <= len(waiting) for client in Client))
        require(len({place[client] for client in waiting}) == len(waiting))
        for number in range(1, self.clients + 1):
            for client in Client:
                if place[client] == number:
                    self.schedule.append(client)

    @invariant
    def one_holder(self) -> bool:
        """No resource is held by two clients."""
        return all(
            self.holds[one].isdisjoint(self.holds[other]) for one in Client for other in Client if one != other
        )

    @invariant
    def nobody_overtakes(self) -> bool:
        """No client holds what a client earlier in the schedule waits for."""
        return all(
            self.holds[later].isdisjoint(self.wants[earlier])
            for i, later in enumerate(self.schedule)
            for j, earlier in enumerate(self.schedule)
            if j < i
        )

    @leads_to
    def clients_return(self, client: Client) -> tuple[bool, bool]:
        return not self.wants[client], not self.holds[client]

    @leads_to
    def clients_obtain(self, client: Client, resource: Resource) -> tuple[bool, bool]:
        return resource in self.wants[client], resource in self.holds[client]

    @always_eventually
    def clients_are_satisfied(self, client: Client) -> bool:
        return not self.wants[client]
