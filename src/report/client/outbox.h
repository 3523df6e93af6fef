// The sending half of a reporter: its socket, sequence and credit, the datagrams that wait for
// credit, and those that the translator may ask for again. No call blocks. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include "common/fd.h"
#include "pingloom/report.h"
#include "report/client/address.h"
#include "report/client/credit.h"
#include "report/client/sent_ring.h"
#include "wire/report_reply.h"
#include "wire/report_seal.h"

namespace pingloom::report::client {

struct OutboxOptions {
  std::uint32_t reporter = 0;
  std::size_t longest = 0;             // most bytes of a datagram
  bool keeps = true;                   // datagrams wait for credit, and are sent again
  std::optional<wire::ReportKey> key;  // seals datagrams
};

class Outbox {
 public:
  // A translator asks for what is missing within a fifth of a second.
  static constexpr std::int64_t kListen = 300'000'000;  // nanoseconds after the last datagram
  static constexpr int kMaxReplies = 16;                // that are looked at at a time
  // Replies are looked for so often while datagrams leave, because the thread may come too late.
  static constexpr std::uint32_t kLookEvery = 64;  // datagrams

  explicit Outbox(const OutboxOptions& options)
      : options_(options),
        kept_(options.keeps ? std::make_unique<SentRing>(options.longest) : nullptr) {}

  // Opens a socket, and begins with a new incarnation and empty. Returns 0 or an errno.
  int open(const SocketName& translator);

  // The fields of the head that do not change until a datagram leaves.
  wire::ReportHead head() const;
  // Takes a datagram that ReportWriter has finished, and sends it unless it has to wait. If there
  // is no room, the oldest one that waits is dropped.
  void add(std::span<std::uint8_t> datagram, std::int64_t now);
  // Takes replies, and sends what may leave.
  void work(std::int64_t now);
  void sendAll();  // whatever the credit is
  // Whether work() has something to do now and then.
  bool isBusy(std::int64_t now) const {
    return kept_ != nullptr && (kept_->hasWaiting() || now < listen_until_);
  }

  // Counts a report that was refused.
  void skipOne() { ++status_.skipped; }
  // The fields but `taken`.
  pingloom_reporter_status status();

 private:
  void sendWaiting(std::int64_t now);
  bool send(std::span<std::uint8_t> datagram);
  void seal(std::span<std::uint8_t> datagram) const;
  void takeReplies(std::int64_t now);
  // Returns how many were sent, at most `most`.
  std::size_t sendAgain(const wire::ReportRange& range, std::size_t most);
  void takeBounce(int error);
  void drop(std::span<const std::uint8_t> datagram);

  const OutboxOptions options_;
  UniqueFd socket_;
  std::unique_ptr<SentRing> kept_;  // nullptr if nothing waits or is sent again
  Credit credit_;
  std::uint32_t incarnation_ = 0;
  std::uint32_t sequence_ = 0;     // of the datagram that was sent last
  std::uint16_t last_sent_ = 0;    // reports in it, unless it is known to be lost
  std::int64_t listen_until_ = 0;  // monotonic
  pingloom_reporter_status status_{};
};

}  // namespace pingloom::report::client
