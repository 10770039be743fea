"""Real systems: Kafka's controller, ZooKeeper, PySyncObj, and a standalone Spark cluster.

ZooKeeper's tests start a server from the jars in PySpark; without Java they are skipped. ``docs/kafka.md`` says how to
run Kafka's.
"""
