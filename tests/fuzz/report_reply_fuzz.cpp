// Whatever a translator answers, a reporter sends no more again than it keeps, and each datagram
// arrives whole, with its seal if the reporter has a key. The input: flags (1: with a key), then
// replies, each as long as its number of ranges says. Who they are for, and their seals, are put
// right.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/fd.h"
#include "report/client/outbox.h"
#include "wire/report_reader.h"
#include "wire/report_writer.h"

namespace {

using namespace pingloom;
using namespace pingloom::wire;
using report::client::Outbox;
using report::client::OutboxOptions;
using report::client::SentRing;

constexpr ReportKey kKey = {1, 2, 3};
constexpr std::size_t kLongest = 64 << 10;  // so few datagrams are kept that all of them are sent
constexpr std::size_t kKept = SentRing::kBytes / kLongest;
constexpr std::int64_t kStep = 50'000'000;  // between two replies, ns

// Where the translator would be.
class Peer {
 public:
  Peer() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name_.length = sizeof local;
    auto* name = reinterpret_cast<sockaddr*>(&name_.address);
    if (::bind(fd_.get(), reinterpret_cast<sockaddr*>(&local), sizeof local) != 0) std::abort();
    if (::getsockname(fd_.get(), name, &name_.length) != 0) std::abort();
  }
  const report::client::SocketName& name() const { return name_; }

  void answer(std::span<const std::uint8_t> bytes) {
    ::sendto(fd_.get(), bytes.data(), bytes.size(), 0, reinterpret_cast<const sockaddr*>(&from_),
             sizeof from_);
  }
  // Checks all that has arrived.
  void receive(bool sealed, std::uint32_t incarnation) {
    std::array<std::uint8_t, kMaxReportDatagram> bytes{};
    for (;;) {
      socklen_t length = sizeof from_;
      const auto got = ::recvfrom(fd_.get(), bytes.data(), bytes.size(), 0,
                                  reinterpret_cast<sockaddr*>(&from_), &length);
      if (got <= 0) return;
      const auto datagram = std::span(bytes).first(static_cast<std::size_t>(got));
      ReportReader reader;
      if (sealed && !hasSeal(kKey, datagram)) std::abort();
      if (reader.open(datagram) != ReportRefusal::kNone) std::abort();
      if (reader.head().incarnation != incarnation) std::abort();
    }
  }

 private:
  UniqueFd fd_;
  report::client::SocketName name_;
  sockaddr_in from_{};
};

void sendReport(Outbox& outbox, bool sealed, std::int64_t now) {
  std::array<std::uint8_t, 100> buffer{};
  const std::array<std::uint8_t, 4> key = {1, 2, 3, 4};
  ReportWriter writer(buffer, sealed);
  ReportItem item;
  item.key = key;
  item.value = key;
  writer.add(item);
  outbox.add(writer.finish(outbox.head()), now);
}

// Takes a reply from the input, for this reporter.
std::size_t nextReply(std::span<const std::uint8_t> input, const ReportHead& to, bool sealed,
                      std::array<std::uint8_t, kMaxReportReplyBytes>& out) {
  const std::size_t ranges = input.size() > 4 ? input[4] % (kMaxReportRanges + 1) : 0;
  const std::size_t bytes = std::min(kReportReplyHeadBytes + ranges * 8, input.size());
  std::copy_n(input.begin(), bytes, out.begin());
  if (bytes < kReportReplyHeadBytes) return bytes;
  storeBe32(out.data() + 8, to.reporter);
  storeBe32(out.data() + 12, to.incarnation);
  if (!sealed) return bytes;
  writeSeal(kKey, std::span(out).first(bytes + kReportSealBytes));
  return bytes + kReportSealBytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  static Peer peer;
  const bool sealed = (data[0] & 1) != 0;
  OutboxOptions options;
  options.reporter = 7;
  options.longest = kLongest;
  if (sealed) options.key = kKey;
  Outbox outbox(options);
  if (outbox.open(peer.name()) != 0) std::abort();
  const ReportHead to = outbox.head();
  std::int64_t now = 0;
  sendReport(outbox, sealed, now);
  peer.receive(sealed, to.incarnation);
  std::array<std::uint8_t, kMaxReportReplyBytes> reply{};
  for (auto left = std::span(data, size).subspan(1); !left.empty(); now += kStep) {
    const std::size_t bytes = nextReply(left, to, sealed, reply);
    left = left.subspan(std::min(bytes, left.size()));
    peer.answer(std::span(reply).first(bytes));
    const auto before = outbox.status();
    sendReport(outbox, sealed, now);
    outbox.work(now);
    peer.receive(sealed, to.incarnation);
    if (outbox.status().repeated - before.repeated > kKept) std::abort();
  }
  outbox.sendAll();
  peer.receive(sealed, to.incarnation);
  const auto status = outbox.status();  // each datagram has one report
  if (status.sent != status.datagrams) std::abort();
  return 0;
}
