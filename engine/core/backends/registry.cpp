#include <algorithm>
#include <array>

#include "backends/list.hpp"
#include "backends/traits.hpp"

namespace wa {

#define BACKEND(name) extern const Traits name##_traits;
WORKALIKE_BACKENDS(BACKEND)
#undef BACKEND

std::span<const Traits* const> all_backends() {
#define BACKEND(name) &name##_traits,
    static constexpr std::array all{WORKALIKE_BACKENDS(BACKEND)};
#undef BACKEND
    return all;
}

const Traits* find_traits(std::string_view name) {
    for (const Traits* traits : all_backends()) {
        if (traits->name == name) return traits;
    }
    return nullptr;
}

std::string backend_names() {
    std::string out;
    for (const Traits* traits : all_backends()) {
        out += out.empty() ? "" : ", ";
        out += traits->name;
    }
    return out;
}

const Traits& counted_as(const Family& family, const Traits& performer) {
    if (performer.performs) return performer;
    if (family.backend->performs) return *family.backend;
    for (const Traits* traits : all_backends()) {
        if (traits->level == family.level) return *traits;
    }
    return *family.backend;
}

}  // namespace wa
