#include "wire/published_dta.h"

#include <array>

#include "wire/big_endian.h"

namespace pingloom::wire {
namespace {

constexpr std::size_t kShortBase = 2;  // opcode, flags
constexpr std::size_t kLongBase = 3;   // opcode, sequence, flags
constexpr std::size_t kPublishedKeyBytes = 4;

// Where key and value are behind the base header. The hop of a postcard is between them.
struct PublishedLayout {
  std::uint8_t key;
  std::uint8_t value;
  std::uint8_t value_bytes;
};
struct PublishedForm {
  ReportOperation operation;
  PublishedLayout layout;
};
constexpr auto kPublishedForms = std::to_array<PublishedForm>({
    {ReportOperation::kKeyWrite, {1, 5, 4}},
    {ReportOperation::kKeyWrite, {1, 5, 12}},
    {ReportOperation::kKeyWrite, {1, 5, 28}},
    {ReportOperation::kAppend, {0, 4, 4}},
    {ReportOperation::kKeyIncrement, {1, 5, 8}},
    {ReportOperation::kPostcard, {0, 5, 4}},
});

const PublishedLayout* layoutFor(ReportOperation operation, std::size_t body) {
  for (const PublishedForm& form : kPublishedForms) {
    const std::size_t bytes = std::size_t{form.layout.value} + form.layout.value_bytes;
    if (form.operation == operation && bytes == body) return &form.layout;
  }
  return nullptr;
}

ReportRefusal fill(ReportOperation operation, const PublishedLayout& layout,
                   std::span<const std::uint8_t> body, ReportItem& out) {
  out = {};
  out.operation = operation;
  out.key = body.subspan(layout.key, kPublishedKeyBytes);
  out.value = body.subspan(layout.value, layout.value_bytes);
  if (operation == ReportOperation::kKeyIncrement &&
      loadBe64(out.value.data()) > kMaxReportIncrement) {
    return ReportRefusal::kIncrement;
  }
  if (operation == ReportOperation::kPostcard) {
    const std::uint8_t number = body[kPublishedKeyBytes];  // counts from 1
    if (number == 0) return ReportRefusal::kHop;
    out.hop = static_cast<std::uint8_t>(number - 1);
  }
  return ReportRefusal::kNone;
}

}  // namespace

ReportRefusal parsePublished(std::span<const std::uint8_t> packet, PublishedReport& out) {
  if (packet.size() < kLongBase) return ReportRefusal::kLength;
  if (packet[0] < 1 || packet[0] > kReportOperations) return ReportRefusal::kOperation;
  const auto operation = static_cast<ReportOperation>(packet[0]);
  out.sequence.reset();
  std::size_t base = kShortBase;
  const PublishedLayout* layout = layoutFor(operation, packet.size() - kShortBase);
  if (layout == nullptr) {
    base = kLongBase;
    layout = layoutFor(operation, packet.size() - kLongBase);
    out.sequence = packet[1];
  }
  if (layout == nullptr) return ReportRefusal::kLength;
  return fill(operation, *layout, packet.subspan(base), out.report);
}

}  // namespace pingloom::wire
