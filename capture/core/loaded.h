/* Finds symbols of the libraries that the application loaded. They may be private (dlopen with
   RTLD_LOCAL), where the usual search does not look: Python loads MPI and HDF5 like that. */
#ifndef WORKALIKE_CAPTURE_LOADED_H
#define WORKALIKE_CAPTURE_LOADED_H

/* The symbol that ours replaces, otherwise that of a loaded library whose file name begins with `stem`.
   NULL if there is none. */
void* loaded_symbol(const char* stem, const char* symbol);

/* The same for a variable, which may be in the program itself (a copy relocation). */
void* loaded_variable(const char* stem, const char* symbol);

#endif
