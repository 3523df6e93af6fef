// Strict reading of YAML files: every error says file:line:column and what to write instead.
// yaml-cpp stays behind this header. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::yaml {

class Node {
 public:
  bool isNull() const;
  bool isScalar() const;
  bool isSequence() const;
  bool isMap() const;

  const std::string& file() const;  // as parse() was told
  std::string place() const;        // "pinglist.yaml:12:5"
  tl::unexpected<Error> error(
      std::string_view reason) const;  // with place() as the entity, and the key it is about

  // Scalars. Each refuses other kinds of node.
  Result<std::string> text() const;
  Result<Nanos> duration() const;
  Result<std::uint64_t> number(std::uint64_t smallest, std::uint64_t largest) const;
  Result<bool> boolean() const;  // true or false

  // Returns the items of a sequence; otherwise nothing.
  std::vector<Node> items() const;
  // Returns the entries of a map in the file's order; otherwise nothing.
  std::vector<std::pair<Node, Node>> entries() const;
  std::optional<Node> find(std::string_view key) const;
  std::string written() const;  // as YAML, to compare: without comments

  // A map, with no other keys than these and none twice.
  Status onlyKeys(const std::vector<std::string_view>& known) const;
  // A map with no key twice.
  Status uniqueKeys() const;

 private:
  friend Result<Node> parse(std::string_view text, std::string_view file);
  struct Impl;
  explicit Node(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

// One document. An empty one is a null node. `file` is only for messages.
Result<Node> parse(std::string_view text, std::string_view file);

}  // namespace pingloom::yaml
