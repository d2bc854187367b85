"""Databases as older versions of this program wrote them."""

from __future__ import annotations

import json

import duckdb
import pyarrow as pa
import pyarrow.parquet

from workalike.fleet.site import Site
from workalike.fleet.store import ABOUT, PARTS, VIEWS, Store


def as_version_2(store: Store, site: Site) -> None:
    """Make a database without a key one of version 2, with the key of a site if it has one: only users were hidden."""
    for path in (store.folder / PARTS).rglob("*.parquet"):
        table = pyarrow.parquet.read_table(path)
        for column, show in (("user", site.shown_user), ("pattern", lambda _: "")):
            if site.hides and column in table.column_names:
                place = table.schema.get_field_index(column)
                values = pa.array([show(value) for value in table[column].to_pylist()], pa.string())
                table = table.set_column(place, column, values)
        if path.stem == "finding":
            table = table.drop_columns(["advice"])
        metadata = {b"workalike_fleet": b"2", b"table": path.stem.encode()}
        pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")
    about = store.about | {"workalike_fleet": 2, "key": site.key_mark}
    (store.folder / ABOUT).write_text(json.dumps(about) + "\n")
    store.past_file.unlink(missing_ok=True)
    with duckdb.connect(str(store.folder / VIEWS)) as connection:  # with views of other columns
        connection.execute("CREATE OR REPLACE VIEW finding AS SELECT 1 AS rule")


def as_version_3(store: Store) -> None:
    """Make a database one of version 3, whose logs had no slowest call."""
    for path in (store.folder / PARTS).rglob("*.parquet"):
        table = pyarrow.parquet.read_table(path)
        table = table.drop_columns([name for name in table.column_names if name.startswith("slowest_call")])
        metadata = {b"workalike_fleet": b"3", b"table": path.stem.encode()}
        pyarrow.parquet.write_table(table.replace_schema_metadata(metadata), path, compression="zstd")
    (store.folder / ABOUT).write_text(json.dumps(store.about | {"workalike_fleet": 3}) + "\n")
    store.past_file.unlink(missing_ok=True)
    with duckdb.connect(str(store.folder / VIEWS)) as connection:
        connection.execute("CREATE OR REPLACE VIEW job AS SELECT 1 AS rule")
