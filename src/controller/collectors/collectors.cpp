#include "controller/collectors/collectors.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "common/log.h"
#include "common/text.h"
#include "common/utf8.h"
#include "http/url.h"

namespace pingloom::controller {
namespace {

using Refused = std::pair<EnrolRefusal, std::string>;

// Returns the URL at which the controller may ask the collector.
tl::expected<std::string, Refused> urlOf(const Enrolment& enrolment) {
  const auto url = http::parseUrl(enrolment.url);
  const auto address =
      url ? IpAddress::parse(url->host) : Result<IpAddress>(makeError("url", "is malformed"));
  if (!url || !address || !url->prefix.empty()) {
    return tl::unexpected(Refused(EnrolRefusal::kMalformed,
                                  "'url' must be http://ADDRESS:PORT or https://ADDRESS:PORT"));
  }
  const auto port = parseUnsigned(url->port, 65535);
  SocketAddress at{*address, static_cast<std::uint16_t>(port ? *port : 0)};
  if (at.port == 0) {
    return tl::unexpected(Refused(EnrolRefusal::kMalformed, "'url' has no port"));
  }
  const bool own_address = !at.address.isUnspecified() && !at.address.isLoopback();
  if (enrolment.forwarded && !(enrolment.trusted && own_address)) {
    return tl::unexpected(Refused(
        EnrolRefusal::kAddress,
        "the request came through a proxy, so the controller does not know who sent it; let "
        "the collector register at the controller itself, or give it a token and an "
        "address in 'http: ADDRESS:PORT'"));
  }
  if (at.address.isUnspecified()) at.address = enrolment.sender;
  if (at.address.isLoopback() && !enrolment.sender.isLoopback()) {
    return tl::unexpected(
        Refused(EnrolRefusal::kAddress,
                fmt::format("the controller cannot reach {}; let the collector listen at 'http: "
                            "ADDRESS:PORT' instead",
                            at.text())));
  }
  const bool same_machine = at.address.isLoopback();  // and the sender too
  if (at.address != enrolment.sender && !same_machine && !enrolment.trusted) {
    return tl::unexpected(Refused(
        EnrolRefusal::kAddress,
        fmt::format("without tokens a collector can only register the address that it comes from, "
                    "{}, and not {}",
                    enrolment.sender.text(), at.address.text())));
  }
  return (url->tls ? "https://" : "http://") + at.text();
}

}  // namespace

tl::expected<std::string, Refused> Collectors::enrol(const Enrolment& enrolment, Instant now) {
  Links gone;
  const std::lock_guard lock(mutex_);
  auto enrolled = enrolLocked(enrolment, now, gone);
  if (!enrolled) ++refused_[static_cast<std::size_t>(enrolled.error().first)];
  return enrolled;
}

tl::expected<std::string, Refused> Collectors::enrolLocked(const Enrolment& enrolment, Instant now,
                                                           Links& gone) {
  const std::string& name = enrolment.name;
  if (name.empty() || name.size() > kMaxName || hasControls(name)) {
    return tl::unexpected(
        Refused(EnrolRefusal::kMalformed,
                fmt::format("'name' must have 1 to {} bytes and no control characters", kMaxName)));
  }
  auto url = urlOf(enrolment);
  if (!url) return url;
  forget(now.mono, gone);
  const auto found = known_.find(*url);
  if (stopped_ || (found == known_.end() && known_.size() == kMax)) {
    return tl::unexpected(
        Refused(EnrolRefusal::kFull,
                fmt::format("{} collectors have registered, which is the limit", kMax)));
  }
  if (found == known_.end() || (enrolment.trusted && !found->second.trusted)) {
    CollectorAccess access = access_;
    if (!enrolment.trusted) access.token.clear();  // anybody may have registered this address
    auto link =
        std::make_unique<CollectorLink>(*url, std::move(access), anomalies_, now.mono + kGone);
    Known& made = known_[*url];
    if (made.link != nullptr) gone.push_back(std::move(made.link));
    made.link = std::move(link);
    made.trusted = enrolment.trusted;
    log::info("the collector {} at {} has registered", asOneLine(name, kMaxName), *url);
  }
  Known& known = known_[*url];
  known.name = name;
  known.heard_mono = now.mono;
  known.heard_utc = now.utc;
  known.link->pollUntil(now.mono + kGone);
  return url;
}

void Collectors::countMalformed() {
  const std::lock_guard lock(mutex_);
  ++refused_[static_cast<std::size_t>(EnrolRefusal::kMalformed)];
}

std::array<std::uint64_t, kEnrolRefusals.size()> Collectors::refused() const {
  const std::lock_guard lock(mutex_);
  return refused_;
}

void Collectors::stop() {
  std::map<std::string, Known> known;
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    known.swap(known_);
  }
  for (auto& [url, each] : known) each.link->cancel();  // all at once, before the first is awaited
}

void Collectors::forget(Nanos now_mono, Links& gone) {
  for (auto each = known_.begin(); each != known_.end();) {
    if (now_mono - each->second.heard_mono <= kForget) {
      ++each;
      continue;
    }
    each->second.link->cancel();
    gone.push_back(std::move(each->second.link));
    each = known_.erase(each);
  }
}

std::vector<Collectors::Entry> Collectors::list(Nanos now_mono) {
  Links gone;
  const std::lock_guard lock(mutex_);
  forget(now_mono, gone);
  std::vector<Entry> entries;
  for (const auto& [url, known] : known_) {
    entries.push_back({known.name, url, now_mono - known.heard_mono <= kGone, known.heard_utc,
                       known.link->view()});
  }
  return entries;
}

Collectors::Merged Collectors::merged(Records kind, Nanos now_mono) {
  Merged merged;
  std::unordered_map<std::string_view, const CollectorView*> speaker;  // by host
  for (const Entry& entry : list(now_mono)) {
    if (!entry.alive) continue;
    merged.views.push_back(entry.view);
    const CollectorView* view = entry.view.get();
    for (const CollectorRecord& record : view->applications) speaker.try_emplace(record.host, view);
  }
  for (const auto& view : merged.views) {
    for (const CollectorRecord& record : (*view).*kind) {
      if (speaker.try_emplace(record.host, view.get()).first->second != view.get()) continue;
      merged.records.push_back(&record);
    }
  }
  return merged;
}

Collectors::Asked Collectors::ask(const std::string& host, const http::Respond& respond,
                                  Nanos now_mono) {
  Links gone;
  const std::lock_guard lock(mutex_);
  forget(now_mono, gone);
  for (const auto& [url, known] : known_) {
    if (now_mono - known.heard_mono > kGone) continue;
    const auto view = known.link->view();
    const bool reads =
        std::any_of(view->applications.begin(), view->applications.end(),
                    [&](const CollectorRecord& record) { return record.host == host; });
    if (reads) return known.link->ask(host, respond) ? Asked::kAsked : Asked::kBusy;
  }
  return Asked::kNobody;
}

}  // namespace pingloom::controller
