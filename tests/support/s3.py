"""An S3 server on loopback, for tests of checkpoints and tables in an object store: moto's, which is written with flask
and flask-cors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, MutableMapping

BUCKET = "floodmark"


@contextlib.contextmanager
def served(*environments: MutableMapping[str, str]) -> Iterator[str]:
    """The URL of an empty bucket, which is reached with these environments while the block runs. They belong to this
    process, which the first one does, or to Spark's workers."""
    import s3fs
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    named = {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}", "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }  # fmt: skip
    kept = [dict(environment) for environment in environments]
    for environment in environments:
        environment.update(named)
    try:
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir(BUCKET)
        yield f"s3://{BUCKET}"
    finally:
        server.stop()
        s3fs.S3FileSystem.clear_instance_cache()
        for environment, before in zip(environments, kept, strict=True):
            for name in named:
                environment.pop(name)
            environment.update({name: before[name] for name in named if name in before})
