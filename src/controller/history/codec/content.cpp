#include "controller/history/codec/content.h"

#include <optional>

namespace pingloom::controller {

bool ContentReader::open(std::string_view content) {
  blocks_ = 0;
  pairs_ = 0;
  budget_ = kMaxContentBytes;
  std::optional<IpAddress> last;
  do {
    if (blocks_ == kMaxBlocks) return false;
    if (blocks_ == readers_.size()) readers_.push_back(std::make_unique<BlockReader>(&budget_));
    BlockReader& reader = *readers_[blocks_];
    if (!reader.open(content) || reader.head() != head()) return false;
    const plan::AddressList& destinations = reader.destinations();
    if (!destinations.empty()) {
      if (last && destinations.front() < *last) return false;
      last = destinations.back();
    }
    pairs_ += destinations.size();
    if (pairs_ > kMaxContentPairs) return false;
    ++blocks_;
    content = reader.rest();
  } while (!content.empty());
  return true;
}

bool ContentReader::readAll() {
  for (std::size_t at = 0; at < blocks_; ++at) {
    if (!readers_[at]->readAll()) return false;
  }
  return true;
}

bool ContentReader::hasDestinations(const plan::AddressList& destinations) const {
  if (destinations.size() != pairs_) return false;
  auto from = destinations.begin();
  for (std::size_t at = 0; at < blocks_; ++at) {
    const plan::AddressList& some = readers_[at]->destinations();
    if (!std::equal(some.begin(), some.end(), from)) return false;
    from += static_cast<std::ptrdiff_t>(some.size());
  }
  return true;
}

plan::AddressList ContentReader::destinations() const {
  plan::AddressList all;
  all.reserve(pairs_);
  for (std::size_t at = 0; at < blocks_; ++at) {
    const plan::AddressList& some = readers_[at]->destinations();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace pingloom::controller
