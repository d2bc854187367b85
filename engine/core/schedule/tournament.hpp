// Which of many players comes first. A change of one costs a comparison for each level of a binary tree.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace wa {

/// A tournament tree: its leaves are the places of the players, and each node above has the earlier of the
/// two below it. `Key` is an unsigned number; keys differ from each other.
///
/// A heap needs two comparisons for a level on its way down, and where it goes on follows from them. Here the
/// nodes on the way up are known beforehand.
template <typename Key, typename Player>
class Tournament {
  public:
    /// Comes after all players.
    static constexpr Key never = static_cast<Key>(~Key{});

    /// The key of the first player; `never` if there is none.
    [[nodiscard]] Key first_key() const { return nodes_[root].key; }
    /// The first player; null if there is none.
    [[nodiscard]] Player* first() const { return nodes_[root].player; }

    /// Adds a player and returns its place.
    std::size_t add(Key key, Player& player) {
        if (free_.empty()) double_places();
        const std::size_t place = free_.back();
        free_.pop_back();
        set(place, {key, &player});
        return place;
    }
    /// Gives the player at a place another key.
    void change(std::size_t place, Key key) { set(place, {key, nodes_[places() + place].player}); }
    void remove(std::size_t place) {
        set(place, {});
        free_.push_back(place);
    }

  private:
    static constexpr std::size_t root = 1;
    struct Node {
        Key key = never;
        Player* player = nullptr;
    };

    [[nodiscard]] std::size_t places() const { return nodes_.size() / 2; }

    void set(std::size_t place, Node node) {
        std::size_t at = places() + place;
        for (; at > root; at /= 2) {
            nodes_[at] = node;
            const Node& other = nodes_[at ^ 1U];
            // Two assignments, for which no branch is needed: which of two comes first cannot be foreseen.
            const bool is_later = other.key < node.key;
            node.player = is_later ? other.player : node.player;
            node.key = is_later ? other.key : node.key;
        }
        nodes_[root] = node;
    }

    void double_places() {
        const std::vector<Node> before = std::exchange(nodes_, std::vector<Node>(2 * nodes_.size()));
        const std::size_t count = before.size() / 2;
        for (std::size_t place = count; place-- > 0;) free_.push_back(count + place);
        for (std::size_t place = 0; place < count; ++place) set(place, before[count + place]);
    }

    std::vector<Node> nodes_ = std::vector<Node>(2);  // that at 0 is not used
    std::vector<std::size_t> free_{0};
};

}  // namespace wa
