! MPI-IO by the bindings of Fortran 2008, whose handles are types and whose errors may be left out.
program writer
  use mpi_f08
  implicit none
  integer :: rank, i
  integer(kind=mpi_offset_kind) :: at
  type(mpi_file) :: file
  character(len=1000) :: text
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  text = 'x'
  call MPI_File_open(MPI_COMM_WORLD, 'fortran', MPI_MODE_CREATE + MPI_MODE_WRONLY, MPI_INFO_NULL, file)
  do i = 0, 4
    at = (i * 4 + rank) * 1000_mpi_offset_kind
    call MPI_File_write_at_all(file, at, text, 1000, MPI_CHARACTER, MPI_STATUS_IGNORE)
  end do
  call MPI_File_close(file)
  call MPI_Finalize()
end program
