#include "translator/published_sources.h"

#include "translator/table_name.h"

namespace pingloom::translator {

void PublishedSources::learn(const store::Head& head) {
  if (learned_ == head.store) return;
  learned_ = head.store;
  std::set<std::string> unknown;
  for (std::size_t i = 0; i < tables_.size(); ++i) {
    const std::string& name = spec_.tables[i];
    tables_[i] = numberOf(name, head);
    if (!tables_[i] && !name.empty()) unknown.insert(name);
  }
  warnOfUnknown("published", unknown);
}

std::uint8_t PublishedSources::lostBefore(const IpAddress& source, std::uint8_t sequence) {
  const auto found = latest_.find(source);
  if (found == latest_.end()) {
    if (latest_.size() < kMaxSources) latest_.emplace(source, sequence);
    return 0;
  }
  const auto ahead = static_cast<std::int8_t>(sequence - found->second);
  if (ahead <= 0) return 0;  // an older packet that arrives late
  found->second = sequence;
  return static_cast<std::uint8_t>(ahead - 1);
}

}  // namespace pingloom::translator
