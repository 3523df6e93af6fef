#include "collector/page_reader.h"

#include <algorithm>
#include <cstring>
#include <span>

namespace pingloom::collector {
namespace {

std::span<std::uint8_t> bytesOf(std::vector<pingloom_page_header>& headers) {
  return {reinterpret_cast<std::uint8_t*>(headers.data()),
          headers.size() * sizeof(pingloom_page_header)};
}

// A silent agent counts as gone after half a second.
constexpr std::uint8_t kTimeout = 14;  // 67 ms

}  // namespace

Result<std::unique_ptr<PageReader>> PageReader::create(rdma::Device& device) {
  auto domain = device.createDomain();
  if (!domain) return tl::unexpected(domain.error());
  std::unique_ptr<PageReader> made(new PageReader(std::move(*domain)));
  rdma::RcOptions options;
  options.timeout = kTimeout;
  options.depth = kDepth;
  auto endpoint = made->domain_->createRc(options);
  if (!endpoint) return tl::unexpected(endpoint.error());
  made->endpoint_ = std::move(*endpoint);
  return made;
}

Status PageReader::follow(const PageDirectory& directory) {
  pages_.clear();
  std::vector<const PageInfo*> wanted;
  grouped_.clear();
  useful_ = 0;
  for (const auto& [place, info] : directory.byPlace()) {
    if (info->schema.empty()) continue;
    if (info->grouped) grouped_.push_back(pages_.size());
    pages_.push_back(info);
    wanted.push_back(info.get());
    useful_ += info->slots * sizeof(std::uint64_t);
  }
  torn_.assign(pages_.size(), false);
  plan_ = planReads(wanted);
  epoch_ = directory.epoch();
  remote_ = directory.address();
  rkey_ = directory.rkey();

  const auto enlarge = [this](auto& memory, std::size_t size, auto bytes,
                              std::unique_ptr<rdma::MemoryRegion>& region) -> Status {
    if (region != nullptr && memory.size() >= size) return {};
    region.reset();
    memory.resize(std::max<std::size_t>(size, 1));
    auto made = domain_->registerMemory(bytes(memory), rdma::Access::kNone);
    if (!made) return tl::unexpected(made.error());
    region = std::move(*made);
    return {};
  };
  const auto raw = [](std::vector<std::uint8_t>& memory) { return std::span(memory); };
  const std::size_t last = pages_.empty() ? 0 : pages_.back()->place;
  auto status = enlarge(copy_, (last + 1) * PINGLOOM_PAGE_BYTES, raw, copy_region_);
  if (status) status = enlarge(before_, grouped_.size(), bytesOf, before_region_);
  if (status) status = enlarge(after_, grouped_.size(), bytesOf, after_region_);
  return status;
}

void PageReader::begin(Nanos now) {
  torn_.assign(pages_.size(), false);
  wanted_.resize(grouped_.size());
  for (std::size_t i = 0; i < wanted_.size(); ++i) wanted_[i] = i;
  try_ = 0;
  enter(grouped_.empty() ? Phase::kPages : Phase::kBefore);
  postSome(now);
}

void PageReader::readHeaders(std::vector<pingloom_page_header>& into) {
  const rdma::MemoryRegion* region = (&into == &before_ ? before_region_ : after_region_).get();
  for (const std::size_t i : wanted_) {
    const std::uint64_t offset = std::uint64_t{pages_[grouped_[i]]->place} * PINGLOOM_PAGE_BYTES;
    const auto to =
        bytesOf(into).subspan(i * sizeof(pingloom_page_header), sizeof(pingloom_page_header));
    reads_.push_back({offset, {region, to}, 0});
  }
}

void PageReader::enter(Phase phase) {
  phase_ = phase;
  reads_.clear();
  posted_ = done_ = 0;
  const auto read = [this](const Segment& segment) {
    const auto to = std::span(copy_).subspan(segment.offset, segment.length);
    reads_.push_back({segment.offset, {copy_region_.get(), to}, 0});
  };
  switch (phase) {
    case Phase::kIdle:
      break;
    case Phase::kBefore:
      readHeaders(before_);
      break;
    case Phase::kPages:
      if (try_ == 0) {
        for (const Segment& segment : plan_) read(segment);
        counters_.useful_bytes += useful_;
        break;
      }
      for (const std::size_t i : wanted_) {
        const PageInfo& page = *pages_[grouped_[i]];
        read({std::uint64_t{page.place} * PINGLOOM_PAGE_BYTES,
              static_cast<std::uint32_t>(usedBytes(page))});
      }
      break;
    case Phase::kAfter:
      readHeaders(after_);
      break;
  }
}

void PageReader::postSome(Nanos now) {
  bool any = false;
  for (; posted_ < reads_.size(); ++posted_) {
    Read& read = reads_[posted_];
    rdma::RcRequest request;
    request.id = posted_;
    request.local = {&read.to, 1};
    request.remote_address = remote_ + read.offset;
    request.rkey = rkey_;
    if (endpoint_->post(request) != rdma::PostResult::kPosted) break;
    read.posted = now;
    any = true;
  }
  if (any) endpoint_->flush();
}

void PageReader::take(const rdma::RcDone& done, Nanos now) {
  if (done.id >= reads_.size() || done.status != rdma::RcStatus::kOk) return;
  const Read& read = reads_[done.id];
  const auto took = static_cast<std::uint64_t>(std::max<Nanos>(now - read.posted, 0));
  ++done_;
  ++counters_.reads;
  counters_.bytes += read.to.memory.size();
  counters_.latency_sum += took;
  ++counters_.latency[pingloom_histogram_bucket(ReadCounters::kLatencyShape, took)];
}

Result<bool> PageReader::poll(Nanos now) {
  events_.clear();
  if (auto polled = endpoint_->poll(events_); !polled) return tl::unexpected(polled.error());
  for (const rdma::RcDone& done : events_.done) take(done, now);
  if (phase_ == Phase::kIdle) return false;
  if (done_ == reads_.size() && phaseEnded()) return true;
  postSome(now);
  return false;
}

bool PageReader::phaseEnded() {
  switch (phase_) {
    case Phase::kBefore:
      enter(Phase::kPages);
      return false;
    case Phase::kPages:
      if (!grouped_.empty()) {
        enter(Phase::kAfter);
        return false;
      }
      break;
    case Phase::kAfter:
      judge();
      if (!wanted_.empty() && ++try_ < kTries) {
        counters_.torn_retries += wanted_.size();
        enter(Phase::kBefore);
        return false;
      }
      for (const std::size_t i : wanted_) torn_[grouped_[i]] = true;
      break;
    case Phase::kIdle:
      break;
  }
  phase_ = Phase::kIdle;
  return true;
}

// Keeps those pages in wanted_ that were written while they were read.
void PageReader::judge() {
  std::erase_if(wanted_, [this](std::size_t i) {
    const std::uint64_t sequence = before_[i].sequence;
    return sequence % 2 == 0 && sequence == after_[i].sequence;
  });
}

const pages::RangeHead& PageReader::head() const {
  return *reinterpret_cast<const pages::RangeHead*>(copy_.data());
}

const pingloom_page& PageReader::page(std::uint32_t place) const {
  return reinterpret_cast<const pingloom_page*>(copy_.data())[place];
}

}  // namespace pingloom::collector
