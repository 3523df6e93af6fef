// Where a command asks, and how it gets in: --url, --token-file, --ca.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string>

#include "common/error.h"
#include "http/client.h"

namespace pingloom::cli {

void addSiteOptions(boost::program_options::options_description& options, const char* url_help);

// `url` where --url was not given. Files that were not named come from $PINGLOOM_TOKEN_FILE and
// $PINGLOOM_CA.
Result<http::Site> siteOf(const boost::program_options::variables_map& values,
                          const std::string& url);

}  // namespace pingloom::cli
