"""What a walk of ``model/epoch_cache/partition.py`` beside Kafka's fetchers has to know besides: a fetcher remembers
the last epoch that it has fetched. The model reads it off the cache, which a change of log directories replaces.
"""

from __future__ import annotations

from floodmark import Map, action, initial, require
from model.epoch_cache.partition import Broker, Epoch
from specs.epoch_cache.flawed import LosesEpochsWithDirectory


class RememberedEpochs(LosesEpochsWithDirectory):
    """Followers as Kafka has them: KAFKA-20961 is open."""

    last_fetched_epochs: Map[Broker, Epoch]
    """``PartitionFetchState.lastFetchedEpoch`` of each fetcher; 0 if there is none."""

    @initial
    def start(self) -> None:
        super().start()
        self.last_fetched_epochs = Map({broker: 0 for broker in Broker})

    @action
    def controller_elects(self, successor: Broker, stays: bool) -> None:
        super().controller_elects(successor, stays)
        for broker in Broker:
            self.last_fetched_epochs[broker] = self.latest_epoch(broker)

    @action
    def replica_restarts(self, broker: Broker) -> None:
        super().replica_restarts(broker)
        self.last_fetched_epochs[broker] = self.latest_epoch(broker)

    @action
    def follower_fetches(self, follower: Broker) -> None:
        """``AbstractFetcherThread.processFetchRequest``: the epoch is read from the cache when the follower has
        appended or truncated, and when the leader has answered OFFSET_OUT_OF_RANGE.
        """
        require(follower != self.leader)
        epoch = self.last_fetched_epochs[follower]
        end = self.end_offset_for(self.leader, epoch)
        offset = len(self.replicas[follower].log)
        reads = False
        if (epoch > 0 and end is None) or self.is_out_of_range(offset):
            self.handle_out_of_range(follower)
        elif epoch > 0 and end is not None and (end.leader_epoch < epoch or end.end_offset < offset):
            self.truncate_on_fetch_response(follower, end)
        elif offset > len(self.replicas[self.leader].log):
            self.handle_out_of_range(follower)
        else:
            reads = True
            self.read(follower)
        if not reads or len(self.replicas[follower].log) > offset:
            self.last_fetched_epochs[follower] = self.latest_epoch(follower)
