#include "controller/redis/embedded.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <utility>
#include <vector>

#include "common/duration.h"
#include "common/log.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kStable = 10 * kSecond;  // after running this long the restart delay is reset

// glibc in Debian 12 has no wrapper that is usable from C++.
int openProcess(pid_t pid) { return static_cast<int>(syscall(SYS_pidfd_open, pid, 0)); }

// Runs in the child between fork and exec, and calls only async-signal-safe functions. Never
// returns.
[[noreturn]] void becomeRedis(char* const* arguments, pid_t parent, int failure_pipe) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);  // Ctrl-C in the terminal must reach only the controller, which stops Redis
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == parent) execvp(arguments[0], arguments);
  const int error = errno;
  (void)!::write(failure_pipe, &error, sizeof error);
  _exit(127);
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) return "was killed by signal " + std::to_string(WTERMSIG(status));
  return "ended with exit code " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Result<std::unique_ptr<EmbeddedRedis>> EmbeddedRedis::start(EmbeddedRedisOptions options) {
  std::unique_ptr<EmbeddedRedis> made(new EmbeddedRedis(std::move(options)));
  if (auto status = made->spawn(); !status) return tl::unexpected(status.error());
  return made;
}

Status EmbeddedRedis::spawn() {
  std::vector<std::string> words = {options_.program,
                                    "--port",
                                    "0",
                                    "--unixsocket",
                                    options_.socket.native(),
                                    "--unixsocketperm",
                                    "700",
                                    "--save",
                                    "",
                                    "--appendonly",
                                    "no",
                                    "--maxmemory",
                                    "0",
                                    "--daemonize",
                                    "no",
                                    "--dir",
                                    options_.folder.native(),
                                    "--logfile",
                                    (options_.folder / "redis.log").native(),
                                    "--loglevel",
                                    "warning"};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::array<int, 2> pipe_ends{};
  if (pipe2(pipe_ends.data(), O_CLOEXEC) != 0) {
    return makeErrnoError(options_.program, "no pipe", errno);
  }
  const UniqueFd read_end(pipe_ends[0]);
  UniqueFd write_end(pipe_ends[1]);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return makeErrnoError(options_.program, "cannot fork", errno);
  if (child == 0) becomeRedis(arguments.data(), self, write_end.get());
  write_end.reset();
  int error = 0;
  if (::read(read_end.get(), &error, sizeof error) == sizeof error) {
    waitpid(child, nullptr, 0);
    if (error == ENOENT) {
      return makeError(options_.program, "not found: install redis-server, or set 'redis' to one");
    }
    return makeErrnoError(options_.program, "cannot be started", error);
  }
  pid_ = child;
  process_ = UniqueFd(openProcess(child));
  started_mono_ = monotonicNow();
  return {};
}

bool EmbeddedRedis::reap(int& wait_status) {
  if (pid_ < 0 || waitpid(pid_, &wait_status, WNOHANG) != pid_) return false;
  pid_ = -1;
  process_.reset();
  return true;
}

void EmbeddedRedis::run(Nanos now_mono) {
  int wait_status = 0;
  if (reap(wait_status)) {
    if (now_mono - started_mono_ > kStable) backoff_.reset();
    const Nanos pause = backoff_.fail();
    log::error("{} {}; starting it again in {} (its log is {})", options_.program,
               describe(wait_status), formatDuration(pause),
               (options_.folder / "redis.log").native());
    restart_mono_ = now_mono + pause;
  }
  if (now_mono < restart_mono_) return;
  restart_mono_ = kNever;
  if (auto status = spawn(); !status) {
    log::error("{}", status.error().text());
    restart_mono_ = now_mono + backoff_.fail();
  }
}

EmbeddedRedis::~EmbeddedRedis() {
  if (pid_ < 0) return;
  kill(pid_, SIGTERM);
  pollfd ended{process_.get(), POLLIN, 0};
  if (poll(&ended, 1, static_cast<int>(kStopTime / kMillisecond)) <= 0) kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

}  // namespace pingloom::controller
