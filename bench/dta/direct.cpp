#include "direct.h"

#include <algorithm>
#include <cstring>

#include "common/crc32c.h"
#include "shared/clocks.h"
#include "store/hash.h"

namespace pingloom::bench {

double Direct::run(const Load& load) {
  const Nanos before = threadCpu();
  for (std::size_t i = 0; i < load.datagrams(); ++i) {
    if (reader_.open(load.datagram(i)) != wire::ReportRefusal::kNone) continue;
    while (reader_.next()) locate(reader_.report());
    writeAll();
  }
  return static_cast<double>(threadCpu() - before) / static_cast<double>(load.reports());
}

void Direct::locate(const wire::ReportItem& report) {
  const store::KeyHash hash = store::hashKey(report.key, 1);
  const std::uint32_t checksum = crc32c(report.key);
  for (const unsigned copy : {0U, 1U}) {
    Slot* slot = &slots_[store::choiceOf(hash, copy, slots_.size())];
    __builtin_prefetch(slot, 1);
    copies_.push_back({slot, checksum, report.value});
  }
}

void Direct::writeAll() {
  for (const Copy& copy : copies_) {
    const std::size_t bytes = std::min(copy.value.size(), sizeof Slot{}.value);
    copy.slot->checksum = copy.checksum;
    copy.slot->length = static_cast<std::uint32_t>(bytes);
    std::memcpy(copy.slot->value, copy.value.data(), bytes);
  }
  copies_.clear();
}

}  // namespace pingloom::bench
