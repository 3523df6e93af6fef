// The reporters that have sent something lately, by number and incarnation: the window of their
// sequences and what they have skipped. One thread; it allocates only for a new reporter. Bound:
// kMaxReporters of less than 1 KiB each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "common/address.h"
#include "common/time.h"
#include "translator/counters.h"
#include "translator/sequence_window.h"
#include "wire/report.h"
#include "wire/report_reply.h"

namespace pingloom::translator {

class Reporters {
 public:
  static constexpr std::size_t kMaxReporters = 16'384;
  static constexpr Nanos kForgetAfter = 10 * kMinute;  // since its last datagram
  static constexpr Nanos kAskInterval = 10 * kMillisecond;
  static constexpr int kMaxAsked = 3;  // in kStatusInterval; a gap is given up after one or two

  // REQUIRES: the counters outlive this.
  explicit Reporters(Counters& counters) : counters_(counters) {}

  // Tells whether the reports of a datagram count: kNone, kDuplicate, kOld, or kUnknownReporter if
  // there is no room for another reporter.
  wire::ReportRefusal take(const wire::ReportHead& head, const SocketAddress& source,
                           Nanos now_mono);
  // Counts what is lost, and forgets who is silent. Called every kStatusInterval.
  void settle(Nanos now_mono);

  // Calls send(SocketAddress, ReportReply) for each reporter that keeps its datagrams and whose
  // gaps were there at the last call already. Called every kAskInterval.
  template <typename Send>
  void askForMissing(Send&& send) {
    std::size_t kept = 0;
    for (const std::uint64_t key : gaps_) {
      const auto found = reporters_.find(key);
      if (found == reporters_.end()) continue;
      Entry& entry = found->second;
      entry.listed = entry.window.missing() != 0;
      if (!entry.listed) continue;
      gaps_[kept++] = key;
      if (entry.fresh_gap || entry.asked >= kMaxAsked) {
        entry.fresh_gap = false;
        continue;
      }
      ++entry.asked;
      ++counters_.asked;
      send(entry.source, requestFor(key, entry));
    }
    gaps_.resize(kept);
  }
  bool hasGaps() const { return !gaps_.empty(); }

  std::size_t size() const { return reporters_.size(); }

 private:
  struct Entry {
    SequenceWindow window;
    std::uint32_t skipped;
    Nanos seen;
    SocketAddress source;
    bool listed = false;     // in gaps_
    bool fresh_gap = false;  // it was not there when askForMissing() was called last
    std::uint8_t asked = 0;  // since settle()
  };
  void noteGap(const wire::ReportHead& head, Entry& entry, const SocketAddress& source);
  static wire::ReportReply requestFor(std::uint64_t key, const Entry& entry);
  static std::uint64_t keyOf(const wire::ReportHead& head) {
    return std::uint64_t{head.reporter} << 32 | head.incarnation;
  }

  Counters& counters_;
  std::unordered_map<std::uint64_t, Entry> reporters_;
  std::vector<std::uint64_t> gaps_;  // keys of reporters that keep and have gaps
};

}  // namespace pingloom::translator
