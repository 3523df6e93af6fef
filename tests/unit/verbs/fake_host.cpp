#include "fake_host.h"

#include <poll.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "unit/eventually.h"

namespace pingloom::rdma::verbs {
namespace {

template <typename T>
std::optional<T> takeFirst(std::vector<T>& from) {
  if (from.empty()) return std::nullopt;
  T first = std::move(from.front());
  from.erase(from.begin());
  return first;
}

}  // namespace

void FakeVerbsTest::setDevices(const std::string& lines) {
  if (directory_.empty()) {
    std::string name = std::filesystem::temp_directory_path() / "fake-verbs-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  const std::string path = directory_ + "/devices";
  static int generation = 0;  // a file that differs has new devices, without old faults
  std::ofstream(path) << "# " << ++generation << "\n" << lines;
  setenv("PINGLOOM_FAKE_VERBS", path.c_str(), 1);
}

void FakeVerbsTest::TearDown() {
  // Threads that resolve addresses give their device back a moment after their endpoint has gone.
  EXPECT_TRUE(test::eventually([] { return fakeVerbsLiveObjects() == 0; }));
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

IpAddress ip(std::string_view text) { return IpAddress::parse(text).value(); }
DeviceChoice at(std::string_view address) { return {.address = ip(address)}; }

std::string_view textOf(std::span<const std::uint8_t> payload) {
  return {reinterpret_cast<const char*>(payload.data()), payload.size()};
}

Side::Side(const DeviceChoice& choice, const UdOptions& options) {
  auto opened = openVerbsDevice(choice);
  EXPECT_TRUE(opened) << opened.error().text();
  device = std::move(opened.value());
  auto made = device->createUd(options);
  EXPECT_TRUE(made) << made.error().text();
  endpoint = std::move(made.value());
}

Status Side::step(int milliseconds) {
  pollfd waiting{endpoint->descriptor(), POLLIN, 0};
  const Nanos until = endpoint->nextWake() - monotonicNow();
  const Nanos most = milliseconds * kMillisecond;
  ::poll(&waiting, 1, static_cast<int>(std::clamp<Nanos>(until, 0, most) / kMillisecond));
  const Status polled = endpoint->poll(events);
  collect();
  return polled;
}

void Side::collect() {
  sent_.insert(sent_.end(), events.sent.begin(), events.sent.end());
  for (const UdReceived& one : events.received) {
    packets_.push_back(
        {std::string(textOf(one.payload)), one.from, one.qpn, one.ticks.value_or(0)});
  }
}

PostResult Side::send(const UdAddress& to, std::string_view payload, std::uint64_t id) {
  return send({to.gid, to.lid, 0, 0}, to, payload, id);
}

PostResult Side::send(const UdPath& path, const UdAddress& to, std::string_view payload,
                      std::uint64_t id) {
  UdMessage message;
  message.path = path;
  message.qpn = to.qpn;
  message.q_key = to.q_key;
  message.payload = {reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
  message.id = id;
  PostResult result = PostResult::kResolving;
  test::eventually(
      [&] {
        result = endpoint->post(message);
        return result != PostResult::kResolving;
      },
      [&] { return step(1); });
  endpoint->flush();
  return result;
}

std::optional<UdSent> Side::nextSent() {
  test::eventually([&] { return !sent_.empty(); }, [&] { return step(); });
  return takeFirst(sent_);
}

std::optional<Side::Packet> Side::nextPacket() {
  test::eventually([&] { return !packets_.empty(); }, [&] { return step(); });
  return takeFirst(packets_);
}

std::string Side::failure() {
  Status polled;
  test::eventually([&] { return !polled; }, [&] { polled = step(); });
  return polled ? "" : polled.error().text();
}

}  // namespace pingloom::rdma::verbs
