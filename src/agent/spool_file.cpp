#include "agent/spool_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/crc32c.h"

namespace pingloom::agent {
namespace {

void putNumber(std::string& out, std::uint64_t number, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(number >> (8 * i));
}

std::uint64_t getNumber(std::string_view bytes) {
  std::uint64_t number = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) {
    number = (number << 8) | static_cast<std::uint8_t>(bytes[i]);
  }
  return number;
}

// Fewer bytes only at the end of the file.
Result<std::string> readAt(int fd, const std::string& name, std::uint64_t offset,
                           std::size_t bytes) {
  std::string out(bytes, '\0');
  std::size_t got = 0;
  while (got < bytes) {
    const ssize_t n = ::pread(fd, out.data() + got, bytes - got, static_cast<off_t>(offset + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return makeErrnoError(name, "cannot be read", errno);
    if (n == 0) break;
    got += static_cast<std::size_t>(n);
  }
  out.resize(got);
  return out;
}

struct Header {
  std::uint32_t length = 0;
  std::uint32_t checksum = 0;
  wire::BatchId id;
};

Header parseHeader(std::string_view bytes) {
  return {static_cast<std::uint32_t>(getNumber(bytes.substr(0, 4))),
          static_cast<std::uint32_t>(getNumber(bytes.substr(4, 4))),
          {getNumber(bytes.substr(8, 8)), getNumber(bytes.substr(16, 8))}};
}

bool intact(const Header& header, std::string_view header_bytes, std::string_view payload) {
  return payload.size() == header.length &&
         crc32c(payload, crc32c(header_bytes.substr(8))) == header.checksum;
}

}  // namespace

std::string recordHeader(wire::BatchId id, std::string_view payload) {
  std::string ids;
  putNumber(ids, id.incarnation, 8);
  putNumber(ids, id.sequence, 8);
  std::string header;
  putNumber(header, payload.size(), 4);
  putNumber(header, crc32c(payload, crc32c(ids)), 4);
  return header + ids;
}

Result<SpoolScan> scanSpoolFile(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status {};
  if (!fd.valid() || ::fstat(fd.get(), &status) != 0) {
    return makeErrnoError(path.string(), "cannot be opened", errno);
  }
  SpoolScan scan;
  scan.bytes = static_cast<std::uint64_t>(status.st_size);
  std::uint64_t at = 0;
  while (at < scan.bytes) {
    const auto head = readAt(fd.get(), path.string(), at, kRecordHeader);
    if (!head) return tl::unexpected(head.error());
    const bool whole_head = head->size() == kRecordHeader;
    const Header header = whole_head ? parseHeader(*head) : Header{};
    if (!whole_head || header.length > scan.bytes - at - kRecordHeader) {
      scan.truncated = true;  // or its length is damaged: either way nothing can be found behind it
      break;
    }
    if (header.length > kMaxRecordPayload) {
      ++scan.damaged;
      break;
    }
    const auto payload = readAt(fd.get(), path.string(), at + kRecordHeader, header.length);
    if (!payload) return tl::unexpected(payload.error());
    const wire::BatchId before = scan.entries.empty() ? wire::BatchId{} : scan.entries.back().id;
    if (intact(header, *head, *payload) && header.id > before) {
      scan.entries.push_back({header.id, static_cast<std::uint32_t>(at), header.length});
    } else {
      ++scan.damaged;
    }
    at += kRecordHeader + header.length;
  }
  return scan;
}

Result<std::string> readSpoolRecord(const std::filesystem::path& path, const SpoolEntry& entry) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid()) return makeErrnoError(path.string(), "cannot be opened", errno);
  const auto head = readAt(fd.get(), path.string(), entry.offset, kRecordHeader);
  if (!head) return tl::unexpected(head.error());
  auto payload = readAt(fd.get(), path.string(), entry.offset + kRecordHeader, entry.length);
  if (!payload) return payload;
  const bool good = head->size() == kRecordHeader && parseHeader(*head).id == entry.id &&
                    intact(parseHeader(*head), *head, *payload);
  if (!good) return makeError(path.string(), "has changed or is damaged");
  return payload;
}

Result<SpoolWriter> SpoolWriter::create(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640));
  if (!fd.valid()) return makeErrnoError(path.string(), "cannot be created", errno);
  return SpoolWriter(std::move(fd), path.string());
}

Status SpoolWriter::append(wire::BatchId id, std::string_view payload) {
  std::string header = recordHeader(id, payload);
  const std::array<iovec, 2> parts = {
      {{header.data(), header.size()}, {const_cast<char*>(payload.data()), payload.size()}}};
  const auto wanted = static_cast<ssize_t>(header.size() + payload.size());
  const ssize_t written = ::pwritev(fd_.get(), parts.data(), 2, size_);
  if (written == wanted) {
    size_ += wanted;
    return {};
  }
  const int reason = written < 0 ? errno : ENOSPC;
  if (::ftruncate(fd_.get(), size_) != 0) {
    return makeErrnoError(name_, "cannot be cut back after a failed write", errno);
  }
  return makeErrnoError(name_, "cannot be written", reason);
}

}  // namespace pingloom::agent
