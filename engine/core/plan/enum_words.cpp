#include "plan/enum_words.hpp"

#include <array>

namespace wa {
namespace {

template <typename E, std::size_t N>
WordList<E> list(const std::array<Word<E>, N>& words) {
    return {words.data(), N};
}

constexpr std::array<Word<Role>, 8> roles{{{"checkpoint", Role::checkpoint},
                                           {"visualization", Role::visualization},
                                           {"restart", Role::restart},
                                           {"input", Role::input},
                                           {"scratch", Role::scratch},
                                           {"output", Role::output},
                                           {"log", Role::log},
                                           {"other", Role::other}}};
constexpr std::array<Word<Interface>, 7> interfaces{{{"posix", Interface::posix},
                                                     {"stdio", Interface::stdio},
                                                     {"mpiio", Interface::mpiio},
                                                     {"hdf5", Interface::hdf5},
                                                     {"typhonio", Interface::typhonio},
                                                     {"pnetcdf", Interface::pnetcdf},
                                                     {"adios2", Interface::adios2}}};
constexpr std::array<Word<Level>, 5> levels{{{"posix", Level::posix},
                                             {"stdio", Level::stdio},
                                             {"mpiio", Level::mpiio},
                                             {"h5d", Level::h5d},
                                             {"pnetcdf", Level::pnetcdf}}};
constexpr std::array<Word<SharingMode>, 5> sharing_modes{{{"shared", SharingMode::shared},
                                                          {"per-rank", SharingMode::per_rank},
                                                          {"groups", SharingMode::groups},
                                                          {"subset", SharingMode::subset},
                                                          {"root", SharingMode::root}}};
constexpr std::array<Word<Lifetime>, 3> lifetimes{
    {{"per-dump", Lifetime::per_dump}, {"appended", Lifetime::appended}, {"reused", Lifetime::reused}}};
constexpr std::array<Word<Direction>, 2> directions{{{"read", Direction::read}, {"write", Direction::write}}};
constexpr std::array<Word<Pattern>, 8> patterns{{{"contiguous", Pattern::contiguous},
                                                 {"interleaved", Pattern::interleaved},
                                                 {"strided", Pattern::strided},
                                                 {"random", Pattern::random},
                                                 {"shuffled", Pattern::shuffled},
                                                 {"same", Pattern::same},
                                                 {"replicated", Pattern::replicated},
                                                 {"table", Pattern::table}}};
constexpr std::array<Word<Buffered>, 2> buffers{
    {{"descriptor", Buffered::descriptor}, {"name", Buffered::name}}};
constexpr std::array<Word<ClockKind>, 2> clocks{{{"gap", ClockKind::gap}, {"deadline", ClockKind::deadline}}};
constexpr std::array<Word<GapFill>, 4> gap_fills{
    {{"sleep", GapFill::sleep}, {"busy", GapFill::busy}, {"memory", GapFill::memory}, {"mpi", GapFill::mpi}}};
constexpr std::array<Word<FileSpace>, 5> file_spaces{{{"standard", FileSpace::standard},
                                                      {"fsm-aggr", FileSpace::fsm_aggr},
                                                      {"page", FileSpace::page},
                                                      {"aggr", FileSpace::aggr},
                                                      {"none", FileSpace::none}}};
constexpr std::array<Word<LibraryBounds>, 4> library_bounds{{{"earliest", LibraryBounds::earliest},
                                                             {"v18", LibraryBounds::v18},
                                                             {"v110", LibraryBounds::v110},
                                                             {"latest", LibraryBounds::latest}}};
constexpr std::array<Word<FileDriver>, 2> file_drivers{
    {{"mpi", FileDriver::mpi}, {"serial", FileDriver::serial}}};

constexpr std::array<Word<MeshType>, 6> mesh_types{{{"uniform", MeshType::uniform},
                                                    {"rectilinear", MeshType::rectilinear},
                                                    {"curvilinear", MeshType::curvilinear},
                                                    {"unstructured", MeshType::unstructured},
                                                    {"arbitrary", MeshType::arbitrary},
                                                    {"point", MeshType::point}}};
constexpr std::array<Word<Centring>, 4> centrings{
    {{"zone", Centring::zone}, {"node", Centring::node}, {"edge", Centring::edge}, {"face", Centring::face}}};
constexpr std::array<Word<ValueType>, 4> value_types{{{"float32", ValueType::float32},
                                                      {"float64", ValueType::float64},
                                                      {"int32", ValueType::int32},
                                                      {"int64", ValueType::int64}}};

constexpr std::array<Word<SampleOrder>, 3> sample_orders{
    {{"sequential", SampleOrder::sequential},
     {"shuffled", SampleOrder::shuffled},
     {"shuffled-each-epoch", SampleOrder::shuffled_each_epoch}}};

}  // namespace

WordList<Role> words(Role) {
    return list(roles);
}
WordList<Interface> words(Interface) {
    return list(interfaces);
}
WordList<Level> words(Level) {
    return list(levels);
}
WordList<SharingMode> words(SharingMode) {
    return list(sharing_modes);
}
WordList<Lifetime> words(Lifetime) {
    return list(lifetimes);
}
WordList<Direction> words(Direction) {
    return list(directions);
}
WordList<Pattern> words(Pattern) {
    return list(patterns);
}
WordList<Buffered> words(Buffered) {
    return list(buffers);
}
WordList<ClockKind> words(ClockKind) {
    return list(clocks);
}
WordList<GapFill> words(GapFill) {
    return list(gap_fills);
}
WordList<MeshType> words(MeshType) {
    return list(mesh_types);
}
WordList<Centring> words(Centring) {
    return list(centrings);
}
WordList<ValueType> words(ValueType) {
    return list(value_types);
}
WordList<SampleOrder> words(SampleOrder) {
    return list(sample_orders);
}
WordList<FileSpace> words(FileSpace) {
    return list(file_spaces);
}
WordList<LibraryBounds> words(LibraryBounds) {
    return list(library_bounds);
}
WordList<FileDriver> words(FileDriver) {
    return list(file_drivers);
}

}  // namespace wa
