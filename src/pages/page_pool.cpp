#include "pages/page_pool.h"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "pages/memfd_page.h"

namespace pingloom::pages {
namespace {

tl::unexpected<Refused> refuse(Refusal reason, std::string text) {
  return tl::unexpected(Refused{reason, std::move(text)});
}

}  // namespace

Result<std::unique_ptr<PagePool>> PagePool::create(rdma::Device& device, std::uint64_t incarnation,
                                                   const PoolLimits& limits) {
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  std::unique_ptr<PagePool> made(new PagePool(std::move(*domain), incarnation, limits));
  if (auto status = made->build(); !status) return tl::unexpected(status.error());
  return made;
}

std::shared_ptr<const Owner> PagePool::addOwner(Owner owner) {
  owner.id = ++last_owner_;
  return std::make_shared<const Owner>(std::move(owner));
}

std::optional<Refused> PagePool::refusalFor(const Owner& owner) const {
  if (pages_.size() >= limits_.pages) {
    return Refused{Refusal::kQuota,
                   fmt::format("the host has its {} pages (pages: max_pages)", limits_.pages)};
  }
  const auto user = users_.find(owner.user);
  if (user != users_.end() && user->second.pages >= limits_.pages_per_user) {
    return Refused{Refusal::kQuota, fmt::format("user {} has its {} pages (max_pages_per_user)",
                                                owner.user, limits_.pages_per_user)};
  }
  return std::nullopt;
}

bool PagePool::hasRoomFor(const Page& page, std::size_t schema_bytes) const {
  const std::size_t of_user = kMaxSchemaTotal / limits_.pages * limits_.pages_per_user;
  return page.schema.bytes().size() + schema_bytes <= kMaxSchemaBytes &&
         schema_bytes_ + schema_bytes <= kMaxSchemaTotal &&
         users_.at(page.owner->user).schema_bytes + schema_bytes <= of_user;
}

Page& PagePool::add(std::shared_ptr<const Owner> owner, std::uint16_t flags) {
  ++users_[owner->user].pages;
  Page& page = pages_[++last_generation_];
  page.generation = last_generation_;
  page.owner = std::move(owner);
  page.flags = flags;
  return page;
}

Granted<PagePool::Grant> PagePool::grant(std::shared_ptr<const Owner> owner, std::uint16_t flags) {
  if (auto refused = refusalFor(*owner)) return tl::unexpected(std::move(*refused));
  Grant grant;
  if (freePlaces() > 0) {
    Page& page = add(std::move(owner), flags);
    page.place = next_place_++;
    Place& place = places_[page.place];
    place.generation = grant.generation = page.generation;
    grant.memfd = std::move(place.memfd);
    changed(page.place);
    return grant;
  }
  auto memfd = makeMemfdPage();
  if (!memfd) return refuse(Refusal::kUnavailable, memfd.error().reason);
  grant.memfd = UniqueFd(fcntl(memfd->get(), F_DUPFD_CLOEXEC, 0));
  if (!grant.memfd.valid()) return refuse(Refusal::kUnavailable, "no descriptors left");
  Page& page = add(std::move(owner), flags);
  page.memfd = std::move(*memfd);
  ++pending_;
  grant.generation = page.generation;
  return grant;
}

Granted<PagePool::Grant> PagePool::adopt(std::shared_ptr<const Owner> owner, std::uint16_t flags,
                                         UniqueFd memfd) {
  if (auto refused = refusalFor(*owner)) return tl::unexpected(std::move(*refused));
  if (!isMemfdPage(memfd.get())) {
    return refuse(Refusal::kNotAPage, "it is no sealed memfd of 4096 bytes");
  }
  Page& page = add(std::move(owner), flags);
  page.memfd = std::move(memfd);
  ++pending_;
  return Grant{page.generation, {}};
}

Granted<void> PagePool::define(std::uint64_t generation, std::span<const std::uint8_t> raw,
                               Nanos now) {
  Page& page = pages_.at(generation);
  const auto metric = page.schema.check(raw, now);
  if (!metric) return tl::unexpected(metric.error());
  if (!hasRoomFor(page, raw.size())) {
    return refuse(Refusal::kQuota, metric->name + ": the names and labels are too long together");
  }
  page.schema.add(*metric, raw);
  schema_bytes_ += raw.size();
  users_[page.owner->user].schema_bytes += raw.size();
  if (page.place != 0) changed(page.place);
  return {};
}

Granted<void> PagePool::remove(std::uint64_t generation, std::span<const std::uint8_t> raw,
                               Nanos now) {
  Page& page = pages_.at(generation);
  const auto had_slots = page.schema.remove(raw, now);
  if (!had_slots) return tl::unexpected(had_slots.error());
  schema_bytes_ -= raw.size();
  users_[page.owner->user].schema_bytes -= raw.size();
  if (page.place == 0) return {};
  changed(page.place);
  if (*had_slots) removal_version_ = version_;
  return {};
}

void PagePool::release(std::uint64_t generation) {
  const auto found = pages_.find(generation);
  const Page& page = found->second;
  if (page.place != 0) {
    places_[page.place].gone = true;
    changed(page.place);
    removal_version_ = version_;
  } else {
    --pending_;
  }
  const std::size_t schema_bytes = page.schema.bytes().size();
  schema_bytes_ -= schema_bytes;
  const auto user = users_.find(page.owner->user);
  user->second.schema_bytes -= schema_bytes;
  if (--user->second.pages == 0) users_.erase(user);
  pages_.erase(found);
}

void PagePool::advise(const std::function<std::uint32_t(std::uint64_t)>& keep_one_in) {
  for (const auto& [generation, page] : pages_) {
    if (page.place != 0) range_->setKeepOneIn(page.place, keep_one_in(page.owner->id));
  }
}

PageOwners PagePool::owners() const {
  std::map<std::uint64_t, PageOwner> by_id;  // ids are ascending
  for (const auto& [generation, page] : pages_) {
    PageOwner& owner = by_id[page.owner->id];
    if (owner.pages++ == 0) {
      owner.application = page.owner->application;
      owner.process = page.owner->process;
      owner.user = page.owner->user;
    }
    owner.metrics += static_cast<std::uint32_t>(page.schema.metrics());
  }
  PageOwners owners;
  for (auto& [id, owner] : by_id) {
    if (owners.owners.size() < PageOwners::kMax) {
      owners.owners.push_back(std::move(owner));
    } else {
      ++owners.left_out;
    }
  }
  return owners;
}

void PagePool::changed(std::size_t place) {
  places_[place].version = ++version_;
  range_->setDirectory(version_);
}

bool PagePool::wantsRange() const {
  // A fresh range is created early, so that a grant usually finds a free place.
  return pending_ > 0 || freePlaces() < kSparePlaces / 4;
}

Nanos PagePool::nextWake() const {
  // There is no third range while the previous one is still being read.
  return wantsRange() && !retiring() ? next_build_ : std::numeric_limits<Nanos>::max();
}

Status PagePool::work(Nanos now) {
  if (now < nextWake()) return {};
  next_build_ = now + kBuildInterval;
  if (auto status = build(); !status) return status;
  built_ = now;
  return {};
}

Status PagePool::fill(PageRange& range, std::size_t place, Place& free) {
  auto memfd = makeMemfdPage();
  if (!memfd) return tl::unexpected(memfd.error());
  free.memfd = std::move(*memfd);
  return range.map(place, free.memfd.get());
}

Status PagePool::build() {
  const std::size_t count = 1 + 2 * pages_.size() + kSparePlaces;
  auto made = PageRange::reserve(count);
  if (!made) return tl::unexpected(made.error());
  PageRange& fresh = **made;
  std::vector<Place> places(count);
  std::size_t next = 1;
  Status status;
  for (const auto& [generation, page] : pages_) {
    status = page.place != 0 ? fresh.share(next, *range_, page.place)
                             : fresh.map(next, page.memfd.get());
    if (!status) return status;
    places[next++] = Place{generation, ++version_, false, {}};
  }
  for (std::size_t place = next; place < count; ++place) {
    if (status = fill(fresh, place, places[place]); !status) return status;
  }
  if (status = fresh.registerWith(*domain_); !status) return status;

  // Nothing below can fail.
  std::size_t at = 1;
  for (auto& [generation, page] : pages_) {
    page.place = at++;
    page.memfd.reset();
  }
  pending_ = 0;
  places_ = std::move(places);
  next_place_ = next;
  RangeHead head;
  head.state = static_cast<std::uint16_t>(RangeState::kServing);
  head.incarnation = incarnation_;
  head.epoch = ++epoch_;
  head.directory = version_;
  head.pages = static_cast<std::uint32_t>(count);
  fresh.setHead(head);
  if (range_ != nullptr) range_->setMoved();
  retiring_ = std::move(range_);
  range_ = std::move(*made);
  return {};
}

std::vector<PagePool::Change> PagePool::changesSince(std::uint64_t since) const {
  std::vector<Change> changes;
  for (std::size_t place = 1; place < next_place_; ++place) {
    const Place& one = places_[place];
    if (one.version <= since) continue;
    changes.push_back({place, one.version, one.gone ? nullptr : &pages_.at(one.generation)});
  }
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.version < b.version; });
  return changes;
}

}  // namespace pingloom::pages
