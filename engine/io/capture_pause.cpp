#include "io/capture_pause.hpp"

#include <dlfcn.h>

namespace wa {
namespace {

/// Calls a function of the preloaded library (capture/core/pause.h), if it is loaded.
void call(const char* name) {
    if (void* found = dlsym(RTLD_DEFAULT, name)) reinterpret_cast<void (*)()>(found)();
}

}  // namespace

CapturePause::CapturePause() {
    call("workalike_capture_pause");
}

CapturePause::~CapturePause() {
    call("workalike_capture_resume");
}

}  // namespace wa
