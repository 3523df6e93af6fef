#include "collector/agent_session.h"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "common/log.h"
#include "pages.pb.h"
#include "pages/definition_rules.h"
#include "pages/page_messages.h"
#include "pages/schema.h"
#include "rdma/rc_message.h"
#include "wire/control_protocol.h"

namespace pingloom::collector {
namespace {

constexpr std::size_t kMaxReasonBytes = 500;

void add(const ReadCounters& from, ReadCounters& to) {
  to.reads += from.reads;
  to.bytes += from.bytes;
  to.useful_bytes += from.useful_bytes;
  to.torn_retries += from.torn_retries;
  to.latency_sum += from.latency_sum;
  for (std::size_t i = 0; i < to.latency.size(); ++i) to.latency[i] += from.latency[i];
}

}  // namespace

AgentSession::AgentSession(AgentSpec spec, std::string collector, rdma::Device& device,
                           net::ZmqContext& context, const IpAddress& source,
                           const std::optional<net::CurvePair>& own,
                           std::shared_ptr<BoardEntry> entry)
    : spec_(std::move(spec)),
      collector_(std::move(collector)),
      encrypted_(own.has_value()),
      device_(device),
      entry_(std::move(entry)),
      link_(context, source, own) {
  entry_->update([this](AgentView& view) { view.interval = spec_.interval; });
}

void AgentSession::addDescriptors(std::vector<pollfd>& to) const {
  if (link_.descriptor() >= 0) to.push_back({link_.descriptor(), POLLIN, 0});
  if (polled()) to.push_back({reader_->descriptor(), POLLIN, 0});
}

void AgentSession::work(Nanos now) {
  if (restart_at_ != 0 && now >= restart_at_) {
    restart_at_ = 0;
    openLink(now);
  } else if (wake_ == 0) {
    openLink(now);
  }
  if (restart_at_ == 0) {
    takeAnswers(now);
    if (link_.overdue(now)) {
      restart(now, {spec_.agent, "the agent does not answer"});
    }
  }
  if (restart_at_ == 0 && reader_ == nullptr) {
    if (link_.connected()) {
      askToConnect(now);
    } else if (now - opened_ >= ControlLink::kPatience) {
      // The link keeps trying by itself.
      report({spec_.agent, encrypted_
                               ? "cannot be reached, or one of us does not take the other's key"
                               : "cannot be reached"});
      if (now - opened_ >= kReopen) openLink(now);
    }
  }
  if (restart_at_ == 0 && connecting_) awaitConnection(now);
  if (restart_at_ == 0 && connected_) read(now);
  // No request is sent between two ranges, because a request names the range that is being read.
  const bool due =
      directory_due_ || now >= next_directory_ || entry_->advice().version() != advised_;
  if (restart_at_ == 0 && connected_ && !link_.asking() && !directory_new_ && due) {
    askForDirectory(now);
  }
  setWake(now);
}

void AgentSession::setWake(Nanos now) {
  if (restart_at_ != 0) {
    wake_ = restart_at_;
    return;
  }
  wake_ = now + kSecond;
  if (link_.readable()) wake_ = now;
  wake_ = std::min(wake_, link_.deadline());
  if (polled()) wake_ = std::min(wake_, reader_->nextWake());
  if (!connected_) return;
  if (!link_.asking() && !directory_new_) wake_ = std::min(wake_, next_directory_);
  if (!reader_->reading() && directory_.pages() > 0) wake_ = std::min(wake_, next_round_);
  wake_ = std::max<Nanos>(wake_, 1);
}

void AgentSession::restart(Nanos now, const Error& why) {
  ++counters_.failures;
  if (reader_ != nullptr) add(reader_->counters(), earlier_);
  reader_.reset();
  link_.close();
  connecting_ = connected_ = directory_due_ = directory_new_ = false;
  restart_at_ = now + backoff_.fail();
  report(why);
}

void AgentSession::report(const Error& problem) {
  if (std::exchange(said_, problem.reason) != problem.reason) {
    log::warning("agent {}: {}; trying again", spec_.agent, problem.reason);
  }
  entry_->update([&](AgentView& view) {
    view.state = LinkState::kFailed;
    view.problem = problem.text();
    view.counters = counters_;
  });
}

void AgentSession::openLink(Nanos now) {
  opened_ = now;
  directory_.begin(incarnation_);
  if (auto opened = link_.open(spec_.agent, spec_.key); !opened) restart(now, opened.error());
}

void AgentSession::askToConnect(Nanos now) {
  auto reader = PageReader::create(device_);
  if (!reader) return restart(now, reader.error());
  reader_ = std::move(*reader);
  wire::PageRequest request;
  request.mutable_connect()->set_collector(collector_);
  rdma::writeEndpoint(reader_->address(), *request.mutable_connect()->mutable_endpoint());
  if (!link_.ask(request, now)) restart(now, {spec_.agent, "the control channel broke"});
}

void AgentSession::askForDirectory(Nanos now) {
  wire::PageRequest request;
  request.mutable_directory()->set_epoch(directory_.epoch());
  request.mutable_directory()->set_since(directory_.version());
  advised_ = entry_->advice().version();
  const pages::TraceAdvice advice = entry_->advice().get();
  request.mutable_directory()->set_keep_one_in(advice.keep_one_in);
  request.mutable_directory()->mutable_keep_all()->Assign(advice.keep_all.begin(),
                                                          advice.keep_all.end());
  directory_due_ = false;
  next_directory_ = now + kKeepAlive;
  if (!link_.ask(request, now)) restart(now, {spec_.agent, "the control channel broke"});
}

void AgentSession::takeAnswers(Nanos now) {
  // One request is outstanding at a time, so there is at most one answer.
  auto answer = link_.answer();
  if (answer && !*answer) return;
  Status taken = answer ? take(**answer, now) : tl::unexpected(answer.error());
  if (taken) return;
  ++counters_.bad_answers;
  restart(now, taken.error());
}

Status AgentSession::take(const wire::PageReply& reply, Nanos now) {
  if (reply.has_refused()) {
    const std::string& why = reply.refused().reason();
    const bool sayable = why.size() <= kMaxReasonBytes && pages::isText(why);
    return makeError(spec_.agent, sayable ? why : "it refuses");
  }
  if (reply.has_connected() && reader_ != nullptr && !polled()) {
    return connectReader(reply.connected(), now);
  }
  if (!reply.has_directory() || !connected_) return makeError(spec_.agent, "not what was asked");
  if (auto applied = directory_.apply(reply.directory()); !applied) return applied;
  ++counters_.directories;
  directory_new_ = true;
  // For a fresh range one more request is sent once it is read, which tells the agent that the
  // reader has moved.
  directory_due_ = directory_due_ || reply.directory().more() || reply.directory().complete();
  return {};
}

Status AgentSession::connectReader(const wire::PageConnected& answer, Nanos now) {
  const auto peer = rdma::readEndpoint(answer.endpoint());
  const std::string& host = answer.host();
  if (!peer || host.empty() || host.size() > wire::kMaxHostName || !pages::isText(host)) {
    return makeError(spec_.agent, "its endpoint or its id is malformed");
  }
  if (auto connected = reader_->connect(*peer); !connected) return connected;
  host_ = host;
  if (incarnation_ != answer.incarnation()) judge_.forget();
  incarnation_ = answer.incarnation();
  directory_.begin(incarnation_);
  connecting_ = reader_->connecting();
  if (!connecting_) connectionMade(now);
  return {};
}

void AgentSession::awaitConnection(Nanos now) {
  if (auto polled = reader_->poll(now); !polled) return restart(now, polled.error());
  connecting_ = reader_->connecting();
  if (!connecting_) connectionMade(now);
}

void AgentSession::connectionMade(Nanos now) {
  connected_ = directory_due_ = true;
  ++counters_.connects;
  next_round_ = now;
}

void AgentSession::read(Nanos now) {
  auto ended = reader_->poll(now);
  if (!ended) return restart(now, ended.error());
  if (*ended) roundEnded(now);
  if (restart_at_ != 0 || reader_->reading() || directory_.pages() == 0) return;
  if (directory_new_) {
    directory_new_ = false;
    if (auto followed = reader_->follow(directory_); !followed) {
      return restart(now, followed.error());
    }
    showDirectory();
  }
  if (now < next_round_) return;
  // The next round counts from the time when this one was due, so that the configured rate is kept.
  if (now - next_round_ >= spec_.interval) {
    if (counters_.rounds > 0) ++counters_.rounds_late;
    next_round_ = now;
  }
  next_round_ += spec_.interval;
  reader_->begin(now);
}

void AgentSession::roundEnded(Nanos now) {
  ++counters_.rounds;
  if (!checkHead(now)) return;
  backoff_.reset();
  said_.clear();
  showRound(now);
}

bool AgentSession::checkHead(Nanos now) {
  const pages::RangeHead& head = reader_->head();
  const HeadState state = judgeHead(head, incarnation_, reader_->epoch());
  if (state == HeadState::kNone) {
    ++counters_.corrupt;
    restart(now, {spec_.agent, "what it serves is no range of its pages"});
    return false;
  }
  if (state == HeadState::kMoved || head.directory > directory_.version()) directory_due_ = true;
  return true;
}

// Shows the pages that are read from now on; pages that stay keep their values.
void AgentSession::showDirectory() {
  const auto& followed = reader_->followed();
  judge_.follow(followed);
  entry_->update([&](AgentView& view) {
    std::map<std::uint64_t, PageView> before;
    if (view.incarnation == incarnation_) {
      for (PageView& page : view.pages) before[page.info->generation] = std::move(page);
    }
    view.host = host_;
    view.incarnation = incarnation_;
    view.left_out.clear();
    for (const auto& [place, page] : directory_.leftOut()) view.left_out.push_back(page);
    view.pages.clear();
    for (const auto& info : followed) {
      // The node is extracted, so that an agent that gives two pages one generation gets no empty
      // view.
      auto kept = before.extract(info->generation);
      PageView& page = view.pages.emplace_back(kept ? std::move(kept.mapped()) : PageView());
      if (page.info != info) setInfo(view, page, info, entry_->names());
    }
  });
}

void AgentSession::showRound(Nanos now) {
  counters_.reading = earlier_;
  add(reader_->counters(), counters_.reading);
  entry_->update([&](AgentView& view) {
    view.state = LinkState::kReading;
    view.problem.clear();
    view.last_round = now;
    for (std::size_t i = 0; i < view.pages.size(); ++i) {
      PageView& page = view.pages[i];
      judge_.show(page, reader_->page(page.info->place), reader_->torn(i), now);
    }
    view.counters = counters_;
  });
}

}  // namespace pingloom::collector
