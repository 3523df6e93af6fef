#include "wire/row_view.h"

namespace pingloom::wire {
namespace {

std::span<const std::uint32_t> listOf(const google::protobuf::RepeatedField<std::uint32_t>& list) {
  return {list.data(), static_cast<std::size_t>(list.size())};
}

SampleSetView partOf(bool present, const SampleSet& set) {
  return present ? viewOf(set) : SampleSetView{};
}

}  // namespace

SampleSetView viewOf(const SampleSet& set) {
  return {.present = true,
          .sample_deltas = listOf(set.sample_deltas()),
          .bucket_deltas = listOf(set.bucket_deltas()),
          .bucket_counts = listOf(set.bucket_counts()),
          .sum = set.sum(),
          .min = set.min(),
          .max = set.max()};
}

RowView viewOf(const Row& row) {
  RowView view{.destination = row.destination(),
               .sent = row.sent(),
               .received = row.received(),
               .lost = row.lost(),
               .refused = row.refused(),
               .unreachable = row.unreachable(),
               .ack_lost = row.ack_lost(),
               .duplicate = row.duplicate(),
               .late = row.late(),
               .skipped = row.skipped(),
               .misfit = row.misfit(),
               .anomalous = listOf(row.anomalous()),
               .network = partOf(row.has_network(), row.network()),
               .responder = partOf(row.has_responder(), row.responder()),
               .prober = partOf(row.has_prober(), row.prober()),
               .rtt = partOf(row.has_rtt(), row.rtt())};
  if (row.has_jitter_ns()) view.jitter_ns = row.jitter_ns();
  if (row.has_inbound()) view.inbound = row.inbound();
  return view;
}

}  // namespace pingloom::wire
