// A group with children: what file, state, mesh, quant, material and vargroup have in common. Objects belong
// to their parent, and a reference is valid until the parent is closed. Creating, flushing and closing are
// collective over the communicator of the file. An object that is not closed is dropped without waiting for
// other ranks.
// Source: docs/reference/typhonio-format.md#hierarchy and #variables; docs/reference/typhonio-calls.md#flush.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "typhonio/table.hpp"

namespace wa::typhonio {

class Node;
class Vargroup;

/// A named value or array of any parent. Scalars are kept until the parent is stored; anything else is a
/// dataset.
class Variable {
  public:
    /// Not collective: exactly one rank writes all data at once. Strings have 64 bytes each.
    void write(const void* data);
    void close() { dataset_.close(); }

  private:
    friend class Node;
    Variable(Node& parent, Datatype type, std::size_t slot) : parent_(&parent), type_(type), slot_(slot) {}
    Node* parent_;
    Datatype type_;
    std::size_t slot_;  // in the cache of its type, from 0
    h5::Shared dataset_;
};

class Node {
  public:
    virtual ~Node();
    Node(Node&&) = delete;
    Node& operator=(Node&&) = delete;
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    /// No dimensions mean a scalar. The last dimension is the slowest, as in the library. Raises CallFailed
    /// for a name or type that the library refuses, and for a name in use.
    Variable& create_variable(const std::string& name, Datatype type, const std::vector<std::int64_t>& dims,
                              const std::string& units);
    Vargroup& create_vargroup(const std::string& name);

    [[nodiscard]] bool open() const { return group_.open(); }
    /// Closes open children first. Does nothing if already closed.
    void close();
    /// Part of File::flush: stores the tables of this node and of its open children, which remain open.
    void store_for_flush();

  protected:
    Node(const Storage& storage, h5::Shared group);

    [[nodiscard]] const Storage& storage() const { return *storage_; }
    [[nodiscard]] const h5::Shared& group() const { return group_; }
    /// Checks a name and reserves it: all children share the names of their group.
    void take_name(const char* operation, const std::string& name);
    void require_open(const char* operation) const;

    void store_tables(Moment moment);
    /// Reads the tables of a file that is opened again.
    void load_tables();
    void close_group() { group_.close(); }

    /// Stores what is stored only at the end, before the tables.
    virtual void finish() {}
    virtual void close_children() {}
    virtual void flush_children() {}
    /// The tables of classes that only this kind of parent has, in the order in which they are stored.
    virtual std::vector<Table*> class_tables() { return {}; }
    /// Whether tables may be extended after the close.
    [[nodiscard]] virtual Moment moment_of_close() const { return Moment::close; }

  private:
    friend class Variable;

    struct Cache {
        Table table;
        std::vector<char> own;  // slots that this rank has written
    };
    Cache& cache_of(Datatype type);
    void set_slot(Datatype type, std::size_t slot, const void* value);

    const Storage* storage_;
    h5::Shared group_;
    std::set<std::string> names_;
    Table units_{"TIO_VARIABLE_INFO_UNITS", Datatype::string};
    Table types_{"TIO_VARIABLE_INFO_TYPES", Datatype::int_};
    Table index_{"TIO_VARIABLE_INFO_INDEX", Datatype::size};
    Table variable_names_{"TIO_VARIABLE_REF", Datatype::string};
    Table vargroup_names_{"TIO_VGROUP_REF", Datatype::string};
    std::vector<Cache> caches_;  // in the order of the codes of types
    std::vector<std::unique_ptr<Variable>> variables_;
    std::vector<std::unique_ptr<Vargroup>> vargroups_;
};

/// Closes the open children of a class.
template <typename Children>
void close_all(Children& children) {
    for (auto& child : children) child->close();
    children.clear();
}

/// A container of variables and vargroups.
class Vargroup final : public Node {
  private:
    friend class Node;
    using Node::Node;
};

}  // namespace wa::typhonio
