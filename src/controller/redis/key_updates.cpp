#include "controller/redis/key_updates.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "controller/model/grid_plan.h"
#include "controller/model/row_json.h"
#include "controller/redis/path_keys.h"

namespace pingloom::controller {
namespace {

using std::string_view;

constexpr int kExpiryWindows = 3;

const ProbeGrid* findProbe(const GridPlan& plan, const std::string& name) {
  const auto found = probeNamed(plan, name);
  return found ? &plan.probes[*found] : nullptr;
}

std::vector<std::string> textsOf(const plan::AddressList& list) {
  std::vector<std::string> texts;
  texts.reserve(list.size());
  for (const IpAddress& address : list) texts.push_back(address.text());
  return texts;
}

plan::AddressList difference(const plan::AddressList& from, const plan::AddressList& to) {
  plan::AddressList made;
  std::set_difference(from.begin(), from.end(), to.begin(), to.end(), std::back_inserter(made));
  return made;
}

// Adds COMMAND KEY MEMBER..., split into several commands if the list is long.
void addList(string_view command, string_view key, const std::vector<std::string>& members,
             Commands& out) {
  for (std::size_t at = 0; at < members.size(); at += RedisKeys::kMaxFieldsInCommand) {
    const std::size_t count = std::min(members.size() - at, RedisKeys::kMaxFieldsInCommand);
    out.begin(2 + count);
    out.argument(command);
    out.argument(key);
    for (std::size_t i = 0; i < count; ++i) out.argument(members[at + i]);
  }
}

bool hasRow(const SourceSnapshot& snapshot, std::uint32_t path, std::size_t destination) {
  const Rows* rows = snapshot.rows == nullptr ? nullptr : snapshot.rows->ofPath(path);
  return rows != nullptr && rows->packed(destination).hasWindow();
}

std::string pathField(std::string_view destination, std::uint32_t path) {
  return std::string(destination) + "#" + std::to_string(path);
}

Nanos expiresAt(const SourceRows& rows) { return rows.reported_utc + kExpiryWindows * rows.window; }

void addExpiry(string_view key, const SourceRows& rows, Nanos now_utc, Commands& out) {
  const auto left = static_cast<std::uint64_t>((expiresAt(rows) - now_utc) / kMillisecond + 1);
  out.add(string_view("PEXPIRE"), key, left);
}

// Returns all fields of removed destinations, and the fields of removed paths of the others.
std::vector<std::string> goneFields(const ProbeGrid& from, const ProbeGrid& to) {
  std::vector<std::string> gone = textsOf(difference(from.destinations, to.destinations));
  const std::size_t destinations = gone.size();
  for (std::size_t i = 0; i < destinations; ++i) {
    for (std::uint32_t path = 1; path <= from.paths(); ++path) {
      gone.push_back(pathField(gone[i], path));
    }
  }
  for (const IpAddress& stays : from.destinations) {
    if (to.paths() >= from.paths() || !indexOf(to.destinations, stays)) continue;
    for (std::uint32_t path = to.paths() + 1; path <= from.paths(); ++path) {
      gone.push_back(pathField(stays.text(), path));
    }
  }
  return gone;
}

// Returns the fields of the source's pairs, or of their paths, that are not in the plan any more
// though the destinations are.
std::vector<std::string> goneOfSample(const ProbeGrid& from, const ProbeGrid& to,
                                      const IpAddress& source) {
  std::vector<std::string> gone;
  if (to.targets == nullptr) return gone;
  const auto before = indexOf(from.sources, source);
  const auto after = indexOf(to.sources, source);
  for (std::size_t i = 0; i < from.destinations.size(); ++i) {
    const auto at = indexOf(to.destinations, from.destinations[i]);
    if (!at || !isPair(from, *before, i)) continue;
    const bool stays = isPair(to, *after, *at);
    const std::string destination = from.destinations[i].text();
    if (!stays) gone.push_back(destination);
    const std::uint32_t paths = stays ? pathsOf(to, *after, *at) : 0;
    for (std::uint32_t path = paths + 1; path <= pathsOf(from, *before, i); ++path) {
      gone.push_back(pathField(destination, path));
    }
  }
  return gone;
}

}  // namespace

std::string RedisKeys::sourcesKey(string_view probe) {
  return "pingloom:sources:" + std::string(probe);
}

std::string RedisKeys::latestKey(string_view probe, string_view source) {
  std::string key = "pingloom:latest:";
  key += probe;
  key += ':';
  key += source;
  return key;
}

std::string RedisKeys::keyOf(std::uint32_t probe, std::uint32_t source) const {
  const ProbeGrid& grid = plan_->probes[probe];
  return latestKey(grid.spec.name, grid.sources[source].text());
}

void RedisKeys::setPlan(std::shared_ptr<const GridPlan> plan) {
  plan_ = std::move(plan);
  destinations_.clear();
  for (const ProbeGrid& probe : plan_->probes) {
    destinations_.push_back(textsOf(probe.destinations));
  }
}

void RedisKeys::forget(std::shared_ptr<const GridPlan> plan) {
  setPlan(std::move(plan));
  written_.assign(plan_->probes.size(), {});
  for (std::size_t i = 0; i < written_.size(); ++i) {
    written_[i].resize(plan_->probes[i].sources.size());
  }
}

// A source with unchanged destinations needs only its changes written.
RedisKeys::AllWritten RedisKeys::carryOver(const GridPlan& to) const {
  AllWritten made(to.probes.size());
  for (std::size_t i = 0; i < to.probes.size(); ++i) {
    const ProbeGrid& probe = to.probes[i];
    made[i].resize(probe.sources.size());
    const ProbeGrid* before = findProbe(*plan_, probe.spec.name);
    if (before == nullptr || before->destinations != probe.destinations ||
        before->spec.protocol != probe.spec.protocol || before->paths() != probe.paths()) {
      continue;
    }
    const auto& written = written_[static_cast<std::size_t>(before - plan_->probes.data())];
    for (std::size_t j = 0; j < probe.sources.size(); ++j) {
      const auto at = indexOf(before->sources, probe.sources[j]);
      if (at) made[i][j] = written[*at];
    }
  }
  return made;
}

void RedisKeys::changePlan(std::shared_ptr<const GridPlan> plan, Commands& out) {
  for (const ProbeGrid& from : plan_->probes) {
    leave(from, findProbe(*plan, from.spec.name), out);
  }
  AllWritten carried = carryOver(*plan);
  setPlan(std::move(plan));
  written_ = std::move(carried);
  writeIndex(out);
}

const RedisKeys::Written& RedisKeys::writtenOf(const ProbeGrid& probe,
                                               const IpAddress& source) const {
  const auto& written = written_[static_cast<std::size_t>(&probe - plan_->probes.data())];
  return written[*indexOf(probe.sources, source)];
}

void RedisKeys::leave(const ProbeGrid& from, const ProbeGrid* to, Commands& out) const {
  const std::string& name = from.spec.name;
  const bool other_rows = to != nullptr && to->spec.protocol != from.spec.protocol;
  const auto gone_sources =
      difference(from.sources, to == nullptr ? plan::AddressList{} : to->sources);
  for (const IpAddress& source : gone_sources) {
    // Another controller may still have it; otherwise its rows expire, and a leader cleans up.
    if (shared_ && !writtenOf(from, source).own) continue;
    removeSource(name, source.text(), out);
  }
  if (to == nullptr) return shared_ ? void() : removeProbe(name, out);
  const auto gone_fields = goneFields(from, *to);
  for (const IpAddress& source : to->sources) {
    if (!indexOf(from.sources, source)) continue;
    if (shared_ && !writtenOf(from, source).own) continue;
    const std::string text = source.text();
    const std::string key = latestKey(name, text);
    if (other_rows) {
      out.add(string_view("DEL"), key);
      continue;
    }
    addList("HDEL", key, gone_fields, out);
    addList("HDEL", key, goneOfSample(from, *to, source), out);
    if (!from.spec.self || to->spec.self) continue;
    out.add(string_view("HDEL"), key, text);
    for (std::uint32_t path = 1; path <= from.paths(); ++path) {
      out.add(string_view("HDEL"), key, pathField(text, path));
    }
  }
}

void RedisKeys::writeIndex(Commands& out) const {
  for (const ProbeGrid& probe : plan_->probes) {
    out.add(string_view("SADD"), kProbesKey, probe.spec.name);
    addList("SADD", sourcesKey(probe.spec.name), textsOf(probe.sources), out);
  }
}

void RedisKeys::removeSource(string_view probe, string_view source, Commands& out) {
  out.add(string_view("DEL"), latestKey(probe, source));
  path_keys::removeSource(probe, source, out);
  out.add(string_view("SREM"), sourcesKey(probe), source);
}

void RedisKeys::removeProbe(string_view probe, Commands& out) {
  out.add(string_view("DEL"), sourcesKey(probe));
  out.add(string_view("SREM"), kProbesKey, probe);
}

// The reference is valid until the next call.
const std::string& RedisKeys::nameOf(std::uint32_t probe, Field field) {
  const std::string& destination = destinations_[probe][field.destination];
  if (field.path == 0) return destination;
  name_ = pathField(destination, field.path);
  return name_;
}

std::size_t RedisKeys::writeRows(std::uint32_t probe, const SourceSnapshot& snapshot,
                                 const std::vector<Field>& which, std::string_view key,
                                 Commands& out) {
  const RowJson json(plan_->probes[probe].spec, *snapshot.rows);
  RowJsonOptions options;
  options.baseline = &snapshot.baseline;
  for (std::size_t at = 0; at < which.size(); at += kMaxFieldsInCommand) {
    const std::size_t count = std::min(which.size() - at, kMaxFieldsInCommand);
    out.begin(2 + 2 * count);
    out.argument(string_view("HSET"));
    out.argument(key);
    for (std::size_t i = 0; i < count; ++i) {
      const Field field = which[at + i];
      options.path = field.path;
      options.judged.reset();  // paths are not judged
      if (field.path == 0) options.judged = snapshot.judgedOf(0, field.destination);
      json_.clear();
      json.append((*snapshot.rows->ofPath(field.path))[field.destination],
                  snapshot.statesOf(field.path)[field.destination].value_or(PairState::kPending),
                  json_, options);
      out.argument(nameOf(probe, field));
      out.argument(json_);
    }
  }
  return which.size();
}

PairState RedisKeys::Written::stateOf(std::uint32_t path, std::uint32_t destination) const {
  if (path >= states.size() || destination >= states[path].size()) return PairState::kPending;
  return states[path][destination].value_or(PairState::kPending);
}

void RedisKeys::noteWritten(Written& written, const SourceSnapshot& snapshot) {
  written.own = true;
  written.rows = snapshot.rows;
  written.states.resize(1 + snapshot.path_states.size());
  written.states[0] = snapshot.states;
  for (std::uint32_t path = 1; path < written.states.size(); ++path) {
    // For a path without a report in this window, Redis still has the previous row.
    if (!snapshot.statesOf(path).empty()) written.states[path] = snapshot.statesOf(path);
  }
}

// Finds the fields to write, and those that have to be removed if they exist.
void RedisKeys::findChanges(const Written& written, const SourceSnapshot& snapshot) {
  const bool only_states = !written.states.empty() && written.rows.lock() == snapshot.rows;
  changed_.clear();
  gone_.clear();
  for (std::uint32_t path = 0; path <= snapshot.path_states.size(); ++path) {
    const bool reported = snapshot.rows->ofPath(path) != nullptr;
    for (std::uint32_t i = 0; i < snapshot.states.size(); ++i) {
      const PairState before = written.stateOf(path, i);
      if (hasRow(snapshot, path, i)) {
        const auto state = snapshot.statesOf(path)[i].value_or(PairState::kPending);
        if (!only_states || before != state) changed_.push_back({path, i});
      } else if (!only_states && before != PairState::kPending &&
                 (reported || !hasRow(snapshot, 0, i))) {
        gone_.push_back({path, i});  // the field may exist
      }
    }
  }
}

// Another controller may write the source from now on.
bool RedisKeys::leftToOthers(Written& written, const SourceSnapshot* snapshot) const {
  if (!shared_ || (snapshot != nullptr && snapshot->here)) return false;
  written = {};
  return true;
}

std::size_t RedisKeys::writeSource(std::uint32_t probe, std::uint32_t source,
                                   const std::shared_ptr<const SourceSnapshot>& snapshot,
                                   Nanos now_utc, Commands& out) {
  if (snapshot == nullptr || snapshot->rows == nullptr) return 0;
  Written& written = written_[probe][source];
  if (leftToOthers(written, snapshot.get())) return 0;
  // The key may hold fields that another controller has written.
  if (shared_ && !written.own) return replaceSource(probe, source, snapshot, now_utc, out);
  const std::string key = keyOf(probe, source);
  if (!out.takes(key)) return 0;
  if (expiresAt(*snapshot->rows) <= now_utc) {
    noteWritten(written, *snapshot);
    return 0;
  }
  findChanges(written, *snapshot);
  noteWritten(written, *snapshot);
  if (changed_.empty() && gone_.empty()) return 0;
  if (!gone_.empty()) {
    out.begin(2 + gone_.size());
    out.argument(string_view("HDEL"));
    out.argument(key);
    for (const Field field : gone_) out.argument(nameOf(probe, field));
  }
  const std::size_t rows = writeRows(probe, *snapshot, changed_, key, out);
  // The expiry is set even if only states changed; the key may have expired meanwhile, and a new
  // key would never expire.
  addExpiry(key, *snapshot->rows, now_utc, out);
  return rows;
}

std::size_t RedisKeys::replaceSource(std::uint32_t probe, std::uint32_t source,
                                     const std::shared_ptr<const SourceSnapshot>& snapshot,
                                     Nanos now_utc, Commands& out) {
  const std::string key = keyOf(probe, source);
  Written& written = written_[probe][source];
  if (leftToOthers(written, snapshot.get())) return 0;
  written = {};
  if (!out.takes(key)) {
    written.own = true;
    if (shared_) addToIndex(probe, source, out);
    return 0;
  }
  if (snapshot == nullptr || snapshot->rows == nullptr || expiresAt(*snapshot->rows) <= now_utc) {
    if (snapshot != nullptr) noteWritten(written, *snapshot);
    out.add(string_view("DEL"), key);
    return 0;
  }
  findChanges(written, *snapshot);
  noteWritten(written, *snapshot);
  out.add(string_view("MULTI"));
  out.add(string_view("DEL"), key);
  const std::size_t rows = writeRows(probe, *snapshot, changed_, key, out);
  addExpiry(key, *snapshot->rows, now_utc, out);
  out.add(string_view("EXEC"));
  if (shared_) addToIndex(probe, source, out);
  return rows;
}

// A controller with another plan may have removed the source from the index.
void RedisKeys::addToIndex(std::uint32_t probe, std::uint32_t source, Commands& out) const {
  const ProbeGrid& grid = plan_->probes[probe];
  out.add(string_view("SADD"), kProbesKey, grid.spec.name);
  out.add(string_view("SADD"), sourcesKey(grid.spec.name), grid.sources[source].text());
}

void RedisKeys::writeEvent(const StateEvent& event, Commands& out) const {
  if ((shared_ && !event.here) || !out.takes(kEventsKey)) return;
  const std::string limit = std::to_string(kMaxEvents);
  out.add(string_view("XADD"), kEventsKey, string_view("MAXLEN"), string_view("~"), limit,
          string_view("*"), string_view("time"), formatUtc(event.utc), string_view("probe"),
          event.probe, string_view("source"), event.source.text(), string_view("destination"),
          event.destination.text(), string_view("from"), name(event.from), string_view("to"),
          name(event.to), string_view("severity_from"), name(event.severity_from),
          string_view("severity"), name(event.severity_to));
}

}  // namespace pingloom::controller
