! PnetCDF by its Fortran bindings: each rank writes a row of 8 reals; test_pnetcdf.py says what that adds up to.
program pnetcdf_fortran
    implicit none
    include 'mpif.h'
    include 'pnetcdf.inc'
    integer :: rank, ranks, code, file, dims(2), field, number
    integer(kind=MPI_OFFSET_KIND) :: start(2), counts(2), eight, many
    real :: row(8)

    call MPI_Init(code)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, code)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, code)
    number = 0
    eight = 8
    many = ranks
    row = 1.0
    code = nfmpi_create(MPI_COMM_WORLD, 'fortran.nc', NF_CLOBBER, MPI_INFO_NULL, file)
    number = number + abs(code)
    code = nfmpi_def_dim(file, 'x', eight, dims(1))
    code = nfmpi_def_dim(file, 'rank', many, dims(2))
    code = nfmpi_def_var(file, 'field', NF_REAL, 2, dims, field)
    code = nfmpi_enddef(file)
    start = (/ 1_MPI_OFFSET_KIND, int(rank, MPI_OFFSET_KIND) + 1 /)
    counts = (/ 8_MPI_OFFSET_KIND, 1_MPI_OFFSET_KIND /)
    code = nfmpi_put_vara_real_all(file, field, start, counts, row)
    number = number + abs(code)
    code = nfmpi_close(file)
    number = number + abs(code)
    call MPI_Finalize(code)
    if (number /= 0) stop 1
end program
