// Where `pingloom dta` looks for stores: at a collector over HTTP, or in their files, which also
// answer while no collector runs. Blocking; any thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/error.h"
#include "http/client.h"

namespace pingloom::cli {

constexpr const char* kDtaCommand = "pingloom dta";

struct DtaSource {
  std::vector<std::string> files;  // of stores; if there is none, the collector is asked
  http::Site site;                 // where the collector answers
};

// Adds --file, --json and the options of the collector's site.
void addDtaOptions(boost::program_options::options_description& options);
Result<DtaSource> dtaSourceOf(const boost::program_options::variables_map& values);

// Returns the document of /api/v1/dta/tables.
Result<nlohmann::json> fetchStores(const DtaSource& source);
// Returns the document of /api/v1/dta/get.
Result<nlohmann::json> fetchValue(const DtaSource& source, const std::string& table,
                                  const std::string& key);

}  // namespace pingloom::cli
