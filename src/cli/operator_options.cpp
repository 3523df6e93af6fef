#include "cli/operator_options.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/duration.h"
#include "common/text.h"

namespace pingloom::cli {
namespace {

namespace po = boost::program_options;

// The longest login name that Linux knows has 256 bytes.
constexpr std::size_t kMaxLogin = 257;

std::string loginName() {
  std::array<char, kMaxLogin> name{};
  if (getlogin_r(name.data(), name.size()) == 0 && name[0] != '\0') return name.data();
  const char* const user = std::getenv("USER");
  if (user != nullptr && *user != '\0') return user;
  return fmt::format("uid {}", getuid());
}

Status setText(const po::variables_map& values, const char* option, nlohmann::json& body) {
  const auto& text = values[option].as<std::string>();
  if (invalidUtf8At(text) != std::string_view::npos) {
    return makeError(std::string("--") + option, "is not UTF-8 text");
  }
  body[option] = text;
  return {};
}

}  // namespace

void addOperatorOptions(po::options_description& options) {
  options.add_options()("by", po::value<std::string>()->default_value(loginName(), "login name"),
                        "who does this")("comment", po::value<std::string>()->default_value("", ""),
                                         "why, for other people");
}

void addEndOptions(po::options_description& options) {
  options.add_options()("for", po::value<std::string>()->value_name("DURATION"),
                        "how long, such as 2h")("until",
                                                po::value<std::string>()->value_name("TIME"),
                                                "until when, such as 2026-11-30T06:00:00Z");
}

Status setOperator(const po::variables_map& values, nlohmann::json& body) {
  if (auto status = setText(values, "by", body); !status) return status;
  return setText(values, "comment", body);
}

Status setEnd(const po::variables_map& values, Nanos now_utc, nlohmann::json& body) {
  if (values.count("for") != 0 && values.count("until") != 0) {
    return makeError("", "--for and --until exclude each other");
  }
  if (values.count("for") != 0) {
    const auto length = parseDuration(values["for"].as<std::string>());
    if (!length) return makeError("--for", length.error().text());
    body["duration"] = formatDuration(*length);
  }
  if (values.count("until") != 0) {
    const auto until = parseUtc(values["until"].as<std::string>());
    if (!until) return makeError("--until", until.error().text());
    if (*until <= now_utc) return makeError("--until " + formatUtc(*until), "is past");
    body["until"] = formatUtc(*until);
  }
  return {};
}

}  // namespace pingloom::cli
