// Serializes Redis commands into one buffer without copying arguments twice. For a server that has
// only some slots of a cluster it leaves out commands for keys in others. One thread per object.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/redis/slots.h"

namespace pingloom::controller {

class Commands {
 public:
  // From now on commands for keys in other slots are left out; nullptr: none are. A command's key
  // is its first argument. REQUIRES: the slots outlive this, or the next call.
  void keepOnly(const SlotSet* slots) { slots_ = slots; }
  // Whether commands for this key are kept.
  bool takes(std::string_view key) const { return slots_ == nullptr || slots_->test(slotOf(key)); }

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
  bool leavesOut(std::string_view argument);

  std::string bytes_;
  std::size_t count_ = 0;
  const SlotSet* slots_ = nullptr;
  // The command that is being added, if slots_ is set.
  std::size_t begun_at_ = 0;
  std::size_t arguments_ = 0;
  bool left_out_ = false;
};

}  // namespace pingloom::controller
