#include "controller/redis/redirects.h"

#include "common/text.h"
#include "controller/redis/slots.h"

namespace pingloom::controller {
namespace {

constexpr std::size_t kMaxHostBytes = 255;

// Takes the number of a header such as "*3\r\n" from bytes that Commands has made.
std::size_t takeNumber(std::string_view& bytes) {
  const std::size_t end = bytes.find('\r');
  const auto number = parseUnsigned(bytes.substr(1, end - 1), bytes.size());
  bytes.remove_prefix(end + 2);
  return static_cast<std::size_t>(number.value_or(0));
}

std::string_view takeArgument(std::string_view& bytes) {
  const std::size_t size = takeNumber(bytes);
  const std::string_view text = bytes.substr(0, size);
  bytes.remove_prefix(size + 2);
  return text;
}

struct OneCommand {
  std::string_view name;
  std::string_view key;
};

OneCommand takeCommand(std::string_view& bytes) {
  OneCommand command;
  const std::size_t arguments = takeNumber(bytes);
  for (std::size_t i = 0; i < arguments; ++i) {
    const std::string_view text = takeArgument(bytes);
    if (i == 0) command.name = text;
    if (i == 1) command.key = text;
  }
  return command;
}

}  // namespace

std::optional<Redirect> parseRedirect(std::string_view error, const std::string& host) {
  Redirect made;
  made.ask = error.starts_with("ASK ");
  if (!made.ask && !error.starts_with("MOVED ")) return std::nullopt;
  error.remove_prefix(error.find(' ') + 1);
  const std::size_t blank = error.find(' ');
  if (blank == std::string_view::npos) return std::nullopt;
  if (!parseUnsigned(error.substr(0, blank), kRedisSlots - 1)) return std::nullopt;
  const std::string_view place = error.substr(blank + 1);
  // An IPv6 address stands here without brackets.
  const std::size_t colon = place.rfind(':');
  if (colon > kMaxHostBytes) return std::nullopt;  // npos is more
  const auto port = parseUnsigned(place.substr(colon + 1), 65535);
  if (!port || *port == 0) return std::nullopt;
  made.server = {colon == 0 ? host : std::string(place.substr(0, colon)),
                 static_cast<std::uint16_t>(*port)};
  return made;
}

std::vector<CommandUnit> unitsOf(std::string_view commands) {
  std::vector<CommandUnit> units;
  std::size_t number = 0;
  while (!commands.empty()) {
    CommandUnit unit;
    unit.first = number;
    unit.bytes = commands;
    bool complete = false;
    for (bool in_multi = false; !complete && !commands.empty(); ++number) {
      const OneCommand command = takeCommand(commands);
      if (unit.key.empty()) unit.key = command.key;
      in_multi = in_multi || command.name == "MULTI";
      complete = !in_multi || command.name == "EXEC";
    }
    unit.count = number - unit.first;
    unit.bytes = unit.bytes.substr(0, unit.bytes.size() - commands.size());
    units.push_back(unit);
  }
  return units;
}

}  // namespace pingloom::controller
