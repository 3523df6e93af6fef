#include "captures.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <initializer_list>

#include "common/file.h"

namespace pingloom::rdma {
namespace {

constexpr std::size_t kFileHeader = 24;
constexpr std::size_t kRecordHeader = 16;
constexpr std::size_t kEthernetHeader = 14;
constexpr std::uint32_t kMagic = 0xA1B2C3D4;

std::uint32_t word(const std::string& text, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, text.data() + at, sizeof value);
  return value;
}

void readCapture(const std::filesystem::path& path, std::vector<CapturedPacket>& out) {
  const auto text = readFile(path, 1 << 20);
  if (!text || text->size() < kFileHeader || word(*text, 0) != kMagic) return;
  int number = 0;
  for (std::size_t at = kFileHeader; at + kRecordHeader <= text->size();) {
    const std::size_t length = word(*text, at + 8);
    at += kRecordHeader;
    if (at + length > text->size()) return;
    out.push_back({path.filename().string() + " #" + std::to_string(++number),
                   {text->begin() + static_cast<std::ptrdiff_t>(at + kEthernetHeader),
                    text->begin() + static_cast<std::ptrdiff_t>(at + length)}});
    at += length;
  }
}

std::vector<CapturedPacket> readAll(std::initializer_list<const char*> names) {
  std::vector<CapturedPacket> packets;
  for (const char* name : names) {
    readCapture(std::string(PINGLOOM_TEST_DATA) + "/rxe/rxe-" + name + ".pcap", packets);
  }
  return packets;
}

}  // namespace

const std::vector<CapturedPacket>& capturedPackets() {
  static const auto packets = readAll({"ud-send", "rc-read", "rc-write", "rc-atomic"});
  return packets;
}

const std::vector<CapturedPacket>& capturedIpv6Packets() {
  static const auto packets = readAll({"ud-send-v6"});
  return packets;
}

}  // namespace pingloom::rdma
