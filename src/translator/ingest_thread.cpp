#include "translator/ingest_thread.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "common/log.h"
#include "common/random.h"
#include "common/time.h"
#include "store/writer_status.h"

namespace pingloom::translator {
namespace {

enum class Wait : std::uint8_t { kStop, kSocket, kLink, kWriter, kCount };

// The kernel may deliver so many bytes of datagrams as one.
constexpr std::size_t kMaxCoalesced = 65'535;
constexpr Nanos kComplainEvery = kMinute;

SocketAddress boundTo(const net::UdpSocket& socket) {
  sockaddr_storage local{};
  socklen_t length = sizeof local;
  getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&local), &length);
  return SocketAddress::fromSockaddr(reinterpret_cast<const sockaddr*>(&local));
}

}  // namespace

IngestThread::IngestThread(std::unique_ptr<rdma::Device> device, net::UdpSocket socket)
    : device_(std::move(device)),
      socket_(std::move(socket)),
      listens_(boundTo(socket_)),
      batch_(kMaxCoalesced),
      incarnation_(randomU64()) {}

Result<std::unique_ptr<IngestThread>> IngestThread::start(const Config& config) {
  auto device = rdma::openDevice(*config.address, config.device);
  if (!device) return tl::unexpected(device.error());
  net::UdpSocketOptions options;
  options.coalesced = true;
  options.port_taken = "another process listens there";
  auto socket = net::UdpSocket::bind(config.listen.address, config.listen.port, options);
  if (!socket) return tl::unexpected(socket.error());
  std::unique_ptr<IngestThread> made(new IngestThread(std::move(*device), std::move(*socket)));
  if (auto opened = made->open(config); !opened) return tl::unexpected(opened.error());
  made->thread_ = std::thread([thread = made.get()] { thread->run(); });
  return made;
}

Status IngestThread::open(const Config& config) {
  stop_ = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!stop_.valid()) return makeErrnoError("translator", "no eventfd", errno);
  SessionOptions options;
  options.name = config.name;
  options.collector = config.collector;
  options.source = *config.address;
  options.curve = curveOf(config);
  options.incarnation = incarnation_;
  auto session = StoreSession::create(std::move(options), *device_, context_, counted_);
  if (!session) return tl::unexpected(session.error());
  session_ = std::move(*session);
  return {};
}

IngestThread::~IngestThread() {
  if (!thread_.joinable()) return;
  eventfd_write(stop_.get(), 1);
  thread_.join();
}

Counters IngestThread::counters() const {
  const std::lock_guard lock(mutex_);
  return published_;
}

void IngestThread::run() {
  pthread_setname_np(pthread_self(), "ingest");
  PollSet<Wait> wait;
  wait.watch(Wait::kStop, stop_.get());
  Nanos next_beat = monotonicNow();
  Nanos next_question = kNever;
  for (;;) {
    // Reports wait in the socket until the store is known, and while lists have too much under way.
    Shadow* const before = session_->shadow();
    const bool takes = before != nullptr && !(session_->serving() && before->crowded());
    wait.watch(Wait::kSocket, takes ? socket_.descriptor() : -1);
    wait.watch(Wait::kLink, session_->linkDescriptor());
    wait.watch(Wait::kWriter, session_->writerDescriptor());
    wait.wait(std::min({next_beat, next_question, next_lists_, session_->nextWake()}) -
              monotonicNow());
    if (wait.ready(Wait::kStop)) break;
    const Nanos now = monotonicNow();
    Shadow* const shadow = session_->shadow();
    if (shadow != nullptr && wait.ready(Wait::kSocket)) receive(*shadow, now);
    const bool called = wait.ready(Wait::kLink) || wait.ready(Wait::kWriter);
    if (called || session_->nextWake() <= now) session_->work(now);
    if (Shadow* const now_known = session_->shadow()) flushLists(*now_known, now);
    if (now >= next_question) {
      askForMissing();
      next_question = kNever;
    }
    if (next_question == kNever && intake_.reporters().hasGaps()) {
      next_question = now + Reporters::kAskInterval;
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
  for (int i = 0; i < kBatchesAtOnce && !(i > 0 && shadow.crowded()); ++i) {
    const int got = batch_.receive(socket_.descriptor(), 0);
    if (got < 0) {
      // A reporter that has ended refuses what it was asked.
      socket_.readErrors(batch_);
      socket_.bounces().clear();
      socket_.departures().clear();
    }
    if (got <= 0) return;
    for (std::size_t j = 0; j < static_cast<std::size_t>(got); ++j) {
      takeSegments(j, shadow, now_mono, utc);
      if (shadow.fullListBlocks() >= kFullBlocksAtOnce) makeRoom(shadow, room_until);
    }
    if (static_cast<std::size_t>(got) < net::RxBatch::kMax) return;
  }
}

void IngestThread::takeSegments(std::size_t index, Shadow& shadow, Nanos now_mono, Nanos utc) {
  const net::Ancillary about = batch_.ancillary(index);
  if (about.overflow) counted_.overflow += socket_.newlyDropped(*about.overflow);
  auto left = batch_.head(index);
  const SocketAddress source = batch_.from(index);
  const std::size_t each = about.segment_bytes != 0 ? about.segment_bytes : left.size();
  do {  // an empty datagram counts as well
    const auto datagram = left.first(std::min(each, left.size()));
    left = left.subspan(datagram.size());
    intake_.take(datagram, source, shadow, now_mono, utc);
  } while (!left.empty());
}

void IngestThread::askForMissing() {
  intake_.reporters().askForMissing(
      [this](const SocketAddress& to, const wire::ReportReply& reply) {
        std::array<std::uint8_t, wire::kMaxReportReplyBytes> bytes{};
        const std::size_t length = wire::write(reply, bytes);
        sockaddr_storage address{};
        const socklen_t address_length = to.address.toSockaddr(to.port, address);
        // What does not leave now is asked for again.
        ::sendto(socket_.descriptor(), bytes.data(), length, MSG_DONTWAIT | MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), address_length);
      });
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
  const store::WriterStatus status = statusNow();
  session_->flush(status);
  {
    const std::lock_guard lock(mutex_);
    published_ = counted_;
  }
  const std::uint64_t bad = status.refused + status.lost;
  if (bad != complained_ && now_mono >= complain_at_) {
    log::warning(
        "{} datagrams lost and {} datagrams or reports refused so far; /metrics has the reasons",
        status.lost, status.refused);
    complained_ = bad;
    complain_at_ = now_mono + kComplainEvery;
  }
}

}  // namespace pingloom::translator
