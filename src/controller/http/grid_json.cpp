#include <algorithm>
#include <array>
#include <cstring>

#include "common/json_text.h"
#include "controller/http/grid_writer.h"

namespace pingloom::controller::api {
namespace {

constexpr std::size_t kMaxWordBytes = 16;

// A cell is kept as one byte: its state and its severity, or kNotAPair.
constexpr unsigned kSeverityShift = 4;
constexpr std::size_t kNotAPair = 128;
static_assert(kPairStateNames.size() <= 1U << kSeverityShift);
static_assert(kSeverityNames.size() << kSeverityShift <= kNotAPair);

// The document's texts by that byte.
struct WordText {
  std::array<char, kMaxWordBytes> bytes{};
  std::size_t size = 0;
};
using WordTexts = std::array<WordText, kNotAPair + 1>;

// `names` are those of the byte's upper part if `shift` is kSeverityShift, and else of its lower.
template <std::size_t kCount>
WordTexts wordTexts(const std::array<std::string_view, kCount>& names, unsigned shift) {
  WordTexts texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t number = shift == 0 ? i & ((1U << kSeverityShift) - 1) : i >> shift;
    const bool word = i != kNotAPair && number < kCount;
    const std::string text = word ? '"' + std::string(names[number]) + '"' : "null";
    texts[i].size = text.copy(texts[i].bytes.data(), kMaxWordBytes);
  }
  return texts;
}

void appendAddresses(std::string& out, const plan::AddressList& list) {
  char separator = '[';
  for (const IpAddress& address : list) {
    out += separator;
    appendJsonString(out, address.text());
    separator = ',';
  }
  out += list.empty() ? "[]" : "]";
}

void appendNames(std::string& out, const plan::AddressList& list, const GridPlan& plan) {
  char separator = '[';
  for (const IpAddress& address : list) {
    out += separator;
    appendJsonString(out, plan.nameOf(address));
    separator = ',';
  }
  out += list.empty() ? "[]" : "]";
}

// A grid may have millions of cells, so everything below writes to preallocated memory.
class JsonGrid : public GridWriter {
 public:
  JsonGrid(const GridPlan& plan, const GridQuery& query)
      : query_(query), columns_(plan.probes[query.probe].destinations.size()) {
    constexpr std::size_t kUsualBytes = 17;  // the usual length of a value, a state and a severity
    const std::size_t cells = plan.probes[query.probe].sources.size() * columns_;
    out_.reserve(4096 + cells * kUsualBytes);
    words_.reserve(cells);
    line_.resize(columns_ * (std::max(Metric::kMaxDigits, kMaxWordBytes) + 1));
    appendHead(plan);
  }

  void add(const GridLine& line) override {
    showWindow(line);
    appendLine([&](char* at, std::size_t i) {
      char* const end = writeValue(at, query_.metric, line, i);
      return end != at ? end : std::copy_n("null", 4, at);
    });
    addWords(line);
    ++lines_;
  }

  http::Response finish() override {
    const std::size_t lines = lines_;
    out_.reserve(out_.size() + words_bytes_ + 4 * lines + 64);
    out_ += R"(],"states":)";
    appendWords(state_texts_, lines);
    out_ += R"(,"severities":)";
    appendWords(severity_texts_, lines);
    out_ += "}\n";
    http::Response response;
    response.body = std::move(out_);
    return response;
  }

 private:
  void appendHead(const GridPlan& plan) {
    const ProbeGrid& grid = plan.probes[query_.probe];
    out_ += R"({"probe":)";
    appendJsonString(out_, grid.spec.name);
    out_ += R"(,"protocol":)";
    appendJsonString(out_, name(grid.spec.protocol));
    out_ += R"(,"metric":)";
    appendJsonString(out_, query_.metric_name);
    out_ += R"(,"unit":)";
    appendJsonString(out_, query_.metric.unit());
    out_ += R"(,"generation":)";
    appendJsonNumber(out_, plan.generation);
    out_ += R"(,"window":)";
    window_at_ = out_.size();
    out_ += "null";
    window_size_ = out_.size() - window_at_;
    if (query_.against_utc) {
      out_ += R"(,"against":)";
      appendJsonString(out_, formatUtc(*query_.against_utc));
    }
    if (query_.worst_of > 0) {
      out_ += R"(,"worst_of_ns":)";
      appendJsonNumber(out_, static_cast<std::uint64_t>(query_.worst_of));
    }
    out_ += R"(,"sources":)";
    appendAddresses(out_, grid.sources);
    out_ += R"(,"source_names":)";
    appendNames(out_, grid.sources, plan);
    out_ += R"(,"destinations":)";
    appendAddresses(out_, grid.destinations);
    out_ += R"(,"destination_names":)";
    appendNames(out_, grid.destinations, plan);
    out_ += R"(,"values":[)";
  }

  void addWords(const GridLine& line) {
    const std::size_t first = words_.size();
    words_.resize(first + line.states.size());
    std::uint8_t* const words = words_.data() + first;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < line.states.size(); ++i) {
      std::size_t word = kNotAPair;
      if (line.states[i]) {
        word = static_cast<std::size_t>(*line.states[i]) |
               static_cast<std::size_t>(line.severityOf(i)) << kSeverityShift;
      }
      words[i] = static_cast<std::uint8_t>(word);
      bytes += state_texts_[word].size + severity_texts_[word].size + 2;
    }
    words_bytes_ += bytes;
  }

  // Appends a matrix of the texts of all cells.
  void appendWords(const WordTexts& texts, std::size_t lines) {
    out_ += '[';
    lines_ = 0;
    for (const std::uint8_t* line = words_.data(); lines_ < lines; line += columns_, ++lines_) {
      appendLine([&](char* at, std::size_t i) {
        const WordText& text = texts[line[i]];
        std::memcpy(at, text.bytes.data(), kMaxWordBytes);
        return at + text.size;
      });
    }
    out_ += ']';
  }

  // Writes the newest window of all sources. Usually all have the same, which the first one writes.
  void showWindow(const GridLine& line) {
    if (!line.start_utc || (newest_utc_ && *line.start_utc <= *newest_utc_)) return;
    newest_utc_ = line.start_utc;
    std::string window = R"({"start":)";
    appendJsonString(window, formatUtc(*line.start_utc));
    window += R"(,"end":)";
    appendJsonString(window, formatUtc(*line.endUtc()));
    window += '}';
    out_.replace(window_at_, window_size_, window);
    window_size_ = window.size();
  }

  // Appends an array with one element for each destination; `write` writes an element to the given
  // place and returns its end.
  template <typename Write>
  void appendLine(Write write) {
    if (lines_ != 0) out_ += ',';
    out_ += '[';
    char* at = line_.data();
    for (std::size_t i = 0; i < columns_; ++i) {
      if (i != 0) *at++ = ',';
      at = write(at, i);
    }
    out_.append(line_.data(), at);
    out_ += ']';
  }

  const GridQuery& query_;
  const std::size_t columns_;
  const WordTexts state_texts_ = wordTexts(kPairStateNames, 0);
  const WordTexts severity_texts_ = wordTexts(kSeverityNames, kSeverityShift);
  std::string out_;
  std::size_t window_at_ = 0;
  std::size_t window_size_ = 0;
  std::optional<Nanos> newest_utc_;
  std::string line_;  // the buffer for one line
  // The words of all cells, which the document has after all values.
  std::vector<std::uint8_t> words_;
  std::size_t words_bytes_ = 0;  // with the commas
  std::size_t lines_ = 0;
};

}  // namespace

std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<JsonGrid>(plan, query);
}

}  // namespace pingloom::controller::api
