#include "core/sandbox.h"

_Atomic(bool) sandbox_entered;
