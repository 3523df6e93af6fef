#include "scripted_agent.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <stdexcept>

namespace pingloom::pages::test {

namespace {

template <typename T>
void append(std::vector<std::uint8_t>* bytes, T value) {
  const std::size_t end = bytes->size();
  bytes->resize(end + sizeof value);
  std::memcpy(bytes->data() + end, &value, sizeof value);
}

bool receive(int socket, Message* message, std::vector<UniqueFd>* fds) {
  std::array<std::uint8_t, kMaxMessageBytes> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 4)> control{};
  iovec part{bytes.data(), bytes.size()};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t got = recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
  Head head;
  if (got < static_cast<ssize_t>(sizeof head)) return false;
  std::memcpy(&head, bytes.data(), sizeof head);
  if (head.magic != kRegistrationMagic || head.length + sizeof head != std::size_t(got)) {
    return false;
  }
  message->type = static_cast<MessageType>(head.type);
  message->page = head.page;
  message->body.assign(bytes.begin() + sizeof head, bytes.begin() + got);
  for (cmsghdr* c = CMSG_FIRSTHDR(&header); c != nullptr; c = CMSG_NXTHDR(&header, c)) {
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
      fds->emplace_back(fd);
      message->fds.push_back(fd);
    }
  }
  return true;
}

}  // namespace

std::vector<std::uint8_t> bytesOf(const Message& message) {
  std::vector<std::uint8_t> bytes;
  Head head;
  head.type = static_cast<std::uint16_t>(message.type);
  head.page = message.page;
  head.length = static_cast<std::uint32_t>(message.body.size());
  append(&bytes, head);
  bytes.insert(bytes.end(), message.body.begin(), message.body.end());
  return bytes;
}

Message refusal(Refusal why, const std::string& text) {
  Message message{MessageType::kRefused, 0, {}, {}};
  append(&message.body, static_cast<std::uint16_t>(why));
  append(&message.body, static_cast<std::uint16_t>(text.size()));
  message.body.insert(message.body.end(), text.begin(), text.end());
  return message;
}

std::uint64_t load(const std::uint64_t& slot) { return __atomic_load_n(&slot, __ATOMIC_RELAXED); }

UniqueFd memoryFile(std::size_t bytes, bool sealed) {
  UniqueFd fd(memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (ftruncate(fd.get(), static_cast<off_t>(bytes)) != 0) throw std::runtime_error("memfd");
  if (sealed) fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  return fd;
}

ScriptedAgent::ScriptedAgent(std::string path, Script script)
    : path_(std::move(path)),
      script_(std::move(script)),
      listener_(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) {
  std::filesystem::remove(path_);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path_.copy(address.sun_path, sizeof address.sun_path - 1);
  if (bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener_.get(), 64) != 0) {
    throw std::runtime_error("cannot listen at " + path_);
  }
  thread_ = std::thread([this] { run(); });
}

ScriptedAgent::~ScriptedAgent() {
  stop_ = true;
  thread_.join();
  for (void* mapping : mappings_) munmap(mapping, PINGLOOM_PAGE_BYTES);
}

void ScriptedAgent::run() {
  while (!stop_) {
    std::vector<pollfd> waited{{listener_.get(), POLLIN, 0}};
    for (const auto& [fd, owned] : sockets_) waited.push_back({fd, POLLIN, 0});
    poll(waited.data(), waited.size(), 5);
    constexpr std::size_t kListener = 0;  // the sockets of clients follow
    for (std::size_t i = kListener + 1; i < waited.size(); ++i) {
      if (waited[i].revents == 0 || serve(waited[i].fd)) continue;
      const std::lock_guard lock(mutex_);
      owners_[connection_[waited[i].fd]].connected = false;
      sockets_.erase(waited[i].fd);
    }
    if (waited[kListener].revents == 0) continue;
    UniqueFd accepted(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    const std::lock_guard lock(mutex_);
    connection_[accepted.get()] = owners_.size();
    owners_.push_back({1000 + owners_.size(), true, {}, {}, {}});
    const int fd = accepted.get();
    sockets_[fd] = std::move(accepted);
  }
  listener_.reset();
  sockets_.clear();
}

bool ScriptedAgent::serve(int socket) {
  Message message;
  std::vector<UniqueFd> fds;
  if (!receive(socket, &message, &fds)) return false;
  if (script_ == nullptr || !script_(*this, socket, message)) usual(socket, message);
  return true;
}

void ScriptedAgent::usual(int socket, const Message& message) {
  std::unique_lock lock(mutex_);
  KnownOwner& owner = owners_[connection_[socket]];
  if (message.type == MessageType::kRegister) {
    owner.registration = message.body;
    Message registered{MessageType::kRegistered, 0, {}, {}};
    append(&registered.body, owner.owner);
    append(&registered.body, std::uint32_t{16});
    answer(socket, registered);
  } else if (message.type == MessageType::kPage || message.type == MessageType::kAdopt) {
    addPage(socket, message);
  } else if (message.type == MessageType::kDefine) {
    owner.pages.at(message.page).definitions.push_back(message.body);
    answer(socket, {MessageType::kDefined, message.page, {}, {}});
  } else if (message.type == MessageType::kRemove) {
    auto& definitions = owner.pages.at(message.page).definitions;
    const auto found = std::find(definitions.begin(), definitions.end(), message.body);
    if (found == definitions.end()) {
      Message no = refusal(Refusal::kMetric, "there is none");
      no.page = message.page;
      return answer(socket, no);
    }
    definitions.erase(found);
    answer(socket, {MessageType::kRemoved, message.page, {}, {}});
  } else {
    owner.released.push_back(message.page);
  }
}

void ScriptedAgent::addPage(int socket, const Message& message) {
  KnownPage page;
  page.adopted = message.type == MessageType::kAdopt;
  page.generation = next_generation_++;
  std::memcpy(&page.flags, message.body.data(), sizeof page.flags);
  UniqueFd own = page.adopted ? UniqueFd() : memoryFile(PINGLOOM_PAGE_BYTES, true);
  const int fd = page.adopted ? message.fds.at(0) : own.get();
  void* at = mmap(nullptr, PINGLOOM_PAGE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) throw std::runtime_error("cannot map a page");
  mappings_.push_back(at);
  page.memory = static_cast<const pingloom_page*>(at);
  Message granted{MessageType::kGranted, message.page, {}, {}};
  append(&granted.body, page.generation);
  if (!page.adopted) granted.fds = {fd};
  owners_[connection_[socket]].pages[message.page] = page;
  answer(socket, granted);
}

void ScriptedAgent::answer(int socket, const Message& message) {
  sendRaw(socket, bytesOf(message), message.fds);
}

void ScriptedAgent::sendRaw(int socket, const std::vector<std::uint8_t>& bytes,
                            const std::vector<int>& fds) {
  iovec part{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int) * 8)> control{};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (!fds.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(sizeof(int) * fds.size());
    cmsghdr* c = CMSG_FIRSTHDR(&header);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int) * fds.size());
    std::memcpy(CMSG_DATA(c), fds.data(), sizeof(int) * fds.size());
  }
  [[maybe_unused]] const ssize_t sent = sendmsg(socket, &header, MSG_NOSIGNAL);
}

std::vector<KnownOwner> ScriptedAgent::owners() const {
  const std::lock_guard lock(mutex_);
  return owners_;
}

std::size_t ScriptedAgent::definitions() const {
  std::size_t count = 0;
  for (const auto& [number, page] : pages()) count += page.definitions.size();
  return count;
}

std::map<std::uint32_t, KnownPage> ScriptedAgent::pages() const {
  const std::lock_guard lock(mutex_);
  return owners_.empty() ? std::map<std::uint32_t, KnownPage>() : owners_.back().pages;
}

SocketFolder::SocketFolder() {
  std::string name = "/tmp/pingloom-pages-XXXXXX";
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder");
  path_ = name;
}

SocketFolder::~SocketFolder() { std::filesystem::remove_all(path_); }

}  // namespace pingloom::pages::test
