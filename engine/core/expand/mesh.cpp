#include "expand/mesh.hpp"

#include "expand/split.hpp"

namespace wa {
namespace {

/// The axes table belongs to one rank. Every other table has elements of every part, or (mixed cells) of
/// none.
bool belongs_to_one_rank(const MeshTable& table) {
    return table.kind == TableKind::axes;
}

}  // namespace

MeshShare mesh_share(const Mesh& mesh, const Place& place, std::optional<std::int64_t> bytes) {
    const PartRange file = parts_of(mesh, place.all, place.first, place.here);
    MeshParts parts =
        bytes ? MeshParts{nodes_for(mesh, file.count, *bytes), file.count} : planned_parts(mesh, file);
    MeshShare out;
    out.layout = std::make_shared<const MeshLayout>(mesh, parts);
    if (place.active()) {
        out.own = parts_of(mesh, place.all, place.index, 1);
        out.own.first -= file.first;
    }
    out.most = share_of(mesh.parts, place.all, place.first);
    return out;
}

std::int64_t mesh_count(const MeshShare& share) {
    std::int64_t count = 0;
    for (const MeshTable& table : share.layout->tables()) {
        if (belongs_to_one_rank(table)) {
            count += share.own.count > 0 && share.own.first == 0 ? 1 : 0;
        } else if (share.layout->elements(table) > 0) {
            count += share.own.count;
        }
    }
    return count;
}

std::int64_t mesh_bytes_of_file(const Mesh& mesh, const Place& place) {
    return planned_bytes(mesh, parts_of(mesh, place.all, place.first, place.here));
}

MeshOperations::MeshOperations(const MeshShare& share, std::size_t table, std::int64_t base, bool joins)
    : share_(share),
      table_(share.layout->tables()[table]),
      base_(base),
      collective_(share.layout->mesh().collective && !belongs_to_one_rank(table_)) {
    const bool holds = share.layout->elements(table_) > 0;
    if (joins && collective_ && holds) joins_left_ = share.most - share.own.count;
    if (!holds) done_ = share.own.count;
}

bool MeshOperations::next(Operation& operation) {
    const MeshLayout& layout = *share_.layout;
    operation = Operation{};
    operation.direction = layout.mesh().direction;
    operation.collective = collective_;
    while (done_ < share_.own.count) {
        const std::int64_t part = share_.own.first + done_++;
        const std::int64_t elements = layout.elements(table_, part);
        if (elements == 0) continue;
        const std::int64_t size = bytes_of(table_.type);
        operation.tile = part;
        operation.offset = base_ + layout.before(table_, part) * size;
        operation.size = elements * size;
        return true;
    }
    if (joins_left_ == 0) return false;
    --joins_left_;
    operation.joins = true;
    return true;
}

}  // namespace wa
