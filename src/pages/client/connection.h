// The unix socket to the agent: whole messages out, checked answers in. Never blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.h"
#include "pages/registration.h"

namespace pingloom::pages::client {

// What an agent answered, as far as its kind has it.
struct Answer {
  MessageType type{};
  std::uint32_t page = 0;
  std::uint64_t owner = 0;
  std::uint64_t generation = 0;
  Refusal refusal{};
  std::string why;  // printable, at most 200 bytes
  UniqueFd fd;      // at most with kGranted
};

enum class Received {
  kNothing,
  kAnswer,
  kEnd,    // the agent closed it, or is dead
  kBroken  // what came is no answer
};

class Connection {
 public:
  // Empty when connected, otherwise why not.
  std::string open(const std::string& path);
  void close() { fd_.reset(); }
  bool isOpen() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }

  enum class Sent { kYes, kLater, kNo };
  // `passed`: a descriptor that goes with it, or -1.
  Sent send(MessageType type, std::uint32_t page, const std::vector<std::uint8_t>& body,
            int passed);
  Received receive(Answer* answer);

 private:
  UniqueFd fd_;
};

}  // namespace pingloom::pages::client
