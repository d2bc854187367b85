/* Whether code runs in this process or in a child that shares its memory until it becomes another program. To
   ask the kernel for the process number takes as long as a tenth of an open, so it is asked only when there
   may be such a child. */
#ifndef WORKALIKE_CAPTURE_CHILDREN_H
#define WORKALIKE_CAPTURE_CHILDREN_H

#include <stdatomic.h>
#include <stdbool.h>

/* Not zero in the process itself. The kernel clears the page in the child of any fork, even of one that is
   made without the C library. */
extern _Atomic(const volatile int*) children_page;

/* This thread called vfork, and it is not known that the child has gone. The child has the same flag. */
extern _Thread_local bool children_vforked;

/* Called at the start of the process and in the child of a fork. */
void children_start(void);

/* Asks the kernel whether this is the process that started. */
bool children_ask(void);

/* Called before a child is made that may share memory with any thread; the kernel is asked from now on. */
void children_may_share_memory(void);

static inline bool children_none(void) {
#ifdef __x86_64__
    return *atomic_load_explicit(&children_page, memory_order_relaxed) && !children_vforked;
#else
    return false;
#endif
}

#endif
