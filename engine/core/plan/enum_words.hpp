// The words of the closed lists in a plan, in both directions.
#pragma once

#include <optional>
#include <string_view>

#include "plan/plan.hpp"

namespace wa {

template <typename E>
struct Word {
    std::string_view text;
    E value;
};

template <typename E>
struct WordList {
    const Word<E>* first;
    std::size_t size;
    [[nodiscard]] const Word<E>* begin() const { return first; }
    [[nodiscard]] const Word<E>* end() const { return first + size; }
};

[[nodiscard]] WordList<Role> words(Role);
[[nodiscard]] WordList<Interface> words(Interface);
[[nodiscard]] WordList<Level> words(Level);
[[nodiscard]] WordList<SharingMode> words(SharingMode);
[[nodiscard]] WordList<Lifetime> words(Lifetime);
[[nodiscard]] WordList<Direction> words(Direction);
[[nodiscard]] WordList<Pattern> words(Pattern);
[[nodiscard]] WordList<Buffered> words(Buffered);
[[nodiscard]] WordList<ClockKind> words(ClockKind);
[[nodiscard]] WordList<GapFill> words(GapFill);
[[nodiscard]] WordList<MeshType> words(MeshType);
[[nodiscard]] WordList<Centring> words(Centring);
[[nodiscard]] WordList<ValueType> words(ValueType);
[[nodiscard]] WordList<SampleOrder> words(SampleOrder);
[[nodiscard]] WordList<FileSpace> words(FileSpace);
[[nodiscard]] WordList<LibraryBounds> words(LibraryBounds);
[[nodiscard]] WordList<FileDriver> words(FileDriver);

template <typename E>
[[nodiscard]] std::string_view word_of(E value) {
    for (const Word<E>& word : words(value)) {
        if (word.value == value) return word.text;
    }
    return "?";
}

template <typename E>
[[nodiscard]] std::optional<E> value_of(std::string_view text) {
    for (const Word<E>& word : words(E{})) {
        if (word.text == text) return word.value;
    }
    return std::nullopt;
}

}  // namespace wa
