/* Long jumps: what a thread was doing in our code when a signal handler, or a function of the application
   that a library called, jumped out of it. */
#ifndef WORKALIKE_CAPTURE_JUMP_H
#define WORKALIKE_CAPTURE_JUMP_H

#include <stdbool.h>
#include <stdint.h>

/* Whether a jump to a frame at `target` leaves what was begun at `place` of the stack. It does not if it
   stays within a signal handler that has a stack of its own. */
bool jump_leaves(uintptr_t target, uintptr_t place);

#endif
