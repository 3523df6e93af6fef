// A socket where a translator would listen, and what arrives at it.
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "common/fd.h"
#include "wire/report_reader.h"
#include "wire/report_reply.h"
#include "wire/report_seal.h"

namespace pingloom::report::client::test {

struct Seen {
  wire::ReportOperation operation;
  std::uint16_t table;
  std::string key;
  std::string value;
};
struct Datagram {
  wire::ReportHead head;
  std::vector<Seen> reports;
};

class Listener {
 public:
  Listener() : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in local{};
    local.sin_family = AF_INET;
    local.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof local;
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&local), sizeof local), 0);
    EXPECT_EQ(::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&local), &length), 0);
    name_ = "127.0.0.1:" + std::to_string(ntohs(local.sin_port));
  }
  const std::string& name() const { return name_; }
  void close() { fd_.reset(); }
  // Asks the sender of the last datagram for others.
  void ask(const wire::ReportHead& head, const std::vector<wire::ReportRange>& missing,
           const wire::ReportKey* key = nullptr) {
    wire::ReportReply reply;
    reply.type = wire::ReportReplyType::kNack;
    reply.until = head.sequence + 1000;
    for (const wire::ReportRange& range : missing) reply.missing[reply.ranges++] = range;
    send(head, reply, key);
  }
  // Permits it to send up to a sequence.
  void grant(const wire::ReportHead& head, std::uint32_t until,
             const wire::ReportKey* key = nullptr) {
    wire::ReportReply reply;
    reply.until = until;
    send(head, reply, key);
  }
  void send(const wire::ReportHead& head, wire::ReportReply& reply, const wire::ReportKey* key) {
    reply.reporter = head.reporter;
    reply.incarnation = head.incarnation;
    std::array<std::uint8_t, wire::kMaxReportReplyBytes> bytes{};
    const std::size_t length = wire::write(reply, bytes, key);
    EXPECT_GT(::sendto(fd_.get(), bytes.data(), length, 0, reinterpret_cast<sockaddr*>(&from_),
                       sizeof from_),
              0);
  }

  // With a key the datagram has to have its seal.
  std::optional<Datagram> receive(int wait_ms = 2000, const wire::ReportKey* key = nullptr) {
    pollfd ready{fd_.get(), POLLIN, 0};
    if (poll(&ready, 1, wait_ms) <= 0) return std::nullopt;
    std::array<std::uint8_t, 10'000> bytes{};
    socklen_t from_length = sizeof from_;
    const auto got = ::recvfrom(fd_.get(), bytes.data(), bytes.size(), 0,
                                reinterpret_cast<sockaddr*>(&from_), &from_length);
    wire::ReportReader reader;
    EXPECT_GT(got, 0);
    EXPECT_TRUE(key == nullptr ||
                wire::hasSeal(*key, std::span(bytes).first(static_cast<std::size_t>(got))));
    EXPECT_EQ(reader.open(std::span(bytes).first(static_cast<std::size_t>(got))),
              wire::ReportRefusal::kNone);
    Datagram datagram{reader.head(), {}};
    while (reader.next()) {
      EXPECT_EQ(reader.refusal(), wire::ReportRefusal::kNone);
      const wire::ReportItem& item = reader.report();
      datagram.reports.push_back({item.operation,
                                  item.table,
                                  {item.key.begin(), item.key.end()},
                                  {item.value.begin(), item.value.end()}});
    }
    return datagram;
  }

 private:
  UniqueFd fd_;
  std::string name_;
  sockaddr_in from_{};
};

}  // namespace pingloom::report::client::test
