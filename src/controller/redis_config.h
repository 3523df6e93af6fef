// Reads the keys of the controller's configuration that are about Redis. They stand in this order
// in the table of keys, because what belongs to one kind of Redis is refused with another.
#pragma once

#include "common/error.h"
#include "common/yaml.h"
#include "controller/config.h"

namespace pingloom::controller {

constexpr std::size_t kMaxSocketPath = 107;  // the limit of sockaddr_un

Status readRedis(const yaml::Node& node, Config& config);
Status readRedisSocket(const yaml::Node& node, Config& config);
Status readRedisUser(const yaml::Node& node, Config& config);
Status readRedisPasswordFile(const yaml::Node& node, Config& config);
Status readRedisTls(const yaml::Node& node, Config& config);

}  // namespace pingloom::controller
