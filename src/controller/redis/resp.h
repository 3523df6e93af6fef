// Serializes Redis commands into one buffer without copying arguments twice. One thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace pingloom::controller {

class Commands {
 public:
  // Begins a command with `arguments` arguments including its name; argument() adds each.
  void begin(std::size_t arguments);
  void argument(std::string_view text);
  void argument(std::uint64_t number);
  // Adds a whole command.
  template <typename... Arguments>
  void add(const Arguments&... arguments) {
    begin(sizeof...(arguments));
    (argument(arguments), ...);
  }

  const std::string& bytes() const { return bytes_; }
  std::size_t count() const { return count_; }
  void clear();

 private:
  std::string bytes_;
  std::size_t count_ = 0;
};

}  // namespace pingloom::controller
