#include "endings.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "check.h"
#include "common/duration.h"
#include "common/fd.h"

namespace pingloom::lab {
namespace {

using rdma::RcOperation;
using rdma::RcStatus;

constexpr std::size_t kReads = 40;
constexpr std::size_t kEach = 256 * 1024;

// What one side tells the other; both are this very program.
struct Introduction {
  rdma::RcAddress address;
  std::uint64_t memory = 0;
  std::uint32_t rkey = 0;
};
static_assert(std::is_trivially_copyable_v<Introduction>);

void tell(int channel, Host& host) {
  const Introduction own{host.endpoint().address(), host.region().address(), host.region().rkey()};
  require(::write(channel, &own, sizeof(own)) == static_cast<ssize_t>(sizeof(own)), "write");
}
Introduction hear(int channel) {
  Introduction peer;
  require(::read(channel, &peer, sizeof(peer)) == static_cast<ssize_t>(sizeof(peer)),
          "the other process has ended");
  return peer;
}
void connect(Host& host, const Introduction& peer) {
  if (auto connected = host.endpoint().connect(peer.address); !connected)
    fail(connected.error().text());
}

void wait(Host& host, Nanos limit) {
  const Nanos due = std::clamp<Nanos>(host.endpoint().nextWake() - monotonicNow(), 0, limit);
  pollfd readable{host.endpoint().descriptor(), POLLIN, 0};
  const timespec timeout = {due / kSecond, due % kSecond};
  ::ppoll(&readable, 1, &timeout, nullptr);
}

[[noreturn]] void answerUntilKilled(const Place& place, int channel) {
  Host host(place);
  host.makeEndpoint(permitting(kAll));
  tell(channel, host);
  connect(host, hear(channel));
  tell(channel, host);  // connected
  for (;;) {
    host.poll();
    wait(host, kSecond);
  }
}

// Descriptors of this process, and what it has in the kernel's RDMA subsystem.
std::string possessions(const std::string& rxe_device) {
  const auto descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  std::string text = fmt::format("{} descriptors; ", descriptors);
  std::FILE* asked = ::popen(("rdma resource show " + rxe_device).c_str(), "r");
  require(asked != nullptr, "rdma");
  std::array<char, 512> line{};
  while (std::fgets(line.data(), line.size(), asked) != nullptr) text += line.data();
  require(::pclose(asked) == 0, "rdma resource show");
  return text.substr(0, text.find_last_not_of('\n') + 1);
}

}  // namespace

void peerKilled(const Place& asker, const Place& answerer) {
  std::array<int, 2> channel{};
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, channel.data()) == 0, "socketpair");
  UniqueFd ours(channel[0]);
  UniqueFd theirs(channel[1]);
  const pid_t child = ::fork();
  require(child >= 0, "fork");
  if (child == 0) answerUntilKilled(answerer, theirs.get());
  theirs.reset();
  Host host(asker);
  rdma::RcOptions options = permitting(kAll);
  options.timeout = 14;  // 67 ms
  options.retries = 3;
  host.makeEndpoint(options);
  const Introduction peer = hear(ours.get());
  connect(host, peer);
  tell(ours.get(), host);
  hear(ours.get());

  rdma::LocalPiece piece{&host.region(), host.memory().first(kEach)};
  rdma::RcRequest request;
  request.local = {&piece, 1};
  request.remote_address = peer.memory;
  request.rkey = peer.rkey;
  for (request.id = 0; request.id < kReads; ++request.id) {
    require(host.endpoint().post(request) == rdma::PostResult::kPosted, "not posted");
  }
  host.endpoint().flush();
  const Nanos deadline = monotonicNow() + 60 * kSecond;
  Nanos killed = 0;
  while (host.done().size() < kReads && monotonicNow() < deadline) {
    wait(host, 50 * kMillisecond);
    host.poll();
    if (killed == 0 && !host.done().empty()) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
      killed = monotonicNow();
    }
  }
  const std::vector<rdma::RcDone>& done = host.done();
  require(killed != 0 && done.size() == kReads,
          fmt::format("{} of {} READs ended", done.size(), kReads));
  const auto bad = std::find_if(done.begin(), done.end(), [](const rdma::RcDone& one) {
    return one.status != RcStatus::kOk;
  });
  require(bad != done.end(), "all READs succeeded");
  require(bad->status == RcStatus::kRetriesExceeded,
          fmt::format("'{}', not 'no response'", rdma::name(bad->status)));
  require(std::all_of(bad + 1, done.end(),
                      [](const rdma::RcDone& one) { return one.status == RcStatus::kFlushed; }),
          "what came behind was not flushed");
  require(host.endpoint().state() == rdma::RcState::kFailed && !host.whyFailed().empty(),
          "it has not failed");
  say("{} -> {}: the peer was killed after {} of {} READs; {} later the next one got no response, "
      "the rest was flushed",
      asker.name(), answerer.name(), bad - done.begin(), kReads,
      humanNanos(monotonicNow() - killed));
}

void connectsAndDisconnects(Connection& connection, int rounds, const std::string& rxe_device) {
  std::string before;
  for (int round = 0; round <= rounds; ++round) {
    connection.asker().registerMemory(kAll);
    connection.answerer().registerMemory(kAll);
    connection.connect(permitting(kAll));
    connection.post(connection.request({RcOperation::kRead, 64, 0, 0}, 1));
    connection.untilDone(1);
    require(connection.asker().done()[0].status == RcStatus::kOk, connection.asker().whyFailed());
    if (round == 0) before = possessions(rxe_device);
  }
  const std::string after = possessions(rxe_device);
  require(before == after,
          fmt::format("before: {}\nafter {} connections: {}", before, rounds, after));
  say("{}: {} times connected, read from and disconnected; as before: {}", connection.name(),
      rounds, after);
}

}  // namespace pingloom::lab
