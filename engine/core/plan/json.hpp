// Checked access to a JSON document. Every value is read with its type and range, and an error names the
// position.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "plan/enum_words.hpp"

namespace wa {

/// A value and its position in the document. A node refers to its parent, which must outlive it.
class Node {
  public:
    explicit Node(const nlohmann::json& root) : value_(&root) {}

    /// Refuses all other keys: a misspelt field must not be silently ignored.
    void allow_only(std::initializer_list<std::string_view> keys) const;
    [[nodiscard]] Node at(std::string_view key) const;
    /// The value at a key; an absent key and null are the same.
    [[nodiscard]] std::optional<Node> find(std::string_view key) const;
    [[nodiscard]] std::size_t size() const;  // of an array
    [[nodiscard]] Node operator[](std::size_t index) const;

    [[nodiscard]] std::int64_t integer(std::int64_t least, std::int64_t most) const;
    [[nodiscard]] double number(double least, double most) const;
    [[nodiscard]] bool boolean() const;
    [[nodiscard]] const std::string& text() const;
    [[nodiscard]] bool is_text(std::string_view word) const;

    template <typename E>
    [[nodiscard]] E word() const {
        const std::optional<E> value = value_of<E>(text());
        if (!value) {
            std::string known;
            for (const Word<E>& w : words(E{})) known += (known.empty() ? "" : ", ") + std::string(w.text);
            fail("unknown word " + quoted(), "use one of " + known);
        }
        return *value;
    }

    // The same functions with a default for absent fields.
    [[nodiscard]] std::int64_t integer(std::string_view key, std::int64_t least, std::int64_t most,
                                       std::int64_t otherwise) const;
    [[nodiscard]] double number(std::string_view key, double least, double most, double otherwise) const;
    [[nodiscard]] bool boolean(std::string_view key, bool otherwise) const;
    template <typename E>
    [[nodiscard]] E word(std::string_view key, E otherwise) const {
        const auto node = find(key);
        return node ? node->word<E>() : otherwise;
    }

    [[nodiscard]] std::string place() const;
    [[noreturn]] void fail(const std::string& reason, const std::string& hint = "") const;
    /// The value as a short quoted text without control characters, for messages.
    [[nodiscard]] std::string quoted() const;
    [[nodiscard]] const nlohmann::json& raw() const { return *value_; }

  private:
    Node(const nlohmann::json& value, const Node* parent, std::string_view key)
        : value_(&value), parent_(parent), key_(key) {}
    Node(const nlohmann::json& value, const Node* parent, std::size_t index)
        : value_(&value), parent_(parent), index_(index) {}

    const nlohmann::json* value_;
    const Node* parent_ = nullptr;
    std::string_view key_;
    std::size_t index_ = 0;
};

/// Parses a document of bounded size and depth. Raises PlanError.
[[nodiscard]] nlohmann::json parse_json(const std::string& text);

/// Untrusted text as a short printable word.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace wa
