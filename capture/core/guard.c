#include "core/guard.h"

_Thread_local volatile int guard_inside __attribute__((tls_model("initial-exec")));
