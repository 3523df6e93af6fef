// The options that name a Redis and say how to log in there: --redis and others that begin with
// --redis-.
#pragma once

#include <boost/program_options/options_description.hpp>
#include <boost/program_options/variables_map.hpp>
#include <string_view>

#include "common/error.h"
#include "controller/redis/target.h"

namespace pingloom::cli {

// Parses unix:/PATH, tcp:HOST:PORT, sentinel:MASTER@HOST:PORT,... and cluster:HOST:PORT,...; an
// IPv6 address stands in brackets.
Result<controller::RedisTarget> parseRedisTarget(std::string_view text);

struct RedisAccess {
  controller::RedisTarget target;
  controller::RedisLogin login;
};

void addRedisOptions(boost::program_options::options_description& options);

// Without --redis the place comes from $PINGLOOM_REDIS, else it is that of an installed controller.
// Files that cannot be read are an error.
Result<RedisAccess> redisAccessOf(const boost::program_options::variables_map& values);

}  // namespace pingloom::cli
