// Where `pingloom dta` looks for stores: at a collector over HTTP, in their files, which also
// answer while no collector runs, or in a collector's memory by RDMA. Blocking; main thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/dta_rdma.h"
#include "collector/stores/store_document.h"
#include "collector/stores/store_paths.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"

namespace pingloom::cli {

constexpr const char* kDtaCommand = "pingloom dta";

// At most one of the first two is there; without them the collector is asked.
struct DtaSource {
  std::vector<std::string> files;  // of stores
  std::optional<RdmaSource> rdma;
  http::Site site;  // where the collector answers

  bool asksCollector() const { return files.empty() && !rdma; }
};

// Adds --file, --json, --rdma and what belongs to it, and the options of the collector's site.
void addDtaOptions(boost::program_options::options_description& options);
Result<DtaSource> dtaSourceOf(const boost::program_options::variables_map& values);

// Opens the stores' files, or the stores by RDMA. REQUIRES: !source.asksCollector().
Result<OpenedStores> openStores(const DtaSource& source);
// The same as questions take them. REQUIRES: they outlive what is returned.
std::vector<collector::NamedView> viewsOf(const OpenedStores& opened);

// Asks the collector for /api/v1/dta/ and this.
Result<nlohmann::json> askCollector(const DtaSource& source, const std::string& question,
                                    Nanos timeout);
nlohmann::json unordered(const nlohmann::ordered_json& document);

// Returns the document of /api/v1/dta/tables.
Result<nlohmann::json> fetchStores(const DtaSource& source);
// Returns the document of /api/v1/dta/get or /api/v1/dta/count.
Result<nlohmann::json> fetchValue(const DtaSource& source, const std::string& table,
                                  const std::string& key);
Result<nlohmann::json> fetchCount(const DtaSource& source, const std::string& table,
                                  const std::string& key);
// Returns the document of /api/v1/dta/top.
Result<nlohmann::json> fetchTop(const DtaSource& source, const std::string& table,
                                std::size_t limit);

// Returns the document of /api/v1/dta/path.
Result<nlohmann::json> fetchPaths(const DtaSource& source, const collector::PathTexts& texts);

}  // namespace pingloom::cli
