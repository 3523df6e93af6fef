// An agent as an application sees it: a real unix socket, real memfds. It grants everything, unless
// a script says otherwise, and remembers what it was told, also by connections that ended.
#pragma once

#include <pingloom/page_format.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/fd.h"
#include "pages/registration.h"
#include "unit/eventually.h"

namespace pingloom::pages::test {

// A message, or an answer to one.
struct Message {
  MessageType type{};
  std::uint32_t page = 0;
  std::vector<std::uint8_t> body;
  std::vector<int> fds;  // sending: borrowed
};

struct KnownPage {
  bool adopted = false;
  std::uint16_t flags = 0;
  std::uint64_t generation = 0;
  const pingloom_page* memory = nullptr;  // for as long as the agent lives
  std::vector<std::vector<std::uint8_t>> definitions;
};

struct KnownOwner {
  std::uint64_t owner = 0;
  bool connected = true;
  std::vector<std::uint8_t> registration;
  std::map<std::uint32_t, KnownPage> pages;
  std::vector<std::uint32_t> released;
};

std::vector<std::uint8_t> bytesOf(const Message& message);
Message refusal(Refusal why, const std::string& text);
std::uint64_t load(const std::uint64_t& slot);
// An unlinked file of `bytes` bytes in memory.
UniqueFd memoryFile(std::size_t bytes, bool sealed);

using pingloom::test::eventually;

class ScriptedAgent {
 public:
  // What to do instead of the usual for a message; false: do the usual.
  using Script = std::function<bool(ScriptedAgent& agent, int socket, const Message& message)>;

  explicit ScriptedAgent(std::string path, Script script = nullptr);
  ~ScriptedAgent();  // as if it was killed

  std::vector<KnownOwner> owners() const;
  std::size_t connections() const { return owners().size(); }
  // The number of definitions of the last application that registered; 0 before the first.
  std::size_t definitions() const;
  std::map<std::uint32_t, KnownPage> pages() const;

  void answer(int socket, const Message& message);
  void sendRaw(int socket, const std::vector<std::uint8_t>& bytes, const std::vector<int>& fds);

 private:
  void run();
  bool serve(int socket);  // false: it is over
  void usual(int socket, const Message& message);
  void addPage(int socket, const Message& message);

  const std::string path_;
  const Script script_;
  UniqueFd listener_;
  std::map<int, UniqueFd> sockets_;  // the thread's
  mutable std::mutex mutex_;
  std::vector<KnownOwner> owners_;         // by connection
  std::map<int, std::size_t> connection_;  // of a socket
  std::uint64_t next_generation_ = 1;
  std::vector<void*> mappings_;
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

// A folder of its own for a socket.
class SocketFolder {
 public:
  SocketFolder();
  ~SocketFolder();
  std::string socket() const { return path_ + "/pages.sock"; }

 private:
  std::string path_;
};

}  // namespace pingloom::pages::test
