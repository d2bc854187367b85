#include "io/adios2.hpp"

#include <adios2.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "errors.hpp"

namespace wa::bp {
namespace {

/// ADIOS2's exceptions begin with the place in the library and end with lines of the C++ library; this keeps
/// the part between.
std::string reason_of(const std::exception& error) {
    std::string text = error.what();
    text.resize(std::min(text.size(), text.find(": iostream error")));
    std::replace(text.begin(), text.end(), '\n', ' ');
    const std::size_t place = text.rfind("> : ");
    if (place != std::string::npos) text.erase(0, place + 4);
    return "ADIOS2: " + text;
}

template <typename F>
auto checked(const char* operation, F&& call) {
    try {
        return call();
    } catch (const std::exception& error) {
        throw CallFailed(operation, reason_of(error));
    }
}

adios2::DataType type_of(std::int64_t bytes) {
    switch (bytes) {
        case 8:
            return adios2::DataType::Double;
        case 4:
            return adios2::DataType::Float;
        case 2:
            return adios2::DataType::Int16;
        default:
            return adios2::DataType::Int8;
    }
}

/// The library's objects for one file.
struct Library {
    Library(const std::string& path, MPI_Comm comm, adios2::Mode mode, const adios2::Params& settings)
        : adios(comm), io(adios.DeclareIO("file")) {
        io.SetEngine("BP5");
        io.SetParameters(settings);
        engine = io.Open(path, mode);
    }
    adios2::ADIOS adios;
    adios2::IO io;
    adios2::Engine engine;
};

/// `step` counts all steps of the file, but ADIOS2 selects among those that have the variable.
template <typename T>
void get_as(Library& library, const std::string& name, std::size_t step, const Selection& part, void* data) {
    adios2::Variable<T> defined = library.io.InquireVariable<T>(name);
    if (!defined) throw std::runtime_error(name + " is not in the file");
    const std::vector<std::size_t> steps = library.engine.GetAbsoluteSteps(defined);
    const auto found = std::find(steps.begin(), steps.end(), step);
    if (found == steps.end()) throw std::runtime_error(fmt::format("{} has no step {}", name, step));
    defined.SetStepSelection({static_cast<std::size_t>(found - steps.begin()), 1});
    defined.SetSelection({part.start, part.count});
    library.engine.Get(defined, static_cast<T*>(data), adios2::Mode::Sync);
}

}  // namespace

struct Writer::State : Library {
    using Library::Library;
};

struct Reader::State : Library {
    using Library::Library;
};

std::string version() {
    return ADIOS2_VERSION_STR;
}

Writer::Writer() = default;
Writer::~Writer() {
    (void)state_.release();
}

void Writer::open(const std::string& path, MPI_Comm comm, bool adds, std::int64_t aggregators) {
    checked("open", [&] {
        adios2::Params settings;
        if (aggregators > 0) settings["NumAggregators"] = std::to_string(aggregators);
        state_ =
            std::make_unique<State>(path, comm, adds ? adios2::Mode::Append : adios2::Mode::Write, settings);
    });
}

void Writer::begin_step() {
    const auto status = checked("write", [&] { return state_->engine.BeginStep(); });
    if (status != adios2::StepStatus::OK) throw CallFailed("write", "ADIOS2: the step does not begin");
}

void Writer::put(const Variable& variable, const Selection& part, const void* data) {
    checked("write", [&] {
        adios2::VariableNT defined = state_->io.InquireVariable(variable.name);
        if (!defined) {
            defined = state_->io.DefineVariable(type_of(variable.type_bytes), variable.name, variable.dims,
                                                part.start, part.count);
        } else {
            defined.SetShape(variable.dims);
        }
        defined.SetSelection({part.start, part.count});
        state_->engine.Put(defined, data, adios2::Mode::Deferred);
    });
}

void Writer::end_step() {
    checked("write", [&] { state_->engine.EndStep(); });
}

void Writer::close() {
    checked("close", [&] {
        state_->engine.Close();
        state_.reset();
    });
}

Reader::Reader() = default;
Reader::~Reader() {
    (void)state_.release();
}

void Reader::open(const std::string& path, MPI_Comm comm) {
    checked("open", [&] {
        state_ = std::make_unique<State>(path, comm, adios2::Mode::ReadRandomAccess, adios2::Params{});
        // Without this check, ADIOS2 ends the process at the next inquiry or close.
        if (state_->engine.Steps() == 0) throw std::runtime_error("no step is in " + path);
    });
}

void Reader::get(const Variable& variable, std::size_t step, const Selection& part, void* data) {
    checked("read", [&] {
        switch (type_of(variable.type_bytes)) {
            case adios2::DataType::Double:
                return get_as<double>(*state_, variable.name, step, part, data);
            case adios2::DataType::Float:
                return get_as<float>(*state_, variable.name, step, part, data);
            case adios2::DataType::Int16:
                return get_as<std::int16_t>(*state_, variable.name, step, part, data);
            default:
                return get_as<std::int8_t>(*state_, variable.name, step, part, data);
        }
    });
}

void Reader::close() {
    checked("close", [&] {
        state_->engine.Close();
        state_.reset();
    });
}

}  // namespace wa::bp
