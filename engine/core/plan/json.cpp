#include "plan/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "errors.hpp"

namespace wa {
namespace {

constexpr int deepest = 16;  // a valid plan needs 7

}  // namespace

std::string printable(std::string_view text) {
    constexpr std::size_t longest = 40;
    std::string out;
    for (const char c : text.substr(0, longest)) {
        const bool plain = c >= ' ' && c <= '~' && c != '"';
        out += plain ? c : '?';
    }
    if (text.size() > longest) out += "...";
    return out;
}

nlohmann::json parse_json(const std::string& text) {
    const auto shallow = [](int depth, nlohmann::json::parse_event_t, nlohmann::json&) {
        if (depth > deepest)
            throw PlanError("", fmt::format("nested deeper than {} levels", deepest),
                            "give a plan that this program wrote");
        return true;
    };
    try {
        return nlohmann::json::parse(text, shallow);
    } catch (const nlohmann::json::parse_error& error) {
        throw PlanError("", fmt::format("not JSON at byte {}", error.byte), "write the plan again");
    } catch (const nlohmann::json::exception&) {
        throw PlanError("", "not JSON that this program can hold", "write the plan again");
    }
}

std::string Node::place() const {
    if (parent_ == nullptr) return "";
    const std::string before = parent_->place();
    if (key_.data() == nullptr) return before + fmt::format("[{}]", index_);
    return before.empty() ? std::string(key_) : before + "." + std::string(key_);
}

void Node::fail(const std::string& reason, const std::string& hint) const {
    throw PlanError(place(), reason, hint);
}

std::string Node::quoted() const {
    if (value_->is_string()) return '"' + printable(value_->get_ref<const std::string&>()) + '"';
    return value_->type_name();
}

void Node::allow_only(std::initializer_list<std::string_view> keys) const {
    if (!value_->is_object()) fail("must be an object, is " + quoted());
    for (const auto& [key, unused] : value_->items()) {
        if (std::find(keys.begin(), keys.end(), std::string_view(key)) == keys.end()) {
            fail(fmt::format("unknown field \"{}\"", printable(key)), "remove it or use a newer engine");
        }
    }
}

std::optional<Node> Node::find(std::string_view key) const {
    if (!value_->is_object()) fail("must be an object, is " + quoted());
    const auto found = value_->find(key);
    if (found == value_->end() || found->is_null()) return std::nullopt;
    return Node(*found, this, key);
}

Node Node::at(std::string_view key) const {
    const auto found = find(key);
    if (!found) fail(fmt::format("the field \"{}\" is missing", key), "write the plan again");
    return *found;
}

std::size_t Node::size() const {
    if (!value_->is_array()) fail("must be a list, is " + quoted());
    return value_->size();
}

Node Node::operator[](std::size_t index) const {
    if (index >= size()) fail(fmt::format("must have more than {} items", index));
    return {(*value_)[index], this, index};
}

std::int64_t Node::integer(std::int64_t least, std::int64_t most) const {
    if (!value_->is_number_integer()) fail("must be a whole number, is " + quoted());
    const bool huge = value_->is_number_unsigned() && value_->get<std::uint64_t>() > std::uint64_t{INT64_MAX};
    const std::int64_t value = huge ? INT64_MAX : value_->get<std::int64_t>();
    if (huge || value < least || value > most) {
        fail(fmt::format("must lie between {} and {}, is {}", least, most, value_->dump()));
    }
    return value;
}

double Node::number(double least, double most) const {
    if (!value_->is_number()) fail("must be a number, is " + quoted());
    const double value = value_->get<double>();
    if (!std::isfinite(value) || value < least || value > most) {
        fail(fmt::format("must lie between {:g} and {:g}, is {:g}", least, most, value));
    }
    return value;
}

bool Node::boolean() const {
    if (!value_->is_boolean()) fail("must be true or false, is " + quoted());
    return value_->get<bool>();
}

const std::string& Node::text() const {
    if (!value_->is_string()) fail("must be a text, is " + quoted());
    return value_->get_ref<const std::string&>();
}

bool Node::is_text(std::string_view word) const {
    return value_->is_string() && value_->get_ref<const std::string&>() == word;
}

std::int64_t Node::integer(std::string_view key, std::int64_t least, std::int64_t most,
                           std::int64_t otherwise) const {
    const auto node = find(key);
    return node ? node->integer(least, most) : otherwise;
}

double Node::number(std::string_view key, double least, double most, double otherwise) const {
    const auto node = find(key);
    return node ? node->number(least, most) : otherwise;
}

bool Node::boolean(std::string_view key, bool otherwise) const {
    const auto node = find(key);
    return node ? node->boolean() : otherwise;
}

}  // namespace wa
