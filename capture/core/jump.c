#include "core/jump.h"

#include <setjmp.h>
#include <signal.h>
#include <stddef.h>

#include "core/export.h"
#include "core/guard.h"
#include "core/module.h"
#include "core/sandbox.h"
#include "core/spin.h"

bool jump_leaves(uintptr_t target, uintptr_t place) {
    stack_t own;
    if (!place || target <= place) return false;
    if (sandboxed() || sigaltstack(NULL, &own) != 0 || !(own.ss_flags & SS_ONSTACK)) return true;
    return target - (uintptr_t)own.ss_sp >= own.ss_size;
}

/* The stack pointer after the jump. The C library stores it scrambled with a key of the process. */
static uintptr_t stack_after(const struct __jmp_buf_tag* target) {
#ifdef __x86_64__
    enum { STACK = 6, TURNED = 17, BITS = 64 };
    uintptr_t key;
    __asm__("mov %%fs:0x30, %0" : "=r"(key));
    const uintptr_t stored = (uintptr_t)target->__jmpbuf[STACK];
    return (stored >> TURNED | stored << (BITS - TURNED)) ^ key;
#else
    (void)target;
    return UINTPTR_MAX; /* unknown: assumed to leave all of our code */
#endif
}

static void before_jump(const struct __jmp_buf_tag* target) {
    const uintptr_t stack = stack_after(target);
    if (jump_leaves(stack, guard_inside)) {
        spin_release_all();
        guard_leave();
    }
    FOR_MODULES(jump, stack)
}

#define JUMPING(name)                                             \
    void name(struct __jmp_buf_tag target[1], int value);         \
    EXPORT void name(struct __jmp_buf_tag target[1], int value) { \
        before_jump(target);                                      \
        REAL(name)(target, value);                                \
        __builtin_unreachable();                                  \
    }
JUMPING(longjmp)
JUMPING(_longjmp)
JUMPING(siglongjmp)
JUMPING(__longjmp_chk) /* fortified programs call this one */
