# Finds an ADIOS2 that was built with the MPI in use; Debian's is built with Open MPI. ADIOS2's own CMake files
# require every library that it was built with, so they are not used.
include(${CMAKE_CURRENT_LIST_DIR}/BuiltWithOurMpi.cmake)
find_path(ADIOS2_INCLUDE_DIR adios2.h)
find_path(ADIOS2_BUILD_INCLUDE_DIR adios2/common/ADIOSConfig.h PATH_SUFFIXES adios2/build/mpi)
find_library(ADIOS2_LIBRARY NAMES adios2_mpi_cxx11 adios2_cxx11)
find_library(ADIOS2_MPI_LIBRARY NAMES adios2_mpi_cxx11_mpi adios2_cxx11_mpi)
find_library(ADIOS2_MPI_CORE_LIBRARY NAMES adios2_mpi_core_mpi adios2_core_mpi)
set(ADIOS2_FOUND FALSE)
if(ADIOS2_INCLUDE_DIR AND ADIOS2_BUILD_INCLUDE_DIR AND ADIOS2_LIBRARY AND ADIOS2_MPI_LIBRARY AND ADIOS2_MPI_CORE_LIBRARY)
  built_with_our_mpi(${ADIOS2_MPI_CORE_LIBRARY} ADIOS2_FOUND)
  set(ADIOS2_LIBRARIES ${ADIOS2_MPI_LIBRARY} ${ADIOS2_LIBRARY})
endif()
