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

struct CollectorPlace {
  bool tls = false;
  SocketAddress at{};

  std::string url() const { return (tls ? "https://" : "http://") + at.text(); }
};

tl::expected<CollectorPlace, std::string> placeOf(const std::string& text) {
  const auto url = http::parseUrl(text);
  const auto address =
      url ? IpAddress::parse(url->host) : Result<IpAddress>(makeError("url", "is malformed"));
  if (!url || !address || !url->prefix.empty()) {
    return tl::unexpected(std::string("'url' must be http://ADDRESS:PORT or https://ADDRESS:PORT"));
  }
  const auto port = parseUnsigned(url->port, 65535);
  if (!port || *port == 0) return tl::unexpected(std::string("'url' has no port"));
  return CollectorPlace{url->tls, {*address, static_cast<std::uint16_t>(*port)}};
}

// Returns the URL at which the controller may ask the collector.
tl::expected<std::string, Refused> urlOf(const Enrolment& enrolment) {
  auto place = placeOf(enrolment.url);
  if (!place) return tl::unexpected(Refused(EnrolRefusal::kMalformed, place.error()));
  SocketAddress& at = place->at;
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
  return place->url();
}

// Why what another controller has told is not taken; "" if it is.
std::string faultOf(const CollectorRegistration& told, bool same_machine) {
  const auto place = placeOf(told.url);
  if (!place) return place.error();
  const IpAddress& address = place->at.address;
  if (address.isUnspecified() || place->url() != told.url) return "its address is malformed";
  if (address.isLoopback() && !same_machine) {
    return "only that controller's host can ask it; let the collector listen at 'http: "
           "ADDRESS:PORT' instead";
  }
  return "";
}

}  // namespace

tl::expected<std::string, Refused> Collectors::enrol(const Enrolment& enrolment, Instant now) {
  Links gone;
  const std::lock_guard lock(mutex_);
  auto enrolled = enrolLocked(enrolment, now, gone);
  if (!enrolled) ++refused_[static_cast<std::size_t>(enrolled.error().first)];
  publish();
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
  if (stopped_ || (found == known_.end() && known_.size() == kMax && !dropTold(gone))) {
    return tl::unexpected(
        Refused(EnrolRefusal::kFull,
                fmt::format("{} collectors have registered, which is the limit", kMax)));
  }
  note({name, *url, enrolment.trusted, now.mono}, "", now, gone);
  return url;
}

// Makes room for a collector of this controller: those of others cannot take its places.
bool Collectors::dropTold(Links& gone) {
  auto oldest = known_.end();
  for (auto one = known_.begin(); one != known_.end(); ++one) {
    if (one->second.controller.empty()) continue;
    if (oldest == known_.end() || one->second.heard_mono < oldest->second.heard_mono) oldest = one;
  }
  if (oldest == known_.end()) return false;
  gone.push_back(std::move(oldest->second.link));
  known_.erase(oldest);
  return true;
}

void Collectors::takeTold(Instant now) {
  Links gone;
  const std::lock_guard lock(mutex_);
  const auto told = roster_.take();
  if (stopped_) return;
  forget(now.mono, gone);
  for (const auto& [controller, collectors] : told) {
    for (const CollectorRegistration& each : collectors.list) {
      take(controller, each, collectors.same_machine, now, gone);
    }
  }
  publish();
}

void Collectors::take(const std::string& controller, const CollectorRegistration& told,
                      bool same_machine, Instant now, Links& gone) {
  const auto found = known_.find(told.url);
  if (found != known_.end() && told.heard_mono <= found->second.heard_mono) return;
  std::string fault = faultOf(told, same_machine);
  if (fault.empty() && found == known_.end() && known_.size() == kMax) {
    fault = fmt::format("{} collectors are known, which is the limit", kMax);
  }
  if (fault.empty()) {
    note(told, controller, now, gone);
  } else if (warned_.size() < kMax && warned_.insert(told.url).second) {
    log::warning(
        "the collector {} at {}, which has registered with controller {}, is not shown: {}",
        asOneLine(told.name, kMaxName), asOneLine(told.url, kMaxName), controller, fault);
  }
}

// Notes a registration that has passed all checks.
void Collectors::note(const CollectorRegistration& registration, const std::string& controller,
                      Instant now, Links& gone) {
  const std::string& url = registration.url;
  const auto found = known_.find(url);
  if (found == known_.end() || (registration.trusted && !found->second.trusted)) {
    CollectorAccess access = access_;
    if (!registration.trusted) access.token.clear();  // anybody may have registered this address
    auto link = std::make_unique<CollectorLink>(url, std::move(access), anomalies_,
                                                registration.heard_mono + kGone);
    Known& made = known_[url];
    if (made.link != nullptr) gone.push_back(std::move(made.link));
    made.link = std::move(link);
    made.trusted = registration.trusted;
    log::info("the collector {} at {} has registered{}", asOneLine(registration.name, kMaxName),
              url, controller.empty() ? "" : " with controller " + controller);
  }
  Known& known = known_[url];
  known.name = registration.name;
  known.controller = controller;
  known.heard_mono = registration.heard_mono;
  known.heard_utc = now.utc - (now.mono - registration.heard_mono);
  known.link->pollUntil(registration.heard_mono + kGone);
}

// Other controllers are told only what has registered here.
void Collectors::publish() {
  CollectorRegistrations own;
  for (const auto& [url, known] : known_) {
    if (known.controller.empty()) own.push_back({known.name, url, known.trusted, known.heard_mono});
  }
  roster_.publish(std::move(own));
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
    entries.push_back({known.name, url, known.controller, now_mono - known.heard_mono <= kGone,
                       known.heard_utc, known.link->view()});
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
