#include "backends/hdf5_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/hdf5_features.hpp"

namespace wa {
namespace {

/// Whether all ranks take part in every transfer of a dump.
bool all_take_part(const Content& content) {
    const auto collective = [](const auto& part) { return part.collective; };
    const auto all_of = [&collective](const auto& parts) {
        return std::all_of(parts.begin(), parts.end(), collective);
    };
    return !content.mesh && (!content.fit || content.fit->collective) && all_of(content.streams) &&
           std::all_of(content.arrays.begin(), content.arrays.end(),
                       [&all_of](const Array& array) { return all_of(array.access); });
}

/// Whether each rank opens the file by itself. What ranks will read is prepared by all of them together.
bool opens_alone(const FileContext& context) {
    return context.family->hdf5.driver == FileDriver::serial &&
           !(context.preparing && mpi::size(context.comm) > 1);
}

h5::FileOptions options_of(const FileContext& context) {
    h5::FileOptions out;
    out.comm = context.comm;
    out.hints = &context.family->hints;
    out.settings = context.family->hdf5;
    out.settings.driver = opens_alone(context) ? FileDriver::serial : FileDriver::mpi;
    if (!out.settings.collective_metadata) return out;
    out.reads_together =
        std::all_of(context.plan->dumps.begin(), context.plan->dumps.end(), [&context](const Dump& dump) {
            return dump.family != context.dump->family || all_take_part(context.plan->contents[dump.content]);
        });
    return out;
}

constexpr hsize_t endless = ~hsize_t{0} >> 2U;

/// The number of datasets of a new file that are created before the first write; more would need too much
/// memory.
constexpr std::int64_t created_ahead_at_most = 1024;

hsize_t extent(std::int64_t value) {
    return static_cast<hsize_t>(value);
}

/// A selection with rows counted from the first row of the dump.
Slice slice_of(const h5::Selection& selection, hsize_t first_row, std::size_t unlimited) {
    const auto plain = [](const h5::Extents& extents) {
        return std::vector<std::int64_t>(extents.begin(), extents.end());
    };
    Slice out{plain(selection.start), plain(selection.stride), plain(selection.count)};
    out.start[unlimited] -= static_cast<std::int64_t>(first_row);
    return out;
}

/// The extents of a chunk of about `bytes` bytes: the fast dimensions in full, and as much of the slow ones
/// as fits.
h5::Extents chunk_of(const h5::Extents& dims, std::int64_t element, std::int64_t bytes) {
    h5::Extents chunk(dims.size(), 1);
    auto room = std::max<hsize_t>(1, extent(bytes / element));
    for (std::size_t d = dims.size(); d-- > 0;) {
        chunk[d] = std::clamp<hsize_t>(dims[d], 1, room);
        room /= chunk[d];
    }
    return chunk;
}

}  // namespace

h5::Extents memory_extents(const Slab* slab, std::int64_t elements, std::size_t unlimited) {
    if (slab == nullptr || elements == 0) return {extent(std::max<std::int64_t>(elements, 1))};
    h5::Extents extents(slab->count.begin(), slab->count.end());
    if (unlimited > 0 && extents[unlimited] == 1)
        extents.erase(extents.begin() + static_cast<std::ptrdiff_t>(unlimited));
    return extents;
}

Hdf5File::Hdf5File(const FileContext& context) : serial_(opens_alone(context)), context_(context) {
    created_ = context.writes && context.creates && !exists_for_all(context);
    file_ = created_ ? h5::create_file(context.path, options_of(context))
                     : h5::open_file(context.path, context.writes, options_of(context));
    filters_alone_ = context.family->hdf5.filters() && mpi::size(context.comm) == 1;
    // HDF5 refuses collective transfers without MPI-IO.
    collective_ =
        serial_ ? h5::transfer_list(false) : h5::transfer_list(true, context.family->hdf5.individual_io);
    independent_ = h5::transfer_list(false);
}

void Hdf5File::begin_dump(const FileContext& context) {
    context_ = context;
}

void Hdf5File::end_dump() {
    // In a file that stays open, a stated size counts the library's bytes dump by dump. They must therefore
    // be written now.
    if (appended() && context_.content->sized() && context_.content->flushes == 0) h5::flush(file_);
    created_ = false;
}

void Hdf5File::close() {
    for (auto& [name, dataset] : ahead_) dataset.close();
    ahead_.clear();
    file_.close();
}

/// In a file of several dumps, datasets that are not extended are in a group of their dump.
std::string Hdf5File::dump_group() const {
    const bool one_dump = context_.use->first && context_.use->last;
    return one_dump ? "" : fmt::format("s{:06d}/", context_.dump->index);
}

void Hdf5File::begin_section(const Section& section) {
    section_ = section;
    grid_slab_ = nullptr;
    written_grids_.clear();
    first_row_ = 0;
    unlimited_ = 0;
    if (section.kind == Section::Kind::stream) {
        open_extents();
    } else if (section.kind == Section::Kind::array) {
        open_array(section);
    } else if (section.kind == Section::Kind::fit) {
        open_fit(section);
    } else {
        open_table(section);
    }
    type_ = members_of_element_ > 1 ? h5::compound_type(element_, members_of_element_)
                                    : h5::element_type(element_, number_);
    space_ = h5::space_of(dataset_);
    memory_elements_ = -1;
}

void Hdf5File::end_section() {
    dataset_.close();
    for (h5::Shared& dataset : others_) dataset.close();
    others_.clear();
}

bool Hdf5File::find_or_create(const std::string& name, const h5::DatasetShape& shape, bool may_exist) {
    element_ = shape.element;
    number_ = shape.number;
    members_of_element_ = shape.members;
    if (auto ready = ahead_.extract(name)) {
        dataset_ = std::move(ready.mapped());
        return false;
    }
    if (may_exist) dataset_ = h5::find_dataset(file_, name);
    if (dataset_.open()) return true;
    if (!context_.writes || context_.reading_back)
        throw CallFailed("open dataset", name + " is not in the file");
    h5::DatasetShape made = shape;
    made.allocates_late = serial_;
    dataset_ = h5::create_dataset(file_, name, made);
    return false;
}

bool Hdf5File::writes_now() const {
    return !context_.reading_back && (context_.preparing || moves(*context_.content, Direction::write));
}

/// Extends a dimension to the rows that this dump needs.
void Hdf5File::extend_rows(hsize_t rows, std::size_t dimension) {
    h5::Extents dims = h5::dims_of(dataset_);
    if (dims[dimension] >= rows || !writes_now()) return;
    dims[dimension] = rows;
    h5::extend(dataset_, dims);
}

void Hdf5File::open_extents() {
    const Hdf5Settings& settings = context_.family->hdf5;
    // Streams have absolute offsets. An extendible dataset reaches to the end of this dump, any other to the
    // end of all dumps.
    const auto end_of_dump = [this] {
        return extent(static_cast<std::int64_t>(
            dump_end(*context_.plan, *context_.dump, *context_.layout, context_.slot, std::nullopt)));
    };
    element_ = members_of_element_ = 1;
    number_ = h5::Number::any;
    if (!created_ || has_extents_) dataset_ = h5::find_dataset(file_, "extents");
    if (!dataset_.open()) {
        h5::DatasetShape shape;
        shape.extendible = appended();
        shape.dims = {shape.extendible ? end_of_dump() : extent(end_of_file(context_))};
        if (shape.extendible || settings.chunked) {
            shape.chunk =
                chunk_of(shape.extendible ? h5::Extents{endless} : shape.dims, 1, settings.chunk_bytes);
            shape.filters = settings;
        }
        (void)find_or_create("extents", shape, false);
    } else if (appended()) {
        extend_rows(end_of_dump(), 0);
    }
    has_extents_ = true;
}

h5::DatasetShape Hdf5File::shape_of(const Array& array) const {
    const Hdf5Settings& settings = context_.family->hdf5;
    h5::DatasetShape shape;
    shape.element = array.element;
    shape.members = array.members;
    for (const std::int64_t d : array.dims) shape.dims.push_back(extent(d));
    shape.extendible = array.extendible;
    shape.unlimited = array.unlimited;
    shape.fill_values = array.fill_values;
    shape.filters = settings;
    for (const std::int64_t c : array.chunk) shape.chunk.push_back(extent(c));
    if (shape.chunk.empty() && (settings.chunked || array.extendible)) {
        shape.chunk = chunk_of(shape.dims, array.element, settings.chunk_bytes);
    }
    return shape;
}

std::string Hdf5File::array_name(std::size_t part, std::int64_t dataset) const {
    const bool own_group = appended() && !context_.content->arrays[part].extendible;
    return fmt::format("{}a{:02d}_{:06d}", own_group ? dump_group() : "", part, dataset);
}

/// Parallel applications create all their datasets and then write them, so no metadata lies between two
/// writes.
void Hdf5File::create_arrays_ahead() {
    std::int64_t datasets = 0;
    for (const Array& array : context_.content->arrays) datasets += array.datasets;
    if (datasets > created_ahead_at_most) return;
    for (std::size_t part = 0; part < context_.content->arrays.size(); ++part) {
        const Array& array = context_.content->arrays[part];
        if (array.access.empty()) continue;  // another dump's
        for (std::int64_t d = 0; d < array.datasets; ++d) {
            const std::string name = array_name(part, d);
            ahead_.emplace(name, h5::create_dataset(file_, name, shape_of(array)));
        }
    }
}

void Hdf5File::open_array(const Section& section) {
    const Array& array = context_.content->arrays[section.part];
    const auto arrays = context_.content->arrays.begin();
    const bool first = std::all_of(arrays, arrays + static_cast<std::ptrdiff_t>(section.part),
                                   [](const Array& other) { return other.access.empty(); });
    if (created_ && !serial_ && first && section.dataset == 0) create_arrays_ahead();
    for (std::int64_t d = section.pieces - 1; d > 0; --d) {
        open_array_dataset(section, section.dataset + d);
        others_.insert(others_.begin(), std::move(dataset_));
    }
    open_array_dataset(section, section.dataset);
    written_grids_.add(array);
}

void Hdf5File::open_array_dataset(const Section& section, std::int64_t dataset) {
    const Array& array = context_.content->arrays[section.part];
    const bool grows = array.extendible && appended();
    const bool own_group = appended() && !grows;
    const h5::DatasetShape shape = shape_of(array);
    (void)find_or_create(array_name(section.part, dataset), shape, !created_ && !(own_group && writes_now()));
    if (!grows) return;
    unlimited_ = array.unlimited;
    first_row_ = extent(rows_before(context_, section.part));
    extend_rows(first_row_ + shape.dims[unlimited_], unlimited_);
}

void Hdf5File::open_fit(const Section& section) {
    const Fit& fit = *context_.content->fit;
    const Hdf5Settings& settings = context_.family->hdf5;
    const bool grows = appended() && settings.chunked;
    h5::DatasetShape shape;
    shape.element = fit.element;
    shape.dims = {extent(section.bytes / fit.element)};
    shape.extendible = grows;
    if (settings.chunked) {
        shape.filters = settings;
        shape.chunk = fit_chunk_ > 0 ? h5::Extents{extent(fit_chunk_)}
                                     : chunk_of(grows ? h5::Extents{endless} : shape.dims, fit.element,
                                                settings.chunk_bytes);
    }
    const std::string name = fmt::format("{}f_{:06d}", grows ? "" : dump_group(), section.dataset);
    const bool existed = find_or_create(name, shape, !created_ && (grows || !writes_now()));
    if (!grows || !existed) return;
    // The rows of earlier dumps depend on what the library had added, so they are read from the dataset.
    const hsize_t rows = h5::dims_of(dataset_)[0];
    first_row_ = writes_now() ? rows : rows - std::min(rows, shape.dims[0]);
    extend_rows(first_row_ + shape.dims[0], 0);
}

void Hdf5File::open_table(const Section& section) {
    const MeshTable& table = context_.mesh->layout->tables()[section.part];
    const Hdf5Settings& settings = context_.family->hdf5;
    h5::DatasetShape shape;
    shape.element = bytes_of(table.type);
    const bool floating = table.type == ValueType::float32 || table.type == ValueType::float64;
    shape.number = floating ? h5::Number::floating : h5::Number::integer;
    shape.dims = {extent(std::max<std::int64_t>(1, section.bytes / shape.element))};
    if (settings.chunked) {
        shape.chunk = chunk_of(shape.dims, shape.element, settings.chunk_bytes);
        // A single rank writes the axes, and HDF5 does not filter writes that are not collective.
        if (table.kind != TableKind::axes) shape.filters = settings;
    }
    (void)find_or_create(dump_group() + name_of(table), shape, !created_ && !(appended() && writes_now()));
    mesh_values_.begin(*context_.buffers->mesh, context_.mesh->layout, section.part, context_.dump->index);
}

const std::byte* Hdf5File::payload(const Operation& operation) {
    if (operation.joins || operation.size == 0) return context_.buffers->arena.at(context_.phase, 0);
    if (section_.kind == Section::Kind::mesh) return mesh_values_.part(operation.tile);
    return context_.buffers->arena.at(context_.phase, operation.offset);
}

h5::Selection Hdf5File::selection(const Operation& operation) {
    h5::Selection out;
    if (operation.slab != nullptr) {
        if (grid_slab_ != operation.slab) {
            grid_.emplace(context_.content->arrays[section_.part].dims, *operation.slab);
            grid_slab_ = operation.slab;
        }
        std::vector<std::int64_t> first;
        grid_->start(operation.tile, first);
        for (std::size_t d = 0; d < first.size(); ++d) {
            out.start.push_back(extent(first[d]) + (d == unlimited_ ? first_row_ : 0));
            out.stride.push_back(extent(operation.slab->stride[d]));
            out.count.push_back(extent(operation.slab->count[d]));
        }
        return out;
    }
    const bool linear = section_.kind == Section::Kind::fit || section_.kind == Section::Kind::mesh;
    const std::int64_t base = linear ? section_.base : 0;
    out.start = {first_row_ + extent((operation.offset - base) / element_)};
    if (operation.pieces == 1) {
        out.count = {extent(operation.size / element_)};
        return out;
    }
    out.stride = {extent(operation.piece_stride)};
    out.count = {extent(operation.pieces)};
    out.block = {extent(operation.size / operation.pieces)};
    return out;
}

void Hdf5File::make_data(const Operation& operation) {
    if (operation.direction == Direction::write) (void)payload(operation);
}

std::int64_t Hdf5File::transfer(const Operation& operation) {
    const Buffers& buffers = *context_.buffers;
    const bool nothing = operation.joins || operation.size == 0;
    const bool several = operation.slab != nullptr && operation.pieces > 1;
    const std::int64_t elements = nothing ? 0 : operation.size / (several ? operation.pieces : 1) / element_;
    if (elements != memory_elements_ || operation.slab != memory_slab_) {
        memory_ = h5::space(memory_extents(operation.slab, elements, unlimited_));
        if (nothing) h5::select_nothing(memory_);
        memory_elements_ = elements;
        memory_slab_ = operation.slab;
    }
    if (nothing) {
        h5::select_nothing(space_);
    } else {
        h5::select(space_, selection(operation));
    }
    if (several) {
        write_to_all(operation);
    } else if (operation.direction == Direction::write) {
        h5::write(dataset_, type_, memory_, space_, list(operation.collective), payload(operation));
    } else {
        h5::read(dataset_, type_, memory_, space_, list(operation.collective),
                 buffers.landing.at(operation.size, context_.family->buffer_alignment));
    }
    return operation.size;
}

/// Writes to all datasets of the section in one call.
void Hdf5File::write_to_all(const Operation& operation) {
    std::vector<hid_t> ids{dataset_.get()};
    for (const h5::Shared& dataset : others_) ids.push_back(dataset.get());
    std::vector<const void*> data;
    for (std::int64_t i = 0; i < operation.pieces; ++i) {
        const std::int64_t offset = operation.joins ? 0 : operation.offset + i * operation.piece_stride;
        data.push_back(context_.buffers->arena.at(context_.phase, offset));
    }
    h5::write_multi(ids, type_, memory_, space_, list(operation.collective), data);
}

void Hdf5File::verify_slabs(const Operation& operation, VerifyResult& result) {
    Operation single = operation;
    single.pieces = 1;
    single.size = operation.size / operation.pieces;
    verify(single, result);
    for (h5::Shared& other : others_) {
        std::swap(dataset_, other);
        single.offset += operation.piece_stride;
        verify(single, result);
        std::swap(dataset_, other);
    }
}

void Hdf5File::verify(const Operation& operation, VerifyResult& result) {
    if (operation.joins || operation.size == 0) return;
    if (operation.slab != nullptr && operation.pieces > 1) {
        verify_slabs(operation, result);
        return;
    }
    const h5::Selection whole = selection(operation);
    const std::byte* expected = payload(operation);
    const std::int64_t base = operation.offset - operation.tile * operation.size;
    if (operation.pieces > 1) {
        for (std::int64_t i = 0; i < operation.pieces; ++i) {
            const std::int64_t piece = operation.size / operation.pieces;
            const h5::Selection part{
                {whole.start[0] + extent(i * operation.piece_stride)}, {}, {extent(piece)}, {}};
            compare(part, operation.offset + i * piece, piece, base, expected + i * piece, result);
        }
        return;
    }
    // Compares runs of limited size in the order of the elements in memory: fast dimensions in full, some
    // rows of the next one, and single indexes of slower ones.
    const auto most = std::max<hsize_t>(1, extent((std::int64_t{1} << 20) / element_));
    std::size_t split = whole.count.size() - 1;
    hsize_t inner = 1;
    while (split > 0 && inner * whole.count[split] <= most) inner *= whole.count[split--];
    const hsize_t rows = std::max<hsize_t>(1, most / inner);
    h5::Extents at(whole.count.size(), 0);
    std::int64_t done = 0;
    while (at[0] < whole.count[0]) {
        h5::Selection part = whole;
        for (std::size_t d = 0; d <= split; ++d) {
            part.start[d] += at[d] * (whole.stride.empty() ? 1 : whole.stride[d]);
            part.count[d] = d < split ? 1 : std::min(rows, whole.count[d] - at[d]);
        }
        const auto elements = static_cast<std::int64_t>(part.count[split] * inner);
        compare(part, operation.offset + done * element_, elements, base, expected + done * element_, result);
        done += elements;
        at[split] += part.count[split];
        for (std::size_t d = split; d > 0 && at[d] == whole.count[d]; --d) {
            at[d] = 0;
            ++at[d - 1];
        }
    }
}

void Hdf5File::compare(const h5::Selection& part, std::int64_t offset, std::int64_t elements,
                       std::int64_t base, const std::byte* expected, VerifyResult& result) {
    const std::int64_t bytes = elements * element_;
    std::vector<std::byte> found(static_cast<std::size_t>(bytes));
    h5::select(space_, part);
    const h5::Local memory = h5::space(part.count);
    h5::read(dataset_, type_, memory, space_, independent_, found.data());
    written_grids_.accept(slice_of(part, first_row_, unlimited_), element_, base, context_.buffers->arena,
                          context_.phase, expected, found);
    result.compare(found.data(), expected, bytes, bytes,
                   {context_.path.substr(context_.path.rfind('/') + 1),
                    static_cast<std::int64_t>(context_.position), offset, 0, -1});
}

}  // namespace wa
