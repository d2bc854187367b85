#include "core/guard.h"

_Thread_local volatile uintptr_t guard_inside __attribute__((tls_model("initial-exec")));
