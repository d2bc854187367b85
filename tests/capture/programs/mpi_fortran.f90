! MPI-IO from Fortran: the bindings call the PMPI_ entries of the C library.
program writer
  use mpi
  implicit none
  integer :: rank, file, failed, i
  integer(kind=mpi_offset_kind) :: at
  character(len=1000) :: text
  call MPI_Init(failed)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, failed)
  text = 'x'
  call MPI_File_open(MPI_COMM_WORLD, 'fortran', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file, failed)
  do i = 0, 4
    at = (i * 4 + rank) * 1000_mpi_offset_kind
    call MPI_File_write_at_all(file, at, text, 1000, MPI_CHARACTER, MPI_STATUS_IGNORE, failed)
  end do
  call MPI_File_close(file, failed)
  call MPI_Finalize(failed)
end program
