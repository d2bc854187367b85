/* Children that share the memory of this process: they must not count, and must not change what it has open.
 */
#include "core/children.h"

#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/export.h"
#include "core/memory.h"
#include "core/sandbox.h"

enum { PAGE = 4096 };

/* Zero forever: without a page, the kernel is asked each time. */
static const volatile int unknown;

_Atomic(const volatile int*) children_page = &unknown;
_Thread_local bool children_vforked __attribute__((tls_model("initial-exec")));

static pid_t own_pid;
static bool share_memory; /* a child may share our memory without a vfork: its thread is unknown */

void children_start(void) {
    static volatile int* page;
    own_pid = getpid();
    children_vforked = false;
    if (!page) {
        void* pages = memory_pages(PAGE);
        if (pages && madvise(pages, PAGE, MADV_WIPEONFORK) == 0) page = pages;
    }
    if (!page || share_memory) return;
    *page = 1;
    atomic_store_explicit(&children_page, page, memory_order_relaxed);
}

bool children_ask(void) {
    if (sandboxed()) return true;
    if (getpid() != own_pid) return false;
    children_vforked = false; /* a child of vfork has ended, or is another program, when its parent goes on */
    return true;
}

void children_may_share_memory(void) {
    share_memory = true;
    atomic_store_explicit(&children_page, &unknown, memory_order_relaxed);
}

EXPORT int clone(int (*function)(void*), void* stack, int flags, void* argument, ...) {
    void* word[3];
    va_list given;
    va_start(given, argument);
    for (int i = 0; i < 3; ++i) word[i] = va_arg(given, void*);
    va_end(given);
    if (flags & CLONE_VM && !(flags & CLONE_THREAD)) children_may_share_memory();
    return REAL(clone)(function, stack, flags, argument, word[0], word[1], word[2]);
}

#ifdef __x86_64__
/* vfork returns twice, so it cannot be called from a function of ours: this one notes the call and jumps on.
 */
void* children_before_vfork(void);
__attribute__((used, visibility("hidden"))) void* children_before_vfork(void) {
    children_vforked = true;
    return (void*)REAL(vfork);
}

__asm__(
    ".text\n"
    ".globl vfork\n"
    ".type vfork, @function\n"
    "vfork:\n"
    ".cfi_startproc\n"
    "    endbr64\n"
    "    sub $8, %rsp\n"
    ".cfi_adjust_cfa_offset 8\n"
    "    call children_before_vfork\n"
    "    add $8, %rsp\n"
    ".cfi_adjust_cfa_offset -8\n"
    "    jmp *%rax\n"
    ".cfi_endproc\n"
    ".size vfork, .-vfork\n");
#endif
