/* A program that knows the capture library may stop the counting of its calls, for example while it reads
   back what it wrote.

   workalike_capture_pause() and workalike_capture_resume() are looked up with dlsym(RTLD_DEFAULT, ...), so
   that the program also runs without the library. Pauses nest and apply to all threads. Offsets and
   handles are still followed in a pause, so a file opened in a pause is counted after it. */
#ifndef WORKALIKE_CAPTURE_PAUSE_H
#define WORKALIKE_CAPTURE_PAUSE_H

#include <stdatomic.h>
#include <stdbool.h>

extern _Atomic(int) pause_depth;

static inline bool pause_active(void) {
    return atomic_load_explicit(&pause_depth, memory_order_relaxed) > 0;
}

void workalike_capture_pause(void);
void workalike_capture_resume(void);

#endif
