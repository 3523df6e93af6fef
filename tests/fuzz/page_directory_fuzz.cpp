// What an agent says of its pages, and whatever its applications have written in them: a collector
// refuses it or shows it. The input: a length (u16), a Directory of so many bytes, the pages'
// memory.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "collector/board.h"
#include "collector/exposition.h"
#include "collector/metrics_protobuf.h"
#include "collector/page_directory.h"
#include "collector/read_plan.h"
#include "common/metrics_text.h"
#include "directory_input.h"
#include "pages/exemplar_rules.h"

namespace {

// By this time exemplars of the first minutes of 1970 are shown.
constexpr pingloom::Nanos kUtc = pingloom::kMinute;

// Makes the checksums of a page's exemplars right, as an application does that writes other
// nonsense there. Where a checksum is 0 it stays.
void addChecksums(pingloom::collector::PageView& page) {
  for (const auto& metric : page.info->schema) {
    const std::size_t end = metric.first_slot + metric.allSlots();
    for (std::size_t at = metric.first_slot + metric.slots; at < end;
         at += PINGLOOM_EXEMPLAR_SLOTS) {
      pingloom_exemplar exemplar;
      std::memcpy(&exemplar, &page.values[at], sizeof exemplar);
      if (exemplar.checksum != 0) page.values[at] = pingloom::pages::checksumOf(exemplar);
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace pingloom;
  using namespace pingloom::collector;
  auto input = fuzz::readDirectoryInput({data, size});
  if (!input) return 0;
  wire::Directory& update = input->update;
  PageDirectory directory;
  if (!directory.apply(update)) return 0;
  update.set_complete(false);
  if (!directory.apply(update)) std::abort();  // the same again, as a difference

  const std::uint8_t* values = input->rest.data();
  const std::size_t words = input->rest.size() / sizeof(std::uint64_t);
  AgentView agent;
  agent.host = "host";
  agent.interval = kSecond;
  std::vector<const PageInfo*> pages;
  FamilyNames names;
  for (const auto& [place, info] : directory.byPlace()) {
    if (place == 0 || place >= directory.pages() || info->slots > PINGLOOM_PAGE_SLOTS) std::abort();
    pages.push_back(info.get());
    PageView page;
    setInfo(agent, page, info, names);
    page.state = PageState::kFresh;
    page.read = kSecond;
    page.slots = static_cast<std::uint32_t>(info->slots);
    page.values.resize(info->slots);
    for (std::size_t i = 0; i < page.values.size() && words > 0; ++i) {
      std::memcpy(&page.values[i], values + i % words * sizeof(std::uint64_t),
                  sizeof(std::uint64_t));
    }
    addChecksums(page);
    agent.pages.push_back(std::move(page));
  }
  const std::uint64_t end = std::uint64_t{directory.pages()} * PINGLOOM_PAGE_BYTES;
  for (const Segment& segment : planReads(pages)) {
    if (segment.offset + segment.length > end || segment.length > kMaxReadBytes) std::abort();
  }
  Exposition binary([] { return std::make_unique<MetricsProtobuf>(); }, true, kUtc);
  binary.add(agent, kSecond);
  static_cast<void>(binary.take());
  for (const MetricsFormat format : {MetricsFormat::kPrometheus, MetricsFormat::kOpenMetrics}) {
    Exposition exposition([format] { return std::make_unique<MetricsText>(format); }, true, kUtc);
    exposition.add(agent, kSecond);
    // A line is a comment or a sample; what applications say adds none.
    const std::string text = exposition.take();
    for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
      const char c = text[at];
      if (c != '#' && c != '_' && c != ':' && !(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z')) {
        std::abort();
      }
    }
  }
  return 0;
}
