#include "plan/maps.hpp"

#include <fmt/format.h>

#include "backends/traits.hpp"
#include "errors.hpp"

namespace wa {

void refuse_maps(const Content& content, const Traits& traits, const std::string& place) {
    if (content.maps == 0 || !traits.performs || traits.maps) return;
    throw PlanError(place, fmt::format("the backend {} maps no files into memory", traits.name),
                    "leave out `maps`, or use the backend posix or stdio");
}

}  // namespace wa
