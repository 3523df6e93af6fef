// What a responder still has to tell its probers: T3 - T2 of the newest exchanges of each pair. A
// prober that pings a pair at least once a second takes it from the pair's later PONGs, so that no
// ACK has to be sent; docs/probe-packets.md has the rules. One thread; the time comes in as an
// argument.
#pragma once

#include <algorithm>
#include <array>
#include <boost/multi_index/hashed_index.hpp>
#include <boost/multi_index/member.hpp>
#include <boost/multi_index/sequenced_index.hpp>
#include <boost/multi_index_container.hpp>
#include <cstddef>
#include <cstdint>

#include "common/address.h"
#include "common/time.h"
#include "wire/probe_packet.h"

namespace pingloom::probe {

// The PINGs of one probe that one prober sends to one local address on one path. Its incarnation
// keeps those apart whose packets are forged by somebody who does not see it.
struct PingSource {
  IpAddress address;
  IpAddress local;
  std::uint64_t port = 0;   // the prober's UDP port, or its queue pair and LID
  std::uint32_t label = 0;  // the answer label of the PING
  std::uint32_t probe = 0;  // the tag of the PING's probe
  std::uint32_t incarnation = 0;

  bool operator==(const PingSource&) const = default;
};

struct PingSourceHash {
  std::size_t operator()(const PingSource& source) const {
    constexpr std::uint64_t kMultiplier = 0x9E37'79B9'7F4A'7C15;
    std::uint64_t sum = IpAddressHash()(source.address);
    sum = sum * kMultiplier + IpAddressHash()(source.local);
    for (const std::uint64_t part : {source.port, std::uint64_t{source.label} << 32 | source.probe,
                                     std::uint64_t{source.incarnation}}) {
      sum = (sum ^ part) * kMultiplier;
    }
    return sum ^ sum >> 32;
  }
};

// `Reply` is what the owner needs to send an ACK to the source. Bounds: kMaxSources sources of less
// than 400 bytes. A source is forgotten kWait after its newest PING, or later while a PONG waits.
template <typename Reply>
class DeferredAcks {
 public:
  static constexpr std::size_t kMaxSources = 65'536;
  // A prober defers ACKs if its next PING follows within a second. It waits for this and a timeout.
  static constexpr Nanos kWait = 1100 * kMillisecond;

  // An answered PING; `told` counts the PONGs that have carried its T3 - T2.
  struct Answered {
    std::uint64_t nonce = 0;
    wire::Residence residence;
    std::uint32_t told = wire::kMaxResidences;
  };
  struct Source {
    PingSource from;
    // The index has no key in the rest.
    mutable Reply reply;
    mutable Nanos pinged_mono = 0;
    mutable std::array<Answered, wire::kMaxResidences> newest{};
    mutable std::uint32_t next = 0;       // the place in `newest` of the next one
    mutable std::uint32_t in_flight = 0;  // PONGs whose departure is awaited
  };

  // Returns the source of a PING whose ACK may be deferred, or nullptr if there is no room. The
  // pointer is valid as long as `in_flight` is not 0; the caller counts that up and down.
  const Source* pinged(const PingSource& from, const Reply& reply, Nanos now) {
    auto& by_source = sources_.template get<kBySource>();
    auto found = by_source.find(from);
    if (found == by_source.end()) {
      if (sources_.size() == kMaxSources) return nullptr;
      found = by_source.insert({from, reply}).first;
    } else {
      auto& by_age = sources_.template get<kByAge>();
      by_age.relocate(by_age.end(), sources_.template project<kByAge>(found));
      found->reply = reply;
    }
    found->pinged_mono = now;
    return &*found;
  }

  // Adds to the PONG what this source has not been told in kMaxResidences PONGs yet.
  static void addTo(wire::ProbeMessage& pong, const Source& source) {
    for (std::uint32_t i = 1; i <= wire::kMaxResidences; ++i) {  // the newest comes first
      const Answered& one = source.newest[(source.next - i) % wire::kMaxResidences];
      if (one.told == wire::kMaxResidences) continue;
      pong.residences[pong.residence_count++] = one.residence;
    }
  }
  // The PONG that addTo() has filled leaves.
  static void told(const Source& source) {
    for (Answered& one : source.newest) {
      if (one.told < wire::kMaxResidences) ++one.told;
    }
  }

  // Notes an exchange for later PONGs. If the one that it displaces has never been told,
  // acknowledge(source, answered) is called for that.
  template <typename Acknowledge>
  static void add(const Source& source, const Answered& answered, Acknowledge&& acknowledge) {
    Answered& place = source.newest[source.next++ % wire::kMaxResidences];
    if (place.told == 0) acknowledge(source, place);
    place = answered;
    place.told = 0;
  }

  // Forgets sources that have not pinged for kWait, after acknowledge(source, answered) for each of
  // their exchanges that no PONG has carried. REQUIRES: the PINGs that came before `now` were read.
  template <typename Acknowledge>
  void expire(Nanos now, Acknowledge&& acknowledge) {
    auto& by_age = sources_.template get<kByAge>();
    while (!by_age.empty() && by_age.front().pinged_mono + kWait <= now) {
      const Source& oldest = by_age.front();
      if (oldest.in_flight > 0) {  // its owner gives these up soon
        oldest.pinged_mono = now;
        by_age.relocate(by_age.end(), by_age.begin());
        continue;
      }
      for (const Answered& one : oldest.newest) {
        if (one.told == 0) acknowledge(oldest, one);
      }
      by_age.pop_front();
    }
  }

  // Forgets all sources without a PONG in flight in the same way.
  template <typename Acknowledge>
  void expireAll(Nanos now, Acknowledge&& acknowledge) {
    expire(now + 2 * kWait, acknowledge);
  }

  Nanos nextExpiry() const {
    const auto& by_age = sources_.template get<kByAge>();
    return by_age.empty() ? kNever : by_age.front().pinged_mono + kWait;
  }
  std::size_t size() const { return sources_.size(); }

 private:
  static constexpr int kBySource = 0;
  static constexpr int kByAge = 1;
  using Sources = boost::multi_index_container<
      Source,
      boost::multi_index::indexed_by<
          boost::multi_index::hashed_unique<
              boost::multi_index::member<Source, PingSource, &Source::from>, PingSourceHash>,
          boost::multi_index::sequenced<>>>;

  Sources sources_;
};

}  // namespace pingloom::probe
