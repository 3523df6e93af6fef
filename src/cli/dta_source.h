// Where `pingloom dta` looks for stores: at a collector over HTTP, or in their files, which also
// answer while no collector runs. Blocking; any thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "collector/stores/store_document.h"
#include "collector/stores/store_paths.h"
#include "common/error.h"
#include "common/time.h"
#include "http/client.h"
#include "store/store_view.h"

namespace pingloom::cli {

constexpr const char* kDtaCommand = "pingloom dta";

struct DtaSource {
  std::vector<std::string> files;  // of stores; if there is none, the collector is asked
  http::Site site;                 // where the collector answers
};

// Adds --file, --json and the options of the collector's site.
void addDtaOptions(boost::program_options::options_description& options);
Result<DtaSource> dtaSourceOf(const boost::program_options::variables_map& values);

// A store's file, and its name, which is its translator's unless configured otherwise.
struct OpenedStore {
  std::string name;
  store::StoreView view;
};
Result<std::vector<OpenedStore>> openStoreFiles(const std::vector<std::string>& files);
// The same as questions take them. REQUIRES: they outlive what is returned.
std::vector<collector::NamedView> viewsOf(const std::vector<OpenedStore>& stores);

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

// Returns the document of /api/v1/dta/path.
Result<nlohmann::json> fetchPaths(const DtaSource& source, const collector::PathTexts& texts);

}  // namespace pingloom::cli
