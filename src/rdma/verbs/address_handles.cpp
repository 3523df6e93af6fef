#include "rdma/verbs/address_handles.h"

namespace pingloom::rdma::verbs {

AddressHandles::Entry& AddressHandles::entryOf(const UdPath& path, Nanos now_mono) {
  const auto found = by_path_.find(path);
  if (found != by_path_.end()) {
    entries_.splice(entries_.end(), entries_, found->second);
  } else {
    if (entries_.size() >= kMax) drop(entries_.begin());
    entries_.emplace_back().path = path;
    by_path_.emplace(path, std::prev(entries_.end()));
  }
  entries_.back().used = now_mono;
  return entries_.back();
}

void AddressHandles::ask(Entry& entry, bool planned, Nanos now_mono) {
  if (entry.asked && (entry.planned || !planned)) return;
  if (!resolver_.request(entry.path, planned)) return;
  entry.asked = true;
  entry.planned = planned;
  entry.asked_at = now_mono;
}

void AddressHandles::prepare(const UdPath& path, Nanos now_mono) {
  Entry& entry = entryOf(path, now_mono);
  if (entry.state == State::kNew) ask(entry, true, now_mono);
}

AddressHandles::Found AddressHandles::find(const UdPath& path, Nanos now_mono) {
  Entry& entry = entryOf(path, now_mono);
  switch (entry.state) {
    case State::kNew:
      ask(entry, false, now_mono);
      return {PostResult::kResolving, nullptr};
    case State::kFailed:
      if (now_mono - entry.asked_at >= kFailureKept) ask(entry, false, now_mono);
      return {PostResult::kUnreachable, nullptr};
    case State::kReady:
      if (now_mono - entry.asked_at >= kFresh) ask(entry, false, now_mono);
      return {PostResult::kPosted, &entry.handle};
  }
  return {};
}

void AddressHandles::recheck(const UdPath& path, Nanos now_mono) {
  const auto found = by_path_.find(path);
  if (found == by_path_.end()) return;  // the next message requests it anyway
  Entry& entry = *found->second;
  if (now_mono - entry.asked_at >= kRecheckApart) ask(entry, false, now_mono);
}

void AddressHandles::update(Nanos now_mono) {
  if (resolver_.hasAnswers()) {
    for (AhResolver::Answer& answer : resolver_.takeAnswers()) {
      const auto found = by_path_.find(answer.path);
      if (found == by_path_.end()) continue;  // evicted meanwhile
      Entry& entry = *found->second;
      entry.asked = false;
      entry.asked_at = now_mono;
      if (answer.handle == nullptr) ++failures_;
      entry.state = answer.handle != nullptr ? State::kReady : State::kFailed;
      entry.handle = std::move(answer.handle);
    }
  }
  while (!entries_.empty() && now_mono - entries_.front().used >= kIdle) drop(entries_.begin());
}

void AddressHandles::drop(Entries::iterator entry) {
  by_path_.erase(entry->path);
  entries_.erase(entry);
}

}  // namespace pingloom::rdma::verbs
