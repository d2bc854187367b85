/* The LUSTRE records: how files lie on the servers, asked once for each file before it is closed. */
#ifndef WORKALIKE_CAPTURE_LUSTRE_H
#define WORKALIKE_CAPTURE_LUSTRE_H

/* `name`: that of the open file, absolute. No system call where the file system has no such layouts, but for
   the first file on it. */
void lustre_note(int fd, const char* name);

#endif
