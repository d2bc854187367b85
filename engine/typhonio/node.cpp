#include "typhonio/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace wa::typhonio {

void Variable::write(const void* data) {
    if (!dataset_.open()) {
        if (slot_ == SIZE_MAX) refuse("write variable", "the variable is closed");
        parent_->set_slot(type_, slot_, data);
        return;
    }
    h5::write(dataset_, native(type_), h5::whole(), h5::whole(),
              parent_->storage().list(Transfer::independent), data);
}

Node::Node(const Storage& storage, h5::Shared group) : storage_(&storage), group_(std::move(group)) {}

Node::~Node() = default;

void Node::take_name(const char* operation, const std::string& name) {
    require_open(operation);
    check_name(operation, name);
    if (!names_.insert(name).second)
        refuse(operation, fmt::format("the name '{}' is taken; choose another", name));
}

void Node::require_open(const char* operation) const {
    if (!group_.open()) refuse(operation, "the parent is closed");
}

Node::Cache& Node::cache_of(Datatype type) {
    const auto at = std::lower_bound(caches_.begin(), caches_.end(), type,
                                     [](const Cache& cache, Datatype t) { return cache.table.type() < t; });
    if (at != caches_.end() && at->table.type() == type) return *at;
    const std::string name = std::string("TIO_VARIABLE_CACHE_0D_") + cache_word(type);
    return *caches_.insert(at, Cache{Table(name, type), {}});
}

void Node::set_slot(Datatype type, std::size_t slot, const void* value) {
    Cache& cache = cache_of(type);
    cache.table.set(slot, value);
    cache.own[slot] = 1;
}

Variable& Node::create_variable(const std::string& name, Datatype type, const std::vector<std::int64_t>& dims,
                                const std::string& units) {
    constexpr const char* operation = "create variable";
    check_text(operation, "unit", units);
    if (type == Datatype::none) refuse(operation, "a variable needs a type");
    if (dims.size() > most_dimensions)
        refuse(operation, fmt::format("{} dimensions; at most {}", dims.size(), most_dimensions));
    if (std::any_of(dims.begin(), dims.end(), [](std::int64_t n) { return n < 1; }))
        refuse(operation, "every dimension needs at least one element");
    const bool cached = dims.empty() && class_of(type) != TypeClass::text;
    if (cached && cache_word(type) == nullptr)
        refuse(operation, fmt::format("a scalar cannot have type {}", static_cast<int>(type)));
    take_name(operation, name);
    std::uint64_t index = 0;
    if (cached) {
        Cache& cache = cache_of(type);
        const std::vector<std::byte> zero(size_of(type));
        cache.table.append(zero.data());
        cache.own.push_back(0);
        index = cache.table.size();
    }
    variables_.push_back(std::unique_ptr<Variable>(new Variable(*this, type, cached ? index - 1 : SIZE_MAX)));
    if (!cached) {
        const h5::Extents stored(dims.rbegin(), dims.rend());
        variables_.back()->dataset_ = storage().create_array(group_, name, type, stored);
    }
    const int code = 1000 * static_cast<int>(dims.size()) + static_cast<int>(type);
    units_.append(units);
    types_.append(&code);
    index_.append(&index);
    variable_names_.append(name);
    return *variables_.back();
}

Vargroup& Node::create_vargroup(const std::string& name) {
    take_name("create vargroup", name);
    vargroups_.push_back(
        std::unique_ptr<Vargroup>(new Vargroup(storage(), storage().create_group(group_, name))));
    vargroup_names_.append(name);
    return *vargroups_.back();
}

void Node::store_tables(Moment moment) {
    for (Table* table : {&units_, &types_, &index_}) table->store(storage(), group_, moment);
    for (Cache& cache : caches_) cache.table.store_own(storage(), group_, moment, cache.own);
    variable_names_.store(storage(), group_, moment);
    vargroup_names_.store(storage(), group_, moment);
    for (Table* table : class_tables()) table->store(storage(), group_, moment);
}

void Node::load_tables() {
    for (Table* table : {&units_, &types_, &index_, &variable_names_, &vargroup_names_})
        table->load(storage(), group_);
    // New scalars get the slots after the existing ones.
    for (int code = 0; code <= static_cast<int>(Datatype::uchar); ++code) {
        const auto type = static_cast<Datatype>(code);
        Cache cache{Table(std::string("TIO_VARIABLE_CACHE_0D_") + cache_word(type), type), {}};
        cache.table.load(storage(), group_);
        cache.own.resize(cache.table.size());
        if (cache.table.size() > 0) caches_.push_back(std::move(cache));
    }
    std::vector<const Table*> names{&variable_names_, &vargroup_names_};
    for (Table* table : class_tables()) {
        table->load(storage(), group_);
        names.push_back(table);
    }
    for (const Table* table : names) {
        for (const std::string& name : table->texts()) names_.insert(name);
    }
}

void Node::store_for_flush() {
    if (!open()) return;
    store_tables(Moment::flush);
    for (auto& vargroup : vargroups_) vargroup->store_for_flush();
    flush_children();
}

void Node::close() {
    if (!open()) return;
    close_all(variables_);
    close_all(vargroups_);
    close_children();
    finish();
    store_tables(moment_of_close());
    close_group();
}

}  // namespace wa::typhonio
