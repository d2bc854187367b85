/* Descriptors that the process has not opened itself. */
#ifndef WORKALIKE_CAPTURE_POSIX_INHERITED_H
#define WORKALIKE_CAPTURE_POSIX_INHERITED_H

/* Enters the files among the descriptors that the process has at its start. */
void inherited_find(void);

#endif
