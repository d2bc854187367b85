// The pnetcdf backend: variables of a CDF-5 file. Streams are a variable of bytes; extendible arrays have the
// record dimension.
#include <fmt/format.h>

#include <algorithm>
#include <climits>
#include <optional>

#include "backends/backend.hpp"
#include "backends/datasets.hpp"
#include "backends/pnetcdf_variables.hpp"
#include "errors.hpp"
#include "expand/dump.hpp"
#include "io/posix.hpp"
#include "plan/limits.hpp"

namespace wa {
namespace {

constexpr std::int64_t verified_at_once = std::int64_t{1} << 20;

bool posts_any(const Content& content, bool only_collective) {
    for (const Array& array : content.arrays) {
        for (const Access& access : array.access) {
            if (access.nonblocking && !access.slabs.empty() && (access.collective || !only_collective))
                return true;
        }
    }
    return false;
}

class PnetcdfFile final : public OpenFile {
  public:
    explicit PnetcdfFile(const FileContext& context) : context_(context) {
        if (context.writes && context.creates && !exists_for_all(context)) {
            file_.create(context.path, context.comm, context.family->hints, context.family->hdf5.alignment,
                         variables_of(context));
        } else {
            file_.open(context.path, context.comm, context.writes, context.family->hints);
        }
    }

    void begin_dump(const FileContext& context) override { context_ = context; }

    void begin_section(const Section& section) override {
        section_ = section;
        grids_.clear();
        grid_slab_ = nullptr;
        access_ = 0;
        first_row_ = 0;
        if (section.kind == Section::Kind::stream) {
            element_ = 1;
            variable_ = file_.variable(extents_variable);
            set_mode(context_.content->streams[section.part].collective);
        } else if (section.kind == Section::Kind::array) {
            begin_array(context_.content->arrays[section.part]);
        } else {
            element_ = context_.content->fit->element;
            variable_ = file_.variable(fit_variable(context_, *context_.dump, section.dataset));
            set_mode(context_.content->fit->collective);
        }
    }

    void end_section() override {
        if (section_.kind == Section::Kind::array)
            enter_accesses_before(context_.content->arrays[section_.part].access.size());
    }

    std::int64_t transfer(const Operation& operation) override {
        const bool writes = operation.direction == Direction::write;
        const Buffers& buffers = *context_.buffers;
        const std::byte* data = buffers.arena.at(context_.phase, operation.joins ? 0 : operation.offset);
        std::byte* room = buffers.landing.at(operation.size, context_.family->buffer_alignment);
        if (section_.view) {
            if (writes) {
                file_.write(variable_, pieces_of(operation), data);
            } else {
                file_.read(variable_, pieces_of(operation), room);
            }
            return operation.size;
        }
        const bool posted = operation.slab != nullptr && enter(*operation.slab).nonblocking;
        if (posted && operation.joins) return 0;
        const pnetcdf::Selection part = selection(operation);
        if (posted) {
            if (writes) {
                file_.post_write(variable_, part, data);
            } else {
                file_.post_read(variable_, part, room);
            }
            pending_ = true;
        } else if (writes) {
            file_.write(variable_, part, data);
        } else {
            file_.read(variable_, part, room);
        }
        return operation.size;
    }

    [[nodiscard]] bool posts() const override {
        return !context_.reading_back && posts_any(*context_.content, false);
    }

    void complete() override {
        file_.set_mode(posts_any(*context_.content, true));
        file_.wait();
        pending_ = false;
    }

    void end_dump() override {
        if (pending_) complete();  // made before the run, so nothing else calls complete()
    }

    void flush() override { file_.sync(); }
    void sync() override { file_.sync(); }
    void close() override { file_.close(); }

    void verify(const Operation& operation, VerifyResult& result) override {
        if (operation.joins || operation.size == 0) return;
        if (operation.slab != nullptr) {
            (void)enter(*operation.slab);
            compare(selection(operation), operation.offset, operation.size,
                    operation.offset - operation.tile * operation.size, result);
            return;
        }
        const std::int64_t piece = operation.size / operation.pieces;
        for (std::int64_t i = 0; i < operation.pieces; ++i) {
            for (std::int64_t done = 0; done < piece;) {
                Operation run = operation;
                run.pieces = 1;
                run.size = std::min(piece - done, verified_at_once / element_ * element_);
                run.offset = operation.offset + i * operation.piece_stride + done;
                compare(selection(run), operation.offset + i * piece + done, run.size, 0, result);
                done += run.size;
            }
        }
    }

  private:
    void begin_array(const Array& array) {
        element_ = array.element;
        variable_ = file_.variable(array_variable(context_, *context_.dump, section_.part, section_.dataset));
        grids_.add(array);
        if (array.extendible && context_.family->lifetime == Lifetime::appended)
            first_row_ = rows_before(context_, section_.part);
        if (!array.access.empty()) set_mode_of(array.access.front());
    }

    /// Each rank reads back by itself.
    void set_mode(bool collective) { file_.set_mode(collective && !context_.reading_back); }
    /// Posting works in any mode; only waiting needs the right one.
    void set_mode_of(const Access& access) {
        if (!access.nonblocking || context_.reading_back) set_mode(access.collective);
    }

    /// All members change modes in the same order, including those without an operation in an access.
    void enter_accesses_before(std::size_t access) {
        const Array& array = context_.content->arrays[section_.part];
        while (access_ + 1 < std::min(access + 1, array.access.size())) set_mode_of(array.access[++access_]);
    }

    /// Enters the access that a slab belongs to, and returns it.
    const Access& enter(const Slab& slab) {
        const Array& array = context_.content->arrays[section_.part];
        const auto has = [&](const Access& access) {
            return &slab >= access.slabs.data() && &slab < access.slabs.data() + access.slabs.size();
        };
        std::size_t index = access_;
        while (!has(array.access[index])) ++index;
        enter_accesses_before(index);
        return array.access[index];
    }

    [[nodiscard]] pnetcdf::Selection selection(const Operation& operation) {
        pnetcdf::Selection out;
        const StoredElement element = stored_element(element_);
        if (operation.slab != nullptr) {
            select_slab(operation, out);
        } else {
            const std::int64_t base = section_.kind == Section::Kind::fit ? section_.base : 0;
            const bool nothing = operation.joins || operation.size == 0;
            out.start = {nothing ? 0 : (operation.offset - base) / element_};
            out.count = {nothing ? 0 : operation.size / element_};
        }
        if (element.values > 1) {
            out.start.push_back(0);
            out.count.push_back(element.values);
            if (!out.stride.empty()) out.stride.push_back(1);
        }
        return out;
    }

    void select_slab(const Operation& operation, pnetcdf::Selection& out) {
        const Slab& slab = *operation.slab;
        if (operation.joins) {
            out.start.assign(slab.count.size(), 0);
            out.count.assign(slab.count.size(), 0);
            return;
        }
        if (grid_slab_ != &slab) {
            grid_.emplace(context_.content->arrays[section_.part].dims, slab);
            grid_slab_ = &slab;
        }
        std::vector<std::int64_t> first;
        grid_->start(operation.tile, first);
        first.front() += first_row_;
        out.start.assign(first.begin(), first.end());
        out.count.assign(slab.count.begin(), slab.count.end());
        const bool strided = std::any_of(slab.stride.begin(), slab.stride.end(),
                                         [](std::int64_t stride) { return stride > 1; });
        if (strided) out.stride.assign(slab.stride.begin(), slab.stride.end());
    }

    [[nodiscard]] static pnetcdf::Pieces pieces_of(const Operation& operation) {
        pnetcdf::Pieces out;
        if (operation.joins) return out;
        out.length = operation.size / operation.pieces;
        for (std::int64_t i = 0; i < operation.pieces; ++i)
            out.starts.push_back(operation.offset + i * operation.piece_stride);
        return out;
    }

    void compare(const pnetcdf::Selection& part, std::int64_t offset, std::int64_t bytes, std::int64_t base,
                 VerifyResult& result) {
        std::vector<std::byte> found(static_cast<std::size_t>(bytes));
        file_.read(variable_, part, found.data());
        const std::byte* expected = context_.buffers->arena.at(context_.phase, offset);
        if (section_.kind == Section::Kind::array) {
            Slice slice;
            const auto rank =
                static_cast<std::ptrdiff_t>(context_.content->arrays[section_.part].dims.size());
            slice.start.assign(part.start.begin(), part.start.begin() + rank);
            slice.count.assign(part.count.begin(), part.count.begin() + rank);
            if (!part.stride.empty()) slice.stride.assign(part.stride.begin(), part.stride.begin() + rank);
            slice.start.front() -= first_row_;
            grids_.accept(slice, element_, base, context_.buffers->arena, context_.phase, expected, found);
        }
        result.compare(found.data(), expected, bytes, bytes,
                       {context_.path.substr(context_.path.rfind('/') + 1),
                        static_cast<std::int64_t>(context_.position), offset, 0, -1});
    }

    pnetcdf::File file_;
    FileContext context_;
    Section section_;
    WrittenGrids grids_;
    std::optional<TileGrid> grid_;
    const Slab* grid_slab_ = nullptr;
    int variable_ = -1;
    std::int64_t element_ = 1;
    std::int64_t first_row_ = 0;  // where this dump starts in a variable with records
    std::size_t access_ = 0;      // the access of the section's array that was entered
    bool pending_ = false;
};

class PnetcdfBackend final : public Backend {
  public:
    std::unique_ptr<OpenFile> open(const FileContext& context) override {
        return std::make_unique<PnetcdfFile>(context);
    }
    void stat(const FileContext& context) override { (void)posix::size_of(context.path); }

    std::optional<std::int64_t> fit_payload(const FileContext& context) override {
        return fit_data(context, context.position);
    }
};

}  // namespace

std::unique_ptr<Backend> make_pnetcdf(const BackendOptions& options);
std::unique_ptr<Backend> make_pnetcdf(const BackendOptions& /*options*/) {
    return std::make_unique<PnetcdfBackend>();
}

}  // namespace wa
