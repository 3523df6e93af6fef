// The options that name a service and its credentials: --url, --token-file, --ca.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string>

#include "common/error.h"
#include "http/client.h"

namespace pingloom::cli {

void addSiteOptions(boost::program_options::options_description& options, const char* url_help);

// The value of an option, or of an environment variable when the option is not given (nullptr
// stands for no variable). An empty variable counts as not set.
struct Setting {
  std::string value;   // "" when neither is set
  std::string source;  // "--url" or "PINGLOOM_URL"
};
Setting settingOf(const boost::program_options::variables_map& values, const char* option,
                  const char* variable);
// Names the option or variable whose value is wrong.
tl::unexpected<Error> wrong(const Setting& setting, const Error& error);

// Without --url the site comes from `url_variable`, else it is `default_url`. Without options the
// files come from $PINGLOOM_TOKEN_FILE and $PINGLOOM_CA. An invalid value is an error.
Result<http::Site> siteOf(const boost::program_options::variables_map& values,
                          const char* url_variable, const char* default_url);

}  // namespace pingloom::cli
