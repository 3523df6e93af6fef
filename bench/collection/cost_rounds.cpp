#include "cost_rounds.h"

#include <fmt/format.h>

#include <chrono>
#include <sstream>
#include <string>
#include <thread>

#include "collector/board.h"
#include "collector/reader_thread.h"
#include "http/client.h"
#include "page_host.h"
#include "pods.h"
#include "shared/clocks.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr const char* kReaderAddress = "127.0.77.2";
constexpr Nanos kScrapeTimeout = 5 * kSecond;

std::size_t seriesOf(const Load& load) {
  return static_cast<std::size_t>(load.count) * static_cast<std::size_t>(kSeries);
}

double perSecond(Nanos cpu, Nanos time) { return static_cast<double>(cpu) / 1e3 / toSeconds(time); }

struct Read {
  std::uint64_t rounds = 0;
  std::size_t series = 0;  // values on pages that were read in the last round
};

Read look(const collector::Board& board) {
  Read made;
  for (const auto& entry : board.entries()) {
    const collector::AgentView view = entry->copy();
    made.rounds += view.counters.rounds;
    for (const collector::PageView& page : view.pages) {
      if (page.state == collector::PageState::kFresh) made.series += page.values.size();
    }
  }
  return made;
}

// Scrapes each of them once, and returns how many series they have together.
std::size_t scrape(const std::vector<std::string>& urls, const std::string& prefix) {
  std::size_t series = 0;
  for (const std::string& url : urls) {
    const auto answer = http::get(url, "/metrics", kScrapeTimeout);
    if (!answer) die(answer.error());
    if (answer->status != 200) die(Error{url, "answers " + std::to_string(answer->status)});
    std::istringstream lines(answer->body);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(prefix)) ++series;
    }
  }
  return series;
}

}  // namespace

double costOfPages(const std::string& agent, const Load& load, const HostCpu& cpu) {
  const auto address = *IpAddress::parse(kReaderAddress);
  auto devices = rdma::openDevices(address, 1, softDevice());
  if (!devices) die(devices.error());
  collector::Board board;
  auto reader = collector::ReaderThread::start({0, address, std::move(devices->front())},
                                               "cost_bench", board);
  if (!reader) die(reader.error());
  (*reader)->set({{agent, load.interval}});
  const auto all = waitUntil("all series at the collector", kPatience,
                             [&] { return look(board).series == seriesOf(load); });
  if (!all) die(all.error());
  sleepUntil(monotonicNow() + load.interval / 2);  // so that no round is cut off
  const Read before = look(board);
  const Nanos used = cpu(), begin = monotonicNow();
  sleepUntil(begin + load.rounds * load.interval);
  const Nanos cost = cpu() - used, took = monotonicNow() - begin;
  const Read after = look(board);
  const auto rounds = static_cast<int>(after.rounds - before.rounds);
  if (after.series != seriesOf(load) || rounds < load.rounds - 1 || rounds > load.rounds + 1) {
    die(Error{agent, fmt::format("{} series were read in {} rounds, instead of {} in {}",
                                 after.series, rounds, seriesOf(load), load.rounds)});
  }
  return perSecond(cost, took);
}

double costOfScrapes(const std::vector<std::string>& urls, const std::string& prefix,
                     const Load& load, const HostCpu& cpu) {
  const auto round = [&] {
    const std::size_t series = scrape(urls, prefix);
    if (series == seriesOf(load)) return;
    die(Error{urls.front(), fmt::format("{} series instead of {}", series, seriesOf(load))});
  };
  round();  // the first one allocates
  const Nanos used = cpu(), begin = monotonicNow();
  for (int i = 0; i < load.rounds; ++i) {
    round();
    sleepUntil(begin + (i + 1) * load.interval);
  }
  return perSecond(cpu() - used, monotonicNow() - begin);
}

}  // namespace pingloom::bench
