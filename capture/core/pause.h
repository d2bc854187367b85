/* A program that knows of us may ask for calls not to be counted: a tool that reads back what it wrote, say.

   workalike_capture_pause() and workalike_capture_resume() are looked up with dlsym(RTLD_DEFAULT, ...), so
   that the program runs without us as well. Pauses nest, and hold for all threads. Meanwhile offsets and
   handles are followed as ever: what is opened in a pause counts from its end on. */
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
