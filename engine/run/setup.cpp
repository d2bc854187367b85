#include "run/setup.hpp"

#include "sharing/names.hpp"

namespace wa {

std::string Setup::path(std::size_t family, std::int64_t file, const FileSlot& slot) const {
    const Layout& layout = layouts[family];
    return options.dir + "/" +
           file_name(plan.families[family], layout.members().at(slot.first_member), file, slot);
}

}  // namespace wa
