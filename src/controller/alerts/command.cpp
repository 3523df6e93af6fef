#include "controller/alerts/command.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "common/duration.h"
#include "common/fd.h"

namespace pingloom::controller {
namespace {

constexpr Nanos kCommandCheck = 100 * kMillisecond;

// Runs in the child between fork and exec, and calls only async-signal-safe functions. Never
// returns.
[[noreturn]] void becomeCommand(char* const* arguments, pid_t parent, int input, int output,
                                int failure_pipe) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  setpgid(0, 0);  // so that what it starts can be killed too
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const bool ready = dup2(input, STDIN_FILENO) >= 0 && dup2(output, STDOUT_FILENO) >= 0 &&
                     dup2(output, STDERR_FILENO) >= 0;
  if (ready && getppid() == parent) execv(arguments[0], arguments);
  const int error = errno;
  (void)!::write(failure_pipe, &error, sizeof error);
  _exit(127);
}

struct PipeEnds {
  UniqueFd read;
  UniqueFd write;
};

Result<PipeEnds> openPipe(const std::string& entity) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return makeErrnoError(entity, "no pipe", errno);
  return PipeEnds{UniqueFd(ends[0]), UniqueFd(ends[1])};
}

// A file in memory as standard input: the command may read it or not, and nothing ever waits.
Result<UniqueFd> openInput(std::string_view input, const std::string& entity) {
  UniqueFd made(memfd_create("pingloom-alert", MFD_CLOEXEC));
  while (made.valid() && !input.empty()) {
    const ssize_t wrote = ::write(made.get(), input.data(), input.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return makeErrnoError(entity, "no memory for its input", errno);
    input.remove_prefix(static_cast<std::size_t>(wrote));
  }
  if (!made.valid() || lseek(made.get(), 0, SEEK_SET) != 0) {
    return makeErrnoError(entity, "no memory for its input", errno);
  }
  return made;
}

// A child that runs. It is killed at the latest when this object ends.
class RunningCommand {
 public:
  explicit RunningCommand(pid_t pid)
      : pid_(pid), process_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  ~RunningCommand() { (void)end(); }
  RunningCommand(const RunningCommand&) = delete;
  RunningCommand& operator=(const RunningCommand&) = delete;

  int descriptor() const { return process_.get(); }
  // Kills what is left of the group and returns the status of waitpid().
  int end() {
    if (pid_ < 0) return 0;
    kill(-pid_, SIGKILL);
    int status = 0;
    while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return status;
  }

 private:
  pid_t pid_;
  UniqueFd process_;
};

// Reads what is there and returns whether there may be more.
bool readOutput(int output, std::string& out) {
  std::array<char, 4096> piece;
  for (;;) {
    const ssize_t got = ::read(output, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got < 0 && errno == EAGAIN;
    const std::size_t room = kMaxOutput - out.size();
    out.append(piece.data(), std::min(static_cast<std::size_t>(got), room));
  }
}

// Returns whether the command has ended by itself.
bool awaitEnd(const RunningCommand& command, int output, std::string& out, Nanos deadline_mono,
              const std::atomic<bool>& cancelled) {
  bool open = true;
  for (;;) {
    const Nanos left = deadline_mono - monotonicNow();
    if (left <= 0 || cancelled.load()) return false;
    std::array<pollfd, 2> waiting{pollfd{command.descriptor(), POLLIN, 0},
                                  pollfd{open ? output : -1, POLLIN, 0}};
    const int milliseconds = static_cast<int>(std::min(left, kCommandCheck) / kMillisecond) + 1;
    if (::poll(waiting.data(), waiting.size(), milliseconds) < 0 && errno != EINTR) return false;
    if (waiting[1].revents != 0) open = readOutput(output, out);
    if (waiting[0].revents != 0) {
      if (open) readOutput(output, out);
      return true;
    }
  }
}

}  // namespace

Result<CommandResult> runCommand(const std::vector<std::string>& argv, std::string_view input,
                                 Nanos timeout, const std::atomic<bool>& cancelled) {
  const std::string& entity = argv.front();
  const Nanos deadline_mono = monotonicNow() + timeout;
  auto document = openInput(input, entity);
  if (!document) return tl::unexpected(document.error());
  auto output = openPipe(entity);
  auto failure = openPipe(entity);
  if (!output || !failure) return tl::unexpected((output ? failure : output).error());
  std::vector<std::string> words = argv;
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t self = getpid();
  const pid_t child = fork();
  if (child < 0) return makeErrnoError(entity, "cannot fork", errno);
  if (child == 0) {
    becomeCommand(arguments.data(), self, document->get(), output->write.get(),
                  failure->write.get());
  }
  setpgid(child, child);  // whichever of the two is first
  RunningCommand command(child);
  failure->write.reset();
  output->write.reset();
  int error = 0;
  if (::read(failure->read.get(), &error, sizeof error) == sizeof error) {
    return makeErrnoError(entity, "cannot be started", error);
  }
  if (command.descriptor() < 0) return makeError(entity, "cannot be watched");
  fcntl(output->read.get(), F_SETFL, O_NONBLOCK);
  CommandResult made;
  const bool ended = awaitEnd(command, output->read.get(), made.output, deadline_mono, cancelled);
  const int status = command.end();
  if (!ended) return makeError(entity, "did not end within " + formatDuration(timeout));
  if (WIFSIGNALED(status)) {
    return makeError(entity, "was killed by signal " + std::to_string(WTERMSIG(status)));
  }
  made.exit_code = WEXITSTATUS(status);
  return made;
}

}  // namespace pingloom::controller
