#include "plan/upgrade.hpp"

#include <nlohmann/json.hpp>

#include "plan/json.hpp"

namespace wa {
namespace {

void rename(nlohmann::json& object, const char* from, const char* to) {
    if (!object.is_object()) return;
    const auto found = object.find(from);
    if (found == object.end() || object.contains(to)) return;
    nlohmann::json value = std::move(*found);
    object.erase(found);
    object[to] = std::move(value);
}

/// Visits the items of the array at a key, if it exists.
template <typename Visit>
void for_each_item(nlohmann::json& object, const char* key, const Visit& visit) {
    if (!object.is_object()) return;
    const auto found = object.find(key);
    if (found == object.end() || !found->is_array()) return;
    for (nlohmann::json& item : *found) visit(item);
}

}  // namespace

void upgrade(nlohmann::json& document) {
    if (!document.is_object()) return;
    const auto version = document.find("version");
    if (version == document.end() || (*version != 1 && *version != plan_version)) return;
    // The gap before a dump follows from the times of the dumps.
    for_each_item(document, "dumps", [](nlohmann::json& dump) {
        if (dump.is_object()) dump.erase("gap_s");
    });
    if (*version != 1) return;
    *version = plan_version;
    for_each_item(document, "contents", [](nlohmann::json& content) {
        for_each_item(content, "arrays",
                      [](nlohmann::json& arrays) { rename(arrays, "filled", "fill_values"); });
    });
    for_each_item(document, "dumps", [](nlohmann::json& dump) {
        rename(dump, "think_s", "compute_s");
        rename(dump, "together", "barrier");
    });
}

std::string upgraded_text(const std::string& text) {
    nlohmann::json document = parse_json(text);
    upgrade(document);
    return document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace wa
