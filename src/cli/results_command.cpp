// pingloom results: shows the latest rows, read from Redis.
#include <poll.h>

#include <csignal>
#include <iostream>
#include <optional>

#include "cli/commands.h"
#include "cli/exit_codes.h"
#include "cli/failure.h"
#include "cli/redis_options.h"
#include "cli/redis_reader.h"
#include "cli/result_row.h"
#include "cli/results_query.h"
#include "cli/text_table.h"
#include "common/address.h"
#include "common/program.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

constexpr const char* kResultsCommand = "pingloom results";

// Returns the canonical form, which Redis uses.
Result<std::string> addressOption(const po::variables_map& values, const char* option) {
  if (values.count(option) == 0) return std::string();
  const auto address = IpAddress::parse(values[option].as<std::string>());
  if (!address) return makeError(std::string("--") + option, address.error().text());
  return address->text();
}

Result<ResultFilter> filterOf(const po::variables_map& values) {
  const auto source = addressOption(values, "src");
  if (!source) return tl::unexpected(source.error());
  const auto destination = addressOption(values, "dst");
  if (!destination) return tl::unexpected(destination.error());
  return ResultFilter{values["probe"].as<std::string>(), *source, *destination};
}

// Prints rows in the requested format, and the header once.
class Printer {
 public:
  enum class Form { kTable, kJson, kCsv };
  explicit Printer(Form form) : form_(form), table_(resultTableHeader()) {}

  // Returns false when standard output is closed.
  bool print(const std::vector<ResultRow>& rows) {
    if (form_ == Form::kTable) {
      printTable(rows);
    } else {
      printLines(rows);
    }
    return static_cast<bool>(std::cout.flush());
  }

 private:
  void printTable(const std::vector<ResultRow>& rows) {
    std::vector<TextTable::Cells> lines;
    for (const ResultRow& row : rows) {
      auto cells = resultTableCells(row);
      if (!cells) {
        complain(kResultsCommand, cells.error());
        continue;
      }
      table_.fit(*cells);
      lines.push_back(std::move(*cells));
    }
    if (!lines.empty() && !header_printed_) {
      header_printed_ = true;
      std::cout << table_.header() << "\n";
    }
    for (const auto& line : lines) std::cout << table_.line(line) << "\n";
  }

  void printLines(const std::vector<ResultRow>& rows) {
    if (form_ == Form::kCsv && !header_printed_) {
      header_printed_ = true;
      std::cout << csvHeader() << "\n";
    }
    for (const ResultRow& row : rows) {
      const auto line = form_ == Form::kCsv ? csvLine(row) : resultJson(row);
      if (line) {
        std::cout << *line << "\n";
      } else {
        complain(kResultsCommand, line.error());
      }
    }
  }

  Form form_;
  TextTable table_;
  bool header_printed_ = false;
};

int watchRows(const RedisAccess& access, const ResultFilter& filter, Printer printer) {
  const UniqueFd stop = program::blockStopSignals();
  ChangedRows seen;
  std::optional<RedisReader> redis;
  std::string last_trouble;
  while (true) {
    Status trouble;
    if (!redis) {
      auto connected = RedisReader::connect(access.target, access.login);
      if (connected) {
        redis.emplace(std::move(*connected));
      } else {
        trouble = tl::unexpected(connected.error());
      }
    }
    if (redis) {
      auto rows = readRows(*redis, filter);
      if (rows) {
        if (!printer.print(seen.of(std::move(*rows)))) return 0;
      } else {
        trouble = tl::unexpected(rows.error());
        redis.reset();
      }
    }
    const std::string text = trouble ? "" : trouble.error().text();
    if (!text.empty() && text != last_trouble) {  // once, not each second
      complain(kResultsCommand, trouble.error());
    }
    last_trouble = text;
    pollfd waiting{stop.get(), POLLIN, 0};
    if (poll(&waiting, 1, 1000) > 0) return 0;
  }
}

int printRows(const RedisAccess& access, const ResultFilter& filter, Printer printer) {
  auto redis = RedisReader::connect(access.target, access.login);
  if (!redis) return fail(kResultsCommand, redis.error());
  const auto rows = readRows(*redis, filter);
  if (!rows) return fail(kResultsCommand, rows.error());
  if (!rows->empty()) {
    printer.print(*rows);
    return 0;
  }
  const bool filtered =
      !filter.probe.empty() || !filter.source.empty() || !filter.destination.empty();
  const std::string_view hint =
      filtered ? " for this filter; without options all rows are shown"
               : "; the first appear when the first window closes, see 'pingloom status'";
  return fail(kResultsCommand,
              {"", "no rows in Redis at " + access.target.text() + std::string(hint)}, kExitNoRows);
}

}  // namespace

int runResults(const std::vector<std::string>& arguments) {
  const program::Usage usage{
      kResultsCommand, "pingloom results [--probe P] [--src A] [--dst B] [--watch]",
      "Shows the latest row of every pair, read from Redis. Where a probe has several\n"
      "paths, DESTINATION#K is path K, and DESTINATION is the row of all paths together.\n"
      "Exit: 0 rows shown, 1 nothing found, 2 could not ask.\n"};
  po::options_description options("Options");
  auto text = [] { return po::value<std::string>(); };
  options.add_options()("probe", text()->default_value("", ""), "only this probe")(
      "src", text(), "only this source address")("dst", text(), "only this destination address")(
      "watch", "keep running, and show each row again when it changes")(
      "json", "one JSON object per line")("csv", "comma-separated, with a header");
  addRedisOptions(options);
  po::variables_map values;
  if (const auto code = program::parse(usage, arguments, options, {}, values)) return *code;
  if (values.count("json") != 0 && values.count("csv") != 0) {
    return fail(kResultsCommand, {"", "--json and --csv exclude each other"});
  }
  const auto filter = filterOf(values);
  if (!filter) return fail(kResultsCommand, filter.error());
  // A server that refuses a certificate closes the connection.
  std::signal(SIGPIPE, SIG_IGN);
  const auto access = redisAccessOf(values);
  if (!access) return fail(kResultsCommand, access.error());
  const auto form = values.count("json") != 0  ? Printer::Form::kJson
                    : values.count("csv") != 0 ? Printer::Form::kCsv
                                               : Printer::Form::kTable;
  return values.count("watch") != 0 ? watchRows(*access, *filter, Printer(form))
                                    : printRows(*access, *filter, Printer(form));
}

}  // namespace pingloom::cli
