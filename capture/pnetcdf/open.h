/* Which records belong to the numbers by which PnetCDF knows its open files and their variables. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_OPEN_H
#define WORKALIKE_CAPTURE_PNETCDF_OPEN_H

#include "pnetcdf/record.h"

/* NULL for a file or variable that is not counted. A variable is made known by its first use, too: programs
   that know the numbers need not ask for them. */
struct pnetcdf_file_record* pnetcdf_open_file(int file);
struct pnetcdf_var_record* pnetcdf_open_variable(int file, int variable, struct span span);

#endif
