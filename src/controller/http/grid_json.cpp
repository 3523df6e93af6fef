#include <algorithm>
#include <array>
#include <cstring>

#include "common/json_text.h"
#include "controller/http/grid_writer.h"
#include "controller/http/past_query.h"

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

char* writeNull(char* at) { return std::copy_n("null", 4, at); }

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
    words_.reserve(plan.probes[query.probe].sources.size() * columns_);
    line_.resize(columns_ * (std::max(Metric::kMaxDigits, kMaxWordBytes) + 1));
    appendHead(plan);
  }

  void add(const GridLine& line) override {
    if (line.start_utc && (!window_ || window_->from_utc < *line.start_utc)) {
      window_ = {*line.start_utc, *line.endUtc()};
    }
    if (line.against == nullptr && !query_.metric.isRatio()) {
      // The usual answer has a loop of its own, because it has millions of values.
      appendLine(lines_ == 0, [values = line.values.data()](char* at, std::size_t i) {
        return values[i].measured() ? writeDecimal(at, values[i].part) : writeNull(at);
      });
    } else {
      appendLine(lines_ == 0, [&](char* at, std::size_t i) {
        char* const end = writeValue(at, query_.metric, line, i);
        return end != at ? end : writeNull(at);
      });
    }
    keepWords(line);
    ++lines_;
  }

  // Appends a line of states, a line of severities, or the window.
  bool addEnd() override {
    switch (end_) {
      case End::kStates:
        if (end_line_ == 0) out_ += R"(],"states":[)";
        if (!addWords(state_texts_)) end_ = End::kSeverities;
        return true;
      case End::kSeverities:
        if (end_line_ == 0) out_ += R"(],"severities":[)";
        if (!addWords(severity_texts_)) end_ = End::kWindow;
        return true;
      case End::kWindow:
        addWindow();
        end_ = End::kDone;
        return true;
      case End::kDone:
        break;
    }
    return false;
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

  void keepWords(const GridLine& line) {
    const std::size_t first = words_.size();
    words_.resize(first + line.states.size());
    std::uint8_t* const words = words_.data() + first;
    for (std::size_t i = 0; i < line.states.size(); ++i) {
      std::size_t word = kNotAPair;
      if (line.states[i]) {
        word = static_cast<std::size_t>(*line.states[i]) |
               static_cast<std::size_t>(line.severityOf(i)) << kSeverityShift;
      }
      words[i] = static_cast<std::uint8_t>(word);
    }
  }

  // Appends the texts of the next line's cells. False: there is no further line.
  bool addWords(const WordTexts& texts) {
    if (end_line_ == lines_) {
      end_line_ = 0;
      return false;
    }
    const std::uint8_t* const words = words_.data() + end_line_ * columns_;
    appendLine(end_line_ == 0, [&](char* at, std::size_t i) {
      const WordText& text = texts[words[i]];
      std::memcpy(at, text.bytes.data(), kMaxWordBytes);
      return at + text.size;
    });
    ++end_line_;
    return true;
  }

  // The newest window of all sources is known only at the end.
  void addWindow() {
    out_ += R"(],"window":)";
    if (window_) {
      out_ += R"({"start":)";
      appendJsonString(out_, formatUtc(window_->from_utc));
      out_ += R"(,"end":)";
      appendJsonString(out_, formatUtc(window_->until_utc));
      out_ += "}}\n";
    } else {
      out_ += "null}\n";
    }
  }

  // Appends an array with one element for each destination; `write` writes an element to the given
  // place and returns its end.
  template <typename Write>
  void appendLine(bool first, Write write) {
    if (!first) out_ += ',';
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
  enum class End : std::uint8_t { kStates, kSeverities, kWindow, kDone };
  End end_ = End::kStates;  // what the end has next
  std::size_t end_line_ = 0;
  std::optional<TimeRange> window_;  // the newest one
  std::string line_;                 // the buffer for one line
  // The words of all cells, which the document has after all values.
  std::vector<std::uint8_t> words_;
  std::size_t lines_ = 0;
};

}  // namespace

std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<JsonGrid>(plan, query);
}

}  // namespace pingloom::controller::api
