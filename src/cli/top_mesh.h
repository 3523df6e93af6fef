// What `pingloom top` knows at one moment, and its output formats. One thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "cli/text_table.h"
#include "cli/top_ranking.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

struct TopQuery {
  http::Site site;
  std::string probe;  // "" stands for all
  TopSort sort = TopSort::kNetworkP99;
  std::string filter;
};

struct TopMesh {
  std::vector<TopGrid> grids;
  std::vector<TopPair> ranked;
};

// Asks the controller and ranks the pairs. For an unknown probe the error lists the known ones.
Result<TopMesh> fetchTopMesh(const TopQuery& query, Nanos timeout);

const TextTable::Cells& topHeader();
TextTable::Cells topCells(const TopMesh& mesh, const TopPair& pair);
PairState topState(const TopMesh& mesh, const TopPair& pair);
// Returns nullopt if the controller is too old to judge.
std::optional<Severity> topSeverity(const TopMesh& mesh, const TopPair& pair);

// Returns one JSON document with the first `limit` pairs; missing figures are null.
std::string topJson(const TopMesh& mesh, TopSort sort, std::size_t limit);

}  // namespace pingloom::cli
