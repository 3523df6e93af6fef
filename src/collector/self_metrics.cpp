#include "collector/self_metrics.h"

#include <fmt/format.h>

#include <array>

#include "collector/metric_lines.h"
#include "common/metrics_text.h"

namespace pingloom::collector {
namespace {

struct AgentCounter {
  std::string_view name;
  std::string_view help;
  std::uint64_t (*value)(const AgentCounters&);
};
constexpr std::array<AgentCounter, 14> kAgentCounters = {{
    {"pingloom_collector_rounds_total", "Times that an agent's pages were read.",
     [](const AgentCounters& counters) { return counters.rounds; }},
    {"pingloom_collector_rounds_late_total",
     "Rounds that began a whole interval too late: the interval is too short for the agent.",
     [](const AgentCounters& counters) { return counters.rounds_late; }},
    {"pingloom_collector_reads_total", "RDMA READs done.",
     [](const AgentCounters& counters) { return counters.reading.reads; }},
    {"pingloom_collector_read_bytes_total", "Bytes read.",
     [](const AgentCounters& counters) { return counters.reading.bytes; }},
    {"pingloom_collector_read_useful_bytes_total", "Bytes read that are metrics' values.",
     [](const AgentCounters& counters) { return counters.reading.useful_bytes; }},
    {"pingloom_collector_torn_retries_total",
     "Grouped pages read again because they were written meanwhile.",
     [](const AgentCounters& counters) { return counters.reading.torn_retries; }},
    {"pingloom_collector_torn_total", "Grouped pages of which a round got no undivided copy.",
     [](const AgentCounters& counters) { return counters.torn; }},
    {"pingloom_collector_corrupt_total", "Pages or ranges whose header was not one.",
     [](const AgentCounters& counters) { return counters.corrupt; }},
    {"pingloom_collector_foreign_total", "Pages whose header named another generation.",
     [](const AgentCounters& counters) { return counters.foreign; }},
    {"pingloom_collector_stale_total", "Pages whose owners ceased to give signs of life.",
     [](const AgentCounters& counters) { return counters.stale; }},
    {"pingloom_collector_connects_total", "Connections made to the agent.",
     [](const AgentCounters& counters) { return counters.connects; }},
    {"pingloom_collector_failures_total", "Connections that failed or could not be made.",
     [](const AgentCounters& counters) { return counters.failures; }},
    {"pingloom_collector_directories_total", "Answers with changes of the page directory.",
     [](const AgentCounters& counters) { return counters.directories; }},
    {"pingloom_collector_bad_answers_total", "Answers of the agent that were none.",
     [](const AgentCounters& counters) { return counters.bad_answers; }},
}};

std::string label(const AgentView& agent) {
  return fmt::format("agent=\"{}\"", agent.agent);  // an address and a port: nothing to escape
}

void latency(std::string& out, const std::vector<AgentView>& agents, Format format) {
  constexpr std::string_view kName = "pingloom_collector_read_latency_seconds";
  constexpr auto kShape = ReadCounters::kLatencyShape;
  writeFamily(out, kName, "histogram", "From posting a READ to its completion.", format);
  for (const AgentView& agent : agents) {
    const ReadCounters& reading = agent.counters.reading;
    std::uint64_t count = 0;
    for (unsigned i = 0; i < reading.latency.size(); ++i) {
      count += reading.latency[i];
      const std::string bound =
          i + 1 == reading.latency.size()
              ? "+Inf"
              : fmt::format("{}", static_cast<double>(pingloom_histogram_upper(kShape, i)) / 1e9);
      out += fmt::format("{}_bucket{{{},le=\"{}\"}} {}\n", kName, label(agent), bound, count);
    }
    out += fmt::format("{}_sum{{{}}} {}\n", kName, label(agent),
                       static_cast<double>(reading.latency_sum) / 1e9);
    out += fmt::format("{}_count{{{}}} {}\n", kName, label(agent), count);
  }
}

void states(std::string& out, const std::vector<AgentView>& agents, Format format, Nanos now) {
  writeFamily(out, "pingloom_collector_agent_up", "gauge",
              "Whether the agent's pages are being read.", format);
  for (const AgentView& agent : agents) {
    out += fmt::format("pingloom_collector_agent_up{{{},host={}}} {}\n", label(agent),
                       quotedLabel(agent.host), agent.state == LinkState::kReading ? 1 : 0);
  }
  writeFamily(out, "pingloom_collector_lag_seconds", "gauge",
              "How old what was read of the agent is; absent before the first time.", format);
  for (const AgentView& agent : agents) {
    if (agent.last_round == 0) continue;
    out += fmt::format("pingloom_collector_lag_seconds{{{}}} {}\n", label(agent),
                       static_cast<double>(now - agent.last_round) / 1e9);
  }
  writeFamily(out, "pingloom_collector_pages", "gauge", "The agent's pages, by what they are.",
              format);
  for (const AgentView& agent : agents) {
    std::array<std::size_t, 5> counts{};
    for (const PageView& page : agent.pages) ++counts[static_cast<std::size_t>(page.state)];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out += fmt::format("pingloom_collector_pages{{{},state=\"{}\"}} {}\n", label(agent),
                         name(static_cast<PageState>(i)), counts[i]);
    }
  }
}

void leftOut(std::string& out, const std::vector<AgentView>& agents, Format format) {
  constexpr std::string_view kName = "pingloom_collector_pages_left_out";
  writeFamily(out, kName, "gauge",
              "The agent's pages that are not read, because what it says of them is not as it has "
              "to be: schema, owner, or more schemas than there is space for.",
              format);
  for (const AgentView& agent : agents) {
    std::array<std::size_t, kPageFaults.size()> counts{};
    for (const LeftOutPage& page : agent.left_out) ++counts[static_cast<std::size_t>(page.fault)];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out += fmt::format("{}{{{},reason=\"{}\"}} {}\n", kName, label(agent), kPageFaults[i],
                         counts[i]);
    }
  }
}

}  // namespace

std::string selfMetrics(const std::vector<AgentView>& agents, const ExpositionCounters& exposed,
                        const http::ServerCounters& http, Format format, Nanos now) {
  std::string out;
  for (const AgentCounter& counter : kAgentCounters) {
    writeFamily(out, counter.name, "counter", counter.help, format);
    for (const AgentView& agent : agents) {
      out +=
          fmt::format("{}{{{}}} {}\n", counter.name, label(agent), counter.value(agent.counters));
    }
  }
  latency(out, agents, format);
  states(out, agents, format, now);
  leftOut(out, agents, format);
  writeFamily(out, "pingloom_collector_series", "gauge", "Series of pages in this answer.", format);
  out += fmt::format("pingloom_collector_series {}\n", exposed.series);
  writeFamily(out, "pingloom_collector_series_left_out", "gauge",
              "Series left out of this answer: there twice, or declared differently elsewhere; and "
              "pages of agents that name another agent's host.",
              format);
  out += fmt::format(
      "pingloom_collector_series_left_out{{reason=\"duplicate\"}} {}\n"
      "pingloom_collector_series_left_out{{reason=\"conflict\"}} {}\n"
      "pingloom_collector_series_left_out{{reason=\"host\"}} {}\n",
      exposed.duplicates, exposed.conflicts, exposed.hosts);
  writeFamily(out, "pingloom_collector_http_refused_total", "counter",
              "Requests and connections that were not let in, by reason.", format);
  for (std::size_t i = 0; i < http.refused.size(); ++i) {
    out += fmt::format("pingloom_collector_http_refused_total{{reason=\"{}\"}} {}\n",
                       http::kRefusalNames[i], http.refused[i].load());
  }
  if (format == Format::kPrometheus) {
    MetricsText process;
    process.process();
    out += process.text();
  }
  return out;
}

}  // namespace pingloom::collector
