// Measures what history takes on disk, and how long it takes to read a mesh at a past time, the
// worst of 24 hours, and a pair's last 24 hours. The questions go through the API's own functions,
// which includes JSON but not HTTP. The machine's limit in the same run is to read the same blocks
// by SQLite and to decompress by zstd the sections that the question needs, and to do nothing with
// them. All times are CPU time.
#include <sys/resource.h>
#include <zstd.h>

#include <array>
#include <boost/program_options.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/duration.h"
#include "common/program.h"
#include "controller/history/codec/content.h"
#include "controller/history/ledger_roll_up.h"
#include "controller/http/api.h"
#include "mesh_history.h"
#include "shared/clocks.h"
#include "shared/figures.h"
#include "shared/wait.h"

namespace {

namespace po = boost::program_options;
using namespace pingloom;
using namespace pingloom::bench;

constexpr Nanos kWindow = 10 * kSecond;
constexpr std::uint32_t kSamples = 10;        // in each of the four parts of a window
constexpr std::uint32_t kMinuteSamples = 60;  // in each of the four parts of a minute

constexpr const char* kLimit = ": limit: the same blocks by SQLite and zstd alone";

struct Shape {
  std::uint32_t hosts = 2000;
  std::uint32_t runs = 5;
};

// A question is answered by one thread, which waits for nothing but the disk, so its cost is CPU
// time: other programs on the machine do not count.
double millisecondsSince(Nanos started) { return toMilliseconds(processCpu() - started); }

double peakResidentMiB() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

// Makes what is resident now the peak (proc(5), clear_refs).
void resetPeak() { std::ofstream("/proc/self/clear_refs") << "5"; }

std::shared_ptr<const controller::GridPlan> planOf(std::uint32_t sources, std::uint32_t hosts) {
  auto plan = std::make_shared<controller::GridPlan>();
  controller::ProbeGrid grid;
  grid.spec.name = kProbe;
  grid.spec.protocol = Protocol::kUdp;
  grid.spec.self = true;
  for (std::uint32_t i = 0; i < hosts; ++i) grid.destinations.push_back(hostOf(i));
  grid.sources.assign(grid.destinations.begin(), grid.destinations.begin() + sources);
  plan->probes.push_back(std::move(grid));
  return plan;
}

// Takes all pieces of a body and gives their length.
Result<std::size_t> drain(const std::string& path, http::BodyStream& stream) {
  std::size_t total = 0;
  for (;;) {
    const auto promise = std::make_shared<std::promise<std::optional<std::string>>>();
    stream.next(
        [promise](std::optional<std::string> made) { promise->set_value(std::move(made)); });
    auto future = promise->get_future();
    if (future.wait_for(std::chrono::nanoseconds(kPatience)) != std::future_status::ready) {
      return makeError(path, "no piece within " + formatDuration(kPatience));
    }
    const auto piece = future.get();
    if (!piece) return makeError(path, "the answer cannot be finished");
    if (piece->empty()) return total;
    total += piece->size();
  }
}

// Gives the answer's length.
Result<std::size_t> ask(const std::shared_ptr<const controller::GridPlan>& plan,
                        controller::HistoryReader& reader, const std::string& path,
                        const std::map<std::string, std::string>& query) {
  http::Request request;
  request.method = "GET";
  request.path = path;
  for (const auto& [key, value] : query) request.query[key] = value;
  const http::Answer answer = controller::api::history(plan, reader, request);
  http::Response response;
  if (const auto* later = std::get_if<http::Later>(&answer)) {
    const auto promise = std::make_shared<std::promise<http::Response>>();
    (*later)([promise](http::Response made) { promise->set_value(std::move(made)); });
    auto future = promise->get_future();
    if (future.wait_for(std::chrono::nanoseconds(kPatience)) != std::future_status::ready) {
      return makeError(path, "not answered within " + formatDuration(kPatience));
    }
    response = future.get();
  } else {
    response = std::get<http::Response>(answer);
  }
  if (response.status != 200) return makeError(path, response.body);
  if (response.stream != nullptr) return drain(path, *response.stream);
  return response.body.size();
}

// Reads all contents that start in [from, until) and decompresses the first `sections` of each
// block, or of block `only`.
Result<std::size_t> bareRead(const std::filesystem::path& file, Nanos from, Nanos until,
                             std::size_t sections, std::optional<std::size_t> only = {}) {
  auto database = controller::Database::openToRead(file);
  if (!database) return tl::unexpected(database.error());
  auto select =
      database->prepare("SELECT content FROM blocks WHERE start_ns >= ?1 AND start_ns < ?2");
  if (!select) return tl::unexpected(select.error());
  select->bind(1, from).bind(2, until);
  ZSTD_DCtx* const context = ZSTD_createDCtx();
  std::string out(4U << 20, '\0');
  std::size_t total = 0;
  for (auto more = select->step(); more && *more; more = select->step()) {
    std::string_view content = select->bytes(0);
    for (std::size_t number = 0; !content.empty(); ++number) {
      controller::ColumnReader in(content);
      in.number();
      std::array<std::size_t, controller::kSections> sizes{};
      for (std::size_t& size : sizes) size = in.number();
      content.remove_prefix(content.size() - in.left());
      for (std::size_t i = 0; i < sizes.size(); content.remove_prefix(sizes[i++])) {
        if (i >= sections || sizes[i] == 0 || (only && *only != number)) continue;
        total += ZSTD_decompressDCtx(context, out.data(), out.size(), content.data(), sizes[i]);
      }
    }
  }
  ZSTD_freeDCtx(context);
  return total;
}

Status timed(std::uint32_t runs, Figures& figures, const std::string& name,
             const std::function<Result<std::size_t>()>& what) {
  for (std::uint32_t i = 0; i < runs; ++i) {
    const Nanos started = processCpu();
    const auto done = what();
    if (!done) return tl::unexpected(done.error());
    if (*done == 0) return makeError("bench", "nothing was read");
    figures.add(name, "ms", millisecondsSince(started));
  }
  return {};
}

Status gridTimes(const MeshHistory& mesh, const Shape& shape, Figures& figures,
                 const std::string& what, Nanos at, Nanos length) {
  const auto plan = planOf(shape.hosts, shape.hosts);
  controller::HistoryReader reader(mesh.file());
  const std::vector<std::pair<const char*, const char*>> questions = {
      {"cells", "network_p50"}, {"json", "network_p50"}, {"json", "rtt_p99"}, {"json", "loss"}};
  for (const auto& [format, metric] : questions) {
    const std::string name = what + ": " + metric + " as " + format;
    auto status = timed(shape.runs, figures, name, [&, format = format, metric = metric] {
      return ask(
          plan, reader, "/api/v1/history/grid",
          {{"probe", kProbe}, {"metric", metric}, {"format", format}, {"at", formatUtc(at)}});
    });
    if (!status) return status;
  }
  return timed(shape.runs, figures, what + kLimit,
               [&] { return bareRead(mesh.file(), at, at + length, 3); });
}

// The severities of each source rise more often than an answer reads windows for it, each time in
// another minute.
Status addRises(MeshHistory& mesh, const Shape& shape, Nanos old) {
  constexpr std::uint32_t kRises = 4;
  const Reports minutes(shape.hosts, kMinuteSamples);
  for (std::uint32_t rise = 0; rise < kRises; ++rise) {
    const Nanos at = old + (rise + 1) * kMinute;
    for (std::uint32_t i = 0; i < shape.hosts; ++i) {
      auto status = mesh.commit(i, at, kMinute, minutes, shape.hosts);
      if (status) status = mesh.judge(i, at, rise);
      if (!status) return status;
    }
    if (auto status = mesh.rollUp(); !status) return status;
  }
  return {};
}

Status worstTimes(const MeshHistory& mesh, const Shape& shape, Figures& figures, Nanos now) {
  const auto plan = planOf(shape.hosts, shape.hosts);
  controller::HistoryReader reader(mesh.file());
  for (const auto& [format, metric] : std::vector<std::pair<const char*, const char*>>{
           {"cells", "network_p99"}, {"cells", "loss"}, {"json", "network_p99"}}) {
    const std::string name = std::string("the worst of 24 h: ") + metric + " as " + format;
    auto status = timed(shape.runs, figures, name, [&, format = format, metric = metric] {
      return ask(plan, reader, "/api/v1/history/grid",
                 {{"probe", kProbe},
                  {"metric", metric},
                  {"format", format},
                  {"worst", "24h"},
                  {"at", formatUtc(now)}});
    });
    if (!status) return status;
  }
  return {};
}

Status measureMesh(const std::filesystem::path& folder, const Shape& shape, Figures& figures) {
  auto mesh = MeshHistory::begin(folder / "mesh.sqlite");
  if (!mesh) return tl::unexpected(mesh.error());
  const double pairs = static_cast<double>(shape.hosts) * shape.hosts;
  const Nanos now = utcNow() / kMinute * kMinute;
  const Nanos old = now - controller::LedgerRollUp::kAge - 30 * kMinute;
  const Reports minutes(shape.hosts, kMinuteSamples);
  const Reports windows(shape.hosts, kSamples);
  for (std::uint32_t i = 0; i < shape.hosts; ++i) {
    if (auto status = (*mesh)->commit(i, old, kMinute, minutes, shape.hosts); !status)
      return status;
  }
  Nanos started = processCpu();
  if (auto status = (*mesh)->rollUp(); !status) return status;
  figures.add("rolled up", "s per million rows", millisecondsSince(started) / 1e3 / (pairs / 1e6));
  const auto minute_bytes = (*mesh)->bytes();
  if (!minute_bytes) return tl::unexpected(minute_bytes.error());
  figures.add("a pair and minute", "bytes", static_cast<double>(*minute_bytes) / pairs);
  started = processCpu();
  for (std::uint32_t i = 0; i < shape.hosts; ++i) {
    if (auto status = (*mesh)->commit(i, now, kWindow, windows, shape.hosts); !status)
      return status;
  }
  figures.add("packed and committed", "s per million rows",
              millisecondsSince(started) / 1e3 / (pairs / 1e6));
  const auto all_bytes = (*mesh)->bytes();
  if (!all_bytes) return tl::unexpected(all_bytes.error());
  figures.add("a pair and window", "bytes",
              static_cast<double>(*all_bytes - *minute_bytes) / pairs);
  if (auto status = addRises(**mesh, shape, old); !status) return status;
  const auto around = static_cast<std::uint32_t>(2 * kHour / kWindow);
  if (auto status = (*mesh)->fillIndex(shape.hosts, now, kWindow, around); !status) return status;
  resetPeak();
  const double before = peakResidentMiB();
  if (auto status = gridTimes(**mesh, shape, figures, "grid of the last 2 h", now, kWindow);
      !status) {
    return status;
  }
  if (auto status = gridTimes(**mesh, shape, figures, "grid of an older time", old, kMinute);
      !status) {
    return status;
  }
  if (auto status = worstTimes(**mesh, shape, figures, now); !status) return status;
  figures.add("memory that reading grids takes at most", "MiB", peakResidentMiB() - before);
  return {};
}

Status measurePair(const std::filesystem::path& folder, const Shape& shape, Figures& figures) {
  auto mesh = MeshHistory::begin(folder / "pair.sqlite");
  if (!mesh) return tl::unexpected(mesh.error());
  const Nanos now = utcNow() / kMinute * kMinute;
  const Nanos recent = now - 2 * kHour;
  const Reports minutes(shape.hosts, kMinuteSamples);
  const Reports windows(shape.hosts, kSamples);
  for (Nanos at = now - 24 * kHour; at < recent; at += kMinute) {
    if (auto status = (*mesh)->commit(0, at, kMinute, minutes, shape.hosts); !status) return status;
  }
  if (auto status = (*mesh)->rollUp(); !status) return status;
  for (Nanos at = recent; at < now; at += kWindow) {
    if (auto status = (*mesh)->commit(0, at, kWindow, windows, shape.hosts); !status) return status;
  }
  const auto plan = planOf(1, shape.hosts);
  controller::HistoryReader reader((*mesh)->file());
  const std::uint32_t place = shape.hosts / 2;  // the pair's among those of its source
  const std::string path = "/api/v1/history/pairs/" + std::string(kProbe) + "/" + hostOf(0).text() +
                           "/" + hostOf(place).text();
  auto status = timed(shape.runs, figures, "a pair's last 24 h: as JSON", [&] {
    return ask(plan, reader, path, {{"from", formatUtc(now - 24 * kHour)}, {"to", formatUtc(now)}});
  });
  if (!status) return status;
  const auto bare_block = [&](Nanos from, Nanos until, std::size_t most) {
    const std::size_t number = place / controller::evenBlockPairs(shape.hosts, most);
    return bareRead((*mesh)->file(), from, until, controller::kSections, number);
  };
  return timed(shape.runs, figures, std::string("a pair's last 24 h") + kLimit,
               [&]() -> Result<std::size_t> {
                 const auto of_minutes = bare_block(0, recent, controller::kMinutePairs);
                 const auto of_windows = bare_block(recent, now + 1, controller::kWindowPairs);
                 if (!of_minutes || !of_windows) return of_minutes ? of_windows : of_minutes;
                 return *of_minutes + *of_windows;
               });
}

Status measure(const Shape& shape) {
  std::string folder = "/var/tmp/pingloom-bench-history.XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return makeErrnoError(folder, "cannot create", errno);
  std::printf("%u x %u pairs, %u runs\n", shape.hosts, shape.hosts, shape.runs);
  Figures figures;
  auto status = measureMesh(folder, shape, figures);
  if (status) status = measurePair(folder, shape, figures);
  if (status) figures.print();
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  Shape shape;
  po::options_description options("Options");
  options.add_options()("hosts", po::value(&shape.hosts)->default_value(shape.hosts),
                        "how many hosts the mesh has; each probes each")(
      "runs", po::value(&shape.runs)->default_value(shape.runs), "how often to ask each question");
  po::variables_map values;
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (const auto code = program::parse(
          {"history_bench", "history_bench [OPTIONS]", "History's bytes, and the time to read it."},
          arguments, options, {}, values)) {
    return *code;
  }
  const auto status = measure(shape);
  if (status) return 0;
  std::cerr << status.error().text() << "\n";
  return 1;
}
