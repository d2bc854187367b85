#include "backends/backend.hpp"
#include "backends/list.hpp"

namespace wa {

// A backend is not compiled if its library was not found; the weak symbol of its maker is then null.
#define BACKEND(name)                                                                  \
    [[gnu::weak]] std::unique_ptr<Backend> make_##name(const BackendOptions& options); \
    extern const Traits name##_traits;
WORKALIKE_BACKENDS(BACKEND)
#undef BACKEND

BackendMaker maker_of(const Traits& traits) {
#define BACKEND(name) \
    if (&traits == &name##_traits) return &make_##name;
    WORKALIKE_BACKENDS(BACKEND)
#undef BACKEND
    return nullptr;
}

}  // namespace wa
