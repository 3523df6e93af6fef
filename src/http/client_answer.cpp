#include "http/client_answer.h"

#include <algorithm>
#include <charconv>
#include <string_view>

#include "common/text.h"

namespace pingloom::http {
namespace {

constexpr std::size_t kMaxHeader = 64 * 1024;
constexpr std::size_t kMaxChunkLine = 1024;
constexpr Nanos kMaxRetryAfter = 24 * kHour;  // a longer one is taken for it
constexpr std::size_t kUntilEnd = std::string::npos;

struct Header {
  unsigned status = 0;
  std::string content_type;
  Nanos retry_after = 0;
  std::size_t content_length = kUntilEnd;
  bool chunked = false;
};

tl::unexpected<Error> notHttp(const std::string& entity) {
  return makeError(entity, "the answer is not HTTP");
}
tl::unexpected<Error> tooLarge(const std::string& entity) {
  return makeError(entity, "the answer is larger than this program takes");
}

// Returns 0 for what is no number, such as a date.
Nanos retryAfterOf(std::string_view value) {
  if (value.empty() || value.find_first_not_of("0123456789") != std::string_view::npos) return 0;
  const auto seconds = parseUnsigned(value, kMaxRetryAfter / kSecond);
  return seconds ? static_cast<Nanos>(*seconds) * kSecond : kMaxRetryAfter;
}

Status readHeaderField(std::string_view line, const AnswerRules& rules, const std::string& entity,
                       Header& header) {
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return {};
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trimmed(line.substr(colon + 1));
  if (equalsIgnoringCase(name, "content-type")) header.content_type = value;
  if (equalsIgnoringCase(name, "retry-after")) {
    header.retry_after = retryAfterOf(value);
  }
  if (equalsIgnoringCase(name, "transfer-encoding")) {
    if (!rules.chunked) {
      return makeError(entity, "the answer has a chunked body, which this program does not read");
    }
    if (!equalsIgnoringCase(value, "chunked")) return notHttp(entity);
    header.chunked = true;
  }
  if (equalsIgnoringCase(name, "content-length")) {
    const auto length = parseUnsigned(value, rules.cut ? UINT64_MAX / 2 : rules.most);
    if (!length) return tooLarge(entity);
    header.content_length = *length;
  }
  return {};
}

Result<Header> parseHeader(std::string_view text, const AnswerRules& rules,
                           const std::string& entity) {
  Header header;
  if (text.substr(0, 7) != "HTTP/1." || text.size() < 12 || text[8] != ' ') return notHttp(entity);
  const auto status = parseUnsigned(text.substr(9, 3), 999);
  if (!status) return notHttp(entity);
  header.status = static_cast<unsigned>(*status);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find("\r\n"), text.size());
    if (auto read = readHeaderField(text.substr(0, end), rules, entity, header); !read) {
      return tl::unexpected(read.error());
    }
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  if (header.chunked) header.content_length = kUntilEnd;
  if (header.status == 204 || header.status == 304) header.content_length = 0;
  return header;
}

// Takes chunks from the front of `data` to the end of `body` as far as they are there.
// Returns whether the last one was among them.
Result<bool> takeChunks(std::string& data, std::string& body, const std::string& entity) {
  for (;;) {
    const std::size_t line = data.find("\r\n");
    if (line == std::string::npos) {
      if (data.size() > kMaxChunkLine) return notHttp(entity);
      return false;
    }
    std::size_t size = 0;
    const auto [end, error] = std::from_chars(data.data(), data.data() + line, size, 16);
    if (error != std::errc() || size > kMaxClientBody) return notHttp(entity);
    if (size == 0) return true;  // trailers are of no interest
    if (data.size() < line + 2 + size + 2) return false;
    body.append(data, line + 2, size);
    data.erase(0, line + 2 + size + 2);
  }
}

class AnswerReader {
 public:
  AnswerReader(const AnswerRules& rules, const std::string& entity)
      : rules_(rules), entity_(entity) {}

  std::string& data() { return data_; }
  // Returns whether the answer is complete. `at_end`: no more bytes come.
  Result<bool> proceed(bool at_end) {
    if (!in_body_) {
      const std::size_t end = data_.find("\r\n\r\n");
      if (end == std::string::npos) {
        if (!at_end && data_.size() <= kMaxHeader) return false;
        if (!data_.empty()) return notHttp(entity_);
        return makeError(entity_, "closed the connection without an answer");
      }
      auto parsed = parseHeader(std::string_view(data_).substr(0, end), rules_, entity_);
      if (!parsed) return tl::unexpected(parsed.error());
      header_ = std::move(*parsed);
      in_body_ = true;
      data_.erase(0, end + 4);
    }
    return header_.chunked ? proceedChunks(at_end) : proceedBody(at_end);
  }
  ClientResponse take() {
    std::string& body = header_.chunked ? body_ : data_;
    body.resize(std::min({body.size(), header_.content_length, rules_.most}));
    return {header_.status, header_.content_type, std::move(body), header_.retry_after};
  }

 private:
  Result<bool> proceedChunks(bool at_end) {
    auto complete = takeChunks(data_, body_, entity_);
    if (!complete || *complete) return complete;
    // A chunk that has not arrived in full counts too.
    if (body_.size() + data_.size() > rules_.most + kMaxChunkLine) {
      if (!rules_.cut) return tooLarge(entity_);
      return true;
    }
    if (at_end) return endedEarly();
    return false;
  }
  Result<bool> proceedBody(bool at_end) {
    if (data_.size() >= header_.content_length) return true;
    if (data_.size() > rules_.most) {
      if (!rules_.cut) return tooLarge(entity_);
      return true;
    }
    if (!at_end) return false;
    if (header_.content_length != kUntilEnd) return endedEarly();
    return true;
  }
  tl::unexpected<Error> endedEarly() const {
    return makeError(entity_, "closed the connection before the end of its answer");
  }

  const AnswerRules& rules_;
  const std::string& entity_;
  std::string data_;  // received and not consumed yet
  Header header_;
  bool in_body_ = false;
  std::string body_;  // from chunks
};

}  // namespace

Result<ClientResponse> receiveAnswer(const ReceiveSome& receive_some, const AnswerRules& rules,
                                     const std::string& entity) {
  AnswerReader answer(rules, entity);
  for (;;) {
    const auto got = receive_some(answer.data());
    if (!got) return tl::unexpected(got.error());
    const auto complete = answer.proceed(*got == 0);
    if (!complete) return tl::unexpected(complete.error());
    if (*complete) return answer.take();
  }
}

}  // namespace pingloom::http
