// The Unix socket to the agent. It sends whole messages and checks the answers. It never blocks.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fd.h"
#include "pages/registration.h"

namespace pingloom::pages::client {

// An answer of the agent; the fields that its type has are set.
struct Answer {
  MessageType type{};
  std::uint32_t page = 0;
  std::uint64_t owner = 0;
  std::uint64_t generation = 0;
  Refusal refusal{};
  std::string why;  // printable, at most 200 bytes
  UniqueFd fd;      // only with kGranted
};

enum class Received {
  kNothing,
  kAnswer,
  kEnd,    // the agent closed the connection or died
  kBroken  // the received message is malformed
};

class Connection {
 public:
  // Returns "" when connected, otherwise the reason.
  std::string open(const std::string& path);
  void close() { fd_.reset(); }
  bool isOpen() const { return fd_.valid(); }
  int fd() const { return fd_.get(); }

  enum class Sent { kYes, kLater, kNo };
  // `passed` is a descriptor to send along, or -1.
  Sent send(MessageType type, std::uint32_t page, const std::vector<std::uint8_t>& body,
            int passed);
  Received receive(Answer* answer);

 private:
  UniqueFd fd_;
};

}  // namespace pingloom::pages::client
