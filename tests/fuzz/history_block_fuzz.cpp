// Each block of a content that is accepted has as many samples as it says, ascending; a section
// without the checksum around it likewise.
#include <algorithm>
#include <cstdlib>

#include "controller/history/codec/content.h"

namespace {

using namespace pingloom::controller;

void checkRuns(std::span<const Run> runs, std::uint64_t count) {
  if (countOf(runs) != count) std::abort();
  const auto before = [](const Run& a, const Run& b) { return a.value < b.value; };
  if (!std::is_sorted(runs.begin(), runs.end(), before)) std::abort();
  const pingloom::Summary summary = summaryOf(runs);
  if (summary.p50 > summary.p95 || summary.p99 > summary.max) std::abort();
}

void checkPairs(BlockReader& block) {
  Row row;
  for (std::size_t pair = 0; pair < block.destinations().size(); ++pair) {
    block.counts(pair, row);
    for (std::size_t part = 0; part < kRowParts.size(); ++part) {
      checkRuns(block.samples(part, pair), block.sampleCount(part, pair));
    }
  }
}

void checkContent(std::string_view bytes) {
  static ContentReader content;
  if (!content.open(bytes) || !content.readAll()) return;
  for (std::size_t at = 0; at < content.blocks(); ++at) checkPairs(content.block(at));
}

void checkSection(std::string_view bytes) {
  if (bytes.empty()) return;
  const auto pairs = static_cast<std::size_t>(static_cast<unsigned char>(bytes.front()));
  PartReader part;
  if (part.read(bytes.substr(1), pairs)) {
    for (std::size_t pair = 0; pair < pairs; ++pair) checkRuns(part.of(pair), part.count(pair));
  }
  CountReader counts;
  Row row;
  if (counts.read(bytes.substr(1), pairs) && pairs > 0) counts.fill(pairs - 1, row);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  checkContent(bytes);
  checkSection(bytes);
  return 0;
}
