#include "controller/history/ledger_writer.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/log.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kTrimInterval = kSecond;
constexpr Nanos kMinRollUpPause = 10 * kMillisecond;  // between two rounds while it catches up
constexpr std::size_t kTrimAtLeast = 64;
constexpr Nanos kRollUpInterval = kSecond;
constexpr Nanos kNoBatches = 3 * kSecond;  // agents have gone elsewhere, or try again sooner
constexpr Nanos kRollUpSlice = 25 * kMillisecond;  // the longest that batches wait for it

}  // namespace

LedgerWriter::LedgerWriter(std::unique_ptr<Ledger> ledger)
    : ledger_(std::move(ledger)), event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  status_ = {true, ledger_->note(), 0, ledger_->fileBytes()};
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "ledger");
}

LedgerWriter::~LedgerWriter() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool LedgerWriter::submit(LedgerBatch batch) {
  {
    const std::lock_guard lock(mutex_);
    if (failing_ && outcomes_.empty() && retry_mono_ <= monotonicNow()) failing_ = false;
    if (standsStill() && !std::exchange(standstill_logged_, true)) {
      log::error(
          "history cannot be written: the disk does not answer; the latest results are still "
          "shown, and agents keep theirs");
    }
    if (failing_ || waiting_bytes_ >= kMaxWaitingBytes) return false;
    if (waiting_bytes_ == 0) progress_mono_ = monotonicNow();
    waiting_bytes_ += batch.bytes;
    waiting_.push_back(std::move(batch));
  }
  wake_.notify_one();
  return true;
}

bool LedgerWriter::ready() const {
  const std::lock_guard lock(mutex_);
  const bool failing = failing_ && (!outcomes_.empty() || retry_mono_ > monotonicNow());
  return !failing && waiting_bytes_ <= kMaxWaitingBytes / 2;
}

bool LedgerWriter::busy() const {
  const std::lock_guard lock(mutex_);
  return !failing_ && waiting_bytes_ >= kMaxWaitingBytes && !standsStill();
}

bool LedgerWriter::standsStill() const {
  return waiting_bytes_ > 0 && monotonicNow() - progress_mono_ >= kStandstill;
}

std::vector<LedgerWriter::Outcome> LedgerWriter::takeOutcomes() {
  std::uint64_t count = 0;
  while (::read(event_.get(), &count, sizeof count) > 0) {
  }
  const std::lock_guard lock(mutex_);
  return std::exchange(outcomes_, {});
}

HistoryStatus LedgerWriter::status() const {
  const std::lock_guard lock(mutex_);
  HistoryStatus status = status_;
  status.events_written = events_.written();
  status.events_dropped = events_.dropped();
  status.lag = waiting_bytes_ > 0 ? monotonicNow() - progress_mono_ : 0;
  if (standsStill()) {
    status.writing = false;
    if (status.last_error.empty()) status.last_error = "the disk does not answer";
  }
  return status;
}

void LedgerWriter::run() {
  for (;;) {
    std::vector<LedgerBatch> batches;
    {
      std::unique_lock lock(mutex_);
      const Nanos due = std::min(trim_due_mono_, roll_up_due_mono_);
      const Nanos pause = std::max(kMinRollUpPause, due - monotonicNow());
      wake_.wait_for(lock, std::chrono::nanoseconds(pause), [&] {
        return stop_ || !waiting_.empty() || mayRead() || events_.due(monotonicNow());
      });
      if (stop_ && waiting_.empty()) break;
      batches = takeSome();
    }
    const std::uint64_t before = ledger_->windowsWritten();
    if (!batches.empty()) commit(std::move(batches));
    tryAgain();
    events_.writeTo(*ledger_, monotonicNow());
    readOne();
    const auto just_written = static_cast<std::size_t>(ledger_->windowsWritten() - before);
    trim(just_written);
    rollUp(just_written);
  }
  events_.writeTo(*ledger_, monotonicNow());
}

std::vector<LedgerBatch> LedgerWriter::takeSome() {
  std::size_t count = 0;
  for (std::size_t bytes = 0;
       count < waiting_.size() && count < kMaxBatchesAtOnce && bytes < kMaxBytesAtOnce; ++count) {
    bytes += waiting_[count].bytes;
  }
  const auto end = waiting_.begin() + static_cast<std::ptrdiff_t>(count);
  std::vector<LedgerBatch> taken(std::make_move_iterator(waiting_.begin()),
                                 std::make_move_iterator(end));
  waiting_.erase(waiting_.begin(), end);
  return taken;
}

void LedgerWriter::commit(std::vector<LedgerBatch> batches) {
  const auto status = ledger_->commit(batches, utcNow());
  if (status) {
    succeeded(batches);
  } else {
    failed(std::move(batches), status.error());
  }
}

// While the history could not be written, the agents may have gone to other controllers. Then no
// batch comes that would show that it can be written again.
void LedgerWriter::tryAgain() {
  const Nanos now = monotonicNow();
  if (!failure_logged_ || !ledger_->shared() || now < try_again_due_mono_) return;
  try_again_due_mono_ = now + kRetry;
  // As long as batches come, they are what shows it.
  if (now >= batch_failed_mono_ + kNoBatches) commit({});
}

void LedgerWriter::succeeded(const std::vector<LedgerBatch>& batches) {
  if (std::exchange(failure_logged_, false)) log::info("history is being written again");
  const std::lock_guard lock(mutex_);
  status_.writing = true;
  status_.last_error = ledger_->note();
  status_.windows_written = ledger_->windowsWritten();
  report(batches, true);
}

void LedgerWriter::failed(std::vector<LedgerBatch> batches, const Error& error) {
  if (!batches.empty()) batch_failed_mono_ = monotonicNow();
  if (!std::exchange(failure_logged_, true)) {
    log::error(
        "history cannot be written; the latest results are still shown, and agents keep theirs: {}",
        error.text());
  }
  const std::lock_guard lock(mutex_);
  status_.writing = false;
  status_.last_error = error.text();
  failing_ = true;
  retry_mono_ = monotonicNow() + kRetry;
  batches.insert(batches.end(), std::make_move_iterator(waiting_.begin()),
                 std::make_move_iterator(waiting_.end()));
  waiting_.clear();
  report(batches, false);
}

void LedgerWriter::report(const std::vector<LedgerBatch>& batches, bool committed) {
  progress_mono_ = monotonicNow();
  standstill_logged_ = false;
  for (const LedgerBatch& batch : batches) {
    outcomes_.push_back({batch.host, batch.id, committed, batch.rows});
    waiting_bytes_ -= batch.bytes;
  }
  wakeOwner();
}

void LedgerWriter::wakeOwner() const {
  const std::uint64_t one = 1;
  (void)!::write(event_.get(), &one, sizeof one);
}

void LedgerWriter::record(std::vector<KeptEvent> events, std::vector<PresenceRecord> presence,
                          std::vector<VerdictRecord> verdicts,
                          std::vector<SeverityRecord> severities,
                          std::vector<CounterRecord> counters,
                          std::vector<PathChange> path_changes) {
  {
    const std::lock_guard lock(mutex_);
    events_.add(std::move(events), std::move(presence), std::move(verdicts), std::move(severities),
                std::move(counters), std::move(path_changes));
  }
  wake_.notify_one();
}

void LedgerWriter::restore(std::vector<LedgerPlace> places) {
  {
    const std::lock_guard lock(mutex_);
    std::reverse(places.begin(), places.end());
    places_ = std::move(places);
  }
  wake_.notify_one();
}

std::vector<LatestReport> LedgerWriter::takeRestored() {
  const std::lock_guard lock(mutex_);
  if (restored_.empty()) return {};
  restored_bytes_ = 0;
  wake_.notify_one();
  return std::exchange(restored_, {});
}

bool LedgerWriter::mayRead() const {
  return !places_.empty() && restored_bytes_ < kMaxRestoredBytes;
}

void LedgerWriter::readOne() {
  LedgerPlace place;
  {
    const std::lock_guard lock(mutex_);
    if (!mayRead()) return;
    place = std::move(places_.back());
    places_.pop_back();
  }
  std::vector<LatestReport> found = ledger_->latest(place.probe, place.source);
  if (found.empty()) return;
  const std::lock_guard lock(mutex_);
  for (LatestReport& report : found) {
    restored_bytes_ += report.report.size();
    restored_.push_back(std::move(report));
  }
  wakeOwner();
}

// Trims a file after each transaction, and once a second when there is none, twice as much as was
// written, so that it catches up. A server is asked once a second, and again while there is more.
void LedgerWriter::trim(std::size_t just_written) {
  const Nanos now = monotonicNow();
  if ((just_written == 0 || ledger_->remote()) && now < trim_due_mono_) return;
  const auto more = ledger_->trim(kTrimAtLeast + 2 * just_written, utcNow());
  trim_due_mono_ = more && *more ? now : now + kTrimInterval;
  const std::lock_guard lock(mutex_);
  status_.bytes = ledger_->fileBytes();
  if (!more) status_.last_error = more.error().text();
}

// Takes turns with the transactions while there is something to roll up. A server is asked once a
// second whether there is.
void LedgerWriter::rollUp(std::size_t just_written) {
  const Nanos started = monotonicNow();
  if ((just_written == 0 || ledger_->remote()) && started < roll_up_due_mono_) return;
  Result<std::size_t> done = std::size_t{1};
  while (done && *done > 0 && monotonicNow() - started < kRollUpSlice) {
    done = ledger_->rollUp(utcNow());
  }
  roll_up_due_mono_ = done && *done > 0 ? started : started + kRollUpInterval;
  const std::lock_guard lock(mutex_);
  status_.blocks_dropped = ledger_->blocksDropped();
  if (!done) status_.last_error = done.error().text();
}

}  // namespace pingloom::controller
