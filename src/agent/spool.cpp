#include "agent/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>
#include <vector>

#include "common/file.h"
#include "common/log.h"

namespace pingloom::agent {
namespace {

constexpr std::string_view kSuffix = ".spool";

std::string fileName(std::uint64_t number) { return fmt::format("{:016x}{}", number, kSuffix); }

std::optional<std::uint64_t> numberOf(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number, 16);
  if (error != std::errc() || fileName(number) != name) return std::nullopt;
  return number;
}

}  // namespace

Result<std::unique_ptr<Spool>> Spool::open(const std::filesystem::path& directory,
                                           std::uint64_t max_bytes) {
  if (auto status = makeDirectories(directory); !status) return tl::unexpected(status.error());
  std::unique_ptr<Spool> spool(new Spool(directory, max_bytes));
  if (auto status = spool->recover(); !status) return tl::unexpected(status.error());
  return spool;
}

Status Spool::recover() {
  std::vector<std::pair<std::uint64_t, std::filesystem::path>> files;
  std::error_code error;
  for (std::filesystem::directory_iterator at(directory_, error), end; !error && at != end;
       at.increment(error)) {
    if (const auto number = numberOf(at->path())) files.emplace_back(*number, at->path());
  }
  if (error) return makeError(directory_.string(), "cannot be read: " + error.message());
  std::sort(files.begin(), files.end());
  for (const auto& [number, path] : files) {
    next_number_ = number + 1;
    recoverFile(path);
  }
  if (status_.batches != 0 || status_.damaged != 0 || status_.truncated != 0) {
    log::info("{}: {} batches of an earlier run wait ({} records damaged, {} files cut short)",
              directory_.string(), status_.batches, status_.damaged, status_.truncated);
  }
  keepWithinBounds();
  return {};
}

void Spool::recoverFile(const std::filesystem::path& path) {
  auto scan = scanSpoolFile(path);
  if (!scan) {
    log::error("{}; it is left out", scan.error().text());
    ++status_.damaged;
    return;
  }
  status_.damaged += scan->damaged;
  status_.truncated += scan->truncated ? 1 : 0;
  Segment& segment = startSegment(path);
  segment.closed = true;
  segment.bytes = scan->bytes;
  status_.bytes += scan->bytes;
  for (const SpoolEntry& entry : scan->entries) {
    if (entry.id <= newest_) {
      ++status_.damaged;  // ids ascend from file to file: somebody has put it here
      continue;
    }
    segment.entries.push_back(entry);
    newest_ = entry.id;
    ++status_.batches;
  }
  if (segment.entries.empty()) removeSegment(segments_.size() - 1);
}

Spool::Segment& Spool::startSegment(std::filesystem::path path) {
  writer_.reset();
  segments_.emplace_back();
  segments_.back().path = std::move(path);
  return segments_.back();
}

void Spool::append(wire::BatchId id, std::string_view payload) {
  newest_ = id;
  ++status_.appended;
  if (payload.size() > kMaxRecordPayload) {
    ++status_.dropped;
    log::error("{}: a batch of {} bytes is too large and is dropped", directory_.string(),
               payload.size());
    return;
  }
  const Status written = appendToFile(id, payload);
  if (written) {
    if (std::exchange(disk_logged_, false))
      log::info("{}: takes writes again", directory_.string());
  } else {
    ++status_.write_errors;
    if (!std::exchange(disk_logged_, true)) {
      log::error("{}; batches wait in memory ({} MiB at most) until it takes writes again",
                 written.error().text(), kMaxHeldBytes >> 20);
    }
    hold(id, payload);
  }
  ++status_.batches;
  keepWithinBounds();
}

Status Spool::appendToFile(wire::BatchId id, std::string_view payload) {
  if (!writer_ || segments_.back().closed) {
    const std::filesystem::path path = directory_ / fileName(next_number_);
    auto writer = SpoolWriter::create(path);
    if (!writer) return tl::unexpected(writer.error());
    ++next_number_;
    startSegment(path);
    writer_ = std::move(*writer);
  }
  Segment& segment = segments_.back();
  if (auto status = writer_->append(id, payload); !status) {
    writer_.reset();
    segment.closed = true;
    if (segment.entries.empty()) removeSegment(segments_.size() - 1);
    return status;
  }
  const std::uint64_t bytes = kRecordHeader + payload.size();
  segment.entries.push_back(
      {id, static_cast<std::uint32_t>(segment.bytes), static_cast<std::uint32_t>(payload.size())});
  segment.bytes += bytes;
  status_.bytes += bytes;
  segment.closed = segment.bytes >= kSegmentBytes;
  return {};
}

void Spool::hold(wire::BatchId id, std::string_view payload) {
  const bool goes_on =
      !segments_.empty() && segments_.back().path.empty() && segments_.back().bytes < kSegmentBytes;
  Segment& segment = goes_on ? segments_.back() : startSegment({});
  segment.entries.push_back({id, 0, static_cast<std::uint32_t>(payload.size())});
  segment.held.emplace_back(payload);
  segment.bytes += payload.size();
  status_.bytes += payload.size();
}

std::optional<StoredBatch> Spool::next(wire::BatchId after) {
  while (true) {
    auto segment = std::find_if(segments_.begin(), segments_.end(), [&](const Segment& candidate) {
      return !candidate.entries.empty() && candidate.entries.back().id > after;
    });
    if (segment == segments_.end()) return std::nullopt;
    const auto entry =
        std::upper_bound(segment->entries.begin(), segment->entries.end(), after,
                         [](wire::BatchId id, const SpoolEntry& other) { return id < other.id; });
    const auto index = entry - segment->entries.begin();
    if (segment->path.empty()) {
      return StoredBatch{entry->id, segment->held[static_cast<std::size_t>(index)]};
    }
    auto payload = readSpoolRecord(segment->path, *entry);
    if (payload) return StoredBatch{entry->id, std::move(*payload)};
    log::error("{}; the batch is lost", payload.error().text());
    ++status_.damaged;
    --status_.batches;
    segment->entries.erase(entry);
    if (segment->entries.empty())
      removeSegment(static_cast<std::size_t>(segment - segments_.begin()));
  }
}

void Spool::acknowledge(wire::BatchId up_to) {
  while (!segments_.empty()) {
    Segment& oldest = segments_.front();
    while (!oldest.entries.empty() && oldest.entries.front().id <= up_to) {
      if (oldest.path.empty()) oldest.held.pop_front();
      oldest.entries.pop_front();
      --status_.batches;
      full_logged_ = false;
    }
    if (!oldest.entries.empty()) break;
    removeSegment(0);
  }
}

void Spool::removeSegment(std::size_t at) {
  if (at + 1 == segments_.size()) writer_.reset();
  const Segment& segment = segments_[at];
  status_.batches -= segment.entries.size();
  status_.bytes -= segment.bytes;
  std::error_code ignored;  // a file that stays is found and delivered again: counted once anyway
  if (!segment.path.empty()) std::filesystem::remove(segment.path, ignored);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(at));
}

void Spool::dropOldest() {
  if (!std::exchange(full_logged_, true)) {
    log::warning("{}: full; the oldest results are dropped until the controller takes some",
                 directory_.string());
  }
  status_.dropped += segments_.front().entries.size();
  removeSegment(0);
}

std::uint64_t Spool::heldBytes() const {
  std::uint64_t bytes = 0;
  for (const Segment& segment : segments_) bytes += segment.path.empty() ? segment.bytes : 0;
  return bytes;
}

void Spool::keepWithinBounds() {
  while (!segments_.empty() && (status_.bytes > max_bytes_ || status_.batches > kMaxBatches)) {
    dropOldest();
  }
  // Held batches are the newest, but room in memory is scarcer than on disk.
  while (heldBytes() > kMaxHeldBytes) {
    const auto held = std::find_if(segments_.begin(), segments_.end(),
                                   [](const Segment& segment) { return segment.path.empty(); });
    status_.dropped += held->entries.size();
    removeSegment(static_cast<std::size_t>(held - segments_.begin()));
  }
}

}  // namespace pingloom::agent
