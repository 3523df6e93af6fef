// A reporter: the datagram that is being filled, and a thread that sends what would otherwise wait
// for more. Any thread may call report(), flush() and status().
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>

#include "pingloom/report.h"
#include "report/client/address.h"
#include "report/client/outbox.h"
#include "wire/report.h"
#include "wire/report_writer.h"

namespace pingloom::report::client {

class Reporter {
 public:
  static constexpr std::int64_t kLinger = 10'000'000;  // nanoseconds that a report waits for others
  static constexpr std::int64_t kWorkEvery = 10'000'000;  // nanoseconds, while the outbox is busy

  // Returns 0 or an errno. REQUIRES: a head, the largest report and a seal fit in a datagram.
  static int open(const SocketName& translator, const OutboxOptions& options,
                  std::unique_ptr<Reporter>& out);
  ~Reporter();  // sends everything
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

  Reporter(const SocketName& translator, const OutboxOptions& options);
  int start();
  void startFlusher();
  void flushLate(Flusher& flusher);
  void finish(std::int64_t now);
  static bool isValid(const wire::ReportItem& item);

  const SocketName translator_;
  std::mutex mutex_;  // guards all below
  bool stop_ = false;
  std::array<std::uint8_t, wire::kMaxJumboReportDatagram> buffer_{};
  wire::ReportWriter writer_;
  Outbox outbox_;
  std::uint64_t taken_ = 0;
  std::int64_t due_ = 0;  // monotonic; when the datagram that is not empty leaves
  std::uint64_t oldest_utc_ = 0;
  std::unique_ptr<Flusher> flusher_;  // nullptr until it is needed in a forked child
};

}  // namespace pingloom::report::client
