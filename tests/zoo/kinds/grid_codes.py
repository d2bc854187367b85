"""Output of codes that have grids, by streams and records: AMReX, OpenFOAM, Quantum ESPRESSO."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import fortran, mpi


@kind("codes")
def amrex_plotfile(rng: random.Random) -> Program:
    """AMReX's plotfile: folders of levels, in them a few data files to which ranks append in turn, and headers of text.

    A box is a line of text and its values. Folders are made under a temporary name, which is then renamed.
    """
    return mpi(
        rng,
        """
        static void run(void)
        {
            long files = get("files") < ranks ? get("files") : ranks, edge = get("edge");
            char *data = block(edge * edge * edge * get("components") * 8), *buffer = block(2 << 20);
            for (long plot = 0; plot < get("plots"); plot++) {
                const char *top = strdup(name("plt%05ld.temp", plot * 10));
                if (!rank) {
                    NEED(mkdir(top, 0755));
                    for (long level = 0; level < get("levels"); level++)
                        NEED(mkdir(name("%s/Level_%ld", top, level), 0755));
                    FILE *header = HAVE(fopen(name("%s/Header", top), "w"));
                    fprintf(header, "HyperCLaw-V1.1\\n%ld\\n", get("components"));
                    for (long i = 0; i < get("components"); i++)
                        fprintf(header, "variable_%ld\\n", i);
                    for (long i = 0; i < get("levels") * get("boxes") * ranks * 3; i++)
                        fprintf(header, "%.17g %.17g\\n", 0.1 * (double)i, 0.1 * (double)(i + 1));
                    NEED(fclose(header));
                }
                MPI_Barrier(MPI_COMM_WORLD);
                for (long level = 0; level < get("levels"); level++) {
                    long token = 0, boxes = get("boxes") + (rank + level) % 2;
                    const char *path = name("%s/Level_%ld/Cell_D_%05ld", top, level, rank % files);
                    if (rank >= files)
                        MPI_Recv(&token, 1, MPI_LONG, (int)(rank - files), 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
                    FILE *cells = HAVE(fopen(path, rank < files ? "w" : "r+"));
                    setvbuf(cells, buffer, _IOFBF, 2 << 20);
                    NEED(fseek(cells, 0, SEEK_END));
                    for (long i = 0; i < boxes; i++) {
                        fprintf(cells, "FAB ((8, (64 11 52 0 1 12 0 1023)),(8, (8 7 6 5 4 3 2 1)))((%ld,0,0) (%ld,%ld,%ld) (0,0,0)) %ld\\n",
                            i, i + edge - 1, edge - 1, edge - 1, get("components"));
                        NEED(fwrite(data, 8, (size_t)(edge * edge * edge * get("components")), cells));
                    }
                    NEED(fclose(cells));
                    if (rank + files < ranks)
                        MPI_Send(&token, 1, MPI_LONG, (int)(rank + files), 3, MPI_COMM_WORLD);
                    MPI_Barrier(MPI_COMM_WORLD);
                    if (!rank) {
                        FILE *header = HAVE(fopen(name("%s/Level_%ld/Cell_H", top, level), "w"));
                        for (long i = 0; i < get("boxes") * ranks; i++)
                            fprintf(header, "FabOnDisk: Cell_D_%05ld %ld\\n", i % files, i * 1000);
                        NEED(fclose(header));
                    }
                }
                MPI_Barrier(MPI_COMM_WORLD);
                if (!rank)
                    NEED(rename(top, name("plt%05ld", plot * 10)));
                compute(10);
            }
        }
        """,
        files=rng.randint(1, 4),
        edge=rng.choice([4, 8, 16]),
        components=rng.randint(1, 6),
        boxes=rng.randint(1, 4),
        levels=rng.randint(1, 3),
        plots=rng.randint(1, 4),
    )


@kind("codes")
def openfoam_case(rng: random.Random) -> Program:
    """OpenFOAM: each rank has a processor folder, and in it a folder per time with a file per field; old ones are purged.

    The dictionaries of the case are read at the start, and asked every step whether they have changed.
    """
    return mpi(
        rng,
        """
        static void slurp(const char *path)
        {
            char text[256];
            FILE *file = HAVE(fopen(path, "r"));
            while (fgets(text, sizeof text, file))
                ;
            NEED(fclose(file));
        }

        static void run(void)
        {
            static const char *const fields[6] = {"U", "p", "phi", "k", "omega", "nut"};
            static const char *const mesh[5] = {"points", "faces", "owner", "neighbour", "boundary"};
            long cells = get("cells"), kept = get("kept");
            double *data = (double *)block(cells * 24);
            struct stat state;
            slurp("system/controlDict");
            slurp("system/fvSchemes");
            slurp("system/fvSolution");
            NEED(mkdir(name("processor%d", rank), 0755));
            NEED(mkdir(name("processor%d/constant", rank), 0755));
            NEED(mkdir(name("processor%d/constant/polyMesh", rank), 0755));
            for (int i = 0; i < 5; i++) {
                FILE *file = HAVE(fopen(name("processor%d/constant/polyMesh/%s", rank, mesh[i]), "w"));
                fprintf(file, "FoamFile\\n{\\n    class %s;\\n}\\n%ld\\n(", mesh[i], cells);
                NEED(fwrite(data, 4, (size_t)cells, file));
                NEED(fclose(file));
            }
            for (long step = 1; step <= get("steps"); step++) {
                NEED(stat("system/controlDict", &state));
                NEED(stat("system/fvSolution", &state));
                compute(2);
                if (step % get("interval"))
                    continue;
                const char *top = strdup(name("processor%d/%g", rank, 0.005 * (double)step));
                NEED(mkdir(top, 0755));
                for (long i = 0; i < get("fields"); i++) {
                    FILE *file = HAVE(fopen(name("%s/%s", top, fields[i]), "w"));
                    fprintf(file, "FoamFile\\n{\\n    format %s;\\n    object %s;\\n}\\ninternalField nonuniform\\n%ld\\n(\\n",
                        get("ascii") ? "ascii" : "binary", fields[i], cells);
                    if (get("ascii"))
                        for (long j = 0; j < cells; j++)
                            fprintf(file, i ? "%.6g\\n" : "(%.6g 0 0)\\n", (double)j * 0.37);
                    else
                        NEED(fwrite(data, i ? 8 : 24, (size_t)cells, file));
                    fprintf(file, ")\\nboundaryField\\n{\\n    inlet { type fixedValue; }\\n}\\n");
                    NEED(fclose(file));
                }
                NEED(mkdir(name("%s/uniform", top), 0755));
                FILE *file = HAVE(fopen(name("%s/uniform/time", top), "w"));
                fprintf(file, "value %g;\\nindex %ld;\\n", 0.005 * (double)step, step);
                NEED(fclose(file));
                long old = step - kept * get("interval");
                if (!kept || old < get("interval"))
                    continue;
                top = strdup(name("processor%d/%g", rank, 0.005 * (double)old));
                for (long i = 0; i < get("fields"); i++)
                    NEED(unlink(name("%s/%s", top, fields[i])));
                NEED(unlink(name("%s/uniform/time", top)));
                NEED(rmdir(name("%s/uniform", top)));
                NEED(rmdir(top));
            }
        }
        """,
        """
os.mkdir("system")
for name in ("controlDict", "fvSchemes", "fvSolution"):
    with open(f"system/{name}", "w") as file:
        file.writelines(f"entry{i} {rng.random()};\\n" for i in range(rng.randint(10, 80)))
""",
        cells=rng.choice([20, 500, 4000]),
        fields=rng.randint(2, 6),
        steps=rng.randint(5, 40),
        interval=rng.randint(1, 5),
        kept=rng.choice([0, 0, 2, 3]),
        ascii=rng.randint(0, 1),
    )


@kind("codes")
def wave_functions(rng: random.Random) -> Program:
    """Quantum ESPRESSO: wave functions of each k-point are records of a direct-access file, read and written per cycle.

    Mixing keeps densities of the last cycles in a second such file. At the end the functions, the density and a text
    of the run's data go to a folder, and the scratch files are deleted, or kept.
    """
    return fortran(
        rng,
        """
program waves
  implicit none
  integer :: cycle, k, i, length
  complex(8) :: wave({plane} * {bands}), density({mesh})
  character(len=40) :: path
  wave = (0.1d0, 0.2d0)
  density = (0.3d0, 0.0d0)
  inquire (iolength=length) wave
  open (20, file='pwscf.wfc1', form='unformatted', access='direct', recl=length, status='unknown')
  do k = 1, {points}
    write (20, rec=k) wave
  end do
  inquire (iolength=length) density
  open (21, file='pwscf.mix1', form='unformatted', access='direct', recl=length, status='unknown')
  open (6, file='pw.out', status='replace')
  do cycle = 1, {cycles}
    do k = 1, {points}
      read (20, rec=k) wave
      wave = wave * 1.01d0
      write (20, rec=k) wave
      write (6, '(a, i4, 8f10.4)') ' k point', k, (real(wave(i)), i = 1, min(8, {plane}))
    end do
    write (21, rec=1 + 2 * mod(cycle - 1, {mixed})) density
    write (21, rec=2 + 2 * mod(cycle - 1, {mixed})) density
    do i = 1, min(cycle - 1, {mixed})
      read (21, rec=2 * i) density
    end do
    write (6, '(a, i3, a, f16.8)') ' total energy of', cycle, ' is', -15.8d0 - 1.0d0 / cycle
    flush (6)
  end do
  call execute_command_line('mkdir pwscf.save')
  open (22, file='pwscf.save/charge-density.dat', form='unformatted', status='replace')
  write (22) .false., {mesh}, 1
  write (22) density
  close (22)
  do k = 1, {points}
    read (20, rec=k) wave
    write (path, '("pwscf.save/wfc", i0, ".dat")') k
    open (22, file=path, form='unformatted', status='replace')
    write (22) k, 0.0d0, 0.0d0, 0.0d0
    write (22) {plane}, {bands}
    do i = 1, {bands}
      write (22) wave((i - 1) * {plane} + 1:i * {plane})
    end do
    close (22)
  end do
  open (22, file='pwscf.save/data-file-schema.xml', status='replace')
  do i = 1, {points} * {bands}
    write (22, '(a, es24.15, a)') '    <eigenvalue>', 0.5d0 * i, '</eigenvalue>'
  end do
  close (22)
  if ({kept} == 1) then
    close (20)
  else
    close (20, status='delete')
  end if
  close (21, status='delete')
  close (6)
end program
""",
        plane=rng.choice([30, 400, 2000]),
        bands=rng.randint(2, 8),
        points=rng.randint(1, 12),
        mesh=rng.choice([500, 8000]),
        cycles=rng.randint(2, 12),
        mixed=rng.randint(2, 8),
        kept=rng.randint(0, 1),
    )
