// Reports the state of a queue every 10 ms: its latest length by key, and each overflow as an
// event. It runs for so many seconds (default 10).
//   queue_state [TRANSLATOR [SECONDS]]
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pingloom/report.hpp>
#include <random>
#include <string>
#include <thread>

namespace {

constexpr std::uint16_t kLatest = 1;  // a keyed table of the collector's store
constexpr std::uint16_t kEvents = 2;  // lists of the collector's store
constexpr std::uint32_t kRoom = 100;

std::string bytesOf(std::uint32_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

}  // namespace

int main(int argc, char** argv) {
  pingloom::Reporter reporter(argc > 1 ? argv[1] : "");
  std::mt19937 random(std::random_device{}());
  const long seconds = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 10;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::uint32_t length = 0;
  while (std::chrono::steady_clock::now() < end) {
    length += random() % 20;
    if (length > kRoom) {
      reporter.append(kEvents, "queue-7 overflowed");
      length = 0;
    }
    reporter.keyWrite(kLatest, "queue-7", bytesOf(length));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  reporter.flush();
  const auto status = reporter.status();
  std::printf("%llu reports sent, %llu skipped\n", static_cast<unsigned long long>(status.sent),
              static_cast<unsigned long long>(status.skipped));
}
