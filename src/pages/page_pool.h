// The host's metric pages: who owns which, and the range in which peers read them.
//
// A page lies in a range (page_range.h) at a place of its own. Places are never used twice, because
// a former owner's mapping cannot be taken back: when they run out, or pages come that are in no
// range yet, a fresh range takes over with every page that lives. The old one stays readable until
// its readers have moved. The directory says what lies where; its version grows with every change
// and stands in the range's head. One thread.
//
// Bounds: PoolLimits::pages pages, of a user pages_per_user; kMaxSchemaTotal bytes of schemas, of
// which a user has the same share; two ranges of twice as many pages and kSparePlaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "common/page_owner.h"
#include "common/time.h"
#include "pages/page_range.h"
#include "pages/registration.h"
#include "pages/schema.h"
#include "rdma/device.h"

namespace pingloom::pages {

struct Owner {
  std::uint64_t id = 0;  // no two of an agent's are alike, those before a restart included
  std::string application;
  Labels labels;
  std::uint32_t user = 0;  // as the kernel says
  std::uint32_t process = 0;
  // Application and process do not tell it from the others: one that was there before it has the
  // same, or it is of another pid namespace and `process` is 0. For life, so that no series of
  // metrics is ever another owner's than it was.
  bool namesake = false;
};

struct Page {
  std::shared_ptr<const Owner> owner;
  std::uint64_t generation = 0;
  std::uint16_t flags = 0;
  std::size_t place = 0;  // in the range; 0: in none yet
  UniqueFd memfd;         // while it is in none
  std::vector<std::uint8_t> schema;
  std::uint32_t schema_version = 0;
  unsigned next_slot = 0;  // metrics are defined in this order
  std::size_t infos = 0;
  std::uint32_t metrics = 0;
};

struct PoolLimits {
  std::size_t pages = 4096;
  std::size_t pages_per_user = 2048;
};

struct Refused {
  Refusal reason;
  std::string text;
};
template <typename T>
using Granted = tl::expected<T, Refused>;

class PagePool {
 public:
  static constexpr std::size_t kMaxSchemaTotal = 64U << 20;
  static constexpr Nanos kBuildInterval = 100 * kMillisecond;  // between two ranges, at least
  static constexpr std::size_t kSparePlaces = 64;  // that a fresh range has free, at least

  // The device outlives the pool.
  static Result<std::unique_ptr<PagePool>> create(rdma::Device& device, std::uint64_t incarnation,
                                                  const PoolLimits& limits);

  std::shared_ptr<const Owner> addOwner(Owner owner);  // gives it its id

  struct Grant {
    std::uint64_t generation = 0;
    UniqueFd memfd;  // the owner's; invalid for an adopted page
  };
  Granted<Grant> grant(std::shared_ptr<const Owner> owner, std::uint16_t flags);
  Granted<Grant> adopt(std::shared_ptr<const Owner> owner, std::uint16_t flags, UniqueFd memfd);
  Granted<void> define(std::uint64_t generation, std::span<const std::uint8_t> metric);
  // The page's place stays as it is and is given to nobody.
  void release(std::uint64_t generation);

  // Makes a fresh range where one is wanted. An error: it could not, and will try again.
  Status work(Nanos now);
  Nanos nextWake() const;  // INT64_MAX: nothing to do

  const PageRange& range() const { return *range_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t directoryVersion() const { return version_; }
  const PoolLimits& limits() const { return limits_; }
  std::size_t livePages() const { return pages_.size(); }
  PageOwners owners() const;  // that have a page

  // The range before, while it can be read still; since when it has been superseded.
  bool retiring() const { return retiring_ != nullptr; }
  Nanos retiringSince() const { return built_; }
  void retire() { retiring_.reset(); }  // its rkey is dead from now on

  struct Change {
    std::size_t place = 0;
    std::uint64_t version = 0;
    const Page* page = nullptr;  // nullptr: nobody's any more
  };
  // Of this range, in the order of their versions, those after `since`. Pages that are in no range
  // yet are in no directory either.
  std::vector<Change> changesSince(std::uint64_t since) const;

 private:
  struct Place {
    std::uint64_t generation = 0;  // 0: free
    std::uint64_t version = 0;     // of the directory when it changed last
    bool gone = false;
    UniqueFd memfd;  // while it is free
  };

  struct Use {  // what a user has
    std::size_t pages = 0;
    std::size_t schema_bytes = 0;
  };

  PagePool(rdma::Device& device, std::uint64_t incarnation, const PoolLimits& limits)
      : device_(device),
        incarnation_(incarnation),
        limits_(limits),
        last_owner_(incarnation / kMillisecond) {}
  std::optional<Refused> refusalFor(const Owner& owner) const;
  bool hasRoomFor(const Page& page, std::size_t schema_bytes) const;
  Page& add(std::shared_ptr<const Owner> owner, std::uint16_t flags);
  void changed(std::size_t place);
  std::size_t freePlaces() const { return places_.size() - next_place_; }
  bool wantsRange() const;
  Status build();
  static Status fill(PageRange& range, std::size_t place, Place& free);

  rdma::Device& device_;
  const std::uint64_t incarnation_;
  const PoolLimits limits_;
  // Series are told apart by it, so a restarted agent gives no owner the number of another one of
  // before: incarnations are nanoseconds of UTC and grow, and owners do not come a thousand a
  // second for long.
  std::uint64_t last_owner_;
  std::uint64_t last_generation_ = 0;
  std::map<std::uint64_t, Page> pages_;  // by generation
  std::map<std::uint32_t, Use> users_;   // that have pages
  std::size_t schema_bytes_ = 0;
  std::size_t pending_ = 0;  // pages in no range

  std::unique_ptr<PageRange> range_;
  std::vector<Place> places_;  // of range_; the head's is never used
  std::size_t next_place_ = 1;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 0;
  std::unique_ptr<PageRange> retiring_;
  Nanos built_ = 0;
  Nanos next_build_ = 0;
};

}  // namespace pingloom::pages
