#include "controller/redis/resp.h"

#include <array>
#include <charconv>

namespace pingloom::controller {
namespace {

void appendHeader(char kind, std::size_t number, std::string& out) {
  std::array<char, 24> line;
  line[0] = kind;
  char* end = std::to_chars(line.data() + 1, line.data() + 22, number).ptr;
  *end++ = '\r';
  *end++ = '\n';
  out.append(line.data(), end);
}

}  // namespace

void Commands::begin(std::size_t arguments) {
  begun_at_ = bytes_.size();
  arguments_ = 0;
  left_out_ = false;
  ++count_;
  appendHeader('*', arguments, bytes_);
}

bool Commands::leavesOut(std::string_view argument) {
  if (arguments_++ == 1 && !takes(argument)) {
    left_out_ = true;
    bytes_.resize(begun_at_);
    --count_;
  }
  return left_out_;
}

void Commands::argument(std::string_view text) {
  if (slots_ != nullptr && leavesOut(text)) return;
  appendHeader('$', text.size(), bytes_);
  bytes_ += text;
  bytes_ += "\r\n";
}

void Commands::argument(std::uint64_t number) {
  std::array<char, 20> digits;
  const char* end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  argument(std::string_view(digits.data(), static_cast<std::size_t>(end - digits.data())));
}

void Commands::clear() {
  bytes_.clear();
  count_ = 0;
}

}  // namespace pingloom::controller
