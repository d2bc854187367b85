"""Databases, text formats, archives, logs and settings, as Python's own library handles them."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import INPUTS, python


@kind("records")
def sqlite_results(rng: random.Random) -> Program:
    """Results go to an SQLite database in transactions, with a rollback journal or a write-ahead log."""
    return python(
        rng,
        """
import sqlite3
base = sqlite3.connect("results.db", isolation_level=None)
base.execute(f"pragma journal_mode={p.journal}")
base.execute(f"pragma synchronous={p.synchronous}")
base.execute("create table if not exists result (id integer primary key, name text, value real, data blob)")
for step in range(p.transactions):
    base.execute("begin")
    for _ in range(p.rows):
        base.execute("insert into result (name, value, data) values (?, ?, ?)",
                     (f"n{rng.randrange(1000)}", rng.random(), rng.randbytes(rng.randint(0, p.blob))))
    base.execute("commit")
if p.index:
    base.execute("create index by_name on result (name)")
for _ in range(p.queries):
    base.execute("select count(*), sum(value) from result where name = ?", (f"n{rng.randrange(1000)}",)).fetchone()
base.close()
""",
        journal=rng.choice(["delete", "truncate", "persist", "wal"]),
        synchronous=rng.choice(["off", "normal", "full"]),
        transactions=rng.randint(2, 30),
        rows=rng.randint(1, 40),
        blob=rng.choice([10, 500, 9000]),
        index=rng.randint(0, 1),
        queries=rng.randint(0, 20),
    )


@kind("records")
def csv_tables(rng: random.Random) -> Program:
    """CSV tables are read row by row, filtered, and appended to tables by key, which are opened for each row."""
    return python(
        rng,
        """
import csv
for number in range(p.files):
    with open(f"table-{number}.csv", newline="") as file:
        for row in csv.reader(file):
            if int(row[0]) % p.every == 0:
                with open(f"key-{row[1]}.csv", "a", newline="") as out:
                    csv.writer(out).writerow(row)
""",
        """
import csv
for number in range(p.files):
    with open(f"table-{number}.csv", "w", newline="") as file:
        writer = csv.writer(file)
        for row in range(p.rows):
            writer.writerow([row, rng.randrange(p.keys), rng.random(), "x" * rng.randint(0, 60)])
""",
        files=rng.randint(1, 5),
        rows=rng.randint(20, 2000),
        keys=rng.randint(1, 12),
        every=rng.randint(2, 20),
    )


@kind("records")
def json_states(rng: random.Random) -> Program:
    """A state is dumped as JSON to a temporary file, synced and put in place; it is loaded before each step."""
    return python(
        rng,
        """
import json
import tempfile
state = {"step": -1, "values": []}
for step in range(p.steps):
    if os.path.exists("state.json"):
        with open("state.json") as file:
            state = json.load(file)
    state["step"] = step
    state["values"] = [rng.random() for _ in range(p.values)]
    handle, path = tempfile.mkstemp(dir=".", suffix=".json")
    with os.fdopen(handle, "w") as file:
        json.dump(state, file)
        if p.sync:
            file.flush()
            os.fsync(file.fileno())
    os.replace(path, "state.json")
""",
        steps=rng.randint(2, 25),
        values=rng.randint(1, 4000),
        sync=rng.randint(0, 1),
    )


@kind("records")
def pickled_objects(rng: random.Random) -> Program:
    """Objects are pickled with the protocol that frames them, into one file or a file each, and loaded again."""
    return python(
        rng,
        """
import pickle
things = [{"id": i, "data": rng.randbytes(rng.randint(1, p.largest)), "list": list(range(i))} for i in range(p.things)]
if p.one:
    with open("all.pickle", "wb") as file:
        for thing in things:
            pickle.dump(thing, file, protocol=p.protocol)
    with open("all.pickle", "rb") as file:
        for _ in things:
            pickle.load(file)
else:
    for thing in things:
        with open(f"{thing['id']}.pickle", "wb") as file:
            pickle.dump(thing, file, protocol=p.protocol)
    for thing in things[:: p.every]:
        with open(f"{thing['id']}.pickle", "rb") as file:
            pickle.load(file)
""",
        things=rng.randint(2, 80),
        largest=rng.choice([100, 10_000, 200_000]),
        one=rng.randint(0, 1),
        protocol=rng.randint(2, 5),
        every=rng.randint(1, 4),
    )


@kind("records")
def compressed_text(rng: random.Random) -> Program:
    """Text is written through gzip, bz2 or xz in lines, and read back line by line."""
    return python(
        rng,
        """
import bz2
import gzip
import lzma
opener = {"gzip": gzip.open, "bz2": bz2.open, "xz": lzma.open}[p.format]
for number in range(p.files):
    with opener(f"reads-{number}.txt.{p.format}", "wt") as file:
        for line in range(p.lines):
            file.write("".join(rng.choices("acgt", k=p.width)) + "\\n")
    with opener(f"reads-{number}.txt.{p.format}", "rt") as file:
        count = sum(1 for _ in file)
""",
        format=rng.choice(["gzip", "bz2", "xz"]),
        files=rng.randint(1, 4),
        lines=rng.randint(10, 3000),
        width=rng.randint(10, 100),
    )


@kind("records")
def archived_results(rng: random.Random) -> Program:
    """Results are packed into a tar or zip archive and deleted; some members are then taken out again."""
    return python(
        rng,
        """
import tarfile
import zipfile
names = [f"input-{number:04d}" for number in range(p.files)]
if p.zip:
    with zipfile.ZipFile("all.zip", "w", zipfile.ZIP_DEFLATED if p.compressed else zipfile.ZIP_STORED) as archive:
        for name in names:
            archive.write(name)
            os.remove(name)
    with zipfile.ZipFile("all.zip") as archive:
        for name in names[:: p.every]:
            archive.extract(name, "out")
else:
    mode = "gz" if p.compressed else ""
    with tarfile.open("all.tar", f"w:{mode}") as archive:
        for name in names:
            archive.add(name)
            os.remove(name)
    with tarfile.open("all.tar", f"r:{mode}") as archive:
        for name in names[:: p.every]:
            archive.extract(name, "out")
""",
        INPUTS,
        files=rng.randint(2, 40),
        size=rng.choice([200, 10_000, 100_000]),
        zip=rng.randint(0, 1),
        compressed=rng.randint(0, 1),
        every=rng.randint(1, 6),
    )


@kind("records")
def rotated_logs(rng: random.Random) -> Program:
    """A log of Python's logging is rotated by size: the numbered logs are renamed one after the other."""
    return python(
        rng,
        """
import logging
import logging.handlers
handler = logging.handlers.RotatingFileHandler("service.log", maxBytes=p.limit, backupCount=p.backups)
log = logging.getLogger("service")
log.addHandler(handler)
log.setLevel("INFO")
for number in range(p.messages):
    log.info("message %d: %s", number, "x" * rng.randint(0, p.longest))
handler.close()
""",
        limit=rng.choice([2000, 10_000, 50_000]),
        backups=rng.randint(1, 6),
        messages=rng.randint(50, 1500),
        longest=rng.choice([10, 200]),
    )


@kind("records")
def settings(rng: random.Random) -> Program:
    """Settings are looked for in several places, read where they exist, merged, and written once."""
    return python(
        rng,
        """
import configparser
import json
from pathlib import Path
merged = configparser.ConfigParser()
for site in range(p.sites):
    for name in ("default.ini", "site.ini", "user.ini"):
        path = Path(f"site-{site}") / name
        if path.exists():
            merged.read(path)
for _ in range(p.polls):
    changed = [path for path in sorted(Path(".").glob("site-*/*.ini")) if path.stat().st_mtime < 1]
Path("settings.json").write_text(json.dumps({name: dict(part) for name, part in merged.items()}, indent=1))
""",
        """
from pathlib import Path
for site in range(p.sites):
    Path(f"site-{site}").mkdir()
    for name in ("default.ini", "site.ini", "user.ini"):
        if rng.random() < 0.6:
            text = "".join(f"key{i} = {rng.random()}\\n" for i in range(rng.randint(1, p.keys)))
            (Path(f"site-{site}") / name).write_text("[main]\\n" + text)
""",
        sites=rng.randint(1, 40),
        keys=rng.randint(1, 100),
        polls=rng.randint(0, 10),
    )


@kind("records")
def key_value_store(rng: random.Random) -> Program:
    """A dbm of Python (an index and a data file) takes keys and values; then keys of chance are looked up."""
    return python(
        rng,
        """
import dbm.dumb
with dbm.dumb.open("store", "c") as store:
    for number in range(p.keys):
        store[f"key{number}"] = rng.randbytes(rng.randint(1, p.largest))
        if p.sync and number % p.sync == 0:
            store.sync()
with dbm.dumb.open("store", "r") as store:
    for _ in range(p.lookups):
        store[f"key{rng.randrange(p.keys)}"]
""",
        keys=rng.randint(3, 200),
        largest=rng.choice([20, 600, 10_000]),
        sync=rng.choice([0, 10, 50]),
        lookups=rng.randint(0, 200),
    )


@kind("records")
def saved_by_tools(rng: random.Random) -> Program:
    """A driver starts tools that read and write files for it: each is a process of its own, with its own input."""
    return python(
        rng,
        """
import subprocess
for number in range(p.steps):
    with open(f"input-{number:04d}.txt", "w") as file:
        file.writelines(f"{rng.random()}\\n" for _ in range(p.lines))
    with open(f"sorted-{number:04d}.txt", "w") as out:
        subprocess.run(["sort", "-g", f"input-{number:04d}.txt"], stdout=out, check=True)
    subprocess.run(["cp", f"sorted-{number:04d}.txt", "latest.txt"], check=True)
    with open("latest.txt") as file:
        first = file.readline()
""",
        steps=rng.randint(1, 6),
        lines=rng.randint(10, 5000),
    )
