// What a collector reads of an agent's range, round by round: every READ lies within the range and
// goes where there is room for it, a round ends, and what it shows of a page is no more than the
// page's schema says and no other page's. The input: a length (u16), a Directory of so many bytes,
// and what is written into the range while it is read. Each such piece is how many READs go before
// it (u8), the page (u8), the offset in it (u16), its length (u8), and its bytes. A page that is
// not written to has the header that it should.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "collector/page_judge.h"
#include "collector/page_reader.h"
#include "directory_input.h"
#include "plain_device.h"

namespace {

using namespace pingloom;
using namespace pingloom::collector;

constexpr std::uint32_t kMaxPages = 64;  // of a range: memory, and time
constexpr std::uint64_t kIncarnation = 7;
constexpr int kRounds = 3;

void demand(bool holds) {
  if (!holds) std::abort();
}

// The agent's memory, and those who write to it.
class Range {
 public:
  Range(const PageDirectory& directory, std::span<const std::uint8_t> written)
      : base_(directory.address()),
        bytes_(std::size_t{directory.pages()} * PINGLOOM_PAGE_BYTES),
        written_(written) {
    pages::RangeHead head;
    head.state = static_cast<std::uint16_t>(pages::RangeState::kServing);
    head.incarnation = kIncarnation;
    head.epoch = directory.epoch();
    head.pages = directory.pages();
    std::memcpy(bytes_.data(), &head, sizeof head);
    for (const auto& [place, info] : directory.byPlace()) {
      pingloom_page_header header{};
      header.magic = PINGLOOM_PAGE_MAGIC;
      header.version = PINGLOOM_PAGE_VERSION;
      header.generation = info->generation;
      header.slots = static_cast<std::uint32_t>(info->slots);
      std::memcpy(bytes_.data() + std::size_t{place} * PINGLOOM_PAGE_BYTES, &header, sizeof header);
    }
  }
  void read(std::uint64_t address, std::span<std::uint8_t> to) {
    const std::uint64_t offset = address - base_;
    demand(offset <= bytes_.size() && to.size() <= bytes_.size() - offset);
    std::memcpy(to.data(), bytes_.data() + offset, to.size());
    write();
  }

 private:
  void write() {
    constexpr std::size_t kPieceHead = 5;
    while (written_.size() > kPieceHead && reads_ >= written_[0]) {
      const std::size_t place = written_[1] % (bytes_.size() / PINGLOOM_PAGE_BYTES);
      const std::size_t within =
          (written_[2] | static_cast<std::size_t>(written_[3]) << 8) % PINGLOOM_PAGE_BYTES;
      const std::size_t length = std::min<std::size_t>(
          {written_[4], written_.size() - kPieceHead, PINGLOOM_PAGE_BYTES - within});
      std::memcpy(bytes_.data() + place * PINGLOOM_PAGE_BYTES + within,
                  written_.data() + kPieceHead, length);
      written_ = written_.subspan(kPieceHead + length);
      reads_ = 0;
    }
    ++reads_;
  }

  const std::uint64_t base_;
  std::vector<std::uint8_t> bytes_;
  std::span<const std::uint8_t> written_;
  unsigned reads_ = 0;  // since the last piece
};

class Endpoint : public fuzz::PlainEndpoint {
 public:
  explicit Endpoint(Range*& range) : range_(range) {}
  rdma::PostResult post(const rdma::RcRequest& request) override {
    if (posted_.size() >= PageReader::kDepth) return rdma::PostResult::kFull;
    demand(request.local.size() == 1);
    posted_.push_back({request.id, request.remote_address, request.local[0]});
    return rdma::PostResult::kPosted;
  }
  Status poll(rdma::RcEvents& events) override {
    events.clear();
    for (const Posted& one : posted_) {
      const auto within = one.to.region->memory();
      const auto to = one.to.memory;
      demand(to.data() >= within.data() && to.data() + to.size() <= within.data() + within.size());
      range_->read(one.address, to);
      events.done.push_back({one.id, rdma::RcStatus::kOk});
    }
    posted_.clear();
    return {};
  }

 private:
  struct Posted {
    std::uint64_t id = 0;
    std::uint64_t address = 0;
    rdma::LocalPiece to;
  };
  Range*& range_;
  std::vector<Posted> posted_;
};

class Domain : public fuzz::PlainDomain {
 public:
  explicit Domain(Range*& range) : range_(range) {}
  Result<std::unique_ptr<rdma::RcEndpoint>> createRc(const rdma::RcOptions&) override {
    return std::make_unique<Endpoint>(range_);
  }

 private:
  Range*& range_;
};

class Device : public fuzz::PlainDevice {
 public:
  Result<std::unique_ptr<rdma::Domain>> createDomain() override {
    return std::make_unique<Domain>(range);
  }
  Range* range = nullptr;
};

void check(const PageView& page) {
  const PageInfo& info = *page.info;
  demand(page.values.size() == page.slots && page.slots <= info.slots);
  demand(page.slots <= PINGLOOM_PAGE_SLOTS);
  const bool read = page.state == PageState::kFresh || page.state == PageState::kStale;
  demand(!read || page.read != 0);
  demand(page.state != PageState::kTorn || info.grouped);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = fuzz::readDirectoryInput({data, size});
  if (!input || input->update.pages() > kMaxPages) return 0;
  PageDirectory directory;
  if (!directory.apply(input->update)) return 0;

  Range range(directory, input->rest);
  Device device;
  device.range = &range;
  auto reader = std::move(*PageReader::create(device));
  demand(reader->connect({}).has_value() && reader->follow(directory).has_value());
  AgentCounters counters;
  PageJudge judge(counters);
  judge.follow(reader->followed());
  std::vector<PageView> shown(reader->followed().size());
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i].info = reader->followed()[i];
  for (int round = 1; round <= kRounds; ++round) {
    const Nanos now = round * 3 * kSecond;  // a page without a heartbeat is stale in the last one
    reader->begin(now);
    // Pages, and headers before and after, as often as a torn page is read.
    const std::size_t most = PageReader::kTries * 3 * (shown.size() / PageReader::kDepth + 2);
    std::size_t polls = 0;
    while (!*reader->poll(now)) demand(++polls <= most);
    judgeHead(reader->head(), kIncarnation, directory.epoch());
    for (std::size_t i = 0; i < shown.size(); ++i) {
      judge.show(shown[i], reader->page(shown[i].info->place), reader->torn(i), now);
      check(shown[i]);
    }
  }
  return 0;
}
