#include "rdma/soft/rc/request_queue.h"

#include <algorithm>

#include "rdma/soft/rc/psn.h"
#include "rdma/soft/rc/shared_copy.h"

namespace pingloom::rdma::soft {
namespace {

bool isWithin(const LocalPiece& piece) {
  if (piece.memory.empty()) return true;
  if (piece.region == nullptr) return false;
  const auto whole = piece.region->memory();
  const auto begin = reinterpret_cast<std::uintptr_t>(piece.memory.data());
  const auto from = reinterpret_cast<std::uintptr_t>(whole.data());
  const std::uintptr_t offset = begin - from;
  return begin >= from && offset <= whole.size() && piece.memory.size() <= whole.size() - offset;
}

// Calls use(part of a piece, bytes before it) for each piece that contains some of the message's
// `size` bytes from `offset` on.
template <typename Use>
void forEachPart(const QueuedRequest& request, std::size_t offset, std::size_t size, Use&& use) {
  std::size_t done = 0;
  for (std::size_t i = 0; i < request.piece_count && done < size; ++i) {
    const auto piece = request.pieces[i];
    if (offset >= piece.size()) {
      offset -= piece.size();
      continue;
    }
    const std::size_t part = std::min(piece.size() - offset, size - done);
    use(piece.subspan(offset, part), done);
    done += part;
    offset = 0;
  }
}

}  // namespace

QueuedRequest queued(const RcRequest& request, std::uint32_t mtu) {
  QueuedRequest made;
  made.operation = request.operation;
  made.signalled = request.signalled;
  made.id = request.id;
  made.remote_address = request.remote_address;
  made.rkey = request.rkey;
  made.immediate = request.immediate;
  made.add_or_swap = request.add_or_swap;
  made.compare = request.compare;
  made.valid = request.local.size() <= RcRequest::kMaxPieces;
  std::uint64_t length = 0;
  if (made.valid) {
    for (const LocalPiece& piece : request.local) {
      made.valid = made.valid && isWithin(piece) && piece.memory.size() <= kMaxMessage;
      made.pieces[made.piece_count++] = piece.memory;
      length += piece.memory.size();
    }
  }
  made.valid = made.valid && length <= kMaxMessage;
  if (made.isAtomic()) {
    made.valid = made.valid && made.piece_count == 1 && length == kAtomicBytes &&
                 request.remote_address % kAtomicBytes == 0;
  }
  made.length = made.valid ? static_cast<std::uint32_t>(length) : 0;
  made.end = made.isAtomic() ? 1 : packetsOf(made.length, mtu);
  return made;
}

void scatter(const QueuedRequest& request, std::size_t offset,
             std::span<const std::uint8_t> bytes) {
  forEachPart(request, offset, bytes.size(), [&](std::span<std::uint8_t> part, std::size_t before) {
    copyToShared(part.data(), bytes.subspan(before, part.size()));
  });
}

std::span<const std::uint8_t> gather(const QueuedRequest& request, std::size_t offset,
                                     std::size_t size, std::span<std::uint8_t> scratch) {
  std::span<const std::uint8_t> whole;
  forEachPart(request, offset, size, [&](std::span<std::uint8_t> part, std::size_t before) {
    if (part.size() == size) {
      whole = part;
    } else {
      copyFromShared(scratch.data() + before, part);
      whole = scratch.first(size);
    }
  });
  return whole;
}

}  // namespace pingloom::rdma::soft
