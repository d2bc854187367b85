#include "backends/typhonio_file.hpp"

#include <algorithm>
#include <numeric>

#include "backends/typhonio_mesh.hpp"
#include "errors.hpp"
#include "io/mpi.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

typhonio::FileOptions options_of(const FileContext& context) {
    typhonio::FileOptions out;
    out.comm = context.comm;
    out.hints = &context.family->hints;
    out.pattern =
        context.family->typhonio_optimised ? typhonio::Pattern::optimised : typhonio::Pattern::faithful;
    out.alignment = context.family->hdf5.alignment;
    out.threshold = context.family->hdf5.threshold;
    out.codename = "workalike";
    out.version = WORKALIKE_VERSION;
    out.date = "";
    out.title = "replica";
    return out;
}

typhonio::Transfer transfer_of(const Operation& operation) {
    return operation.collective ? typhonio::Transfer::collective : typhonio::Transfer::independent;
}

Mismatch place_of_mismatch(const FileContext& context, std::int64_t offset) {
    return {context.path.substr(context.path.rfind('/') + 1), static_cast<std::int64_t>(context.position),
            offset, 0, -1};
}

}  // namespace

bool file_exists(const FileContext& context) {
    int exists = 0;
    if (mpi::rank(context.comm) == 0) exists = posix::size_of(context.path).has_value() ? 1 : 0;
    mpi::check(MPI_Bcast(&exists, 1, MPI_INT, 0, context.comm), "open");
    return exists != 0;
}

// Writing.

TyphonioFile::TyphonioFile(const FileContext& context) : context_(context) {
    const bool creates = context.creates && !file_exists(context);
    file_ = creates ? typhonio::File::create(context.path, options_of(context))
                    : typhonio::File::open(context.path, options_of(context));
}

void TyphonioFile::begin_dump(const FileContext& context) {
    context_ = context;
    share_ = share_of_state(context);
    first_part_ = context.family->sharing.baton ? context.mesh->own.first : 0;
    if (context.reading_back) {
        reader_.begin(file_->root(), context_, share_);
        return;
    }
    const auto step = static_cast<std::uint64_t>(context.dump->index);
    state_ = &file_->create_state(state_name(context), step, context.dump->start_s, "s");
    create_mesh();
}

void TyphonioFile::create_mesh() {
    mesh_ = &state_->create_mesh(mesh_name, describe(layout()));
    mesh_->set_chunks(chunks_of(layout()));
    const Mesh& mesh = layout().mesh();
    if (mesh.materials == 0) return;
    typhonio::MaterialDescription material;
    material.materials = mesh.materials;
    material.ghosts = ghosts_of(mesh);
    material.mixed = mesh.mixed > 0;
    material_ = &mesh_->create_material(material_name, material);
}

void TyphonioFile::begin_section(const Section& section) {
    table_ = section.part;
    if (context_.reading_back) return;
    const MeshTable& table = layout().tables()[table_];
    values_.begin(*context_.buffers->mesh, share_.layout, table_, context_.dump->index);
    if (table.kind == TableKind::variable) {
        quant_ = &mesh_->create_quant(name_of(table), datatype_of(table.type), centring_of(table.centring),
                                      ghosts_of(layout().mesh()), false, "qunits");
    } else if (table.kind == TableKind::material && layout().mesh().mixed > 0) {
        for (std::size_t i = 0; i < mixed_.size(); ++i)
            mixed_.at(i).begin(*context_.buffers->mesh, share_.layout, table_ + 1 + i, context_.dump->index);
    }
}

void TyphonioFile::end_section() {
    if (quant_ != nullptr) quant_->close();
    quant_ = nullptr;
}

void TyphonioFile::make_data(const Operation& operation) {
    if (operation.joins || operation.direction == Direction::read) return;
    const std::int64_t chunk = operation.tile - first_part_;
    (void)values_.part(chunk);
    const Mesh& mesh = layout().mesh();
    if (layout().tables()[table_].kind != TableKind::material || mesh.mixed <= 0) return;
    for (MeshBuffer& buffer : mixed_) (void)buffer.part(chunk);
}

std::int64_t TyphonioFile::transfer(const Operation& operation) {
    const MeshTable& table = layout().tables()[table_];
    const std::int64_t chunk = operation.joins ? 0 : operation.tile - first_part_;
    const std::byte* data = operation.joins ? nullptr : values_.part(chunk);
    const typhonio::Transfer transfer = transfer_of(operation);
    switch (table.kind) {
        case TableKind::axes:
            write_axes(data);
            break;
        case TableKind::icoord:
        case TableKind::jcoord:
        case TableKind::kcoord:
        case TableKind::node_ids:
        case TableKind::cell_ids:
        case TableKind::shapes:
        case TableKind::cells_per_shape:
        case TableKind::connectivity: {
            const auto array =
                static_cast<std::size_t>(table.kind) - static_cast<std::size_t>(TableKind::icoord);
            mesh_->write(static_cast<typhonio::MeshArray>(array), chunk, transfer, data);
            break;
        }
        case TableKind::material:
            write_material(operation, chunk, transfer);
            break;
        case TableKind::variable:
            quant_->write(chunk, transfer, data);
            break;
        default:
            break;  // written with the material, as the library does
    }
    return operation.size;
}

void TyphonioFile::write_axes(const std::byte* values) {
    const auto dims = layout().global_dims();
    for (std::size_t d = 0; d < static_cast<std::size_t>(layout().mesh().dimensions); ++d) {
        mesh_->write_axis(static_cast<typhonio::MeshArray>(d), values);
        values += dims.at(d) * static_cast<std::int64_t>(sizeof(double));
    }
}

void TyphonioFile::write_material(const Operation& operation, std::int64_t chunk,
                                  typhonio::Transfer transfer) {
    typhonio::MaterialData data;
    if (!operation.joins) {
        const std::int64_t mixed = layout().mixed_cells(chunk);
        const std::byte* cells = values_.part(chunk);
        data.cells = cells;
        if (layout().mesh().mixed > 0) {
            const std::int64_t all = layout().elements(layout().tables()[table_], chunk);
            data.mixed = cells + (all - 2 * mixed) * bytes_of(ValueType::int32);
            data.counts = mixed_[0].part(chunk);
            data.pointers = mixed_[1].part(chunk);
            data.fractions = mixed_[2].part(chunk);
        }
    }
    material_->write(chunk, transfer, data);
}

/// Variables outside a mesh, as the library's benchmark has them: numbers and short arrays, integer and real.
void TyphonioFile::write_globals() {
    const std::int64_t count = layout().mesh().globals;
    if (count == 0) return;
    constexpr std::int64_t length = 64;
    std::array<std::int32_t, length> integers{};
    std::array<double, length> reals{};
    std::iota(integers.begin(), integers.end(), static_cast<std::int32_t>(context_.dump->index));
    std::iota(reals.begin(), reals.end(), static_cast<double>(context_.dump->index));
    typhonio::Vargroup& group = state_->create_vargroup("Variables");
    const bool writes = mpi::rank(context_.comm) == 0;
    for (std::int64_t i = 0; i < count; ++i) {
        const bool real = i % 2 == 1;
        const std::vector<std::int64_t> dims = i % 4 < 2 ? std::vector<std::int64_t>{} : std::vector{length};
        typhonio::Variable& variable =
            group.create_variable("variable_" + std::to_string(i),
                                  real ? typhonio::Datatype::double_ : typhonio::Datatype::int_, dims, "");
        if (writes) variable.write(real ? static_cast<const void*>(reals.data()) : integers.data());
        variable.close();
    }
    group.close();
}

void TyphonioFile::close_state() {
    if (state_ == nullptr) return;
    mesh_->close();
    write_globals();
    state_->close();
    state_ = nullptr;
    mesh_ = nullptr;
    material_ = nullptr;
}

void TyphonioFile::flush() {
    // A flush does not complete open objects (docs/reference/typhonio-calls.md#flush), so users of the
    // library close the state first.
    close_state();
    file_->flush();
}

void TyphonioFile::end_dump() {
    if (context_.reading_back) return;
    const bool open = state_ != nullptr;
    close_state();
    // In a file that stays open, a stated size counts the library's bytes dump by dump.
    const bool stays = context_.family->lifetime == Lifetime::appended && !context_.use->last;
    if (open && stays && context_.content->sized()) file_->flush();
}

void TyphonioFile::close() {
    close_state();
    file_->close();
}

void TyphonioFile::verify(const Operation& operation, VerifyResult& result) {
    Operation own = operation;
    own.tile -= first_part_;
    reader_.verify(own, table_, result);
}

// Reading.

TyphonioInput::TyphonioInput(const FileContext& context)
    : file_(h5::open_file(context.path, false, {context.comm, &context.family->hints, {}})),
      context_(context) {}

void TyphonioInput::begin_dump(const FileContext& context) {
    context_ = context;
    share_ = share_of_state(context);
    first_part_ = context.family->sharing.baton ? context.mesh->own.first : 0;
    reader_.begin(file_, context_, share_);
}

std::int64_t TyphonioInput::transfer(const Operation& operation) {
    if (operation.joins) return 0;  // blocks are read independently
    Operation own = operation;
    own.tile -= first_part_;
    return reader_.read(own, table_,
                        context_.buffers->landing.at(operation.size, context_.family->buffer_alignment));
}

void TyphonioInput::verify(const Operation& operation, VerifyResult& result) {
    Operation own = operation;
    own.tile -= first_part_;
    reader_.verify(own, table_, result);
}

void TyphonioReader::begin(const h5::Shared& root, const FileContext& context, const MeshShare& share) {
    root_ = &root;
    context_ = context;
    share_ = &share;
}

h5::Shared TyphonioReader::dataset_of(const MeshTable& table, int axis) const {
    const std::string path = state_name(context_) + "/" + dataset_path(table, axis);
    h5::Shared out = h5::find_dataset(*root_, path);
    if (!out.open()) throw CallFailed("open dataset", path + " is not in the file");
    return out;
}

std::vector<TyphonioReader::Run> TyphonioReader::runs_of(const MeshTable& table, std::int64_t part) const {
    const MeshLayout& layout = *share_->layout;
    const std::int64_t count = layout.elements(table, part);
    const std::int64_t before = layout.before(table, part);
    if (table.kind != TableKind::material) return {{before, count, 0}};
    // The cells of all parts come first, then the components of the mixed cells.
    const std::int64_t own = 2 * layout.mixed_cells(part);
    std::int64_t mixed_before = 0;
    std::int64_t mixed = 0;
    for (std::int64_t p = 0; p < layout.parts(); ++p) {
        if (p == part) mixed_before = mixed;
        mixed += 2 * layout.mixed_cells(p);
    }
    const std::int64_t cells = layout.elements(table) - mixed;
    return {{before - mixed_before, count - own, 0}, {cells + mixed_before, own, count - own}};
}

std::int64_t TyphonioReader::read(const Operation& operation, std::size_t number, std::byte* out) {
    const MeshTable& table = share_->layout->tables()[number];
    const std::int64_t size = bytes_of(table.type);
    const h5::Local type = typhonio::native(datatype_of(table.type));
    const h5::Local independent = h5::transfer_list(false);
    const auto read_run = [&](h5::Shared dataset, std::int64_t first, std::int64_t count, std::byte* to) {
        if (count > 0) {
            const h5::Local space = h5::space_of(dataset);
            h5::select(space, {{static_cast<hsize_t>(first)}, {}, {static_cast<hsize_t>(count)}, {}});
            h5::read(dataset, type, h5::space({static_cast<hsize_t>(count)}), space, independent, to);
        }
        dataset.close();
    };
    if (table.kind == TableKind::axes) {
        const auto dims = share_->layout->global_dims();
        for (int d = 0; d < share_->layout->mesh().dimensions; ++d) {
            const std::int64_t count = dims.at(static_cast<std::size_t>(d));
            read_run(dataset_of(table, d), 0, count, out);
            out += count * size;
        }
        return operation.size;
    }
    for (const Run& run : runs_of(table, operation.tile))
        read_run(dataset_of(table, 0), run.first, run.count, out + run.from * size);
    return operation.size;
}

void TyphonioReader::verify(const Operation& operation, std::size_t table, VerifyResult& result) {
    if (operation.joins || operation.size == 0) return;
    std::vector<std::byte> found(static_cast<std::size_t>(operation.size));
    const std::int64_t got = read(operation, table, found.data());
    expected_.begin(*context_.buffers->mesh, share_->layout, table, context_.dump->index);
    result.compare(found.data(), expected_.part(operation.tile), operation.size, got,
                   place_of_mismatch(context_, operation.offset));
}

}  // namespace wa
