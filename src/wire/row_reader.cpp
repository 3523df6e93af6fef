#include "wire/row_reader.h"

#include <cstddef>
#include <limits>
#include <span>

namespace pingloom::wire {
namespace {

// These give the tag of a field that is a varint, or that has a length and a content.
constexpr std::uint32_t numberTag(int field) { return static_cast<std::uint32_t>(field) << 3; }
constexpr std::uint32_t contentTag(int field) { return numberTag(field) | 2; }

// Reads a message from its front. False means that what comes next is truncated, malformed or not
// the usual encoding.
class Input {
 public:
  explicit Input(std::string_view bytes) : at_(bytes.data()), end_(at_ + bytes.size()) {}

  bool ended() const { return at_ == end_; }

  // Reads a tag of one byte, or of the two bytes that the fields 16 to 31 take. Returns 0, which is
  // no field's tag, for all others. REQUIRES: !ended().
  std::uint32_t readTag() {
    const std::uint32_t first = readByte();
    if (first < 0x80) return first;
    return !ended() && readByte() == 1 ? first : 0;
  }
  bool readNumber(std::uint64_t& out) { return readVarint<9>(out); }
  bool readNumber(std::uint32_t& out) {
    std::uint64_t wide = 0;
    if (!readVarint<5>(wide) || wide > std::numeric_limits<std::uint32_t>::max()) return false;
    out = static_cast<std::uint32_t>(wide);
    return true;
  }
  bool readContent(std::string_view& out) {
    std::uint32_t size = 0;
    if (!readNumber(size) || size > static_cast<std::size_t>(end_ - at_)) return false;
    out = {at_, size};
    at_ += size;
    return true;
  }
  // Reads a packed list to `next` and moves `next` behind it. A second list of a field is unusual;
  // protobuf appends it to the first. REQUIRES: there is room for as many numbers as bytes are
  // left.
  bool readList(std::span<const std::uint32_t>& out, std::uint32_t*& next) {
    std::string_view packed;
    if (!out.empty() || !readContent(packed)) return false;
    std::uint32_t* const first = next;
    for (Input list(packed); !list.ended(); ++next) {
      if (!list.readShort(*next) && !list.readNumber(*next)) return false;
    }
    out = {first, next};
    return true;
  }

 private:
  std::uint32_t readByte() { return static_cast<unsigned char>(*at_++); }

  // Reads a number of one or two bytes without a branch that depends on which it is: that cannot be
  // predicted in a list of samples. Returns false, and reads nothing, if the number is longer or if
  // there is no second byte.
  bool readShort(std::uint32_t& out) {
    if (end_ - at_ < 2) return false;
    const std::uint32_t low = static_cast<unsigned char>(at_[0]);
    const std::uint32_t high = static_cast<unsigned char>(at_[1]);
    const std::uint32_t more = low >> 7;  // 1: the number has a second byte
    if ((more & (high >> 7)) != 0) return false;
    out = (low & 0x7FU) | ((high << 7) & (0 - more));
    at_ += 1 + more;
    return true;
  }

  template <unsigned kMaxBytes>
  bool readVarint(std::uint64_t& out) {
    out = 0;
    for (unsigned i = 0; i < kMaxBytes && !ended(); ++i) {
      const std::uint32_t byte = readByte();
      out |= std::uint64_t{byte & 0x7FU} << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  const char* at_;
  const char* end_;
};

bool readSetField(std::uint32_t tag, Input& in, SampleSetView& out, std::uint32_t*& next) {
  switch (tag) {
    case contentTag(SampleSet::kSampleDeltasFieldNumber):
      return in.readList(out.sample_deltas, next);
    case contentTag(SampleSet::kBucketDeltasFieldNumber):
      return in.readList(out.bucket_deltas, next);
    case contentTag(SampleSet::kBucketCountsFieldNumber):
      return in.readList(out.bucket_counts, next);
    case numberTag(SampleSet::kSumFieldNumber):
      return in.readNumber(out.sum);
    case numberTag(SampleSet::kMinFieldNumber):
      return in.readNumber(out.min);
    case numberTag(SampleSet::kMaxFieldNumber):
      return in.readNumber(out.max);
    default:
      return false;
  }
}

// A second set of a part is unusual; protobuf merges it with the first.
bool readSet(Input& row, SampleSetView& out, std::uint32_t*& next) {
  std::string_view bytes;
  if (out.present || !row.readContent(bytes)) return false;
  out.present = true;
  for (Input in(bytes); !in.ended();) {
    if (!readSetField(in.readTag(), in, out, next)) return false;
  }
  return true;
}

bool readRowField(std::uint32_t tag, Input& in, RowView& out, std::uint32_t*& next) {
  switch (tag) {
    case contentTag(Row::kDestinationFieldNumber):
      return in.readContent(out.destination);
    case numberTag(Row::kSentFieldNumber):
      return in.readNumber(out.sent);
    case numberTag(Row::kReceivedFieldNumber):
      return in.readNumber(out.received);
    case numberTag(Row::kLostFieldNumber):
      return in.readNumber(out.lost);
    case numberTag(Row::kRefusedFieldNumber):
      return in.readNumber(out.refused);
    case numberTag(Row::kUnreachableFieldNumber):
      return in.readNumber(out.unreachable);
    case numberTag(Row::kAckLostFieldNumber):
      return in.readNumber(out.ack_lost);
    case numberTag(Row::kDuplicateFieldNumber):
      return in.readNumber(out.duplicate);
    case numberTag(Row::kLateFieldNumber):
      return in.readNumber(out.late);
    case contentTag(Row::kAnomalousFieldNumber):
      return in.readList(out.anomalous, next);
    case contentTag(Row::kNetworkFieldNumber):
      return readSet(in, out.network, next);
    case contentTag(Row::kResponderFieldNumber):
      return readSet(in, out.responder, next);
    case contentTag(Row::kProberFieldNumber):
      return readSet(in, out.prober, next);
    case contentTag(Row::kRttFieldNumber):
      return readSet(in, out.rtt, next);
    case numberTag(Row::kJitterNsFieldNumber):
      return in.readNumber(out.jitter_ns.emplace());
    case numberTag(Row::kSkippedFieldNumber):
      return in.readNumber(out.skipped);
    case numberTag(Row::kMisfitFieldNumber):
      return in.readNumber(out.misfit);
    case numberTag(Row::kInboundFieldNumber):
      return in.readNumber(out.inbound.emplace());
    default:
      return false;
  }
}

}  // namespace

bool readUsualRow(std::string_view bytes, std::vector<std::uint32_t>& numbers, RowView& out) {
  out = {};
  if (numbers.size() < bytes.size()) numbers.resize(bytes.size());
  std::uint32_t* next = numbers.data();
  for (Input in(bytes); !in.ended();) {
    if (!readRowField(in.readTag(), in, out, next)) return false;
  }
  return true;
}

const RowView* RowReader::read(std::string_view bytes) {
  if (readUsualRow(bytes, numbers_, row_)) return &row_;
  if (!message_.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return nullptr;
  row_ = viewOf(message_);
  return &row_;
}

}  // namespace pingloom::wire
