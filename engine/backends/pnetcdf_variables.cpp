#include "backends/pnetcdf_variables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "backends/datasets.hpp"
#include "errors.hpp"
#include "expand/arrays.hpp"
#include "plan/limits.hpp"

namespace wa {
namespace {

/// Whether another dump uses the file of the context.
bool same_file(const FileContext& context, const Dump& dump) {
    return dump.family == context.dump->family && dump.file == context.dump->file;
}

bool one_dump(const FileContext& context) {
    const auto& dumps = context.plan->dumps;
    return std::count_if(dumps.begin(), dumps.end(),
                         [&](const Dump& dump) { return same_file(context, dump); }) == 1;
}

bool appended(const FileContext& context) {
    return context.family->lifetime == Lifetime::appended;
}

/// Collects variables by name. If dumps differ, each extent is the largest of them.
class Variables {
  public:
    void add(const pnetcdf::Variable& variable) {
        const auto [found, fresh] = places_.try_emplace(variable.name, list_.size());
        if (fresh) {
            if (list_.size() >= limits::variables)
                throw CallFailed("define", fmt::format("more than {} variables in a file; lower datasets",
                                                       limits::variables));
            list_.push_back(variable);
            return;
        }
        pnetcdf::Variable& known = list_[found->second];
        if (known.dims.size() != variable.dims.size() || known.type_bytes != variable.type_bytes ||
            known.record != variable.record)
            throw CallFailed("define", variable.name + " has another shape in another dump of its file");
        for (std::size_t d = 0; d < known.dims.size(); ++d)
            known.dims[d] = std::max(known.dims[d], variable.dims[d]);
    }
    [[nodiscard]] std::vector<pnetcdf::Variable> take() { return std::move(list_); }

  private:
    std::vector<pnetcdf::Variable> list_;
    std::map<std::string, std::size_t> places_;
};

void add_arrays(const FileContext& context, const Dump& dump, Variables& out) {
    const Content& content = context.plan->contents[dump.content];
    for (std::size_t part = 0; part < content.arrays.size(); ++part) {
        const Array& array = content.arrays[part];
        const StoredElement element = stored_element(array.element);
        pnetcdf::Variable variable;
        variable.type_bytes = element.type_bytes;
        variable.dims.assign(array.dims.begin(), array.dims.end());
        if (element.values > 1) variable.dims.push_back(element.values);
        variable.record = array.extendible;
        for (std::int64_t d = 0; d < array.datasets; ++d) {
            variable.name = array_variable(context, dump, part, d);
            out.add(variable);
        }
    }
}

/// Adds the variables of a fit. `header` is the number of header bytes that are counted to the first dump of
/// the file.
void add_fit(const FileContext& context, std::size_t position, std::int64_t header, Variables& out) {
    const Dump& dump = context.plan->dumps[position];
    const Fit& fit = *context.plan->contents[dump.content].fit;
    const StoredElement element = stored_element(fit.element);
    const std::int64_t bytes =
        std::max(fit.datasets * fit.element, fit_bytes_of_file(fit, context.place) - header);
    for (std::int64_t d = 0; d < fit.datasets; ++d) {
        pnetcdf::Variable variable;
        variable.name = fit_variable(context, dump, d);
        variable.type_bytes = element.type_bytes;
        const FitShare share = fit_share_of_file(fit, bytes, fit.element, d, context.place);
        variable.dims = {std::max<std::int64_t>(1, share.units)};
        if (element.values > 1) variable.dims.push_back(element.values);
        out.add(variable);
    }
}

/// `header` as in add_fit().
std::vector<pnetcdf::Variable> collect(const FileContext& context, std::int64_t header) {
    Variables out;
    bool streams = false;
    for (std::size_t d = 0; d < context.plan->dumps.size(); ++d) {
        const Dump& dump = context.plan->dumps[d];
        if (!same_file(context, dump)) continue;
        const Content& content = context.plan->contents[dump.content];
        streams = streams || !content.streams.empty();
        add_arrays(context, dump, out);
        if (content.fit) add_fit(context, d, std::exchange(header, 0), out);
    }
    if (streams) out.add({extents_variable, 1, {std::max<std::int64_t>(1, end_of_file(context))}, false});
    return out.take();
}

/// The header bytes that are counted to a fit. The header depends on the dimensions of the fit's variables,
/// and these depend on the bytes that the header leaves. A few iterations find both.
std::int64_t header_of(const FileContext& context) {
    if (context.family->level == Level::pnetcdf || context.family->sharing.baton) return 0;
    std::int64_t header = 0;
    for (int round = 0; round < 4; ++round) {
        const std::int64_t next = pnetcdf::header_bytes(collect(context, header));
        if (next == header) break;
        header = next;
    }
    return header;
}

}  // namespace

std::string array_variable(const FileContext& context, const Dump& dump, std::size_t part,
                           std::int64_t dataset) {
    const bool extended = context.plan->contents[dump.content].arrays[part].extendible;
    const bool own = appended(context) && !extended && !one_dump(context);
    return fmt::format("{}a{:02d}_{:06d}", own ? fmt::format("s{:06d}_", dump.index) : "", part, dataset);
}

std::string fit_variable(const FileContext& context, const Dump& dump, std::int64_t dataset) {
    return fmt::format("{}f_{:06d}", one_dump(context) ? "" : fmt::format("s{:06d}_", dump.index), dataset);
}

std::vector<pnetcdf::Variable> variables_of(const FileContext& context) {
    return collect(context, header_of(context));
}

std::int64_t fit_data(const FileContext& context, std::size_t position) {
    const auto& dumps = context.plan->dumps;
    const Fit& fit = *context.plan->contents[dumps[position].content].fit;
    const std::int64_t bytes = fit_bytes_of_file(fit, context.place);
    const bool first = std::none_of(
        dumps.begin(), dumps.begin() + static_cast<std::ptrdiff_t>(position), [&](const Dump& dump) {
            return same_file(context, dump) && context.plan->contents[dump.content].fit.has_value();
        });
    if (!first) return bytes;
    return std::max(fit.datasets * fit.element, bytes - header_of(context));
}

}  // namespace wa
