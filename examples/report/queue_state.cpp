// Reports the state of a queue every 10 ms: its latest length by key, and each overflow as an
// event.
//   queue_state [TRANSLATOR]
#include <chrono>
#include <cstdint>
#include <cstdio>
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
  std::uint32_t length = 0;
  for (int i = 0; i < 1000; ++i) {
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
