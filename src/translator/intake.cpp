#include "translator/intake.h"

#include "store/stamp.h"

namespace pingloom::translator {
namespace {

using wire::ReportRefusal;

}  // namespace

void Intake::take(std::span<const std::uint8_t> datagram, const SocketAddress& source,
                  Shadow& shadow, Nanos now_mono, Nanos utc) {
  ++counters_.datagrams;
  const ReportRefusal refused = checkDatagram(datagram, source, now_mono);
  if (refused != ReportRefusal::kNone) return counters_.refuse(refused);
  const std::uint32_t stamp = store::stampAt(utc, shadow.head().made);
  while (reader_.next()) {
    ReportRefusal why = reader_.refusal();
    if (why == ReportRefusal::kNone) why = placer_.place(reader_, shadow, stamp);
    if (why != ReportRefusal::kNone) {
      counters_.refuse(why);
    } else {
      ++counters_.accepted[static_cast<std::size_t>(reader_.report().operation) - 1];
    }
  }
  placer_.finish(stamp);
}

ReportRefusal Intake::checkDatagram(std::span<const std::uint8_t> datagram,
                                    const SocketAddress& source, Nanos now_mono) {
  // Without seals nobody can tell who has sent a datagram that came from another host.
  if (!source.address.isLoopback()) return ReportRefusal::kUnknownReporter;
  const ReportRefusal malformed = reader_.open(datagram);
  if (malformed != ReportRefusal::kNone) return malformed;
  if ((reader_.head().flags & wire::kReportSealed) != 0) return ReportRefusal::kSeal;
  return reporters_.take(reader_.head(), source, now_mono);
}

}  // namespace pingloom::translator
