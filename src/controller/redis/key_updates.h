// Produces the commands that keep the keys of docs/redis-keys.md, and no others, up to date. It
// remembers what was written last, so that a change of states writes only those. It has no
// connection; after a lost one call forget() and write everything. In a Redis that several
// controllers share, each writes only the rows of agents that are registered with it. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "controller/model/board.h"
#include "controller/redis/resp.h"

namespace pingloom::controller {

class RedisKeys {
 public:
  explicit RedisKeys(bool shared = false) : shared_(shared) {}

  static constexpr std::uint64_t kMaxEvents = 100'000;  // approximate length of the stream
  // more rows are split into several commands
  static constexpr std::size_t kMaxFieldsInCommand = 16'384;
  static constexpr std::string_view kProbesKey = "pingloom:probes";
  static constexpr std::string_view kEventsKey = "pingloom:events";

  static std::string sourcesKey(std::string_view probe);
  static std::string latestKey(std::string_view probe, std::string_view source);

  // Forgets what Redis holds.
  void forget(std::shared_ptr<const GridPlan> plan);
  const GridPlan& plan() const { return *plan_; }

  // Changes to another plan: removes what left it, and adds what is new to the index.
  void changePlan(std::shared_ptr<const GridPlan> plan, Commands& out);
  // Writes the whole index of the plan in force.
  void writeIndex(Commands& out) const;
  // Removes a probe, or one of its sources, that an earlier controller left behind.
  static void removeSource(std::string_view probe, std::string_view source, Commands& out);
  static void removeProbe(std::string_view probe, Commands& out);

  // The key of a source of the plan in force.
  std::string keyOf(std::uint32_t probe, std::uint32_t source) const;

  // Writes what changed at this source since the last call. Returns the number of rows. Commands
  // that `out` leaves out count as written by somebody else.
  std::size_t writeSource(std::uint32_t probe, std::uint32_t source,
                          const std::shared_ptr<const SourceSnapshot>& snapshot, Nanos now_utc,
                          Commands& out);
  // Replaces the source's key completely.
  std::size_t replaceSource(std::uint32_t probe, std::uint32_t source,
                            const std::shared_ptr<const SourceSnapshot>& snapshot, Nanos now_utc,
                            Commands& out);
  void writeEvent(const StateEvent& event, Commands& out) const;

 private:
  // What a source's key holds. The rows themselves are not kept, because they would be in memory
  // twice.
  struct Written {
    std::weak_ptr<const SourceRows> rows;
    std::vector<States> states;  // indexed by path, 0 is all paths together; empty if unknown
    bool own = false;            // whether this controller has written the key last, as it knows

    PairState stateOf(std::uint32_t path, std::uint32_t destination) const;
  };
  struct Field {
    std::uint32_t path = 0;
    std::uint32_t destination = 0;
  };
  using AllWritten = std::vector<std::vector<Written>>;  // indexed by probe and source

  void setPlan(std::shared_ptr<const GridPlan> plan);
  static void noteWritten(Written& written, const SourceSnapshot& snapshot);
  void addToIndex(std::uint32_t probe, std::uint32_t source, Commands& out) const;
  bool leftToOthers(Written& written, const SourceSnapshot* snapshot) const;
  void findChanges(const Written& written, const SourceSnapshot& snapshot);
  const std::string& nameOf(std::uint32_t probe, Field field);
  AllWritten carryOver(const GridPlan& to) const;
  // REQUIRES: `probe` is in the plan in force, and has the source.
  const Written& writtenOf(const ProbeGrid& probe, const IpAddress& source) const;
  void leave(const ProbeGrid& from, const ProbeGrid* to, Commands& out) const;
  std::size_t writeRows(std::uint32_t probe, const SourceSnapshot& snapshot,
                        const std::vector<Field>& which, std::string_view key, Commands& out);

  const bool shared_;
  std::shared_ptr<const GridPlan> plan_ = std::make_shared<GridPlan>();
  // the fields' names of path 0, indexed by probe
  std::vector<std::vector<std::string>> destinations_;
  AllWritten written_;
  std::vector<Field> changed_;
  std::vector<Field> gone_;
  std::string name_;
  std::string json_;
};

}  // namespace pingloom::controller
