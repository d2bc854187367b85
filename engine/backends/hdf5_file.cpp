#include "backends/hdf5_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

h5::FileOptions options_of(const FileContext& context) {
    const Hdf5Settings& settings = context.family->hdf5;
    return {context.comm, &context.family->hints, settings.alignment, settings.threshold};
}

/// Whether the file is there: asked by one rank, so that all take the same way.
bool exists(const FileContext& context) {
    int there = 0;
    if (mpi::rank(context.comm) == 0) there = posix::size_of(context.path).has_value() ? 1 : 0;
    mpi::check(MPI_Bcast(&there, 1, MPI_INT, 0, context.comm), "open");
    return there != 0;
}

constexpr hsize_t endless = ~hsize_t{0} >> 2U;

hsize_t extent(std::int64_t value) {
    return static_cast<hsize_t>(value);
}

/// Chunk extents of about `bytes`: whole fast dimensions, as much of the slow ones as fits.
h5::Extents chunk_of(const h5::Extents& dims, std::int64_t element, std::int64_t bytes) {
    h5::Extents chunk(dims.size(), 1);
    auto room = std::max<hsize_t>(1, extent(bytes / element));
    for (std::size_t d = dims.size(); d-- > 0;) {
        chunk[d] = std::clamp<hsize_t>(dims[d], 1, room);
        room /= chunk[d];
    }
    return chunk;
}

/// The largest byte that any dump of this file touches: the size of a dataset that does not grow.
std::int64_t end_of_file(const FileContext& context) {
    Wide end = 0;
    for (const Dump& dump : context.plan->dumps) {
        if (dump.family != context.dump->family || dump.file != context.dump->file) continue;
        end = std::max(end, dump_end(*context.plan, dump, *context.layout, context.slot, std::nullopt));
    }
    return static_cast<std::int64_t>(end);
}

}  // namespace

Hdf5File::Hdf5File(const FileContext& context) : context_(context) {
    created_ = context.writes && context.creates && !exists(context);
    file_ = created_ ? h5::create_file(context.path, options_of(context))
                     : h5::open_file(context.path, context.writes, options_of(context));
    collective_ = h5::transfer_list(true);
    independent_ = h5::transfer_list(false);
}

void Hdf5File::begin_dump(const FileContext& context) {
    context_ = context;
}

void Hdf5File::end_dump() {
    // A stated size in a file that stays open accounts for the library's bytes dump by dump, so they must be
    // written now.
    if (appended() && context_.content->sized() && context_.content->flushes == 0) h5::flush(file_);
    created_ = false;
}

void Hdf5File::close() {
    file_.close();
}

/// Datasets that are not extended lie in a group of their dump where a file sees several.
std::string Hdf5File::dump_group() const {
    const bool one_dump = context_.use->first && context_.use->last;
    return one_dump ? "" : fmt::format("s{:06d}/", context_.dump->index);
}

void Hdf5File::begin_section(const Section& section) {
    section_ = section;
    grid_slab_ = nullptr;
    written_grids_.clear();
    first_row_ = 0;
    if (section.kind == Section::Kind::stream) {
        open_extents();
    } else if (section.kind == Section::Kind::array) {
        open_array(section);
    } else if (section.kind == Section::Kind::fit) {
        open_fit(section);
    } else {
        open_table(section);
    }
    type_ = h5::element_type(element_, number_);
    space_ = h5::space_of(dataset_);
    memory_elements_ = -1;
}

void Hdf5File::end_section() {
    dataset_.close();
}

bool Hdf5File::find_or_create(const std::string& name, const h5::DatasetShape& shape, bool may_exist) {
    element_ = shape.element;
    number_ = shape.number;
    if (may_exist) dataset_ = h5::find_dataset(file_, name);
    if (dataset_.open()) return true;
    if (!context_.writes || context_.reading_back)
        throw CallFailed("open dataset", name + " is not in the file");
    dataset_ = h5::create_dataset(file_, name, shape);
    return false;
}

bool Hdf5File::writes_now() const {
    return !context_.reading_back && (context_.preparing || moves(*context_.content, Direction::write));
}

/// Extends the first dimension as far as this dump needs it.
void Hdf5File::reach(hsize_t rows) {
    h5::Extents dims = h5::dims_of(dataset_);
    if (dims[0] >= rows || !writes_now()) return;
    dims[0] = rows;
    h5::extend(dataset_, dims);
}

/// Where a dump's rows start in a dataset that each writing dump of the file extends; a load reads the last
/// ones.
hsize_t Hdf5File::rows_before(std::size_t part) const {
    hsize_t rows = 0;
    hsize_t last = 0;
    for (std::size_t d = 0; d < context_.position; ++d) {
        const Dump& dump = context_.plan->dumps[d];
        const Content& content = context_.plan->contents[dump.content];
        const bool same_file = dump.family == context_.dump->family && dump.file == context_.dump->file;
        if (!same_file || part >= content.arrays.size() || !moves(content, Direction::write)) continue;
        last = extent(content.arrays[part].dims[0]);
        rows += last;
    }
    return moves(*context_.content, Direction::write) ? rows : rows - last;
}

void Hdf5File::open_extents() {
    const Hdf5Settings& settings = context_.family->hdf5;
    // Streams have absolute offsets: an extendible dataset reaches as far as this dump, another as far as
    // any.
    const auto end_of_dump = [this] {
        return extent(static_cast<std::int64_t>(
            dump_end(*context_.plan, *context_.dump, *context_.layout, context_.slot, std::nullopt)));
    };
    element_ = 1;
    number_ = h5::Number::any;
    if (!created_ || has_extents_) dataset_ = h5::find_dataset(file_, "extents");
    if (!dataset_.open()) {
        h5::DatasetShape shape;
        shape.extendible = appended();
        shape.dims = {shape.extendible ? end_of_dump() : extent(end_of_file(context_))};
        if (shape.extendible || settings.chunked) {
            shape.chunk =
                chunk_of(shape.extendible ? h5::Extents{endless} : shape.dims, 1, settings.chunk_bytes);
        }
        (void)find_or_create("extents", shape, false);
    } else if (appended()) {
        reach(end_of_dump());
    }
    has_extents_ = true;
}

void Hdf5File::open_array(const Section& section) {
    const Array& array = context_.content->arrays[section.part];
    const Hdf5Settings& settings = context_.family->hdf5;
    h5::DatasetShape shape;
    shape.element = array.element;
    for (const std::int64_t d : array.dims) shape.dims.push_back(extent(d));
    shape.extendible = array.extendible;
    shape.filled = array.filled;
    for (const std::int64_t c : array.chunk) shape.chunk.push_back(extent(c));
    if (shape.chunk.empty() && (settings.chunked || array.extendible)) {
        shape.chunk = chunk_of(shape.dims, array.element, settings.chunk_bytes);
    }
    const bool grows = array.extendible && appended();
    const bool own_group = appended() && !grows;
    const std::string name =
        fmt::format("{}a{:02d}_{:06d}", own_group ? dump_group() : "", section.part, section.dataset);
    (void)find_or_create(name, shape, !created_ && !(own_group && writes_now()));
    for (const Access& access : array.access) {
        if (access.direction != Direction::write) continue;
        for (const Slab& slab : access.slabs) written_grids_.emplace_back(&slab, TileGrid(array.dims, slab));
    }
    if (!grows) return;
    first_row_ = rows_before(section.part);
    reach(first_row_ + shape.dims[0]);
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
        shape.chunk = fit_chunk_ > 0 ? h5::Extents{extent(fit_chunk_)}
                                     : chunk_of(grows ? h5::Extents{endless} : shape.dims, fit.element,
                                                settings.chunk_bytes);
    }
    const std::string name = fmt::format("{}f_{:06d}", grows ? "" : dump_group(), section.dataset);
    const bool there = find_or_create(name, shape, !created_ && (grows || !writes_now()));
    if (!grows || !there) return;
    // How much earlier dumps were given depends on what the library had added: the dataset itself knows.
    const hsize_t rows = h5::dims_of(dataset_)[0];
    first_row_ = writes_now() ? rows : rows - std::min(rows, shape.dims[0]);
    reach(first_row_ + shape.dims[0]);
}

void Hdf5File::open_table(const Section& section) {
    const MeshTable& table = context_.mesh->layout->tables()[section.part];
    const Hdf5Settings& settings = context_.family->hdf5;
    h5::DatasetShape shape;
    shape.element = bytes_of(table.type);
    const bool floating = table.type == ValueType::float32 || table.type == ValueType::float64;
    shape.number = floating ? h5::Number::floating : h5::Number::integer;
    shape.dims = {extent(std::max<std::int64_t>(1, section.bytes / shape.element))};
    if (settings.chunked) shape.chunk = chunk_of(shape.dims, shape.element, settings.chunk_bytes);
    (void)find_or_create(dump_group() + name_of(table), shape, !created_ && !(appended() && writes_now()));
    mesh_values_.begin(*context_.mesh, section.part, context_.dump->index);
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
            out.start.push_back(extent(first[d]) + (d == 0 ? first_row_ : 0));
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

std::int64_t Hdf5File::transfer(const Operation& operation) {
    const Buffers& buffers = *context_.buffers;
    const bool nothing = operation.joins || operation.size == 0;
    const std::int64_t elements = nothing ? 0 : operation.size / element_;
    if (elements != memory_elements_) {
        memory_ = h5::space({extent(std::max<std::int64_t>(elements, 1))});
        if (nothing) h5::select_nothing(memory_);
        memory_elements_ = elements;
    }
    if (nothing) {
        h5::select_nothing(space_);
    } else {
        h5::select(space_, selection(operation));
    }
    if (operation.direction == Direction::write) {
        h5::write(dataset_, type_, memory_, space_, list(operation.collective), payload(operation));
    } else {
        h5::read(dataset_, type_, memory_, space_, list(operation.collective), buffers.scratch.data());
    }
    return operation.size;
}

void Hdf5File::verify(const Operation& operation, VerifyResult& result) {
    if (operation.joins || operation.size == 0) return;
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
    // In runs of a bounded size, in the order in which the elements lie in memory: whole fast dimensions,
    // some rows of the next, one of the slower ones at a time.
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
    const h5::Local memory = h5::space({extent(elements)});
    h5::read(dataset_, type_, memory, space_, independent_, found.data());
    if (written_grids_.size() > 1) accept_overlaps(part, base, expected, found);
    result.compare(found.data(), expected, bytes, bytes,
                   {context_.path.substr(context_.path.rfind('/') + 1),
                    static_cast<std::int64_t>(context_.position), offset, 0, -1});
}

void Hdf5File::accept_overlaps(const h5::Selection& part, std::int64_t base, const std::byte* expected,
                               std::vector<std::byte>& found) const {
    const auto size = static_cast<std::size_t>(element_);
    std::vector<std::int64_t> at(part.count.size());
    for (std::size_t i = 0; i * size < found.size(); ++i) {
        std::byte* here = found.data() + i * size;
        if (std::memcmp(here, expected + i * size, size) == 0) continue;
        std::size_t left = i;
        for (std::size_t d = at.size(); d-- > 0; left /= part.count[d]) {
            const hsize_t stride = part.stride.empty() ? 1 : part.stride[d];
            at[d] = static_cast<std::int64_t>(part.start[d] + left % part.count[d] * stride);
        }
        at[0] -= static_cast<std::int64_t>(first_row_);
        for (const auto& [slab, grid] : written_grids_) {
            const auto spot = grid.spot_of(at);
            if (!spot) continue;
            const std::int64_t place = base + (spot->tile * slab->elements() + spot->element) * element_;
            if (std::memcmp(here, context_.buffers->arena.at(context_.phase, place), size) != 0) continue;
            std::memcpy(here, expected + i * size, size);
            break;
        }
    }
}

}  // namespace wa
