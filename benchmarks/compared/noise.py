"""Programs that do not do the same twice: the argument says which; with a second one, it is done twice."""

import csv
import os
import random
import sqlite3
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def temporary_folder() -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        for name in ("left.npy", "right.npy"):
            Path(folder, name).write_bytes(bytes(50_000))
        with tempfile.NamedTemporaryFile(dir=".", suffix=".part") as part:
            part.write(bytes(20_000))


def names_by_date() -> None:
    stamp = time.strftime("%Y%m%d-%H%M%S")
    with Path(f"table-{stamp}.csv").open("w") as file:
        rows = csv.writer(file)
        for number in range(500):
            rows.writerow([number, number**2])
    Path(f"table-{stamp}.json").write_text("{}" * 100)


def pool_of_threads() -> None:
    def work(number: int) -> int:
        time.sleep(random.random() / 500)
        Path(f"task-{number:02}.out").write_bytes(bytes(1000 * (1 + number % 4)))
        with Path("done.txt").open("a") as file:
            file.write(f"{number}\n")
        return number

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(24)))


def order_of_sets() -> None:
    with Path("words.txt").open("w") as file:
        for word in {f"word{number}" for number in range(300)}:
            file.write(word + "\n")
    for word in {"energy", "density", "pressure", "speed"}:
        Path(f"{word}.dat").write_bytes(bytes(len(word) * 1000))


def numbers_as_text() -> None:
    with Path("energies.txt").open("w", buffering=256) as file:
        for _ in range(400):
            file.write(f"{random.gauss(0, 1)!r}\n")


def database() -> None:
    with sqlite3.connect("runs.db") as base:
        base.execute("create table if not exists run (id integer, value real)")
        for number in range(50):
            base.execute("insert into run values (?, ?)", (number, random.random()))
    base.close()


def retries() -> None:
    failed = 0
    for number in range(40):
        Path(f"upload-{number % 8}.bin").write_bytes(os.urandom(3000))
        if random.random() < 0.3:
            failed += 1
            with Path("retries.log").open("a") as file:
                file.write(f"{number}\n")


PROGRAMS = (
    *(temporary_folder, names_by_date, pool_of_threads, order_of_sets),
    *(numbers_as_text, database, retries),
)
if __name__ == "__main__":
    for _ in sys.argv[1:]:
        {program.__name__.replace("_", "-"): program for program in PROGRAMS}[sys.argv[1]]()
