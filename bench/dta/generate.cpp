// Sends reports to a translator at a chosen rate: any operation, keys spread evenly or by Zipf's
// law, with losses and duplicates, as report datagrams or as packets of the published DTA. It
// imitates many reporters and switches; what it drops on purpose is lost for the translator too.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <boost/program_options.hpp>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "common/address.h"
#include "common/error.h"
#include "common/fd.h"
#include "common/program.h"
#include "common/time.h"
#include "load.h"
#include "wire/big_endian.h"
#include "wire/published_dta.h"
#include "wire/report_writer.h"

namespace {

using namespace pingloom;
using namespace pingloom::bench;
using wire::ReportOperation;

constexpr std::array<std::pair<const char*, ReportOperation>, 4> kOperations = {{
    {"key-write", ReportOperation::kKeyWrite},
    {"append", ReportOperation::kAppend},
    {"increment", ReportOperation::kKeyIncrement},
    {"postcard", ReportOperation::kPostcard},
}};

struct Options {
  std::string to = "127.0.0.1:20716";
  std::string operation = "key-write";
  std::string spread = "uniform";
  LoadOptions load;
  double rate = 10'000;  // reports in a second
  double loss = 0;
  double duplicates = 0;
  std::uint32_t reporter = 1;
  bool published = false;
};

struct Sent {
  std::uint64_t reports = 0;
  std::uint64_t lost = 0;       // reports that were dropped on purpose
  std::uint64_t refused = 0;    // datagrams that the kernel did not take
  std::uint64_t datagrams = 0;  // duplicates included
};

class Generator {
 public:
  Generator(const Options& options, UniqueFd socket)
      : options_(options),
        socket_(std::move(socket)),
        reports_(options.load, randomSeed()),
        random_(randomSeed()) {
    head_.reporter = options.reporter;
    head_.incarnation = static_cast<std::uint32_t>(randomSeed());
  }

  Sent run() {
    const Nanos start = monotonicNow();
    while (sent_.reports < options_.load.reports) {
      options_.published ? sendPacket() : sendDatagram();
      const auto due =
          start + static_cast<Nanos>(1e9 * static_cast<double>(sent_.reports) / options_.rate);
      sleepUntil(due);
    }
    return sent_;
  }

 private:
  static std::uint64_t randomSeed() { return std::random_device{}(); }

  static void sleepUntil(Nanos due) {
    const Nanos wait = due - monotonicNow();
    if (wait < kMillisecond) return;
    const timespec time{wait / kSecond, wait % kSecond};
    nanosleep(&time, nullptr);
  }

  bool happens(double share) { return std::uniform_real_distribution<>()(random_) < share; }

  // A datagram has at most what is due within a few milliseconds, so low rates are not bursts.
  void sendDatagram() {
    const auto most = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(options_.rate / 200));
    wire::ReportWriter writer(buffer_);
    for (std::uint64_t i = 0; i < most && sent_.reports + i < options_.load.reports; ++i) {
      const wire::ReportItem& report = reports_.next();
      writer.add(report);
      if (!writer.hasRoom(report.key.size(), report.value.size())) break;
    }
    ++head_.sequence;
    head_.oldest_utc = static_cast<std::uint64_t>(utcNow());
    send(writer.finish(head_), writer.reports());
  }

  void sendPacket() {
    const wire::ReportItem& report = reports_.next();
    std::array<std::uint8_t, wire::kMaxPublishedDta> packet{};
    std::size_t at = 0;
    packet[at++] = static_cast<std::uint8_t>(report.operation);
    packet[at++] = packet_sequence_++;
    packet[at++] = 0;  // flags
    const bool copies = report.operation == ReportOperation::kKeyWrite ||
                        report.operation == ReportOperation::kKeyIncrement;
    if (copies) packet[at++] = 2;
    const std::uint32_t key =
        report.operation == ReportOperation::kAppend
            ? 0
            : wire::loadBe32(report.key.data() + 1) * 64U + wire::loadBe16(report.key.data() + 9);
    wire::storeBe32(&packet[at], key);
    at += 4;
    if (report.operation == ReportOperation::kPostcard) {
      packet[at++] = static_cast<std::uint8_t>(report.hop + 1);
    }
    const std::size_t value = report.operation == ReportOperation::kKeyIncrement ? 8
                              : report.operation == ReportOperation::kKeyWrite   ? 12
                                                                                 : 4;
    std::copy_n(report.value.begin(), std::min(value, report.value.size()), &packet[at]);
    send(std::span(packet).first(at + value), 1);
  }

  void send(std::span<const std::uint8_t> datagram, std::uint64_t reports) {
    sent_.reports += reports;
    if (happens(options_.loss)) {
      sent_.lost += reports;
      return;
    }
    const int times = happens(options_.duplicates) ? 2 : 1;
    for (int i = 0; i < times; ++i) {
      ++sent_.datagrams;
      if (::send(socket_.get(), datagram.data(), datagram.size(), 0) < 0) ++sent_.refused;
    }
  }

  const Options& options_;
  UniqueFd socket_;
  ReportSource reports_;
  std::mt19937_64 random_;
  std::array<std::uint8_t, wire::kMaxReportDatagram> buffer_{};
  wire::ReportHead head_;
  std::uint8_t packet_sequence_ = 0;
  Sent sent_;
};

Result<UniqueFd> connectedTo(const std::string& text) {
  const auto address = SocketAddress::parse(text);
  if (!address) return tl::unexpected(address.error());
  sockaddr_storage storage{};
  const socklen_t length = address->address.toSockaddr(address->port, storage);
  UniqueFd socket(::socket(storage.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (::connect(socket.get(), reinterpret_cast<sockaddr*>(&storage), length) != 0) {
    return makeErrnoError(text, "cannot be sent to", errno);
  }
  return socket;
}

// Returns what is wrong with the options, if anything is.
std::optional<std::string> complete(Options& options) {
  const auto* const found =
      std::find_if(kOperations.begin(), kOperations.end(),
                   [&](const auto& one) { return one.first == options.operation; });
  if (found == kOperations.end()) {
    return "--operation is key-write, append, increment or postcard";
  }
  options.load.operation = found->second;
  if (options.spread != "uniform" && options.spread != "zipf") {
    return "--keys-by is uniform or zipf";
  }
  options.load.spread = options.spread == "zipf" ? Spread::kZipf : Spread::kUniform;
  if (options.load.keys == 0 || options.load.keys > 100'000'000) {
    return "--keys is 1 to 100,000,000";
  }
  if (!(options.rate >= 1 && options.rate <= 1e9)) return "--rate is 1 to 1,000,000,000";
  const auto share = [](double value) { return value >= 0 && value <= 1; };
  if (!share(options.loss) || !share(options.duplicates)) {
    return "--loss and --duplicates are shares from 0 to 1";
  }
  return std::nullopt;
}

}  // namespace

int main(int argc, char** argv) {
  namespace po = boost::program_options;
  Options wanted;
  wanted.load.keys = 10'000;
  wanted.load.reports = 100'000;
  po::options_description options("Options");
  const auto value = [](auto& target) { return po::value(&target)->default_value(target); };
  options.add_options()("to", value(wanted.to), "the translator, ADDRESS:PORT")(
      "operation", value(wanted.operation), "key-write, append, increment or postcard")(
      "table", value(wanted.load.table), "the table's number")(
      "reports", value(wanted.load.reports), "how many to send")(
      "rate", value(wanted.rate), "reports in a second")("keys", value(wanted.load.keys),
                                                         "how many different ones there are")(
      "keys-by", value(wanted.spread), "uniform or zipf")(
      "loss", value(wanted.loss), "the share of datagrams that are dropped instead")(
      "duplicates", value(wanted.duplicates), "the share of datagrams that are sent twice")(
      "reporter", value(wanted.reporter), "the reporter's number")(
      "published", po::bool_switch(&wanted.published), "send packets of the published DTA");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse(
          {"dta_generate", "dta_generate [OPTIONS]", "Sends reports of telemetry to a translator."},
          arguments, options, {}, values)) {
    return *code;
  }
  if (const auto wrong = complete(wanted)) return program::usageError("dta_generate", *wrong);
  auto socket = connectedTo(wanted.to);
  if (!socket) {
    std::fprintf(stderr, "dta_generate: %s\n", socket.error().text().c_str());
    return 1;
  }
  const Nanos start = monotonicNow();
  const Sent sent = Generator(wanted, std::move(*socket)).run();
  const double seconds = static_cast<double>(monotonicNow() - start) / 1e9;
  std::printf(
      "%llu reports in %.2f s (%.0f a second), %llu of them dropped on purpose; "
      "%llu datagrams, %llu not taken by the kernel\n",
      static_cast<unsigned long long>(sent.reports), seconds,
      static_cast<double>(sent.reports) / seconds, static_cast<unsigned long long>(sent.lost),
      static_cast<unsigned long long>(sent.datagrams),
      static_cast<unsigned long long>(sent.refused));
  return 0;
}
