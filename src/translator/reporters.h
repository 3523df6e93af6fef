// The reporters that have sent something lately, by number and incarnation: the window of their
// sequences, what they have skipped, and what they have to be told. One thread; it allocates only
// for a new reporter. Bound: kMaxReporters of less than 1 KiB each.
//
// Reporters that keep their datagrams are asked for missing ones, and get credit: they may send up
// to a sequence so far ahead that their share of the socket's queue holds what is in flight. The
// others could neither send again nor wait, so they are told nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "translator/counters.h"
#include "translator/loss_ledger.h"
#include "translator/sequence_window.h"
#include "wire/report.h"
#include "wire/report_reply.h"

namespace pingloom::translator {

class Reporters {
 public:
  static constexpr std::size_t kMaxReporters = 16'384;
  static constexpr Nanos kForgetAfter = 10 * kMinute;  // since its last datagram
  // The same while more than kCrowded are known, so that short-lived ones keep nobody out.
  static constexpr Nanos kForgetCrowdedAfter = 10 * kSecond;
  static constexpr std::size_t kCrowded = kMaxReporters / 4 * 3;
  static constexpr Nanos kReplyInterval = 10 * kMillisecond;
  static constexpr int kMaxAsked = 3;  // in kStatusInterval; a gap is given up after one or two
  // While datagrams arrive, credit is repeated so often, because replies may be lost.
  static constexpr Nanos kCreditInterval = 100 * kMillisecond;
  static constexpr Nanos kActive = kSecond;  // a reporter has a share so long after a datagram
  // Credit that is used up faster than this in kReplyInterval does not wait for answer(): a
  // reporter that sends hundreds of datagrams for a reply is neither slowed down nor amplified.
  static constexpr std::uint32_t kUrgent = 64;  // datagrams
  static constexpr std::uint32_t kMinShare = 8;
  static constexpr std::uint32_t kMaxShare = SequenceWindow::kSize / 2;

  // `buffer_bytes` is the size of the socket's queue. REQUIRES: the counters and the
  // ledger outlive this.
  Reporters(Counters& counters, LossLedger& losses, std::size_t buffer_bytes)
      : counters_(counters), losses_(losses), buffer_bytes_(buffer_bytes) {}

  // Tells whether the reports of a datagram count: kNone, kDuplicate, kOld, or kUnknownReporter if
  // there is no room for another reporter.
  wire::ReportRefusal take(const wire::ReportHead& head, const SocketAddress& source,
                           Nanos now_mono);
  // Counts what is lost, and forgets who is silent. Called every kStatusInterval.
  void settle(Nanos now_mono);

  // Whether answer() is due kReplyInterval after it was called last.
  bool hasWaiting() const { return !waiting_.empty(); }
  // Calls send(SocketAddress, ReportReply) for each reporter that needs credit, or whose gaps were
  // there at the last call already.
  template <typename Send>
  void answer(Nanos now_mono, Send&& send) {
    std::size_t kept = 0;
    for (const std::uint64_t key : waiting_) {
      const auto found = reporters_.find(key);
      if (found == reporters_.end()) continue;
      Entry& entry = found->second;
      const bool ask = isToBeAsked(entry);
      if (ask || entry.credit_due) send(entry.source, replyTo(key, entry, ask, now_mono));
      entry.waiting = entry.gap = entry.window.missing() != 0;
      if (entry.waiting) waiting_[kept++] = key;
    }
    waiting_.resize(kept);
  }

  // Calls send(SocketAddress, ReportReply) for each reporter whose credit does not wait for
  // answer(). Called when datagrams have been taken.
  template <typename Send>
  void giveUrgentCredit(Nanos now_mono, Send&& send) {
    for (const std::uint64_t key : urgent_) {
      const auto found = reporters_.find(key);
      if (found == reporters_.end()) continue;
      found->second.urgent = false;
      send(found->second.source, replyTo(key, found->second, false, now_mono));
    }
    urgent_.clear();
  }

  std::size_t size() const { return reporters_.size(); }

 private:
  struct Entry {
    SequenceWindow window;
    std::uint32_t skipped;
    Nanos seen;
    SocketAddress source;
    Nanos credited_at = 0;       // 0: never
    std::uint32_t credited = 0;  // the latest sequence when credit was sent
    std::uint32_t lost = 0;      // datagrams that were given up; it wraps
    std::uint16_t length = 0;    // of its longest datagram
    bool waiting = false;        // it is in waiting_
    bool gap = false;            // sequences are missing
    bool fresh_gap = false;      // it was not there when answer() was called last
    bool credit_due = false;
    bool urgent = false;     // it is in urgent_
    std::uint8_t asked = 0;  // since settle()
  };
  void noteReply(const wire::ReportHead& head, Entry& entry, Nanos now_mono);
  bool isToBeAsked(Entry& entry);
  wire::ReportReply replyTo(std::uint64_t key, Entry& entry, bool ask, Nanos now_mono);
  std::uint32_t shareOf(const Entry& entry) const;
  static std::uint64_t keyOf(const wire::ReportHead& head) {
    return std::uint64_t{head.reporter} << 32 | head.incarnation;
  }
  static std::uint32_t reporterOf(std::uint64_t key) {
    return static_cast<std::uint32_t>(key >> 32);
  }
  void countSkipped(std::uint32_t reporter, std::uint32_t reports);

  Counters& counters_;
  LossLedger& losses_;
  const std::size_t buffer_bytes_;
  std::size_t active_ = 0;  // reporters that share the buffer
  std::unordered_map<std::uint64_t, Entry> reporters_;
  std::vector<std::uint64_t> waiting_;  // keys of reporters that answer() has to look at
  std::vector<std::uint64_t> urgent_;   // keys for giveUrgentCredit()
};

}  // namespace pingloom::translator
