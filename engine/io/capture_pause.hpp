// While an object of this class exists, the capture library does not count the calls of this process. It
// covers work of the engine outside the workload, such as reading back. Without capture it has no effect.
#pragma once

namespace wa {

class CapturePause {
  public:
    CapturePause();
    ~CapturePause();
    CapturePause(const CapturePause&) = delete;
    CapturePause& operator=(const CapturePause&) = delete;
    CapturePause(CapturePause&&) = delete;
    CapturePause& operator=(CapturePause&&) = delete;
};

}  // namespace wa
