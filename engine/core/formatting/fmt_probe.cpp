// Whether fmt_once.cpp has what this version of fmt leaves to be linked: CMake compiles both into a program.
#include <fmt/format.h>

int main(int count, char** words) {
    const std::string shown = fmt::format("{} {:>5} {:x} {:.3f} {} {:L}", *words, count, count, 1.5 * count,
                                          1.5F * static_cast<float>(count), count);
    return shown.empty() ? 1 : 0;
}
