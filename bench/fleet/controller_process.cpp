#include "controller_process.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <sqlite3.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>
#include <utility>

#include "common/duration.h"
#include "common/fd.h"
#include "common/file.h"
#include "http/client.h"

namespace pingloom::bench {
namespace {

constexpr Nanos kPatience = 30 * kSecond;

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

std::string procFile(pid_t pid, const char* name) {
  return readFile("/proc/" + std::to_string(pid) + "/" + name, 1 << 16).value_or("");
}

}  // namespace

Result<ControllerCounts> readCounts(const std::string& url) {
  const auto answer = http::get(url, "/api/v1/status", 30 * kSecond);
  if (!answer) return tl::unexpected(answer.error());
  const auto json = nlohmann::json::parse(answer->body, nullptr, false);
  if (answer->status != 200 || !json.is_object() || !json.contains("control")) {
    return makeError(url, "no status to be had");
  }
  const auto& control = json["control"];
  return ControllerCounts{control.value("batches_committed", std::uint64_t{0}),
                          control.value("batches_duplicate", std::uint64_t{0}),
                          control.value("rows_committed", std::uint64_t{0}),
                          control.value("messages_refused", std::uint64_t{0})};
}

ControllerProcess::ControllerProcess(std::string program, std::string pinglist)
    : program_(std::move(program)), pinglist_(std::move(pinglist)), port_(freePort()) {
  std::string pattern = (std::filesystem::temp_directory_path() / "pingloom-fleet-XXXXXX").string();
  if (const char* made = ::mkdtemp(pattern.data())) directory_ = made;
}

ControllerProcess::~ControllerProcess() {
  if (pid_ > 0) ::kill(pid_, SIGTERM);  // takes its Redis with it
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  std::error_code ignored;
  if (!directory_.empty()) std::filesystem::remove_all(directory_, ignored);
}

Status ControllerProcess::writePinglist(const std::string& text) {
  return writeFileAtomic(directory_ / "pinglist.yaml", text);
}

Status ControllerProcess::start() {
  const std::filesystem::path config = directory_ / "controller.yaml";
  const std::filesystem::path url_file = directory_ / "url";
  std::error_code ignored;
  std::filesystem::remove(url_file, ignored);
  if (pid_ < 0) {
    if (auto status = writePinglist(pinglist_); !status) return status;
  }
  const std::string text = "pinglist: pinglist.yaml\ncontrol: " + address() +
                           "\nhttp: 127.0.0.1:0\nstate_dir: state\nredis: embedded\n"
                           "log_level: warning\nurl_file: url\n";
  if (auto status = writeFileAtomic(config, text); !status) return status;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int log = ::open((directory_ / "controller.log").c_str(),
                           O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    ::dup2(log, STDERR_FILENO);
    ::dup2(log, STDOUT_FILENO);
    const std::string file = config.string();
    ::execl(program_.c_str(), program_.c_str(), "--config", file.c_str(), nullptr);
    ::_exit(127);
  }
  if (pid_ < 0) return makeErrnoError(program_, "cannot be started", errno);
  const Nanos patience = monotonicNow() + kPatience;
  while (monotonicNow() < patience) {
    if (::waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = -1;
      return makeError(
          program_,
          "ended: " + readFile(directory_ / "controller.log", 1 << 20).value_or("no log"));
    }
    const auto url = readFile(url_file, 4096);
    if (url && !url->empty()) {
      url_ = url->substr(0, url->find_first_of("\r\n"));
      while (!url_.empty() && url_.back() == '/') url_.pop_back();
      if (const auto answer = http::get(url_, "/healthz", kSecond);
          answer && answer->status == 200) {
        return {};
      }
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return makeError(program_, "did not answer within " + formatDuration(kPatience));
}

void ControllerProcess::kill() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

Nanos ControllerProcess::cpuTime() const {
  const std::string stat = procFile(pid_, "stat");
  unsigned long user = 0;
  unsigned long system = 0;
  const auto behind_name = stat.rfind(')');
  if (behind_name == std::string::npos ||
      std::sscanf(stat.c_str() + behind_name + 2,
                  "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
    return 0;
  }
  return static_cast<Nanos>(user + system) * (kSecond / ::sysconf(_SC_CLK_TCK));
}

std::uint64_t ControllerProcess::residentBytes() const {
  const std::string statm = procFile(pid_, "statm");
  unsigned long total = 0;
  unsigned long resident = 0;
  if (std::sscanf(statm.c_str(), "%lu %lu", &total, &resident) != 2) return 0;
  return resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

Result<ControllerProcess::Committed> ControllerProcess::committed() const {
  const std::string file = (directory_ / "state" / "history.sqlite").string();
  sqlite3* opened = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &opened, SQLITE_OPEN_READONLY, nullptr);
  const std::unique_ptr<sqlite3, int (*)(sqlite3*)> database(opened, sqlite3_close);
  if (code != SQLITE_OK) return makeError(file, sqlite3_errstr(code));
  sqlite3_busy_timeout(opened, 10'000);
  static constexpr const char* kQuery =
      "SELECT count(*), (SELECT count(*) FROM (SELECT DISTINCT source, incarnation, sequence "
      "FROM blocks)) FROM blocks";
  sqlite3_stmt* prepared = nullptr;
  if (sqlite3_prepare_v2(opened, kQuery, -1, &prepared, nullptr) != SQLITE_OK) {
    return makeError(file, sqlite3_errmsg(opened));
  }
  const std::unique_ptr<sqlite3_stmt, int (*)(sqlite3_stmt*)> statement(prepared, sqlite3_finalize);
  if (sqlite3_step(prepared) != SQLITE_ROW) return makeError(file, sqlite3_errmsg(opened));
  return Committed{static_cast<std::uint64_t>(sqlite3_column_int64(prepared, 0)),
                   static_cast<std::uint64_t>(sqlite3_column_int64(prepared, 1))};
}

}  // namespace pingloom::bench
