// While one lives, the capture library that may watch this process counts nothing: for what the engine does
// beside the workload, such as reading back what it wrote. Without capture it does nothing.
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
