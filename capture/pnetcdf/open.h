/* The records for the numbers of PnetCDF's open files and their variables. */
#ifndef WORKALIKE_CAPTURE_PNETCDF_OPEN_H
#define WORKALIKE_CAPTURE_PNETCDF_OPEN_H

#include "pnetcdf/record.h"

/* NULL for a file or variable that is not counted. The first use of a variable also makes it known,
   because programs that know its number need not ask for it. */
struct pnetcdf_file_record* pnetcdf_open_file(int file);
struct pnetcdf_var_record* pnetcdf_open_variable(int file, int variable, struct span span);

/* Asks the library for the name and shape of a variable; false if it has none or too many dimensions. */
bool pnetcdf_ask_shape(int file, int variable, char name[PNETCDF_NAME + 1], struct pnetcdf_shape* shape);

#endif
