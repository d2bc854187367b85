/* Long jumps. A signal handler, or a function of the application called by a library, may jump out of our
   code; what the thread was doing there must then be undone. */
#ifndef WORKALIKE_CAPTURE_JUMP_H
#define WORKALIKE_CAPTURE_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a jump to the frame at `target` leaves what began at stack position `place`. It does not leave
   it if it stays within a signal handler that has a stack of its own. */
bool jump_leaves(uintptr_t target, uintptr_t place);

#endif
