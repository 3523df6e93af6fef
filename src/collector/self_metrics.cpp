#include "collector/self_metrics.h"

#include <array>

#include "collector/native_buckets.h"

namespace pingloom::collector {
namespace {

struct AgentCounter {
  std::string_view name;
  std::string_view help;
  std::uint64_t (*value)(const AgentCounters&);
};
constexpr std::array<AgentCounter, 14> kAgentCounters = {{
    {"pingloom_collector_rounds_total", "Rounds in which the agent's pages were read.",
     [](const AgentCounters& counters) { return counters.rounds; }},
    {"pingloom_collector_rounds_late_total",
     "Rounds that began a whole interval late, because the interval is too short.",
     [](const AgentCounters& counters) { return counters.rounds_late; }},
    {"pingloom_collector_reads_total", "RDMA READs completed.",
     [](const AgentCounters& counters) { return counters.reading.reads; }},
    {"pingloom_collector_read_bytes_total", "Bytes read.",
     [](const AgentCounters& counters) { return counters.reading.bytes; }},
    {"pingloom_collector_read_useful_bytes_total", "Bytes read that are values of metrics.",
     [](const AgentCounters& counters) { return counters.reading.useful_bytes; }},
    {"pingloom_collector_torn_retries_total",
     "Grouped pages read again because they were written during the READ.",
     [](const AgentCounters& counters) { return counters.reading.torn_retries; }},
    {"pingloom_collector_torn_total", "Grouped pages that were torn in every try of a round.",
     [](const AgentCounters& counters) { return counters.torn; }},
    {"pingloom_collector_corrupt_total", "Pages or ranges with an invalid header.",
     [](const AgentCounters& counters) { return counters.corrupt; }},
    {"pingloom_collector_foreign_total", "Pages whose header has another generation.",
     [](const AgentCounters& counters) { return counters.foreign; }},
    {"pingloom_collector_stale_total", "Pages that became stale because their heartbeat stopped.",
     [](const AgentCounters& counters) { return counters.stale; }},
    {"pingloom_collector_connects_total", "Connections made to the agent.",
     [](const AgentCounters& counters) { return counters.connects; }},
    {"pingloom_collector_failures_total", "Connections that failed or could not be established.",
     [](const AgentCounters& counters) { return counters.failures; }},
    {"pingloom_collector_directories_total", "Answers with changes of the page directory.",
     [](const AgentCounters& counters) { return counters.directories; }},
    {"pingloom_collector_bad_answers_total", "Malformed answers of the agent.",
     [](const AgentCounters& counters) { return counters.bad_answers; }},
}};

void latency(MetricsWriter& out, const std::vector<AgentView>& agents) {
  static constexpr auto kShape = ReadCounters::kLatencyShape;
  out.family("pingloom_collector_read_latency_seconds", "histogram",
             "Time from posting a READ to its completion.");
  const auto upper = [](std::size_t bucket) {
    return static_cast<double>(pingloom_histogram_upper(kShape, static_cast<unsigned>(bucket))) /
           1e9;
  };
  for (const AgentView& agent : agents) {
    const ReadCounters& reading = agent.counters.reading;
    LabelText labels;
    labels.add("agent", agent.agent);
    out.histogram({reading.latency, upper, static_cast<double>(reading.latency_sum) / 1e9,
                   nativeSchema(kShape, 1e-9)},
                  labels);
  }
}

void states(MetricsWriter& out, const std::vector<AgentView>& agents, Nanos now) {
  out.family("pingloom_collector_agent_up", "gauge", "Whether the agent's pages are being read.");
  for (const AgentView& agent : agents) {
    out.sample(agent.state == LinkState::kReading ? 1 : 0,
               {{"agent", agent.agent}, {"host", agent.host}});
  }
  out.family("pingloom_collector_lag_seconds", "gauge",
             "Age of the agent's latest values; absent before the first round.");
  for (const AgentView& agent : agents) {
    if (agent.last_round == 0) continue;
    out.sample(static_cast<double>(now - agent.last_round) / 1e9, {{"agent", agent.agent}});
  }
  out.family("pingloom_collector_pages", "gauge", "The agent's pages, by state.");
  for (const AgentView& agent : agents) {
    std::array<std::size_t, 5> counts{};
    for (const PageView& page : agent.pages) ++counts[static_cast<std::size_t>(page.state)];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out.sample(counts[i], {{"agent", agent.agent}, {"state", name(static_cast<PageState>(i))}});
    }
  }
}

void leftOut(MetricsWriter& out, const std::vector<AgentView>& agents) {
  out.family(
      "pingloom_collector_pages_left_out", "gauge",
      "The agent's pages that are not read, by reason: a malformed schema or owner, or schemas "
      "beyond the limit.");
  for (const AgentView& agent : agents) {
    std::array<std::size_t, kPageFaults.size()> counts{};
    for (const LeftOutPage& page : agent.left_out) ++counts[static_cast<std::size_t>(page.fault)];
    for (std::size_t i = 0; i < counts.size(); ++i) {
      out.sample(counts[i], {{"agent", agent.agent}, {"reason", kPageFaults[i]}});
    }
  }
}

}  // namespace

void selfMetrics(MetricsWriter& out, const std::vector<AgentView>& agents,
                 const ExpositionCounters& exposed, const http::ServerCounters& http, Nanos now) {
  for (const AgentCounter& counter : kAgentCounters) {
    out.family(counter.name, "counter", counter.help);
    for (const AgentView& agent : agents) {
      out.sample(counter.value(agent.counters), {{"agent", agent.agent}});
    }
  }
  latency(out, agents);
  states(out, agents, now);
  leftOut(out, agents);
  out.gauge("pingloom_collector_series", "Series from pages in this answer.", exposed.series);
  out.family(
      "pingloom_collector_series_left_out", "gauge",
      "Series left out of this answer: duplicates, series for which no name was free, and pages "
      "of agents that claim another agent's host.");
  out.sample(exposed.duplicates, {{"reason", "duplicate"}});
  out.sample(exposed.conflicts, {{"reason", "conflict"}});
  out.sample(exposed.hosts, {{"reason", "host"}});
  out.gauge("pingloom_collector_exemplars", "Exemplars from pages that are in this answer.",
            exposed.exemplars.shown);
  out.family("pingloom_collector_exemplars_left_out", "gauge",
             "Exemplars left out of this answer: torn by an update, malformed, older than 10 "
             "minutes, and more than a minute ahead of the collector's clock.");
  for (std::size_t i = 0; i < kExemplarRefusals.size(); ++i) {
    out.sample(exposed.exemplars.left_out[i], {{"reason", kExemplarRefusals[i]}});
  }
  out.gauge("pingloom_collector_families_renamed",
            "Metric families of applications that this answer shows under another name, because "
            "their own name was taken.",
            exposed.renamed);
  out.family("pingloom_collector_http_refused_total", "counter",
             "Requests and connections refused for want of access, by reason.");
  for (std::size_t i = 0; i < http.refused.size(); ++i) {
    out.sample(http.refused[i].load(), {{"reason", http::kRefusalNames[i]}});
  }
}

}  // namespace pingloom::collector
