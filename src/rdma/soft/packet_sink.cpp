#include "rdma/soft/packet_sink.h"

#include "common/random.h"

namespace pingloom::rdma::soft {
namespace {

// 0 and 1 are the management queue pairs; the highest number stands for multicast. A QPN has 24
// bits.
bool isReserved(std::uint32_t qpn) { return qpn <= 1 || qpn >= kMask24; }

}  // namespace

std::optional<SinkTable::Place> SinkTable::add(PacketSink& sink) {
  if (by_qpn_.size() == kMax) return std::nullopt;
  Place place{last_owner_, 0};
  // Numbers are assigned in turn, so that departures of a former owner's packets do not reach a new
  // owner.
  do {
    place.owner = static_cast<std::uint8_t>(place.owner % kMax + 1);
  } while (by_owner_[place.owner] != nullptr);
  do {
    place.qpn = static_cast<std::uint32_t>(randomU64()) & kMask24;
    place.qpn += qpns_.remainder - place.qpn % qpns_.modulus;
  } while (isReserved(place.qpn) || by_qpn_.contains(place.qpn));
  last_owner_ = place.owner;
  by_owner_[place.owner] = &sink;
  by_qpn_.emplace(place.qpn, &sink);
  return place;
}

void SinkTable::remove(Place place) {
  by_owner_[place.owner] = nullptr;
  by_qpn_.erase(place.qpn);
}

}  // namespace pingloom::rdma::soft
