"""Workflows and services: committed tasks, partitioned tables, staged work folders, queues with locks, mail."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c, python


@kind("workflows")
def committed_tasks(rng: random.Random) -> Program:
    """Spark's file committer: each attempt of a task writes below _temporary, is renamed when it commits, then the job.

    Each part has a hidden file of checksums. Attempts that fail are deleted and tried again. The job's commit lists
    the tasks, renames their parts into place, deletes _temporary and leaves an empty _SUCCESS.
    """
    return python(
        rng,
        """
import shutil
import zlib

def with_checksums(folder, name, data, part):
    with open(f"{folder}/{name}", "wb", buffering=0) as file, open(f"{folder}/.{name}.crc", "wb") as sums:
        sums.write(b"crc\\0" + (512).to_bytes(4, "big"))
        for at in range(0, len(data), part):
            file.write(data[at : at + part])
            sums.write(b"".join(zlib.crc32(data[i : i + 512]).to_bytes(4, "big") for i in range(at, min(at + part, len(data)), 512)))

def attempt(job, number, tried, fails):
    work = f"{job}/_temporary/0/_temporary/attempt_{number:06d}_{tried}"
    os.makedirs(work)
    size = 0 if number % p.empty == 0 else p.size // 2 + number * 977 % p.size
    with_checksums(work, f"part-{number:05d}", bytes(size // 2 if fails else size), p.part)
    if fails:
        shutil.rmtree(work)
        return
    assert os.path.exists(work)
    done = f"{job}/_temporary/0/task_{number:06d}"
    if p.algorithm == 1:
        os.rename(work, done)
    else:
        for name in sorted(os.listdir(work)):
            os.rename(f"{work}/{name}", f"{job}/{name}")
        os.rmdir(work)

for job in (f"table-{number}" for number in range(p.jobs)):
    os.makedirs(f"{job}/_temporary/0")
    failing = {number for number in range(p.tasks) if rng.random() < 0.1}
    children = []
    for executor in range(p.executors):
        child = os.fork()
        if not child:
            for number in range(executor, p.tasks, p.executors):
                if number in failing:
                    attempt(job, number, 0, True)
                attempt(job, number, 1, False)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    if p.algorithm == 1:
        for task in sorted(os.listdir(f"{job}/_temporary/0")):
            if task.startswith("task_"):
                for name in sorted(os.listdir(f"{job}/_temporary/0/{task}")):
                    os.stat(f"{job}/_temporary/0/{task}/{name}")
                    os.rename(f"{job}/_temporary/0/{task}/{name}", f"{job}/{name}")
    shutil.rmtree(f"{job}/_temporary")
    with open(f"{job}/_SUCCESS", "wb"), open(f"{job}/._SUCCESS.crc", "wb") as sums:
        sums.write(bytes(8))
""",
        jobs=rng.randint(1, 2),
        tasks=rng.randint(2, 40),
        executors=rng.randint(1, 3),
        size=rng.choice([300, 20_000, 300_000]),
        part=rng.choice([4096, 65_536]),
        empty=rng.choice([5, 1000]),
        algorithm=rng.randint(1, 2),
    )


@kind("workflows")
def partitions_in_columns(rng: random.Random) -> Program:
    """Parquet in partitions: a folder per key, files of row groups with pages of columns and a footer at the end.

    A query lists the partitions it needs, reads the last bytes of each file, its footer, and then the chunks of some
    columns; small gaps are read across. Compaction makes one file of a partition's small ones.
    """
    return python(
        rng,
        """
def write(path, groups):
    with open(path, "wb") as file:
        file.write(b"PAR1")
        places = []
        for _ in range(groups):
            for column in range(p.columns):
                first = file.tell()
                for page in range(1 + column % 3):
                    file.write(bytes(25))
                    file.write(bytes(p.page // (1 + column)))
                places.append((first, file.tell() - first))
        footer = b"".join(b"%012d%08d" % place for place in places) + bytes(60 * p.columns)
        file.write(footer)
        file.write(len(places).to_bytes(2, "little") + len(footer).to_bytes(4, "little") + b"PAR1")

def scan(path, columns):
    size = os.stat(path).st_size
    with open(path, "rb", buffering=0) as file:
        file.seek(size - 10)
        tail = file.read(10)
        count, length = int.from_bytes(tail[:2], "little"), int.from_bytes(tail[2:6], "little")
        file.seek(size - 10 - length)
        footer = file.read(length)
        places = [(int(footer[20 * i : 20 * i + 12]), int(footer[20 * i + 12 : 20 * i + 20])) for i in range(count)]
        wanted = [place for i, place in enumerate(places) if i % p.columns in columns]
        joined = []
        for first, length in wanted:
            if joined and first - joined[-1][1] <= p.gap:
                joined[-1][1] = first + length
            else:
                joined.append([first, first + length])
        for first, last in joined:
            file.seek(first)
            file.read(last - first)

for key in range(p.keys):
    os.makedirs(f"table/key={key}")
    for number in range(rng.randint(1, p.files)):
        write(f"table/key={key}/part-{number:04d}.parquet", rng.randint(1, p.groups))
for _ in range(p.queries):
    columns = set(rng.sample(range(p.columns), rng.randint(1, p.columns)))
    for key in rng.sample(range(p.keys), rng.randint(1, p.keys)):
        for name in sorted(os.listdir(f"table/key={key}")):
            scan(f"table/key={key}/{name}", columns)
if p.compact:
    for key in range(p.keys):
        small = sorted(os.listdir(f"table/key={key}"))
        for name in small:
            scan(f"table/key={key}/{name}", set(range(p.columns)))
        write(f"table/key={key}/_compacted.tmp", p.groups)
        os.rename(f"table/key={key}/_compacted.tmp", f"table/key={key}/compacted.parquet")
        for name in small:
            os.remove(f"table/key={key}/{name}")
""",
        keys=rng.randint(1, 10),
        files=rng.randint(1, 6),
        groups=rng.randint(1, 4),
        columns=rng.randint(2, 12),
        page=rng.choice([800, 10_000, 50_000]),
        gap=rng.choice([0, 8192]),
        queries=rng.randint(0, 6),
        compact=rng.randint(0, 1),
    )


@kind("workflows")
def staged_tasks(rng: random.Random) -> Program:
    """Nextflow: each task has a folder of a hashed name with scripts, links to its inputs, and the files of its state.

    The driver waits for .exitcode, reads it, and appends to the log and the trace; outputs become inputs of the next
    step, and those of the last are copied to the results. A second run asks for what is done and starts nothing.
    """
    return python(
        rng,
        """
import hashlib
import shutil
import subprocess
os.makedirs("work")
os.makedirs("results")
log = open("nextflow.log", "a", buffering=1)
trace = open("trace.txt", "a")
outputs = [os.path.abspath(f"input-{number:04d}") for number in range(p.files)]
for step in range(p.steps):
    following = []
    for number, source in enumerate(outputs):
        digest = hashlib.md5(f"{p.seed} {step} {number}".encode()).hexdigest()
        folder = f"work/{digest[:2]}/{digest[2:]}"
        os.makedirs(folder)
        print("Submitted process", step, number, digest[:8], file=log)
        with open(f"{folder}/.command.sh", "w") as script:
            script.write("#!/bin/bash -ue\\n" + "tr a-m n-z < input > output.txt\\n")
        with open(f"{folder}/.command.run", "w") as script:
            script.write("#!/bin/bash\\n" + "# stage, run and unstage\\n" * 120)
        os.symlink(source, f"{folder}/input")
        if p.shell:
            subprocess.run(
                "touch .command.begin; bash -ue .command.sh > .command.out 2> .command.err; cat .command.out > .command.log;"
                "printf $? > .exitcode", shell=True, cwd=folder, check=True)
        else:
            for name in (".command.begin", ".command.out", ".command.err", ".command.log"):
                open(f"{folder}/{name}", "w").close()
            with open(f"{folder}/input", "rb") as file, open(f"{folder}/output.txt", "wb") as out:
                shutil.copyfileobj(file, out, 16384)
            with open(f"{folder}/.exitcode", "w") as out:
                out.write("0")
        while not os.path.exists(f"{folder}/.exitcode"):
            time.sleep(0.005)
        with open(f"{folder}/.exitcode") as state:
            assert state.read() == "0"
        os.stat(f"{folder}/output.txt")
        print(step, number, digest[:8], "COMPLETED", file=trace)
        following.append(os.path.abspath(f"{folder}/output.txt"))
    trace.flush()
    outputs = following
for number, source in enumerate(outputs):
    if p.copied:
        shutil.copy(source, f"results/output-{number:04d}.txt")
    else:
        os.symlink(source, f"results/output-{number:04d}.txt")
if p.resume:
    for source in outputs:
        os.stat(source)
        with open(os.path.join(os.path.dirname(source), ".exitcode")) as state:
            state.read()
trace.close()
log.close()
""",
        """
for number in range(p.files):
    with open(f"input-{number:04d}", "w") as file:
        file.writelines("".join(rng.choices("abcdefghij ", k=70)) + "\\n" for _ in range(p.lines))
""",
        files=rng.randint(1, 10),
        lines=rng.choice([5, 300, 3000]),
        steps=rng.randint(1, 4),
        shell=rng.randint(0, 1),
        copied=rng.randint(0, 1),
        resume=rng.randint(0, 1),
    )


@kind("workflows")
def array_of_jobs(rng: random.Random) -> Program:
    """An array of jobs: each takes tasks from a folder by a rename, keeps a log, and puts the result in place.

    A list of what is done is shared, and guarded by a lock file that jobs try to create until they have it; a task
    whose name another job has taken is passed over.
    """
    return c(
        rng,
        """
        static void job(long number)
        {
            char *data = block(1 << 16);
            seed((unsigned long long)(get("seed") + number));
            FILE *log = HAVE(fopen(name("logs/job-%02ld.out", number), "w"));
            for (long i = 0; i < get("tasks"); i++) {
                long task = (i + number * get("tasks") / get("jobs")) % get("tasks");
                const char *own = name("running/%04ld.%ld", task, number);
                if (rename(name("todo/%04ld", task), own))
                    continue;
                int file = NEED(open(own, O_RDONLY));
                NEED(read(file, data, 4096));
                NEED(close(file));
                fprintf(log, "job %ld takes task %ld\\n", number, task);
                file = NEED(open(name("results/%04ld.part", task), O_WRONLY | O_CREAT | O_TRUNC, 0644));
                for (long j = 0; j <= task % 5; j++)
                    NEED(write(file, data, get("block")));
                NEED(close(file));
                NEED(rename(name("results/%04ld.part", task), name("results/%04ld", task)));
                int lock;
                while ((lock = open("done.lock", O_WRONLY | O_CREAT | O_EXCL, 0600)) < 0)
                    usleep(500);
                NEED(close(lock));
                file = NEED(open("done.list", O_WRONLY | O_CREAT | O_APPEND, 0644));
                NEED(write(file, data, 40));
                NEED(close(file));
                NEED(unlink("done.lock"));
                NEED(unlink(own));
            }
            NEED(fclose(log));
        }

        static void run(void)
        {
            NEED(mkdir("running", 0755));
            NEED(mkdir("results", 0755));
            NEED(mkdir("logs", 0755));
            for (long number = 0; number < get("jobs"); number++)
                if (!NEED(fork())) {
                    job(number);
                    exit(0);
                }
            while (wait(0) > 0)
                ;
        }
        """,
        """
os.mkdir("todo")
for number in range(p.tasks):
    with open(f"todo/{number:04d}", "wb") as file:
        file.write(rng.randbytes(rng.randint(10, 3000)))
""",
        jobs=rng.randint(1, 4),
        tasks=rng.randint(4, 100),
        block=rng.choice([200, 8192, 60_000]),
    )


@kind("workflows")
def mail_folder(rng: random.Random) -> Program:
    """Maildir: mail is written to tmp, synced and renamed to new; a reader moves it to cur, and sets flags by names.

    The reader lists both folders and keeps an index to which it appends; some mail is deleted, then the index is
    written anew under a temporary name.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            char *data = block(1 << 18), path[300], seen[1000] = {0};
            long first = 0, mail = 0;
            struct stat state;
            const char *const folders[4] = {"Maildir", "Maildir/tmp", "Maildir/new", "Maildir/cur"};
            for (int i = 0; i < 4; i++)
                NEED(mkdir(folders[i], 0700));
            for (long round = 0; round < get("rounds"); round++) {
                for (long i = 0; i < get("mails"); i++, mail++) {
                    const char *temporary = name("Maildir/tmp/%ld.M%ldP7.host", 1700000000 + round, mail);
                    if (!stat(temporary, &state))
                        exit(94);
                    int file = NEED(open(temporary, O_WRONLY | O_CREAT | O_EXCL, 0600));
                    for (long left = 600 + below(get("largest")); left > 0; left -= 8192)
                        NEED(write(file, data, left < 8192 ? left : 8192));
                    NEED(get("sync") ? fsync(file) : 0);
                    NEED(close(file));
                    NEED(rename(temporary, name("Maildir/new/%05ld.host", mail)));
                }
                DIR *list = HAVE(opendir("Maildir/new"));
                while (readdir(list))
                    ;
                closedir(list);
                int index = NEED(open("Maildir/index.log", O_RDWR | O_CREAT | O_APPEND, 0600));
                for (long i = mail - get("mails"); i < mail; i++) {
                    NEED(rename(name("Maildir/new/%05ld.host", i), name("Maildir/cur/%05ld.host:2,", i)));
                    NEED(write(index, data, 48));
                }
                for (long i = mail - get("mails"); i < mail; i++) {
                    snprintf(path, sizeof path, "Maildir/cur/%05ld.host:2,", i);
                    int file = NEED(open(path, O_RDONLY));
                    NEED(fstat(file, &state));
                    NEED(pread(file, data, state.st_size < 4096 ? state.st_size : 4096, 0));
                    if (below(100) < get("read")) {
                        for (long at = 4096; at < state.st_size; at += 8192)
                            NEED(pread(file, data, 8192, at));
                        NEED(close(file));
                        NEED(rename(path, name("Maildir/cur/%05ld.host:2,S", i)));
                        NEED(write(index, data, 24));
                        seen[i] = 1;
                    } else {
                        NEED(close(file));
                    }
                }
                NEED(close(index));
                for (; mail - first > get("kept"); first++)
                    NEED(unlink(name("Maildir/cur/%05ld.host:2,%s", first, seen[first] ? "S" : "")));
                index = NEED(open("Maildir/index.tmp", O_WRONLY | O_CREAT | O_TRUNC, 0600));
                NEED(write(index, data, 200 + 64 * (mail - first)));
                NEED(close(index));
                NEED(rename("Maildir/index.tmp", "Maildir/index"));
            }
        }
        """,
        rounds=rng.randint(1, 6),
        mails=rng.randint(1, 40),
        largest=rng.choice([1000, 10_000, 120_000]),
        read=rng.randint(0, 100),
        kept=rng.randint(5, 80),
        sync=rng.randint(0, 1),
    )
