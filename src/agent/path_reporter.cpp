#include "agent/path_reporter.h"

#include <utility>

#include "wire/path_codec.h"

namespace pingloom::agent {

void PathReporter::run(Nanos now_mono) {
  for (TracedPath& path : queue_.takeAll()) {
    heard_(path);
    Key key{path.probe, path.source, path.destination, path.path};
    if (known_.size() >= kMax && !known_.contains(key)) continue;
    untold_.insert(key);
    known_.insert_or_assign(std::move(key), std::move(path));
    if (due_ == kNever) due_ = now_mono + kPause;
  }
  if (now_mono < due_) return;
  due_ = kNever;
  wire::PathReport report;
  auto key = untold_.begin();
  for (; key != untold_.end() && report.paths_size() < static_cast<int>(wire::kMaxReportedPaths);
       ++key) {
    wire::encode(known_.at(*key), *report.add_paths());
  }
  if (report.paths_size() == 0) return;
  if (!send_(report)) {
    due_ = now_mono + kRetry;
    return;
  }
  untold_.erase(untold_.begin(), key);
  if (!untold_.empty()) due_ = now_mono + kPause;
}

void PathReporter::tellAll(Nanos now_mono, Nanos now_utc) {
  std::erase_if(known_,
                [&](const auto& entry) { return now_utc - entry.second.traced > kForgetAfter; });
  untold_.clear();
  for (const auto& [key, path] : known_) untold_.insert(untold_.end(), key);
  due_ = untold_.empty() ? kNever : now_mono;
}

}  // namespace pingloom::agent
