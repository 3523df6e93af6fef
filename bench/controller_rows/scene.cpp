#include "scene.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "common/duration.h"
#include "common/fd.h"
#include "common/file.h"
#include "controller/redis/connection.h"

namespace pingloom::bench {
namespace {

using namespace std::chrono_literals;

std::uint16_t freePort() {
  const UniqueFd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  (void)::bind(probe.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &length);
  return ntohs(address.sin_port);
}

// The first child of a process, by /proc.
pid_t childOf(pid_t parent) {
  const std::string file =
      "/proc/" + std::to_string(parent) + "/task/" + std::to_string(parent) + "/children";
  const auto text = readFile(file, 4096);
  return text && !text->empty() ? std::stoi(*text) : -1;
}

}  // namespace

IpAddress sourceOf(std::uint32_t agent) { return IpAddress::fromV4(0x0A000001U + agent); }
IpAddress destinationOf(std::uint32_t index) { return IpAddress::fromV4(0x0A800001U + index); }

Usage usageOf(pid_t pid) {
  Usage usage;
  const std::string folder = "/proc/" + std::to_string(pid);
  std::ifstream file(folder + "/stat");
  std::string line;
  std::getline(file, line);
  std::istringstream fields(line.substr(line.rfind(')') + 1));
  std::vector<std::string> words;
  for (std::string word; fields >> word;) words.push_back(word);
  if (words.size() < 22) return usage;
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  usage.cpu_seconds = (std::stod(words[11]) + std::stod(words[12])) / ticks;
  usage.resident_bytes = std::stoull(words[21]) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return usage;
}

Result<std::unique_ptr<Scene>> Scene::start(const std::string& controller, const Shape& shape) {
  std::unique_ptr<Scene> made(new Scene);
  std::string folder = "/tmp/pingloom-bench.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return makeErrnoError(folder, "cannot create", errno);
  made->folder_ = folder;
  made->port_ = freePort();
  if (auto status = made->write(shape); !status) return tl::unexpected(status.error());
  if (auto status = made->spawn(controller); !status) return tl::unexpected(status.error());
  if (auto status = made->waitUntilReady(); !status) return tl::unexpected(status.error());
  return made;
}

Status Scene::write(const Shape& shape) {
  const auto range = [](const IpAddress& first, std::uint32_t count) {
    std::string list;
    for (std::uint32_t i = 0; i < count; ++i) {
      list += (i == 0 ? "" : ", ") + first.plus(i)->text();
    }
    return "[" + list + "]";
  };
  const std::string pinglist =
      "version: 1\ndefaults: { interval: 100ms, timeout: 500ms, window: " +
      formatDuration(kWindow) + " }\nprobes:\n  - name: " + kProbe +
      "\n    protocol: udp\n    from: " + range(sourceOf(0), shape.agents) +
      "\n    to: " + range(destinationOf(0), shape.destinations) + "\n";
  const std::string config =
      "pinglist: pinglist.yaml\ncontrol: 127.0.0.1:" + std::to_string(port_) +
      "\nhttp: 127.0.0.1:0\nweb_root: web\nstate_dir: state\n"
      "redis: embedded\nredis_socket: redis.sock\nlog_level: warning\n";
  if (auto status = makeDirectories(folder_ / "web"); !status) return status;
  if (auto status = writeFileAtomic(folder_ / "web" / "index.html", "bench\n"); !status) {
    return status;
  }
  if (auto status = writeFileAtomic(folder_ / "pinglist.yaml", pinglist); !status) return status;
  return writeFileAtomic(folder_ / "controller.yaml", config);
}

Status Scene::spawn(const std::string& controller) {
  const std::string config = folder_ / "controller.yaml";
  const std::string log = folder_ / "controller.log";
  controller_ = fork();
  if (controller_ < 0) return makeErrnoError(controller, "cannot fork", errno);
  if (controller_ != 0) return {};
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int file = ::open(log.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0640);
  dup2(file, STDERR_FILENO);
  execl(controller.c_str(), controller.c_str(), "--config", config.c_str(), nullptr);
  _exit(127);
}

Status Scene::waitUntilReady() {
  controller::RedisTarget target;
  target.kind = controller::RedisTarget::Kind::kUnix;
  target.path = redisSocket();
  for (int i = 0; i < 600; ++i) {
    std::this_thread::sleep_for(50ms);
    int status = 0;
    if (waitpid(controller_, &status, WNOHANG) == controller_) {
      controller_ = -1;
      const auto log = readFile(folder_ / "controller.log", 1U << 20);
      return makeError("pingloom-controller", "ended: " + log.value_or(""));
    }
    const auto redis = controller::RedisConnection::connect(target, {});
    if (!redis) continue;
    const auto probes = (*redis)->members("pingloom:probes");
    if (!probes || probes->empty()) continue;
    redis_ = childOf(controller_);
    return {};
  }
  return makeError("pingloom-controller", "is not ready after 30 s");
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
    const auto size = std::filesystem::file_size(folder_ / "state" / file, missing);
    bytes += missing ? 0 : size;
  }
  return bytes;
}

Scene::~Scene() {
  if (controller_ > 0) {
    kill(controller_, SIGTERM);
    waitpid(controller_, nullptr, 0);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace pingloom::bench
