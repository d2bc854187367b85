#include "core/spin.h"

_Thread_local struct spin_held spin_held __attribute__((tls_model("initial-exec")));

void spin_release_all(void) {
    const uint32_t self = spin_owner();
    unsigned count = spin_held.count < SPIN_NESTED ? spin_held.count : SPIN_NESTED;
    while (count-- > 0) {
        uint32_t holder = self;
        atomic_compare_exchange_strong(spin_held.lock[count], &holder, 0);
    }
    spin_held.count = 0;
}
