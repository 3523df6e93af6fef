// pingloom history: moves a controller's history between a file and a PostgreSQL database.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/command_actions.h"
#include "cli/commands.h"
#include "cli/failure.h"
#include "common/daemon.h"
#include "common/file.h"
#include "common/time.h"
#include "controller/config.h"
#include "controller/history/history_copy.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;
constexpr const char* kHistoryCommand = "pingloom history";
constexpr Nanos kReportInterval = kSecond;

Result<controller::HistoryPlace> historyOf(const std::string& file) {
  const auto text = readFile(file, daemon::kMaxConfigBytes);
  if (!text) return tl::unexpected(text.error());
  const auto config = controller::parseConfig(*text, file);
  if (!config) return tl::unexpected(config.error());
  return historyPlace(*config);
}

// A terminal shows one line that changes; a log has only the last one.
class ProgressLine {
 public:
  void show(const controller::CopyProgress& progress) {
    const Nanos now = monotonicNow();
    const bool whole = progress.done == progress.all;
    if (!on_terminal_ || (now < due_ && !whole)) return;
    due_ = now + kReportInterval;
    const double percent = progress.all == 0 ? 100
                                             : 100.0 * static_cast<double>(progress.done) /
                                                   static_cast<double>(progress.all);
    std::cerr << fmt::format("\r{} of {} rows ({:.0f} %)", progress.done, progress.all, percent)
              << (whole ? "\n" : "") << std::flush;
  }

 private:
  const bool on_terminal_ = ::isatty(STDERR_FILENO) == 1;
  Nanos due_ = 0;
};

int copy(const std::vector<std::string>& arguments) {
  ActionUsage action(
      kHistoryCommand, "copy", "FROM TO",
      "Copies the history of one controller's configuration to that of another: all windows,\n"
      "events, incidents and the positions up to which agents' results are committed. FROM\n"
      "and TO are files such as controller.yaml; either history may be a file or a PostgreSQL\n"
      "database. TO's has to be empty. Stop the controller before, and start it with TO\n"
      "afterwards. All is copied, or nothing.\n\n"
      "Exit code: 0 copied, 1 not copied, 2 wrong usage.");
  action.takesArguments("configurations", "the two configurations");
  po::variables_map values;
  if (const auto code = action.parse(arguments, values)) return *code;
  const auto& files = values["configurations"].as<std::vector<std::string>>();
  if (files.size() != 2) return usageError(action.usage.name, {"FROM TO", "needs two files"});
  const auto from = historyOf(files[0]);
  if (!from) return fail(action.usage.name, from.error(), kExitNotCopied);
  const auto to = historyOf(files[1]);
  if (!to) return fail(action.usage.name, to.error(), kExitNotCopied);
  ProgressLine line;
  const auto done = controller::copyHistory(
      *from, *to, [&](const controller::CopyProgress& progress) { line.show(progress); });
  if (!done) return fail(action.usage.name, done.error(), kExitNotCopied);
  std::cout << fmt::format("copied {} rows from {} to {}\n", *done, from->text(), to->text());
  return 0;
}

}  // namespace

int runHistory(const std::vector<std::string>& arguments) {
  static const std::vector<CommandAction> actions = {
      {"copy", "copy a history to another database, or back to a file", copy}};
  return runAction(kHistoryCommand,
                   "A controller keeps its history in a file or in a PostgreSQL database.", actions,
                   arguments);
}

}  // namespace pingloom::cli
