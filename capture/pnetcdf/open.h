/* The records for the numbers of PnetCDF's open files and their variables. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_OPEN_H
#define WORKALIKE_CAPTURE_PNETCDF_OPEN_H

#include "pnetcdf/record.h"

/* NULL for a file or variable that is not counted. The first use of a variable also makes it known,
   because programs that know its number need not ask for it. */
struct pnetcdf_file_record* pnetcdf_open_file(int file);
struct pnetcdf_var_record* pnetcdf_open_variable(int file, int variable, struct span span);

#endif
