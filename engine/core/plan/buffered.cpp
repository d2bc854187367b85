#include "plan/buffered.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backends/traits.hpp"
#include "errors.hpp"

namespace wa {

void refuse_buffered(const Family& family, const Content& content, const Traits& traits,
                     const std::string& place) {
    const bool any = std::any_of(content.streams.begin(), content.streams.end(),
                                 [](const Stream& stream) { return stream.buffered != Buffered::none; });
    if (!any || !traits.performs) return;
    if (!traits.buffered)
        throw PlanError(place, fmt::format("the backend {} has no buffered streams", traits.name),
                        "leave out `buffered`, or use the backend posix");
    if (family.direct)
        throw PlanError(place, "a buffered stream has no memory that O_DIRECT can use",
                        "leave out `buffered` or `direct`");
}

}  // namespace wa
