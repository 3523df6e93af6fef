#include "controller/model/batch_frame.h"

#include <optional>

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxHeadBytes = 4096;
constexpr std::uint32_t kLengthDelimited = 2;

constexpr std::uint32_t tagOf(int field, std::uint32_t wire_type) {
  return (static_cast<std::uint32_t>(field) << 3) | wire_type;
}

// Iterates over the fields of a serialized message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    std::uint32_t tag = 0;
    std::uint64_t number = 0;  // value of a varint
    std::string_view content;  // contents of a length-delimited field
    std::string_view whole;    // the field including its tag
  };

  bool ended() const { return rest_.empty(); }
  // Returns nullopt if the message is malformed.
  std::optional<Field> next() {
    const std::string_view before = rest_;
    Field field;
    std::uint64_t tag = 0;
    if (!varint(tag) || tag > UINT32_MAX) return std::nullopt;
    field.tag = static_cast<std::uint32_t>(tag);
    if (!content(field)) return std::nullopt;
    field.whole = before.substr(0, before.size() - rest_.size());
    return field;
  }

 private:
  bool content(Field& field) {
    switch (field.tag & 7U) {
      case 0:
        return varint(field.number);
      case 1:
        return skip(8);
      case kLengthDelimited: {
        std::uint64_t length = 0;
        if (!varint(length) || length > rest_.size()) return false;
        field.content = rest_.substr(0, length);
        return skip(length);
      }
      case 5:
        return skip(4);
      default:
        return false;  // groups are not supported
    }
  }

  bool skip(std::uint64_t bytes) {
    if (bytes > rest_.size()) return false;
    rest_.remove_prefix(bytes);
    return true;
  }

  bool varint(std::uint64_t& out) {
    out = 0;
    for (std::size_t i = 0; i < 10 && i < rest_.size(); ++i) {
      const auto byte = static_cast<unsigned char>(rest_[i]);
      out |= std::uint64_t{byte & 0x7fU} << (7 * i);
      if (byte < 0x80) {
        rest_.remove_prefix(i + 1);
        return true;
      }
    }
    return false;
  }

  std::string_view rest_;
};

constexpr std::uint32_t kBatchTag = tagOf(wire::AgentMessage::kBatchFieldNumber, kLengthDelimited);
constexpr std::uint32_t kLiveTag = tagOf(wire::AgentMessage::kLiveFieldNumber, kLengthDelimited);
constexpr std::uint32_t kIncarnationTag = tagOf(wire::Batch::kIncarnationFieldNumber, 0);
constexpr std::uint32_t kSequenceTag = tagOf(wire::Batch::kSequenceFieldNumber, 0);
constexpr std::uint32_t kReportTag = tagOf(wire::Batch::kReportsFieldNumber, kLengthDelimited);
constexpr std::uint32_t kRowTag = tagOf(wire::Report::kRowsFieldNumber, kLengthDelimited);

}  // namespace

BatchKind batchKind(std::string_view frame) {
  if (frame.empty()) return BatchKind::kNone;
  const auto first = static_cast<unsigned char>(frame.front());
  if (first == kBatchTag) return BatchKind::kBatch;
  return first == kLiveTag ? BatchKind::kLive : BatchKind::kNone;
}

Result<BatchParts> splitBatch(std::string_view frame) {
  Fields outer(frame);
  const auto batch = outer.next();
  if (batchKind(frame) == BatchKind::kNone || !batch || !outer.ended()) {
    return makeError("batch", "the frame is malformed");
  }
  BatchParts parts;
  for (Fields fields(batch->content); !fields.ended();) {
    const auto field = fields.next();
    if (!field) {
      parts.fault = "the batch is malformed";
      break;
    }
    if (field->tag == kIncarnationTag) parts.id.incarnation = field->number;
    if (field->tag == kSequenceTag) parts.id.sequence = field->number;
    if (field->tag != kReportTag) continue;
    if (parts.reports.size() < kMaxReportsInBatch) {
      parts.reports.push_back(field->content);
    } else {
      parts.fault = "the batch has too many reports";
    }
  }
  if (parts.id.incarnation == 0 || parts.id.incarnation > wire::kMaxIncarnation ||
      parts.id.sequence == 0 || parts.id.sequence > wire::kMaxSequence) {
    return makeError("batch",
                     parts.fault.empty() ? "incarnation or sequence out of range" : "is malformed");
  }
  return parts;
}

Status ReportView::read(std::string_view report) {
  rows_.clear();
  head_bytes_.clear();
  for (Fields fields(report); !fields.ended();) {
    const auto field = fields.next();
    if (!field) return makeError("report", "is malformed");
    if (field->tag == kRowTag) {
      rows_.push_back(field->content);
      continue;
    }
    head_bytes_ += field->whole;
    if (head_bytes_.size() > kMaxHeadBytes) return makeError("report", "its head is too long");
  }
  if (!head_.ParseFromString(head_bytes_)) return makeError("report", "its head is malformed");
  return {};
}

Result<const wire::RowView*> ReportView::row(std::size_t index) {
  const std::string_view bytes = rows_[index];
  const wire::RowView* const row = bytes.size() <= kMaxRowBytes ? row_reader_.read(bytes) : nullptr;
  if (row == nullptr) return makeError("report", "a row is malformed");
  return row;
}

}  // namespace pingloom::controller
