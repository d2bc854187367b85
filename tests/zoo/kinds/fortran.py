"""Fortran's own I/O, as older codes use it: records with their lengths around them, direct access, lists."""

from __future__ import annotations

import random

from ..program import Program, kind
from .making import fortran


@kind("fortran")
def unformatted_restart(rng: random.Random) -> Program:
    """Sequential unformatted restarts: each array is a record between its lengths; one is read back."""
    return fortran(
        rng,
        """
program restart
  implicit none
  integer :: state, i
  real(8) :: a({size})
  character(len=20) :: path
  a = 1.5d0
  do state = 1, {states}
    write (path, '("restart.", i3.3)') state
    open (10, file=path, form='unformatted', status='replace')
    write (10) state, {arrays}, {size}
    do i = 1, {arrays}
      write (10) a(1:{size} - mod(i, 3) * {unequal})
    end do
    close (10)
  end do
  open (10, file='restart.001', form='unformatted', status='old')
  read (10)
  do i = 1, {arrays} / 2
    read (10) a(1:{size} - mod(i, 3) * {unequal})
  end do
  close (10)
end program
""",
        states=rng.randint(1, 6),
        arrays=rng.randint(1, 12),
        size=rng.choice([10, 2000, 30_000]),
        unequal=rng.randint(0, 4),
    )


@kind("fortran")
def direct_access(rng: random.Random) -> Program:
    """Records of a direct-access file are written in one order and read, changed and written in another."""
    return fortran(
        rng,
        """
program direct
  implicit none
  integer :: i, j
  real(4) :: a({length})
  a = 2.0
  open (11, file='scratch.da', form='unformatted', access='direct', recl=4 * {length})
  do i = 1, {records}
    write (11, rec=i) a
  end do
  do i = 1, {changes}
    j = 1 + mod(i * {step}, {records})
    read (11, rec=j) a
    a = a + 1.0
    write (11, rec=j) a
  end do
  if ({delete} == 1) then
    close (11, status='delete')
  else
    close (11)
  end if
end program
""",
        length=rng.choice([16, 1000, 5000]),
        records=rng.randint(5, 120),
        changes=rng.randint(1, 200),
        step=rng.choice([1, 7, 31]),
        delete=rng.randint(0, 1),
    )


@kind("fortran")
def formatted_lists(rng: random.Random) -> Program:
    """Formatted output, a file per step and a log that is flushed; a namelist of settings is read first."""
    return fortran(
        rng,
        """
program lists
  implicit none
  integer :: step, i
  integer :: steps = 0
  character(len=20) :: path
  namelist /run/ steps
  open (12, file='run.nml', status='old')
  read (12, nml=run)
  close (12)
  open (13, file='run.log', status='unknown', position='append')
  do step = 1, steps
    write (path, '("profile.", i4.4)') step
    open (14, file=path)
    do i = 1, {rows}
      write (14, '(i6, 3es16.7)') i, sqrt(real(i)), real(i) * step, 1.0 / i
    end do
    close (14)
    write (13, *) 'step', step, 'of', steps
    flush (13)
  end do
  close (13)
end program
""",
        """
with open("run.nml", "w") as file:
    file.write(f"&run\\n steps = {p.steps}\\n/\\n")
""",
        steps=rng.randint(1, 12),
        rows=rng.randint(1, 800),
    )
