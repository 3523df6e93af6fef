#include "translator/ingest_thread.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <span>
#include <utility>

#include "common/log.h"
#include "common/random.h"
#include "common/time.h"
#include "store/writer_status.h"

namespace pingloom::translator {
namespace {

enum class Wait : std::uint8_t { kStop, kReports, kPublished, kLink, kWriter, kCount };

constexpr Nanos kComplainEvery = kMinute;

}  // namespace

IngestThread::IngestThread(std::shared_ptr<rdma::Device> device, Receiver reports)
    : device_(std::move(device)),
      reports_(std::move(reports)),
      intake_(counted_, reports_.bufferBytes()),
      incarnation_(randomU64()) {}

Result<std::unique_ptr<IngestThread>> IngestThread::start(const Config& config, Share share,
                                                          std::shared_ptr<rdma::Device> device,
                                                          Receiver reports) {
  std::unique_ptr<IngestThread> made(new IngestThread(std::move(device), std::move(reports)));
  if (auto opened = made->open(config, std::move(share)); !opened) {
    return tl::unexpected(opened.error());
  }
  made->thread_ = std::thread([thread = made.get()] { thread->run(); });
  return made;
}

Status IngestThread::open(const Config& config, Share share) {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid()) return makeErrnoError("translator", "no eventfd", errno);
  intake_.setRules(std::make_unique<ReporterRules>(config.reporters));
  if (config.published && share.published) {
    auto packets = Receiver::bind(config.published->listen, false);
    if (!packets) return tl::unexpected(packets.error());
    published_packets_.emplace(std::move(*packets));
    published_sources_.emplace(*config.published);
  }
  SessionOptions options;
  options.name = std::move(share.store);
  options.collector = config.collector;
  options.source = *config.address;
  options.curve = curveOf(config);
  options.incarnation = incarnation_;
  auto session = StoreSession::create(std::move(options), *device_, context_, counted_);
  if (!session) return tl::unexpected(session.error());
  session_ = std::move(*session);
  return {};
}

void IngestThread::stop() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

Counters IngestThread::counters() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

ReporterLosses IngestThread::losses() const {
  const std::lock_guard lock(mutex_);
  return published_losses_;
}

void IngestThread::setReporters(const ReporterSpecs& specs) {
  auto rules = std::make_unique<ReporterRules>(specs);
  const std::lock_guard lock(mutex_);
  next_rules_ = std::move(rules);
}

void IngestThread::run() {
  pthread_setname_np(pthread_self(), "ingest");
  PollSet<Wait> wait;
  wait.watch(Wait::kStop, stop_.get());
  Nanos next_beat = monotonicNow();
  Nanos next_reply = kNever;
  for (;;) {
    // Reports wait in the sockets until the store is known, and while lists have too much under
    // way.
    Shadow* const before = session_->shadow();
    const bool takes = before != nullptr && !(session_->serving() && before->crowded());
    wait.watch(Wait::kReports, takes ? reports_.descriptor() : -1);
    wait.watch(Wait::kPublished,
               takes && published_packets_ ? published_packets_->descriptor() : -1);
    wait.watch(Wait::kLink, session_->linkDescriptor());
    wait.watch(Wait::kWriter, session_->writerDescriptor());
    wait.wait(std::min({next_beat, next_reply, next_lists_, session_->nextWake()}) -
              monotonicNow());
    if (wait.ready(Wait::kStop)) break;
    const Nanos now = monotonicNow();
    Shadow* const shadow = session_->shadow();
    if (shadow != nullptr && wait.ready(Wait::kReports)) receive(*shadow, now);
    if (shadow != nullptr && wait.ready(Wait::kPublished)) receivePublished(*shadow, now);
    const bool called = wait.ready(Wait::kLink) || wait.ready(Wait::kWriter);
    if (called || session_->nextWake() <= now) session_->work(now);
    if (Shadow* const now_known = session_->shadow()) {
      learn(now_known->head());
      flushLists(*now_known, now);
    }
    if (now >= next_reply) {
      intake_.reporters().answer(now,
                                 [this](const auto& to, const auto& what) { reply(to, what); });
      next_reply = kNever;
    }
    if (next_reply == kNever && intake_.reporters().hasWaiting()) {
      next_reply = now + Reporters::kReplyInterval;
    }
    if (now >= next_beat) {
      beat(now);
      next_beat = std::max(next_beat + store::kStatusInterval, now);
    }
  }
  session_.reset();  // destroyed on the device's thread
}

void IngestThread::receive(Shadow& shadow, Nanos now_mono) {
  const Nanos utc = utcNow();
  const Nanos room_until = now_mono + kRoomWait;
  const auto take = [&](std::span<const std::uint8_t> datagram, const SocketAddress& source) {
    intake_.take(datagram, source, shadow, now_mono, utc);
    if (shadow.fullListBlocks() >= kFullBlocksAtOnce) makeRoom(shadow, room_until);
  };
  reports_.receive(take, [&] { return !shadow.crowded(); });
  counted_.overflow += reports_.takeOverflow();
  intake_.reporters().giveUrgentCredit(
      now_mono, [this](const auto& to, const auto& what) { reply(to, what); });
}

void IngestThread::receivePublished(Shadow& shadow, Nanos now_mono) {
  const Nanos utc = utcNow();
  const Nanos room_until = now_mono + kRoomWait;
  const auto take = [&](std::span<const std::uint8_t> packet, const SocketAddress& source) {
    intake_.takePublished(packet, source, *published_sources_, shadow, now_mono, utc);
    if (shadow.fullListBlocks() >= kFullBlocksAtOnce) makeRoom(shadow, room_until);
  };
  published_packets_->receive(take, [&] { return !shadow.crowded(); });
  counted_.overflow += published_packets_->takeOverflow();
}

void IngestThread::reply(const SocketAddress& to, const wire::ReportReply& reply) const {
  const ReporterRule* rule = intake_.rules().find(reply.reporter, to.address);
  if (rule == nullptr) return;  // the rules have changed
  std::array<std::uint8_t, wire::kMaxReportReplyBytes> bytes{};
  const std::size_t length = wire::write(reply, bytes, rule->key());
  reports_.send(to, std::span(bytes).first(length));
}

// Gives the other threads the counters, and takes what they have for this one.
void IngestThread::exchange() {
  const std::lock_guard lock(mutex_);
  if (next_rules_ != nullptr) intake_.setRules(std::move(next_rules_));
  published_ = counted_;
  intake_.losses().copyTo(published_losses_);
}

// A mistake in the configuration is logged before the first datagram comes.
void IngestThread::learn(const store::Head& head) {
  intake_.learn(head);
  if (published_sources_) published_sources_->learn(head);
}

// Sends full blocks, and waits while a list is about to drop entries.
void IngestThread::makeRoom(Shadow& shadow, Nanos until) {
  session_->flushLists(store::ListFlush::kFullBlocks);
  for (Nanos now = monotonicNow(); shadow.crowded() && session_->serving() && now < until;
       now = monotonicNow()) {
    pollfd ready{session_->writerDescriptor(), POLLIN, 0};
    ::poll(&ready, 1, 1);
    session_->work(now);
    session_->flushLists(store::ListFlush::kFullBlocks);
  }
}

// Full blocks leave at once, and unfinished ones when they may have waited for kListInterval.
void IngestThread::flushLists(Shadow& shadow, Nanos now_mono) {
  if (now_mono >= next_lists_) {
    session_->flushLists(store::ListFlush::kAllBlocks);
    next_lists_ = kNever;
  } else if (shadow.fullListBlocks() != 0) {
    session_->flushLists(store::ListFlush::kFullBlocks);
  }
  // Without a connection the next one flushes everything.
  const bool waits = session_->serving() && shadow.listsChanged();
  if (next_lists_ == kNever && waits) next_lists_ = now_mono + kListInterval;
}

store::WriterStatus IngestThread::statusNow() {
  store::WriterStatus status;
  status.incarnation = incarnation_;
  status.beat = ++beats_;
  status.utc = utcNow();
  status.accepted = counted_.accepted;
  status.lost = counted_.lost;
  status.refused = counted_.refusedInAll();
  status.skipped = counted_.skipped;
  status.evicted = counted_.evicted;
  status.dropped = counted_.dropped;
  Shadow* const shadow = session_->shadow();
  for (std::size_t i = 0; shadow != nullptr && i < shadow->tables().size(); ++i) {
    status.tables[i] = shadow->tables()[i]->figures();
    const auto kind = shadow->tables()[i]->table().kind;
    if (kind == store::TableKind::kCounters) status.increments += status.tables[i].total;
  }
  return status;
}

void IngestThread::beat(Nanos now_mono) {
  intake_.reporters().settle(now_mono);
  if (Shadow* const shadow = session_->shadow()) {
    intake_.settlePaths(*shadow, now_mono, utcNow());
    if (beats_ % kBeatsForKeys == 0) shadow->publishKeys();
  }
  const store::WriterStatus status = statusNow();
  session_->flush(status);
  exchange();
  complain(now_mono);
}

void IngestThread::complain(Nanos now_mono) {
  if (now_mono < complain_at_) return;
  const auto complaint = intake_.losses().complain();
  if (!complaint) return;
  log::warning("{}", text(*complaint));
  complain_at_ = now_mono + kComplainEvery;
}

}  // namespace pingloom::translator
