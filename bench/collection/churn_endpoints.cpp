#include <fmt/format.h>
#include <prometheus/collectable.h>
#include <prometheus/exposer.h>
#include <prometheus/metric_family.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>

#include "churn_sides.h"
#include "common/fd.h"
#include "http/client.h"
#include "page_host.h"
#include "shared/clocks.h"
#include "shared/wait.h"

namespace pingloom::bench {
namespace {

constexpr int kPrometheusPort = 29'099;
constexpr const char* kPodAddress = "127.0.78.1";
constexpr std::uint64_t kPodPorts = 8'000;  // a port is used again long after its pod has ended
static_assert(kPodPorts >= 2 * static_cast<std::uint64_t>(Churn::kMaxAtOnce));

std::uint64_t portOf(std::uint64_t number) { return 20'000 + number % kPodPorts; }

// A gauge that tells when it is collected for the first time.
class FirstScrape : public prometheus::Collectable {
 public:
  FirstScrape(PodRecord record, int pipe) : record_(record), pipe_(pipe) {}

  std::vector<prometheus::MetricFamily> Collect() const override {
    if (!told_.exchange(true)) {
      PodRecord record = record_;
      record.read = monotonicNow();
      tell(pipe_, record);
    }
    prometheus::ClientMetric metric;
    metric.gauge.value = toSeconds(record_.started);
    return {{"pod_started_seconds", "", prometheus::MetricType::Gauge, {metric}}};
  }

 private:
  const PodRecord record_;
  const int pipe_;
  mutable std::atomic<bool> told_ = false;
};

int endpointPod(std::uint64_t number, Nanos started, Nanos until, int pipe) {
  prometheus::Exposer exposer(fmt::format("{}:{}", kPodAddress, portOf(number)), 1);
  const auto scrape = std::make_shared<FirstScrape>(PodRecord{number, started, 0}, pipe);
  exposer.RegisterCollectable(scrape);
  sleepUntil(until);
  return 0;
}

// A temporary folder. A process of its own removes it when this process and all that it has started
// since have ended, whether by themselves or by a signal.
class Folder {
 public:
  Folder() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "pingloom-bench-XXXXXX").string();
    std::array<int, 2> ends{};
    if (mkdtemp(pattern.data()) == nullptr || pipe(ends.data()) != 0) {
      die(Error{pattern, "cannot be made"});
    }
    path_ = pattern;
    remover_ = fork();
    if (remover_ == 0) {
      setsid();  // Ctrl-C does not reach it
      close(ends[1]);
      removeAtEndOf(ends[0]);
    }
    close(ends[0]);
    alive_.reset(ends[1]);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() {
    alive_.reset();
    waitpid(remover_, nullptr, 0);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  // The pipe ends when nobody has its other end open any more.
  [[noreturn]] void removeAtEndOf(int pipe) {
    char none = 0;
    while (read(pipe, &none, 1) > 0) {
    }
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    _exit(0);
  }

  std::filesystem::path path_;
  UniqueFd alive_;  // this process and its children have it open
  pid_t remover_ = -1;
};

// Prometheus watches the file, and a rename replaces it as a whole.
void writeTargets(const std::filesystem::path& folder, const std::set<std::uint64_t>& alive) {
  std::string text = "[{\"targets\":[";
  for (const std::uint64_t number : alive) {
    if (text.back() != '[') text += ',';
    text += fmt::format("\"{}:{}\"", kPodAddress, portOf(number));
  }
  std::ofstream(folder / "new") << text << "]}]\n";
  std::filesystem::rename(folder / "new", folder / "pods.json");
}

Child startPrometheus(const std::filesystem::path& folder) {
  writeTargets(folder, {});
  std::ofstream(folder / "prometheus.yml")
      << "scrape_configs: [{ job_name: pods, scrape_interval: 1s, scrape_timeout: 1s, "
         "file_sd_configs: [{ files: ['"
      << (folder / "pods.json").string() << "'] }] }]\n";
  return Child([&](int) {
    if (freopen((folder / "log").c_str(), "w", stderr) == nullptr) return 1;
    execlp("prometheus", "prometheus",
           ("--config.file=" + (folder / "prometheus.yml").string()).c_str(),
           ("--storage.tsdb.path=" + (folder / "data").string()).c_str(),
           fmt::format("--web.listen-address=127.0.0.1:{}", kPrometheusPort).c_str(), nullptr);
    return 1;
  });
}

bool prometheusIsReady() {
  const auto answer =
      http::get(fmt::format("http://127.0.0.1:{}", kPrometheusPort), "/-/ready", kSecond);
  return answer && answer->status == 200;
}

}  // namespace

Churned churnEndpoints(const Churn& churn) {
  const Folder folder;
  Child prometheus = startPrometheus(folder.path());
  if (const auto ready = waitUntil("Prometheus", kPatience, prometheusIsReady); !ready) {
    die(ready.error());
  }
  const Nanos cpu = prometheus.usage().cpu;
  Child pods = startPods(churn, endpointPod, [&](const std::set<std::uint64_t>& alive) {
    writeTargets(folder.path(), alive);
  });
  Churned made;
  for (;;) {
    PodRecord record;
    if (!pods.read(&record, sizeof record, churn.length + churn.life + kPatience)) {
      die(Error{"pods", "do not end"});
    }
    if (record.number == PodRecord::kEnd) {
      made.started = static_cast<std::uint64_t>(record.started);
      made.pods_cpu = toSeconds(record.read);
      break;
    }
    made.delays.push_back(toSeconds(record.read - record.started));
  }
  const Usage usage = prometheus.usage();
  made.reader_cpu = toSeconds(usage.cpu - cpu);
  made.reader_bytes = static_cast<double>(usage.resident_bytes);
  return made;
}

}  // namespace pingloom::bench
