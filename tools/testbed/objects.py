"""What the monitor and the storage daemons know of objects, without the file system.

    objects.py CEPH.CONF where            lines of `POOL OBJECT` -> the number of its storage daemon
    objects.py CEPH.CONF sizes            lines of `POOL` -> `OBJECT SIZE` of each of its objects

It runs in the network of a testbed, under the Python that Ceph's own bindings are installed for. The `ceph` command
answers the first question, too, in 50 ms of computing for each object.
"""

from __future__ import annotations

import contextlib
import json
import sys

import rados


def where(cluster: rados.Rados, pool: str, name: str) -> None:
    question = {"prefix": "osd map", "pool": pool, "object": name, "format": "json"}
    code, answer, reason = cluster.mon_command(json.dumps(question), b"")
    if code:
        sys.exit(f"{pool} {name}: {reason}")
    print(json.loads(answer)["acting_primary"])


def sizes(cluster: rados.Rados, pool: str) -> None:
    with cluster.open_ioctx(pool) as context:
        for found in context.list_objects():
            with contextlib.suppress(rados.ObjectNotFound):  # it was removed after it was listed
                print(found.key, found.stat()[0])


with rados.Rados(conffile=sys.argv[1], rados_id="admin") as opened:
    for line in sys.stdin:
        {"where": where, "sizes": sizes}[sys.argv[2]](opened, *line.split())
