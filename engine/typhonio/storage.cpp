#include "typhonio/storage.hpp"

#include <algorithm>
#include <array>

#include "io/mpi.hpp"

namespace wa::typhonio {

Storage::Storage(Pattern pattern, MPI_Comm comm)
    : pattern_(pattern),
      comm_(comm),
      rank_(mpi::rank(comm)),
      collective_(h5::transfer_list(true)),
      independent_(h5::transfer_list(false)),
      group_list_(h5::ordered_group_list()),
      array_list_(h5::unfilled_dataset_list({})) {}

h5::Shared Storage::create_group(const h5::Shared& parent, const std::string& name) const {
    return h5::create_group(parent, name, group_list_);
}

h5::Shared Storage::create_array(const h5::Shared& parent, const std::string& name, Datatype type,
                                 const h5::Extents& dims) const {
    return h5::create_dataset(parent, name, native(type), h5::space(dims), array_list_);
}

void Storage::write_on_first(const h5::Shared& dataset, Datatype type, const void* data) const {
    if (writes_tables()) h5::write(dataset, native(type), h5::whole(), h5::whole(), independent_, data);
}

void Storage::attribute(const h5::Shared& object, const std::string& name, int value) const {
    attribute(object, name, Datatype::int_, &value);
}

void Storage::attribute(const h5::Shared& object, const std::string& name, std::uint64_t value) const {
    attribute(object, name, Datatype::size, &value);
}

void Storage::attribute(const h5::Shared& object, const std::string& name, double value) const {
    attribute(object, name, Datatype::double_, &value);
}

void Storage::attribute(const h5::Shared& object, const std::string& name, const std::string& value) const {
    std::array<char, text_bytes> text{};
    std::copy_n(value.begin(), std::min(value.size(), text.size() - 1), text.begin());
    attribute(object, name, Datatype::string, text.data());
}

void Storage::attribute(const h5::Shared& object, const std::string& name, Datatype type,
                        const void* value) const {
    h5::write_attribute(object, name, native(type), value);
}

}  // namespace wa::typhonio
