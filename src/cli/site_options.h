// Where a command asks, and how it gets in: --url, --token-file, --ca.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string>

#include "common/error.h"
#include "http/client.h"

namespace pingloom::cli {

void addSiteOptions(boost::program_options::options_description& options, const char* url_help);

// What an option says, else an environment variable (nullptr: none) that is not empty.
struct Setting {
  std::string value;   // "": neither says anything
  std::string source;  // "--url" or "PINGLOOM_URL"
};
Setting settingOf(const boost::program_options::variables_map& values, const char* option,
                  const char* variable);
// Says whose value it is that is wrong.
tl::unexpected<Error> wrong(const Setting& setting, const Error& error);

// `url_variable` or else `default_url` where --url was not given. Files that were not named come
// from $PINGLOOM_TOKEN_FILE and $PINGLOOM_CA. Refused where one of these is not valid.
Result<http::Site> siteOf(const boost::program_options::variables_map& values,
                          const char* url_variable, const char* default_url);

}  // namespace pingloom::cli
