// The options of commands by which an operator tells the controller something: --by, --comment,
// and the end of a silence or a maintenance, --for or --until. Main thread.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <nlohmann/json_fwd.hpp>

#include "common/error.h"
#include "common/time.h"

namespace pingloom::cli {

void addOperatorOptions(boost::program_options::options_description& options);
void addEndOptions(boost::program_options::options_description& options);

// Sets "by" (without the option, the login name) and "comment" of a request's body.
Status setOperator(const boost::program_options::variables_map& values, nlohmann::json& body);

// Sets "duration" or "until" of a request's body, or neither if neither option is given. A time
// has to be later than `now_utc`.
Status setEnd(const boost::program_options::variables_map& values, Nanos now_utc,
              nlohmann::json& body);

}  // namespace pingloom::cli
