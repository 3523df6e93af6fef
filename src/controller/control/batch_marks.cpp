#include "controller/control/batch_marks.h"

#include <algorithm>

namespace pingloom::controller {

BatchMarks::BatchMarks(const std::map<std::string, wire::BatchId>& committed) {
  for (const auto& [host, id] : committed) marks_[host] = {id, id};
}

BatchMarks::Verdict BatchMarks::verdict(const std::string& host, wire::BatchId id) const {
  const auto found = marks_.find(host);
  if (found == marks_.end() || id > found->second.submitted) return Verdict::kNew;
  return id > found->second.committed ? Verdict::kOnTheWay : Verdict::kCommitted;
}

void BatchMarks::submitted(const std::string& host, wire::BatchId id) {
  marks_[host].submitted = id;
}

void BatchMarks::committed(const std::string& host, wire::BatchId id) {
  Mark& mark = marks_[host];
  mark.committed = std::max(mark.committed, id);
  mark.submitted = std::max(mark.submitted, id);
}

void BatchMarks::failed(const std::string& host) {
  Mark& mark = marks_[host];
  mark.submitted = mark.committed;
}

wire::BatchId BatchMarks::committedUpTo(const std::string& host) const {
  const auto found = marks_.find(host);
  return found == marks_.end() ? wire::BatchId{} : found->second.committed;
}

}  // namespace pingloom::controller
