// The host's metric pages: their owners, and the range in which peers read them.
// Each page has its own place in a range (page_range.h). A place is never reused, because a former
// owner's mapping cannot be revoked. When the places run out, or there are pages in no range, a
// fresh range takes over all pages in use. The old range stays readable until its readers have
// moved. The directory lists the pages and their places; its version grows with every change and is
// stored in the range's head. One thread.
// Bounds: PoolLimits::pages pages, and pages_per_user for each user; kMaxSchemaTotal bytes of
// schemas, of which a user may use the same share; two ranges with twice as many pages plus
// kSparePlaces each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/fd.h"
#include "common/page_owner.h"
#include "common/pod.h"
#include "common/time.h"
#include "pages/page_range.h"
#include "pages/page_schema.h"
#include "pages/registration.h"
#include "pages/schema.h"
#include "rdma/device.h"

namespace pingloom::pages {

struct Owner {
  std::uint64_t id = 0;  // unique for the agent, also across restarts
  std::string application;
  Labels labels;
  std::uint32_t user = 0;  // the user id that the kernel reports
  std::uint32_t process = 0;
  Pod pod;  // without a uid if it is in none
  // Whether application and process do not identify the owner: an earlier owner has the same ones,
  // or the owner is in another pid namespace and `process` is 0. It never changes, so that a series
  // of metrics always belongs to the same owner.
  bool namesake = false;
};

struct Page {
  std::shared_ptr<const Owner> owner;
  std::uint64_t generation = 0;
  std::uint16_t flags = 0;
  std::size_t place = 0;  // place in the range; 0 if the page is in none yet
  UniqueFd memfd;         // set while the page is in no range
  PageSchema schema;
};

struct PoolLimits {
  std::size_t pages = 4096;
  std::size_t pages_per_user = 2048;
};

class PagePool {
 public:
  static constexpr std::size_t kMaxSchemaTotal = 64U << 20;
  static constexpr Nanos kBuildInterval = 100 * kMillisecond;  // minimum time between two ranges
  static constexpr std::size_t kSparePlaces = 64;  // minimum number of free places in a fresh range

  // Creates a protection domain of the device for the pool's ranges. REQUIRES: the device outlives
  // the pool.
  static Result<std::unique_ptr<PagePool>> create(rdma::Device& device, std::uint64_t incarnation,
                                                  const PoolLimits& limits);

  std::shared_ptr<const Owner> addOwner(Owner owner);  // assigns the id

  struct Grant {
    std::uint64_t generation = 0;
    UniqueFd memfd;  // for the owner; invalid for an adopted page
  };
  Granted<Grant> grant(std::shared_ptr<const Owner> owner, std::uint16_t flags);
  Granted<Grant> adopt(std::shared_ptr<const Owner> owner, std::uint16_t flags, UniqueFd memfd);
  Granted<void> define(std::uint64_t generation, std::span<const std::uint8_t> metric, Nanos now);
  // Takes a metric out of the page's schema; page_schema.h says what becomes of its slots.
  Granted<void> remove(std::uint64_t generation, std::span<const std::uint8_t> metric, Nanos now);
  // Releases the page. Its place stays unchanged and is not reused.
  void release(std::uint64_t generation);

  // Creates a fresh range if one is needed. After an error the next call tries again.
  Status work(Nanos now);
  Nanos nextWake() const;  // INT64_MAX if there is nothing to do

  // The domain in which the readers of the ranges need their endpoints.
  rdma::Domain& domain() { return *domain_; }
  const PageRange& range() const { return *range_; }
  std::uint64_t epoch() const { return epoch_; }
  std::uint64_t directoryVersion() const { return version_; }
  // The version at which slots or pages were last taken from readers. The memory is given to other
  // metrics later, so no reader may go on with an older version for long.
  std::uint64_t removalVersion() const { return removal_version_; }
  const PoolLimits& limits() const { return limits_; }
  std::size_t livePages() const { return pages_.size(); }
  PageOwners owners() const;  // the owners that have a page
  // Writes into each page in the range what `keep_one_in` returns for its owner's id.
  void advise(const std::function<std::uint32_t(std::uint64_t)>& keep_one_in);

  // The previous range, as long as it can still be read, and the time at which it was superseded.
  bool retiring() const { return retiring_ != nullptr; }
  Nanos retiringSince() const { return built_; }
  void retire() { retiring_.reset(); }  // its rkey becomes invalid

  struct Change {
    std::size_t place = 0;
    std::uint64_t version = 0;
    const Page* page = nullptr;  // nullptr if it was released
  };
  // Returns this range's changes after the version `since`, in order. The directory does not
  // contain pages that are in no range.
  std::vector<Change> changesSince(std::uint64_t since) const;

 private:
  struct Place {
    std::uint64_t generation = 0;  // 0 if the place is free
    std::uint64_t version = 0;     // the directory's version at the last change
    bool gone = false;
    UniqueFd memfd;  // set while the place is free
  };

  struct Use {  // what a user occupies
    std::size_t pages = 0;
    std::size_t schema_bytes = 0;
  };

  PagePool(std::unique_ptr<rdma::Domain> domain, std::uint64_t incarnation,
           const PoolLimits& limits)
      : domain_(std::move(domain)),
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

  std::unique_ptr<rdma::Domain> domain_;  // destroyed after the ranges
  const std::uint64_t incarnation_;
  const PoolLimits limits_;
  // The id distinguishes series, so a restarted agent must not reuse an earlier id. It starts from
  // the incarnation, which is UTC in nanoseconds and grows faster than owners can register.
  std::uint64_t last_owner_;
  std::uint64_t last_generation_ = 0;
  std::map<std::uint64_t, Page> pages_;  // keyed by generation
  std::map<std::uint32_t, Use> users_;   // the users that have pages
  std::size_t schema_bytes_ = 0;
  std::size_t pending_ = 0;  // number of pages in no range

  std::unique_ptr<PageRange> range_;
  std::vector<Place> places_;  // places of range_; the head's own is never used
  std::size_t next_place_ = 1;
  std::uint64_t epoch_ = 0;
  std::uint64_t version_ = 0;
  std::uint64_t removal_version_ = 0;
  std::unique_ptr<PageRange> retiring_;
  Nanos built_ = 0;
  Nanos next_build_ = 0;
};

}  // namespace pingloom::pages
