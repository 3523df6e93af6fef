#include "agent/results_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "agent/report.h"
#include "common/config_reader.h"
#include "common/json_text.h"
#include "common/log.h"
#include "common/time.h"
#include "common/vocabulary.h"

namespace pingloom::agent {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kLeastBytes = 64ULL << 10;
constexpr std::uint64_t kMaxBytes = 4ULL << 30;
constexpr std::uint64_t kMaxFiles = 100;

constexpr auto kResultsKeys = std::to_array<ConfigKey<ResultsLogConfig>>({
    {"path", readField<&ResultsLogConfig::path>},
    {"max_size",
     [](const yaml::Node& node, ResultsLogConfig& config) {
       return readSize(node, kLeastBytes, kMaxBytes, config.max_bytes);
     }},
    {"files",
     [](const yaml::Node& node, ResultsLogConfig& config) {
       return readNumber(node, 1, kMaxFiles, config.files);
     }},
});

void addTimes(std::string_view name, const Distribution& times, Json& line) {
  if (times.count() == 0) return;
  const Summary summary = times.summary();
  line[std::string(name)] = {{"min_ns", summary.min}, {"mean_ns", summary.mean},
                             {"p50_ns", summary.p50}, {"p95_ns", summary.p95},
                             {"p99_ns", summary.p99}, {"max_ns", summary.max}};
}

Json lineOf(const probe::ClosedWindow& window, const IpAddress& destination,
            const probe::PairWindow& pair) {
  const plan::Assignment& assignment = *window.assignment;
  const Nanos length = assignment.probe.window;
  Json line = {{"start", formatUtc(static_cast<Nanos>(window.index) * length)},
               {"window_ns", length},
               {"probe", assignment.probe.name},
               {"protocol", name(assignment.probe.protocol)},
               {"source", assignment.source.text()},
               {"destination", destination.text()}};
  if (window.path != 0) line["path"] = window.path;
  line["clock"] = name(window.clock);
  if (!window.device.empty()) line["device"] = window.device;
  line["sent"] = pair.sent;
  line["received"] = pair.received;
  line["lost"] = pair.lost;
  line["refused"] = pair.refused;
  line["unreachable"] = pair.unreachable;
  line["ack_lost"] = pair.ack_lost;
  line["duplicate"] = pair.duplicate;
  line["late"] = pair.late;
  Json anomalous = Json::object();
  for (std::size_t i = 0; i < pair.anomalous.size(); ++i) {
    if (pair.anomalous[i] != 0) anomalous[std::string(kAnomalyNames[i])] = pair.anomalous[i];
  }
  line["anomalous"] = std::move(anomalous);
  addTimes("network", pair.network, line);
  addTimes("responder", pair.responder, line);
  addTimes("prober", pair.prober, line);
  addTimes("rtt", pair.rtt, line);
  if (pair.jitter_count != 0) line["jitter_ns"] = pair.jitter_sum / pair.jitter_count;
  return line;
}

std::filesystem::path numbered(const std::filesystem::path& path, std::uint32_t number) {
  return path.native() + "." + std::to_string(number);
}

}  // namespace

Status readValue(const yaml::Node& node, ResultsLogConfig& config) {
  if (auto status = readMap(node, kResultsKeys, config); !status) return status;
  if (config.path.empty()) return node.error("'path' is missing: the file to write");
  return {};
}

Result<ResultsLog> ResultsLog::open(const ResultsLogConfig& config) {
  ResultsLog made(config);
  if (auto status = made.openFile(); !status) return tl::unexpected(status.error());
  return made;
}

Status ResultsLog::openFile() {
  const char* path = config_.path.c_str();
  file_ = UniqueFd(::open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640));
  struct stat status {};
  if (!file_.valid() || ::fstat(file_.get(), &status) != 0) {
    return makeErrnoError("results_log " + config_.path.string(), "cannot open", errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return makeError("results_log " + config_.path.string(), "is no regular file");
  }
  bytes_ = static_cast<std::uint64_t>(status.st_size);
  return {};
}

void ResultsLog::rotate() {
  file_.reset();
  std::error_code ignored;
  std::filesystem::remove(numbered(config_.path, config_.files - 1), ignored);
  for (std::uint32_t i = config_.files - 1; i > 1; --i) {
    std::filesystem::rename(numbered(config_.path, i - 1), numbered(config_.path, i), ignored);
  }
  if (config_.files > 1) {
    std::filesystem::rename(config_.path, numbered(config_.path, 1), ignored);
  } else {
    std::filesystem::remove(config_.path, ignored);
  }
}

void ResultsLog::add(const probe::ClosedWindow& window) {
  const plan::AddressList& destinations = window.assignment->destinations;
  const std::size_t pairs = std::min(window.pairs.size(), destinations.size());
  std::uint64_t lines = 0;
  for (std::size_t i = 0; i < pairs; ++i) {
    if (!hasCounts(window.pairs[i])) continue;
    const Json line = lineOf(window, destinations[i], window.pairs[i]);
    text_ += jsonLine(line);
    text_ += '\n';
    ++lines;
  }
  write(lines);
}

void ResultsLog::write(std::uint64_t lines) {
  if (text_.empty()) return;
  if (bytes_ != 0 && bytes_ + text_.size() > config_.max_bytes) rotate();
  Status status;
  if (!file_.valid()) status = openFile();
  if (status) {
    const ssize_t written = ::write(file_.get(), text_.data(), text_.size());
    if (written > 0) bytes_ += static_cast<std::uint64_t>(written);
    if (written != static_cast<ssize_t>(text_.size())) {
      status = makeErrnoError("results_log " + config_.path.string(), "cannot write",
                              written < 0 ? errno : ENOSPC);
    }
  }
  text_.clear();
  if (status) {
    failure_logged_ = false;
    return;
  }
  lost_ += lines;
  if (!std::exchange(failure_logged_, true)) {
    log::error("{}; its lines are lost meanwhile", status.error().text());
  }
}

}  // namespace pingloom::agent
