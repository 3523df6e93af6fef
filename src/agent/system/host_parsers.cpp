#include "agent/system/host_parsers.h"

#include <algorithm>
#include <array>
#include <optional>

#include "agent/system/fields.h"
#include "agent/system/named_lines.h"

namespace pingloom::agent::system {
namespace {

// Like node_exporter: a processor's idle time that falls by more is that of one that was offline,
// and the other modes' times never fall. The kernel takes waiting for devices back when the waiting
// thread goes to another processor.
constexpr std::uint64_t kIdleJitter = 3 * kTicksPerSecond;
constexpr Family processorSeconds(std::uint64_t jitter) {
  return {"node_cpu_seconds_total", "Seconds that a processor spent in each mode.",
          Kind::kCounter,           {"cpu", "mode"},
          1.0 / kTicksPerSecond,    jitter};
}
constexpr Family kProcessorSeconds = processorSeconds(UINT64_MAX);
constexpr Family kIdleSeconds = processorSeconds(kIdleJitter);
constexpr Family kProcessors = {"pingloom_system_cpus", "Processors that are online."};
constexpr auto kModes = std::to_array<std::string_view>(
    {"user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal"});

constexpr auto kStat = std::to_array<Named>({
    {"ctxt", {"node_context_switches_total", "Context switches.", Kind::kCounter}},
    {"processes", {"node_forks_total", "Processes and threads that were made.", Kind::kCounter}},
    {"intr", {"node_intr_total", "Interrupts that were serviced.", Kind::kCounter}},
    {"btime", {"node_boot_time_seconds", "When the host booted, as a Unix time."}},
    {"procs_running", {"node_procs_running", "Threads that run or could run."}},
    {"procs_blocked", {"node_procs_blocked", "Threads that wait for a device."}},
});

constexpr std::array kLoads = {
    Family{"node_load1", "Threads that run or wait for a device, over a minute."},
    Family{"node_load5", "Threads that run or wait for a device, over 5 minutes."},
    Family{"node_load15", "Threads that run or wait for a device, over 15 minutes."},
};

#define PINGLOOM_MEMORY(key, name, help) \
  {                                      \
    key, { "node_memory_" name, help }   \
  }
constexpr auto kMemory = std::to_array<Named>({
    PINGLOOM_MEMORY("MemTotal", "MemTotal_bytes", "Memory that the kernel manages."),
    PINGLOOM_MEMORY("MemFree", "MemFree_bytes", "Memory that nothing uses."),
    PINGLOOM_MEMORY("MemAvailable", "MemAvailable_bytes", "Memory that programs could get."),
    PINGLOOM_MEMORY("Buffers", "Buffers_bytes", "Cached blocks of devices."),
    PINGLOOM_MEMORY("Cached", "Cached_bytes", "Cached files, and shared memory."),
    PINGLOOM_MEMORY("SwapCached", "SwapCached_bytes", "Memory that is also in swap."),
    PINGLOOM_MEMORY("Active", "Active_bytes", "Memory that was used recently."),
    PINGLOOM_MEMORY("Inactive", "Inactive_bytes", "Memory that is reclaimed first."),
    PINGLOOM_MEMORY("Active(anon)", "Active_anon_bytes", "Active memory that no file backs."),
    PINGLOOM_MEMORY("Inactive(anon)", "Inactive_anon_bytes", "Inactive memory that no file backs."),
    PINGLOOM_MEMORY("Active(file)", "Active_file_bytes", "Active memory that caches files."),
    PINGLOOM_MEMORY("Inactive(file)", "Inactive_file_bytes", "Inactive memory that caches files."),
    PINGLOOM_MEMORY("Unevictable", "Unevictable_bytes", "Memory that cannot be reclaimed."),
    PINGLOOM_MEMORY("Mlocked", "Mlocked_bytes", "Memory that programs have locked."),
    PINGLOOM_MEMORY("SwapTotal", "SwapTotal_bytes", "Swap."),
    PINGLOOM_MEMORY("SwapFree", "SwapFree_bytes", "Swap that nothing uses."),
    PINGLOOM_MEMORY("Dirty", "Dirty_bytes", "Memory that waits to be written to a disk."),
    PINGLOOM_MEMORY("Writeback", "Writeback_bytes", "Memory that is being written to a disk."),
    PINGLOOM_MEMORY("AnonPages", "AnonPages_bytes", "Memory of programs that no file backs."),
    PINGLOOM_MEMORY("Mapped", "Mapped_bytes", "Files that programs have mapped."),
    PINGLOOM_MEMORY("Shmem", "Shmem_bytes", "Shared memory, and files in tmpfs."),
    PINGLOOM_MEMORY("Slab", "Slab_bytes", "The kernel's own objects."),
    PINGLOOM_MEMORY("SReclaimable", "SReclaimable_bytes", "Kernel objects that can be reclaimed."),
    PINGLOOM_MEMORY("SUnreclaim", "SUnreclaim_bytes", "Kernel objects that cannot be reclaimed."),
    PINGLOOM_MEMORY("KReclaimable", "KReclaimable_bytes", "Kernel memory that can be reclaimed."),
    PINGLOOM_MEMORY("KernelStack", "KernelStack_bytes", "Stacks of the kernel's threads."),
    PINGLOOM_MEMORY("PageTables", "PageTables_bytes", "Page tables."),
    PINGLOOM_MEMORY("Percpu", "Percpu_bytes", "Kernel memory that each processor has of its own."),
    PINGLOOM_MEMORY("HardwareCorrupted", "HardwareCorrupted_bytes", "Memory with known defects."),
    PINGLOOM_MEMORY("CommitLimit", "CommitLimit_bytes", "The limit of committed memory."),
    PINGLOOM_MEMORY("Committed_AS", "Committed_AS_bytes", "Memory that was promised to programs."),
    PINGLOOM_MEMORY("AnonHugePages", "AnonHugePages_bytes", "Transparent huge pages."),
    PINGLOOM_MEMORY("HugePages_Total", "HugePages_Total", "Huge pages that are reserved."),
    PINGLOOM_MEMORY("HugePages_Free", "HugePages_Free", "Huge pages that nothing uses."),
    PINGLOOM_MEMORY("HugePages_Rsvd", "HugePages_Rsvd", "Huge pages that were promised."),
    PINGLOOM_MEMORY("HugePages_Surp", "HugePages_Surp", "Huge pages beyond those reserved."),
    PINGLOOM_MEMORY("Hugepagesize", "Hugepagesize_bytes", "The size of a huge page."),
});
#undef PINGLOOM_MEMORY

// node_exporter gives these no type, and no `_total`, which OpenMetrics requires of counters.
constexpr auto kVmstat = std::to_array<Named>({
    {"pgfault", {"node_vmstat_pgfault", "Page faults. It only grows."}},
    {"pgmajfault", {"node_vmstat_pgmajfault", "Page faults that read a disk. It only grows."}},
    {"pgpgin", {"node_vmstat_pgpgin", "KiB that were read from disks. It only grows."}},
    {"pgpgout", {"node_vmstat_pgpgout", "KiB that were written to disks. It only grows."}},
    {"pswpin", {"node_vmstat_pswpin", "Pages that were read from swap. It only grows."}},
    {"pswpout", {"node_vmstat_pswpout", "Pages that were written to swap. It only grows."}},
    {"oom_kill", {"node_vmstat_oom_kill", "Processes killed for lack of memory. It only grows."}},
});

struct Pressure {
  std::string_view name, line;
  Family family;
};
constexpr double kMicro = 1e-6;
constexpr auto kPressures = std::to_array<Pressure>({
    {"cpu",
     "some",
     {"node_pressure_cpu_waiting_seconds_total",
      "Seconds in which a task waited for a processor.",
      Kind::kCounter,
      {},
      kMicro}},
    {"memory",
     "some",
     {"node_pressure_memory_waiting_seconds_total",
      "Seconds in which a task waited for memory.",
      Kind::kCounter,
      {},
      kMicro}},
    {"memory",
     "full",
     {"node_pressure_memory_stalled_seconds_total",
      "Seconds in which all tasks waited for memory.",
      Kind::kCounter,
      {},
      kMicro}},
    {"io",
     "some",
     {"node_pressure_io_waiting_seconds_total",
      "Seconds in which a task waited for a disk.",
      Kind::kCounter,
      {},
      kMicro}},
    {"io",
     "full",
     {"node_pressure_io_stalled_seconds_total",
      "Seconds in which all tasks waited for disks.",
      Kind::kCounter,
      {},
      kMicro}},
    {"irq",
     "full",
     {"node_pressure_irq_stalled_seconds_total",
      "Seconds in which interrupts kept all tasks waiting.",
      Kind::kCounter,
      {},
      kMicro}},
});

// Kernels that lack the last modes have fewer numbers.
void addProcessor(std::string_view label, std::string_view rest, Readings& readings) {
  std::array<std::uint64_t, kModes.size()> ticks{};
  std::size_t modes = 0;
  for (; modes < kModes.size(); ++modes) {
    const std::string_view word = takeWord(rest);
    if (word.empty()) break;
    const auto value = number(word);
    if (!value) {
      ++readings.malformed;
      return;
    }
    ticks[modes] = *value;
  }
  if (modes == 0) ++readings.malformed;
  for (std::size_t i = 0; i < modes; ++i) {
    const Family& family = kModes[i] == "idle" ? kIdleSeconds : kProcessorSeconds;
    readings.count(family, ticks[i], {label, kModes[i]});
  }
}

std::size_t processorsIn(std::string_view text) {
  std::size_t processors = 0;
  (void)forEachLine(text, [&processors](std::string_view line) {
    if (line.starts_with("cpu") && !line.starts_with("cpu ")) ++processors;
  });
  return processors;
}

}  // namespace

void parseStat(std::string_view text, Readings& readings) {
  const std::size_t processors = processorsIn(text);
  const bool together = processors > kMaxProcessors;
  if (processors != 0) readings.gauge(kProcessors, static_cast<double>(processors));
  const bool whole = forEachLine(text, [&](std::string_view line) {
    const std::string_view key = takeWord(line);
    if (key.starts_with("cpu")) {
      const bool sum = key == "cpu";
      if (sum == together) addProcessor(sum ? "all" : key.substr(3), line, readings);
      return;
    }
    addNumber(familyOf(kStat, key), line, readings);
  });
  if (!whole) ++readings.malformed;
}

void parseLoad(std::string_view text, Readings& readings) {
  std::array<double, kLoads.size()> loads{};
  bool right = text.ends_with('\n');
  for (double& load : loads) {
    const auto value = decimal(takeWord(text));
    right = right && value.has_value();
    load = value.value_or(0);
  }
  if (!right) {
    ++readings.malformed;
    return;
  }
  for (std::size_t i = 0; i < kLoads.size(); ++i) readings.gauge(kLoads[i], loads[i]);
}

void parseMemory(std::string_view text, Readings& readings) {
  constexpr double kKibibyte = 1024;
  const bool whole = forEachLine(text, [&](std::string_view line) {
    std::string_view key = takeWord(line);
    if (!key.ends_with(':')) return;
    key.remove_suffix(1);
    const Family* family = familyOf(kMemory, key);
    if (family == nullptr) return;
    const auto value = takeNumber(line);
    const std::string_view unit = takeWord(line);
    if (value && (unit == "kB" || unit.empty())) {
      readings.gauge(*family, static_cast<double>(*value) * (unit.empty() ? 1 : kKibibyte));
    } else {
      ++readings.malformed;
    }
  });
  if (!whole) ++readings.malformed;
}

void parseVmstat(std::string_view text, Readings& readings) {
  addNamedLines(kVmstat, text, readings);
}

void parsePressure(std::string_view name, std::string_view text, Readings& readings) {
  constexpr std::string_view kTotal = "total=";
  const bool whole = forEachLine(text, [&](std::string_view line) {
    const std::string_view first = takeWord(line);
    const auto found = std::find_if(kPressures.begin(), kPressures.end(), [&](const Pressure& one) {
      return one.name == name && one.line == first;
    });
    if (found == kPressures.end()) return;
    std::string_view word = takeWord(line);
    while (!word.empty() && !word.starts_with(kTotal)) word = takeWord(line);
    const auto value = word.empty() ? std::nullopt : number(word.substr(kTotal.size()));
    if (value) {
      readings.count(found->family, *value);
    } else {
      ++readings.malformed;
    }
  });
  if (!whole) ++readings.malformed;
}

}  // namespace pingloom::agent::system
