#include "shared/controller_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <system_error>
#include <utility>

#include "common/fd.h"
#include "common/file.h"
#include "common/time.h"
#include "http/client.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

std::uint16_t freePort() {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 0;
  }
  return ntohs(address.sin_port);
}

}  // namespace

std::string builtController() {
  std::error_code ignored;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", ignored);
  return (self.parent_path() / "pingloom-controller").string();
}

ControllerProcess::ControllerProcess(std::string program, std::string pinglist, std::string more)
    : program_(std::move(program)),
      pinglist_(std::move(pinglist)),
      more_(std::move(more)),
      port_(freePort()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "pingloom-bench-XXXXXX").string();
  if (const char* made = ::mkdtemp(pattern.data())) directory_ = made;
}

ControllerProcess::~ControllerProcess() {
  if (pid_ > 0) endChild(pid_);  // takes its Redis with it
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status ControllerProcess::writePinglist(const std::string& text) {
  return writeFileAtomic(directory_ / "pinglist.yaml", text);
}

Status ControllerProcess::writeConfiguration() {
  if (pid_ < 0) {
    if (auto status = writePinglist(pinglist_); !status) return status;
  }
  return writeFileAtomic(directory_ / "controller.yaml",
                         "pinglist: pinglist.yaml\ncontrol: " + address() +
                             "\nhttp: 127.0.0.1:0\nstate_dir: state\nlog_level: warning\n"
                             "url_file: url\n" +
                             redis_ + more_);
}

void ControllerProcess::useRedis(const std::string& target) { redis_ = "redis: " + target + "\n"; }

void ControllerProcess::joinCluster(const std::string& name) {
  more_ += "cluster: { name: " + name + ", address: " + address() + " }\n";
}

Status ControllerProcess::initHistory() {
  if (auto status = writeConfiguration(); !status) return status;
  if (auto status = spawn("--init-history"); !status) return status;
  int code = 0;
  ::waitpid(std::exchange(pid_, -1), &code, 0);
  if (code == 0) return {};
  return makeError(program_, "--init-history failed: " +
                                 readFile(directory_ / "controller.log", 1 << 20).value_or(""));
}

Status ControllerProcess::spawn(const char* option) {
  pid_ = ::fork();
  if (pid_ < 0) return makeErrnoError(program_, "cannot be started", errno);
  if (pid_ > 0) return {};
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int log = ::open((directory_ / "controller.log").c_str(),
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
  ::dup2(log, STDERR_FILENO);
  ::dup2(log, STDOUT_FILENO);
  const std::string file = directory_ / "controller.yaml";
  ::execl(program_.c_str(), program_.c_str(), "--config", file.c_str(), option, nullptr);
  ::_exit(127);
}

bool ControllerProcess::answers() {
  const auto url = readFile(directory_ / "url", 4096);
  if (!url || url->empty()) return false;
  url_ = url->substr(0, url->find_first_of("\r\n"));
  while (!url_.empty() && url_.back() == '/') url_.pop_back();
  const auto answer = http::get(url_, "/healthz", kSecond);
  return answer && answer->status == 200;
}

Status ControllerProcess::start() {
  std::error_code ignored;
  std::filesystem::remove(directory_ / "url", ignored);
  if (auto status = writeConfiguration(); !status) return status;
  if (auto status = spawn(); !status) return status;
  bool ended = false;
  auto up = waitUntil(program_, kPatience, [&] {
    ended = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended || answers();
  });
  if (!ended) return up;
  pid_ = -1;
  return makeError(
      program_,
      "ended: " + readFile(directory_ / "controller.log", 1 << 20).value_or("it wrote no log"));
}

void ControllerProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

void ControllerProcess::stop() { endChild(pid_); }

}  // namespace pingloom::bench
