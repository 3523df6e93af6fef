#include "pages/registration_server.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "pages/registration_socket.h"
#include "test_agent.h"
#include "unit/eventually.h"

namespace pingloom::pages::registration_server_test {
namespace {

using test::Raw;
using test::RawMetric;

std::size_t openDescriptors() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& one : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

struct Answer {
  MessageType type{};
  std::uint32_t page = 0;
  Raw body;
  UniqueFd descriptor;
  Refusal refusal() const { return static_cast<Refusal>(body.at(0) | body.at(1) << 8); }
};

// An application that may say anything.
class Peer {
 public:
  explicit Peer(const std::string& path) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, path.size());
    EXPECT_EQ(connect(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  }
  bool sendRaw(const Raw& bytes, const std::vector<int>& descriptors = {}) {
    iovec piece{const_cast<std::uint8_t*>(bytes.data()), bytes.size()};
    std::vector<char> control(CMSG_SPACE(descriptors.size() * sizeof(int)));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      cmsghdr* one = CMSG_FIRSTHDR(&message);
      one->cmsg_level = SOL_SOCKET;
      one->cmsg_type = SCM_RIGHTS;
      one->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
      std::memcpy(CMSG_DATA(one), descriptors.data(), descriptors.size() * sizeof(int));
    }
    return sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT) >= 0;
  }
  bool send(MessageType type, std::uint32_t page, const Raw& body,
            const std::vector<int>& descriptors = {}) {
    Head head;
    head.type = static_cast<std::uint16_t>(type);
    head.page = page;
    head.length = static_cast<std::uint32_t>(body.size());
    Raw bytes;
    test::append(bytes, head);
    bytes.insert(bytes.end(), body.begin(), body.end());
    return sendRaw(bytes, descriptors);
  }
  std::optional<Answer> receive() {
    std::array<std::uint8_t, 4096> buffer{};
    Datagram datagram = receiveDatagram(socket_.get(), buffer);
    if (datagram.bytes < static_cast<ssize_t>(sizeof(Head))) {
      hung_up = datagram.bytes == 0;
      return std::nullopt;
    }
    Head head;
    std::memcpy(&head, buffer.data(), sizeof head);
    Answer made{static_cast<MessageType>(head.type), head.page, {}, {}};
    made.body.assign(buffer.begin() + sizeof head, buffer.begin() + datagram.bytes);
    made.descriptor = std::move(datagram.descriptor);
    return made;
  }
  bool hung_up = false;

 private:
  UniqueFd socket_{socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
};

Raw registration(const std::string& application, const test::RawLabels& labels = {}) {
  Raw body;
  test::appendShort(body, application);
  body.push_back(static_cast<std::uint8_t>(labels.size()));
  test::appendLabels(body, labels);
  return body;
}

class RegistrationServerTest : public testing::Test {
 protected:
  RegistrationServerTest() {
    std::string folder = "/tmp/pingloom-registration-XXXXXX";
    EXPECT_NE(mkdtemp(folder.data()), nullptr);
    options.socket = folder + "/pages.sock";
    pool = std::move(*PagePool::create(*device, 7, {.pages = 100, .pages_per_user = 50}));
  }
  ~RegistrationServerTest() override {
    server.reset();
    std::filesystem::remove_all(options.socket.parent_path());
  }
  void listen() {
    auto made = RegistrationServer::create(options, *pool);
    ASSERT_TRUE(made) << made.error().text();
    server = std::move(*made);
  }
  std::unique_ptr<Peer> peer() {
    auto made = std::make_unique<Peer>(options.socket);
    server->work(now);
    return made;
  }
  std::unique_ptr<Peer> registered() {
    auto made = peer();
    EXPECT_EQ(ask(*made, MessageType::kRegister, 0, registration("app"))->type,
              MessageType::kRegistered);
    return made;
  }
  std::optional<Answer> ask(Peer& from, MessageType type, std::uint32_t page, const Raw& body,
                            const std::vector<int>& descriptors = {}) {
    EXPECT_TRUE(from.send(type, page, body, descriptors));
    server->work(now);
    return from.receive();
  }
  std::uint64_t refused(Refusal reason) const {
    return server->counters().refused[static_cast<std::size_t>(reason)];
  }

  std::unique_ptr<rdma::Device> device = test::freshDevice();
  std::unique_ptr<PagePool> pool;
  RegistrationOptions options;
  std::unique_ptr<RegistrationServer> server;
  Nanos now = kSecond;
};

const Raw kNoFlags = {0, 0};

TEST_F(RegistrationServerTest, GivesPagesUntilTheConnectionEnds) {
  listen();
  auto app = registered();
  auto granted = ask(*app, MessageType::kPage, 3, kNoFlags);
  ASSERT_EQ(granted->type, MessageType::kGranted);
  EXPECT_EQ(granted->page, 3U);
  EXPECT_TRUE(isMemfdPage(granted->descriptor.get()));
  EXPECT_EQ(ask(*app, MessageType::kDefine, 3, RawMetric{}.bytes())->type, MessageType::kDefined);
  EXPECT_EQ(pool->livePages(), 1U);
  const auto changes = pool->changesSince(0);
  EXPECT_EQ(changes.at(0).page->owner->process, static_cast<std::uint32_t>(getpid()));
  EXPECT_EQ(changes.at(0).page->owner->user, getuid());
  app.reset();
  server->work(now);
  EXPECT_EQ(pool->livePages(), 0U);
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(RegistrationServerTest, FindsThePodOfAProcess) {
  namespace fs = std::filesystem;
  const std::string uid = "2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21";
  options.processes = options.socket.parent_path();
  const fs::path cgroup = options.processes / std::to_string(getpid()) / "cgroup";
  listen();
  const auto pod_of = [&] {
    const auto app = registered();
    ask(*app, MessageType::kPage, 1, kNoFlags);
    return pool->changesSince(0).back().page->owner->pod;
  };
  EXPECT_EQ(pod_of(), Pod()) << "its file cannot be read";
  fs::create_directories(cgroup.parent_path());
  const auto in = [&](const std::string& path) { std::ofstream(cgroup) << "0::" << path << '\n'; };
  in("/system.slice/ssh.service");
  EXPECT_EQ(pod_of(), Pod());
  in("/kubepods/burstable/pod" + uid + "/" + std::string(64, 'a'));
  EXPECT_EQ(pod_of(), (Pod{uid, "aaaaaaaaaaaa"}));
  std::ofstream(cgroup) << std::string(20000, '\n') << "0::/kubepods/pod" << uid << '\n';
  EXPECT_EQ(pod_of(), Pod()) << "no kernel writes that much";
}

TEST_F(RegistrationServerTest, ItsOwnProcessIsInNoPod) {
  namespace fs = std::filesystem;
  options.processes = options.socket.parent_path();
  options.own = static_cast<std::uint32_t>(getpid());
  const fs::path cgroup = options.processes / std::to_string(getpid()) / "cgroup";
  fs::create_directories(cgroup.parent_path());
  std::ofstream(cgroup) << "0::/kubepods/pod2b1c5a7e-93d0-4f0a-8a54-0c9c3b5f7d21\n";
  listen();
  const auto app = registered();
  ask(*app, MessageType::kPage, 1, kNoFlags);
  EXPECT_EQ(pool->changesSince(0).back().page->owner->pod, Pod());
}

TEST_F(RegistrationServerTest, NamesakesAreToldApartForLife) {
  listen();
  std::vector<std::unique_ptr<Peer>> apps;
  std::vector<bool> namesakes;
  const auto come = [&](const std::string& application) {
    apps.push_back(peer());
    ask(*apps.back(), MessageType::kRegister, 0, registration(application));
    ask(*apps.back(), MessageType::kPage, 1, kNoFlags);
    namesakes.push_back(pool->changesSince(0).back().page->owner->namesake);
  };
  come("app");
  come("other");
  come("app");
  apps.front().reset();
  server->work(now);
  come("app");  // the one that came second is still there
  EXPECT_EQ(namesakes, std::vector<bool>({false, false, true, true}));
  apps.clear();
  server->work(now);
  come("app");
  EXPECT_FALSE(namesakes.back());
}

TEST_F(RegistrationServerTest, AProcessThatIsKilledMidUpdateLeavesNothing) {
  listen();
  const pid_t child = fork();
  if (child == 0) {
    Peer app(options.socket);
    app.send(MessageType::kRegister, 0, registration("app"));
    app.send(MessageType::kPage, 1, kNoFlags);
    app.send(MessageType::kPage, 2, {1, 0});
    for (;;) pause();
  }
  EXPECT_TRUE(pingloom::test::eventually([&] {
    server->work(now);
    return pool->livePages() == 2;
  }));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  server->work(now);
  EXPECT_EQ(pool->livePages(), 0U);
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(RegistrationServerTest, HangsUpOnWhatIsNoMessage) {
  listen();
  const auto message = [](std::uint32_t magic, std::uint16_t version, std::uint16_t type,
                          std::uint32_t length, std::size_t bytes) {
    Raw raw;
    test::append(raw, magic);
    test::append(raw, version);
    test::append(raw, type);
    test::append(raw, std::uint32_t{0});
    test::append(raw, length);
    raw.resize(sizeof(Head) + bytes);
    return raw;
  };
  constexpr auto kMagic = kRegistrationMagic;
  const std::vector<std::pair<Raw, Refusal>> bad = {
      {{1}, Refusal::kMalformed},
      {Raw(15), Refusal::kMalformed},
      {message(1, 1, 1, 0, 0), Refusal::kMalformed},
      {message(kMagic, 1, 1, 5, 4), Refusal::kMalformed},
      {message(kMagic, 1, 1, 4, 5), Refusal::kMalformed},
      {message(kMagic, 1, 1, 0xFFFFFFFF, 0), Refusal::kMalformed},
      {message(kMagic, 2, 1, 0, 0), Refusal::kVersion},
      {message(kMagic, 1, 0, 0, 0), Refusal::kMalformed},
      {message(kMagic, 1, 101, 0, 0), Refusal::kMalformed},
      {message(kMagic, 1, 2, 2, 2), Refusal::kMalformed},  // a page before it has registered
      {message(kMagic, 1, 4, 2, 2), Refusal::kMalformed},
      {message(kMagic, 1, 1, 2, 2), Refusal::kMalformed},  // no name
      {message(kMagic, 1, 1, kMaxMessageBytes + 1, kMaxMessageBytes + 1), Refusal::kMalformed},
  };
  for (std::size_t i = 0; i < bad.size(); ++i) {
    auto app = peer();
    const std::uint64_t before = refused(bad[i].second);
    ASSERT_TRUE(app->sendRaw(bad[i].first));
    server->work(now);
    const auto answer = app->receive();
    ASSERT_TRUE(answer) << i;
    EXPECT_EQ(answer->type, MessageType::kRefused) << i;
    EXPECT_EQ(answer->refusal(), bad[i].second) << i;
    EXPECT_FALSE(app->receive());
    EXPECT_TRUE(app->hung_up) << i;
    EXPECT_EQ(refused(bad[i].second), before + 1) << i;
  }
  EXPECT_EQ(server->connections(), 0U);
  EXPECT_EQ(server->counters().registered, 0U);
}

TEST_F(RegistrationServerTest, NamesAndLabelsThatAreNone) {
  listen();
  for (const Raw& body :
       {registration(""), registration(std::string(65, 'a')), registration("a\nb"),
        registration("\xFF"), registration("a", {{"le", ""}}), registration("a", {{"b", "\n"}}),
        registration("a", test::RawLabels(2, {"b", ""})), Raw{200, 'a'}}) {
    auto app = peer();
    EXPECT_EQ(ask(*app, MessageType::kRegister, 0, body)->refusal(), Refusal::kMalformed);
  }
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(RegistrationServerTest, WhatARegisteredOneMayNotAskFor) {
  listen();
  auto app = registered();
  ask(*app, MessageType::kPage, 1, kNoFlags);
  EXPECT_EQ(ask(*app, MessageType::kPage, 1, kNoFlags)->refusal(), Refusal::kPage);
  EXPECT_EQ(ask(*app, MessageType::kPage, 0, kNoFlags)->refusal(), Refusal::kPage);
  EXPECT_EQ(ask(*app, MessageType::kDefine, 9, RawMetric{}.bytes())->refusal(), Refusal::kPage);
  EXPECT_EQ(ask(*app, MessageType::kDefine, 1, {1, 2, 3})->refusal(), Refusal::kMetric);
  EXPECT_EQ(ask(*app, MessageType::kAdopt, 2, kNoFlags)->refusal(), Refusal::kNotAPage);
  EXPECT_EQ(ask(*app, MessageType::kPage, 5, kNoFlags)->type, MessageType::kGranted)
      << "it is served all the same";
  EXPECT_EQ(ask(*app, MessageType::kPage, 6, {2, 0})->refusal(), Refusal::kMalformed);
  EXPECT_EQ(server->connections(), 0U) << "flags there are not: hung up on";
  auto again = registered();
  EXPECT_EQ(ask(*again, MessageType::kRegister, 0, registration("b"))->refusal(),
            Refusal::kMalformed);
}

TEST_F(RegistrationServerTest, MetricsAreRemovedOnceAndOnlyByTheirOwner) {
  listen();
  auto app = registered();
  auto other = registered();
  ask(*app, MessageType::kPage, 1, kNoFlags);
  ask(*other, MessageType::kPage, 1, kNoFlags);
  const RawMetric metric{.labels = {{"till", "7"}}};
  EXPECT_EQ(ask(*app, MessageType::kDefine, 1, metric.bytes())->type, MessageType::kDefined);
  EXPECT_EQ(ask(*other, MessageType::kRemove, 1, metric.bytes())->refusal(), Refusal::kMetric);
  EXPECT_EQ(ask(*app, MessageType::kRemove, 2, metric.bytes())->refusal(), Refusal::kPage);
  EXPECT_EQ(ask(*app, MessageType::kRemove, 1, RawMetric{}.bytes())->refusal(), Refusal::kMetric);
  EXPECT_EQ(ask(*app, MessageType::kRemove, 1, {})->refusal(), Refusal::kMetric);
  const auto removed = ask(*app, MessageType::kRemove, 1, metric.bytes());
  EXPECT_EQ(removed->type, MessageType::kRemoved);
  EXPECT_TRUE(removed->body.empty());
  EXPECT_EQ(ask(*app, MessageType::kRemove, 1, metric.bytes())->refusal(), Refusal::kMetric);
  EXPECT_EQ(ask(*app, MessageType::kDefine, 1, metric.bytes())->refusal(), Refusal::kMetric)
      << "its slot rests";
  now += PageSchema::kRest;
  EXPECT_EQ(ask(*app, MessageType::kDefine, 1, metric.bytes())->type, MessageType::kDefined);
}

TEST_F(RegistrationServerTest, AReleaseIsNeverAnswered) {
  listen();
  auto app = registered();
  ask(*app, MessageType::kPage, 1, kNoFlags);
  EXPECT_FALSE(ask(*app, MessageType::kRelease, 1, {}));
  EXPECT_EQ(pool->livePages(), 0U);
  EXPECT_FALSE(ask(*app, MessageType::kRelease, 1, {})) << "it would be taken for another answer";
  EXPECT_FALSE(app->hung_up);
  EXPECT_EQ(refused(Refusal::kPage), 1U);
}

TEST_F(RegistrationServerTest, QuotaIsOneUsersForAllItsConnections) {
  listen();
  auto app = registered();
  auto other = registered();
  for (std::uint32_t page = 1; page <= 50; ++page) {
    EXPECT_EQ(ask(page % 2 == 0 ? *app : *other, MessageType::kPage, page, kNoFlags)->type,
              MessageType::kGranted);
  }
  EXPECT_EQ(ask(*app, MessageType::kPage, 100, kNoFlags)->refusal(), Refusal::kQuota);
  other.reset();
  server->work(now);
  EXPECT_EQ(ask(*app, MessageType::kPage, 101, kNoFlags)->type, MessageType::kGranted);
}

TEST_F(RegistrationServerTest, DescriptorsThatComeAreNotKept) {
  listen();
  auto app = registered();
  const std::size_t before = openDescriptors();
  const std::vector<int> many(200, STDIN_FILENO);
  EXPECT_EQ(ask(*app, MessageType::kAdopt, 1, kNoFlags, many)->refusal(), Refusal::kNotAPage);
  EXPECT_EQ(ask(*app, MessageType::kDefine, 1, RawMetric{}.bytes(), many)->refusal(),
            Refusal::kPage);
  EXPECT_EQ(openDescriptors(), before);
  EXPECT_EQ(ask(*app, MessageType::kPage, 1, kNoFlags, many)->type, MessageType::kGranted);
  EXPECT_EQ(openDescriptors(), before - 1) << "the free page's has left with the answer";
}

TEST_F(RegistrationServerTest, OneThatNeverRegistersIsHungUpOn) {
  listen();
  auto stranger = peer();
  auto app = registered();
  EXPECT_EQ(server->nextWake(), now + RegistrationServer::kPatience);
  now += RegistrationServer::kPatience;
  server->work(now);
  EXPECT_EQ(server->connections(), 1U);
  EXPECT_FALSE(stranger->receive());
  EXPECT_TRUE(stranger->hung_up);
  EXPECT_GT(server->nextWake(), now + kHour);
}

TEST_F(RegistrationServerTest, OneThatDoesNotTakeItsAnswersIsHungUpOn) {
  listen();
  auto app = registered();
  for (int i = 0; i < 100'000 && server->connections() == 1; ++i) {
    app->send(MessageType::kDefine, 9, RawMetric{}.bytes());
    server->work(now);
  }
  EXPECT_EQ(server->connections(), 0U);
}

TEST_F(RegistrationServerTest, AFloodLeavesTheOthersTheirTurn) {
  listen();
  auto flooder = registered();
  auto app = registered();
  const std::uint64_t before = server->counters().messages;
  while (flooder->send(MessageType::kRelease, 9, {})) {
  }
  EXPECT_EQ(ask(*app, MessageType::kPage, 1, kNoFlags)->type, MessageType::kGranted);
  EXPECT_LE(server->counters().messages - before, 65U);
}

TEST_F(RegistrationServerTest, OneUserCannotTakeAllConnections) {
  raiseDescriptorLimit();
  listen();
  std::vector<std::unique_ptr<Peer>> peers;
  for (std::size_t i = 0; i < RegistrationServer::kConnectionsPerUser + 5; ++i) {
    peers.push_back(peer());
  }
  EXPECT_EQ(server->connections(), RegistrationServer::kConnectionsPerUser);
  EXPECT_EQ(server->counters().connections_refused, 5U);
  peers.clear();
  for (int i = 0; i < 100 && server->connections() > 0; ++i) server->work(now);
  EXPECT_EQ(server->connections(), 0U);
  registered();
}

TEST_F(RegistrationServerTest, OnlyTheUsersThatAreAllowed) {
  options.users = {getuid() + 1};
  listen();
  auto app = peer();
  EXPECT_EQ(ask(*app, MessageType::kRegister, 0, registration("app"))->refusal(),
            Refusal::kNotAllowed);
  EXPECT_EQ(server->connections(), 0U);
  server.reset();
  options.groups = {getgid()};
  listen();
  registered();
}

TEST_F(RegistrationServerTest, ReplacesADeadSocketAndNothingElse) {
  listen();
  EXPECT_FALSE(RegistrationServer::create(options, *pool)) << "another one serves it";
  server.reset();
  EXPECT_FALSE(std::filesystem::exists(options.socket));

  const UniqueFd dead(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  options.socket.string().copy(address.sun_path, sizeof address.sun_path);
  ASSERT_EQ(bind(dead.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  listen();
  server.reset();

  std::ofstream(options.socket) << "somebody's file";
  const auto made = RegistrationServer::create(options, *pool);
  ASSERT_FALSE(made);
  EXPECT_TRUE(std::filesystem::exists(options.socket)) << "it is not the agent's to remove";
}

}  // namespace
}  // namespace pingloom::pages::registration_server_test
