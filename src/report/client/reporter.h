// A reporter: the datagram that is being filled, its socket, and a thread that sends what would
// otherwise wait for more. Any thread may call report(), flush() and status().
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "common/fd.h"
#include "pingloom/report.h"
#include "report/client/address.h"
#include "report/client/sent_ring.h"
#include "wire/report.h"
#include "wire/report_reply.h"
#include "wire/report_writer.h"

namespace pingloom::report::client {

class Reporter {
 public:
  static constexpr std::int64_t kLinger = 10'000'000;  // nanoseconds that a report waits for others
  // A translator asks for what is missing within a fifth of a second.
  static constexpr std::int64_t kListen = 300'000'000;      // nanoseconds after the last datagram
  static constexpr std::int64_t kListenEvery = 10'000'000;  // nanoseconds
  static constexpr int kMaxReplies = 16;                    // that are looked at at a time

  // Returns 0 or an errno. REQUIRES: kReportHeadBytes + the largest report fit in `datagram`.
  static int open(const SocketName& translator, std::uint32_t number, std::size_t datagram,
                  bool keeps, std::unique_ptr<Reporter>& out);
  ~Reporter();  // flushes
  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

  // Copies the report. Returns 0, or EINVAL if a length or number is out of bounds.
  int report(const wire::ReportItem& item);
  void flush();
  pingloom_reporter_status status();

  // For fork(): between the first and the second or third call nobody else uses the reporter.
  void holdForFork() { mutex_.lock(); }
  void continueAfterFork() { mutex_.unlock(); }
  void startAnewInChild();

 private:
  // The parts that a forked child cannot use any more.
  struct Flusher {
    std::condition_variable wake;
    bool idle = false;  // it waits for the first report of a datagram
    std::thread thread;
  };

  Reporter(const SocketName& translator, std::uint32_t number, std::size_t datagram, bool keeps);
  int start();
  int connect();
  void startFlusher();
  void flushLate(Flusher& flusher);
  void send();
  void takeReplies();
  void sendAgain(const wire::ReportRange& range);
  void takeBounce(int error);
  void drop(int error);
  static bool isValid(const wire::ReportItem& item);

  const SocketName translator_;
  const std::uint32_t number_;
  UniqueFd socket_;
  std::mutex mutex_;  // guards all below
  bool stop_ = false;
  std::uint32_t incarnation_ = 0;
  std::uint32_t sequence_ = 0;   // of the datagram that was sent last
  std::uint16_t last_sent_ = 0;  // reports in it, unless it is known to be lost
  std::array<std::uint8_t, wire::kMaxJumboReportDatagram> buffer_{};
  wire::ReportWriter writer_;
  std::unique_ptr<SentRing> kept_;  // nullptr if nothing is sent again
  std::int64_t listen_until_ = 0;   // monotonic
  std::int64_t due_ = 0;            // monotonic; when the datagram that is not empty leaves
  std::uint64_t oldest_utc_ = 0;
  pingloom_reporter_status status_{};
  std::unique_ptr<Flusher> flusher_;  // nullptr until it is needed in a forked child
};

}  // namespace pingloom::report::client
