#include "scene.h"

#include <hiredis/hiredis.h>

#include <filesystem>
#include <string_view>

#include "common/duration.h"
#include "common/file.h"
#include "controller/redis/connection.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

// Gives the first child of a process, as /proc tells, or -1 if there is none.
pid_t childOf(pid_t parent) {
  const std::string file =
      "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  const auto text = readFile(file, 4096);
  return text && !text->empty() ? std::stoi(*text) : -1;
}

std::string pinglistOf(const Shape& shape) {
  const auto range = [](const IpAddress& first, std::uint32_t count) {
    std::string list;
    for (std::uint32_t i = 0; i < count; ++i) {
      list += (i == 0 ? "" : ", ") + first.plus(i)->text();
    }
    return "[" + list + "]";
  };
  return "version: 1\ndefaults: { interval: 1s, timeout: 500ms, window: " +
         formatDuration(kWindow) + " }\nprobes:\n  - name: " + kProbe +
         "\n    protocol: udp\n    from: " + range(sourceOf(0), shape.agents) +
         "\n    to: " + range(destinationOf(0), shape.destinations) + "\n";
}

}  // namespace

IpAddress sourceOf(std::uint32_t agent) { return IpAddress::fromV4(0x0A000001U + agent); }
IpAddress destinationOf(std::uint32_t index) { return IpAddress::fromV4(0x0A800001U + index); }

Result<std::unique_ptr<Scene>> Scene::start(const std::string& controller, const Shape& shape) {
  std::unique_ptr<Scene> made(new Scene(controller, pinglistOf(shape)));
  if (auto status = made->process_.start(); !status) return tl::unexpected(status.error());
  if (auto status = made->waitForRedis(); !status) return tl::unexpected(status.error());
  return made;
}

Status Scene::waitForRedis() {
  controller::RedisTarget target;
  target.kind = controller::RedisTarget::Kind::kUnix;
  target.path = redisSocket();
  auto ready = waitUntil("probes in the controller's Redis", kPatience, [&] {
    const auto redis = controller::RedisConnection::connect(target, {});
    if (!redis) return false;
    const auto probes = (*redis)->members("pingloom:probes");
    return probes && !probes->empty();
  });
  redis_ = childOf(process_.pid());
  return ready;
}

std::uint64_t Scene::hsetCommands() const {
  std::unique_ptr<redisContext, decltype(&redisFree)> redis(redisConnectUnix(redisSocket().c_str()),
                                                            redisFree);
  std::unique_ptr<redisReply, decltype(&freeReplyObject)> reply(
      static_cast<redisReply*>(redisCommand(redis.get(), "INFO commandstats")), freeReplyObject);
  if (reply == nullptr || reply->str == nullptr) return 0;
  static constexpr std::string_view kStart = "cmdstat_hset:calls=";
  const std::string_view text(reply->str, reply->len);
  const auto at = text.find(kStart);
  return at == std::string_view::npos ? 0 : std::stoull(reply->str + at + kStart.size());
}

std::uint64_t Scene::historyBytes() const {
  std::uint64_t bytes = 0;
  for (const char* file : {"history.sqlite", "history.sqlite-wal"}) {
    std::error_code missing;
    const auto size = std::filesystem::file_size(process_.state() / file, missing);
    bytes += missing ? 0 : size;
  }
  return bytes;
}

}  // namespace pingloom::bench
