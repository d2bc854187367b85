"""Weather, climate and ocean: GRIB messages, history and restarts in NetCDF."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import c, python


@kind("sciences")
def messages_of_fields(rng: random.Random) -> Program:
    """GRIB: forecasts are files of messages; an index finds them by their first bytes and lengths, then some are read.

    The index is one file of text for each forecast. Chosen fields are read whole, and appended to a file per variable.
    """
    return c(
        rng,
        """
        static void run(void)
        {
            long at[2000], size[2000], variables = get("variables");
            char *data = block(1 << 20);
            FILE *out[20];
            for (long i = 0; i < variables; i++)
                out[i] = HAVE(fopen(name("variable-%02ld.grib2", i), "wb"));
            for (long hour = 0; hour < get("hours"); hour++) {
                long count = get("messages"), place = 0, found = 0;
                const char *path = name("fc-%03ld.grib2", hour * 6);
                FILE *file = HAVE(fopen(path, "wb"));
                for (long i = 0; i < count; i++) {
                    long length = 200 + get("points") * (8 + below(9)) / 8;
                    memcpy(data, "GRIB\\0\\0\\0\\2", 8);
                    memcpy(data + 8, &length, 8);
                    NEED(fwrite(data, 1, (size_t)length, file));
                }
                NEED(fclose(file));
                file = HAVE(fopen(path, "rb"));
                while (fread(data, 1, 16, file) == 16) {
                    at[found] = place;
                    memcpy(&size[found], data + 8, 8);
                    NEED(fread(data, 1, 150, file));
                    place += size[found++];
                    NEED(fseek(file, place - 4, SEEK_SET));
                    NEED(fread(data, 1, 4, file));
                }
                FILE *index = HAVE(fopen(name("fc-%03ld.idx", hour * 6), "w"));
                for (long i = 0; i < found; i++)
                    fprintf(index, "%ld:%ld:d=2024010100:VAR%ld:%ld mb:%ld hour fcst:\\n", i + 1, at[i], i % variables, 1000 - i, hour * 6);
                NEED(fclose(index));
                for (long i = 0; i < found; i++) {
                    if (below(100) >= get("share"))
                        continue;
                    NEED(fseek(file, at[i], SEEK_SET));
                    NEED(fread(data, 1, (size_t)size[i], file));
                    NEED(fwrite(data, 1, (size_t)size[i], out[i % variables]));
                }
                NEED(fclose(file));
            }
            for (long i = 0; i < variables; i++)
                NEED(fclose(out[i]));
        }
        """,
        hours=rng.randint(1, 8),
        messages=rng.randint(2, 40),
        points=rng.choice([300, 9000, 30_000]),
        variables=rng.randint(1, 8),
        share=rng.randint(10, 100),
    )


@kind("netcdf")
def weather_history(rng: random.Random) -> Program:
    """WRF: history in classic NetCDF, a few times per file; first all static fields, then each time all variables.

    A restart file comes at intervals, and boundary values are read from an input as the run passes their times.
    """
    return python(
        rng,
        """
import numpy as np
from netCDF4 import Dataset

def created(path, variables):
    data = Dataset(path, "w", format="NETCDF3_64BIT_OFFSET")
    for name, size in (("Time", None), ("DateStrLen", 19), ("levels", p.levels), ("south_north", p.side), ("west_east", p.side)):
        data.createDimension(name, size)
    data.createVariable("Times", "S1", ("Time", "DateStrLen"))
    for number in range(variables):
        shape = ("Time", "south_north", "west_east") if number % 3 else ("Time", "levels", "south_north", "west_east")
        variable = data.createVariable(f"VAR{number:02d}", "f4", shape)
        variable.units, variable.stagger = "K", ""
    for number in range(40):
        data.setncattr(f"SETTING{number:02d}", number)
    data.set_fill_off()
    return data

def add(data, frame, step):
    data["Times"][frame] = np.array(list(f"2020-01-01_{step:02d}:00:00"), dtype="S1")
    for name, variable in data.variables.items():
        if name != "Times":
            variable[frame] = np.full(variable.shape[1:], step, dtype="f4")

edges = Dataset("wrfbdy_d01")
history = None
for step in range(p.steps):
    if step % p.frames == 0:
        if history:
            history.close()
        history = created(f"wrfout_d01_2020-01-01_{step:02d}", p.variables)
    add(history, step % p.frames, step)
    history.sync()
    for name in ("U_BXS", "U_BXE", "T_BXS"):
        edges[name][step]
    if step and step % p.restart == 0:
        restart = created(f"wrfrst_d01_2020-01-01_{step:02d}", p.variables * 2)
        add(restart, 0, step)
        restart.close()
history.close()
edges.close()
""",
        """
import numpy as np
from netCDF4 import Dataset
with Dataset("wrfbdy_d01", "w", format="NETCDF3_64BIT_OFFSET") as data:
    data.createDimension("Time", None)
    data.createDimension("edge", 5 * p.side * p.levels)
    for name in ("U_BXS", "U_BXE", "T_BXS"):
        data.createVariable(name, "f4", ("Time", "edge"))[:] = np.ones((p.steps, 5 * p.side * p.levels), dtype="f4")
""",
        modules=("netCDF4", "numpy"),
        side=rng.randint(8, 70),
        levels=rng.randint(2, 12),
        variables=rng.randint(3, 20),
        steps=rng.randint(2, 12),
        frames=rng.randint(1, 4),
        restart=rng.randint(3, 8),
    )


@kind("netcdf")
def restarts_rebuilt(rng: random.Random) -> Program:
    """NEMO: each rank writes the restart of its part to a NetCDF file of its own; a tool then joins them to one.

    The tool reads all parts variable by variable and writes them into the whole field. The next leg reads the whole.
    """
    return python(
        rng,
        """
import numpy as np
from mpi4py import MPI
from netCDF4 import Dataset
world = MPI.COMM_WORLD
names = [f"v{number}" for number in range(p.variables)]

def created(path, rows):
    data = Dataset(path, "w", format=p.format)
    for name, size in (("t", None), ("z", p.levels), ("y", rows), ("x", p.columns)):
        data.createDimension(name, size)
    for name in names:
        data.createVariable(name, "f8", ("t", "z", "y", "x"))
    return data

for leg in range(p.legs):
    with created(f"restart_{leg}_{world.rank:04d}.nc", p.rows) as data:
        data.DOMAIN_number = world.rank
        for name in names:
            data[name][0] = np.full((p.levels, p.rows, p.columns), world.rank, dtype="f8")
    world.Barrier()
    if world.rank == 0:
        parts = [Dataset(f"restart_{leg}_{part:04d}.nc") for part in range(world.size)]
        with created(f"restart_{leg}.nc", p.rows * world.size) as whole:
            for name in names:
                for part, data in enumerate(parts):
                    whole[name][0, :, part * p.rows : (part + 1) * p.rows] = data[name][0]
        for part, data in enumerate(parts):
            data.close()
            if p.clean:
                os.remove(f"restart_{leg}_{part:04d}.nc")
    world.Barrier()
    with Dataset(f"restart_{leg}.nc") as whole:
        for name in names:
            whole[name][0, :, world.rank * p.rows : (world.rank + 1) * p.rows]
    world.Barrier()
""",
        modules=("mpi4py", "netCDF4", "numpy"),
        ranks=rng.randint(1, 4),
        variables=rng.randint(1, 6),
        levels=rng.randint(1, 8),
        rows=rng.randint(3, 40),
        columns=rng.randint(10, 120),
        legs=rng.randint(1, 3),
        clean=rng.randint(0, 1),
        format=rng.choice(["NETCDF3_CLASSIC", "NETCDF4"]),
    )
