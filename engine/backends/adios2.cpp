// The adios2 backend: BP5 files. Each dump is a step of the file. In a step, streams are a variable of bytes,
// and each dataset of an array or a fit is a variable.
#include "io/adios2.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "backends/adios2_steps.hpp"
#include "backends/backend.hpp"
#include "backends/datasets.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"

namespace wa {
namespace {

constexpr std::int64_t verified_at_once = std::int64_t{1} << 20;

bp::Extents extents(const std::vector<std::int64_t>& values) {
    return {values.begin(), values.end()};
}

/// One past the last byte of the dump's streams, from where the dump starts in the file.
std::int64_t end_of_streams(const FileContext& context) {
    Wide end = 1;
    for (const Stream& stream : context.content->streams) {
        end = std::max(end, stream_end(stream, place_of(stream.ranks, *context.layout, context.slot,
                                                        context.slot.first_member)));
    }
    return static_cast<std::int64_t>(end);
}

class Adios2File final : public OpenFile {
  public:
    /// `held` contains the files that this process writes.
    Adios2File(const FileContext& context, std::set<std::string>& held) : context_(context), held_(held) {
        if (context.writes && !held.contains(context.path)) {
            writer_.emplace();
            const bool adds = context.family->lifetime == Lifetime::appended && exists_for_all(context);
            writer_->open(context.path, context.comm, adds, context.family->aggregators);
        } else {
            open_reader(context.writes ? MPI_COMM_SELF : context.comm);
        }
    }

    void begin_dump(const FileContext& context) override {
        context_ = context;
        const bool writes =
            context.preparing || (moves(*context.content, Direction::write) && !context.reading_back);
        if (!writer_) return;
        held_.insert(context.path);
        if (writes) {
            writer_->begin_step();
            in_step_ = true;
        } else {
            open_reader(MPI_COMM_SELF);  // opened in addition to the writer
        }
    }

    void begin_section(const Section& section) override {
        section_ = section;
        grids_.clear();
        grid_slab_ = nullptr;
        variable_ = {};
        switch (section.kind) {
            case Section::Kind::stream:
                variable_.name = "extents";
                variable_.dims = extents({end_of_streams(context_)});
                element_ = 1;
                base_ = context_.dump->base;
                return;
            case Section::Kind::array: {
                const Array& array = context_.content->arrays[section.part];
                variable_.name = fmt::format("a{:02d}_{:06d}", section.part, section.dataset);
                variable_.dims = extents(array.dims);
                element_ = array.element;
                grids_.add(array);
                break;
            }
            default:
                element_ = context_.content->fit->element;
                variable_.name = fmt::format("f_{:06d}", section.dataset);
                variable_.dims = extents({std::max<std::int64_t>(1, section.bytes / element_)});
        }
        base_ = section.base;
        const StoredElement stored = stored_element(element_);
        variable_.type_bytes = stored.type_bytes;
        if (stored.values > 1) variable_.dims.push_back(static_cast<std::size_t>(stored.values));
    }

    std::int64_t transfer(const Operation& operation) override {
        if (operation.joins || operation.size == 0) return 0;
        const std::byte* data = context_.buffers->arena.at(context_.phase, operation.offset);
        std::byte* room = context_.buffers->landing.at(operation.size, context_.family->buffer_alignment);
        const std::int64_t piece = operation.size / operation.pieces;
        for (std::int64_t i = 0; i < operation.pieces; ++i) {
            const bp::Selection part =
                selection(operation, operation.offset + i * operation.piece_stride, piece);
            if (operation.direction == Direction::write) {
                writer_->put(variable_, part, data + i * piece);
            } else {
                reader_->get(variable_, step_of(context_), part, room);
            }
        }
        return operation.size;
    }

    /// Data from put() is written at the end of the step.
    [[nodiscard]] bool posts() const override { return in_step_; }
    void complete() override {
        in_step_ = false;
        writer_->end_step();
    }
    void end_dump() override {
        if (in_step_) complete();  // made before the run, so nothing else calls complete()
        if (writer_) close_reader();
    }
    void close() override {
        close_reader();
        if (!writer_) return;
        held_.erase(context_.path);
        writer_->close();
    }

    void verify(const Operation& operation, VerifyResult& result) override {
        if (operation.joins || operation.size == 0) return;
        if (operation.slab != nullptr) {
            compare(operation, operation.offset, operation.size, operation.offset, result);
            return;
        }
        const std::int64_t piece = operation.size / operation.pieces;
        for (std::int64_t i = 0; i < operation.pieces; ++i) {
            for (std::int64_t done = 0; done < piece;) {
                const std::int64_t size = std::min(piece - done, verified_at_once / element_ * element_);
                compare(operation, operation.offset + i * operation.piece_stride + done, size,
                        operation.offset + i * piece + done, result);
                done += size;
            }
        }
    }

  private:
    void open_reader(MPI_Comm comm) {
        close_reader();
        reader_.emplace();
        reader_->open(context_.path, comm);
    }
    void close_reader() {
        if (reader_) reader_->close();
        reader_.reset();
    }

    /// The elements of an operation of `size` bytes at `offset` of the linear file, or of its slab.
    [[nodiscard]] bp::Selection selection(const Operation& operation, std::int64_t offset,
                                          std::int64_t size) {
        bp::Selection out;
        if (operation.slab != nullptr) {
            if (grid_slab_ != operation.slab) {
                grid_.emplace(context_.content->arrays[section_.part].dims, *operation.slab);
                grid_slab_ = operation.slab;
            }
            std::vector<std::int64_t> first;
            grid_->start(operation.tile, first);
            out = {extents(first), extents(operation.slab->count)};
        } else {
            out = {extents({(offset - base_) / element_}), extents({size / element_})};
        }
        const StoredElement stored = stored_element(element_);
        if (stored.values > 1) {
            out.start.push_back(0);
            out.count.push_back(static_cast<std::size_t>(stored.values));
        }
        return out;
    }

    /// `place` is the position of the expected bytes in the payload.
    void compare(const Operation& operation, std::int64_t offset, std::int64_t size, std::int64_t place,
                 VerifyResult& result) {
        std::vector<std::byte> found(static_cast<std::size_t>(size));
        const bp::Selection part = selection(operation, offset, size);
        reader_->get(variable_, step_of(context_), part, found.data());
        const Arena& arena = context_.buffers->arena;
        const std::byte* expected = arena.at(context_.phase, place);
        if (operation.slab != nullptr) {
            Slice slice;
            const auto rank = static_cast<std::ptrdiff_t>(operation.slab->count.size());
            slice.start.assign(part.start.begin(), part.start.begin() + rank);
            slice.count.assign(part.count.begin(), part.count.begin() + rank);
            grids_.accept(slice, element_, operation.offset - operation.tile * operation.size, arena,
                          context_.phase, expected, found);
        }
        result.compare(found.data(), expected, size, size,
                       {context_.path.substr(context_.path.rfind('/') + 1),
                        static_cast<std::int64_t>(context_.position), offset, 0, -1});
    }

    std::optional<bp::Writer> writer_;
    std::optional<bp::Reader> reader_;
    FileContext context_;
    std::set<std::string>& held_;
    Section section_;
    bp::Variable variable_;
    WrittenGrids grids_;
    std::optional<TileGrid> grid_;
    const Slab* grid_slab_ = nullptr;
    std::int64_t element_ = 1;
    std::int64_t base_ = 0;  // where the variable starts in the linear file
    bool in_step_ = false;
};

class Adios2Backend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<Adios2File>(context, held_);
    }
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }

  private:
    std::set<std::string> held_;
};

}  // namespace

std::unique_ptr<Backend> make_adios2(const BackendOptions& options);
std::unique_ptr<Backend> make_adios2(const BackendOptions& /*options*/) {
    return std::make_unique<Adios2Backend>();
}

}  // namespace wa
