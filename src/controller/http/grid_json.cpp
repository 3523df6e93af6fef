#include <algorithm>
#include <array>
#include <cstring>

#include "controller/http/grid_writer.h"
#include "http/json_text.h"

namespace pingloom::controller::api {
namespace {

using http::appendJsonNumber;
using http::appendJsonString;

constexpr std::size_t kNotAPair = kPairStateNames.size();
constexpr std::size_t kMaxStateBytes = 16;

// The document's texts for the states, by number; the last is for cells that are not a pair.
struct StateText {
  std::array<char, kMaxStateBytes> bytes{};
  std::size_t size = 0;
};
using StateTexts = std::array<StateText, kPairStateNames.size() + 1>;

StateTexts stateTexts() {
  StateTexts texts;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string text = i == kNotAPair ? "null" : '"' + std::string(kPairStateNames[i]) + '"';
    texts[i].size = text.copy(texts[i].bytes.data(), kMaxStateBytes);
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
    constexpr std::size_t kUsualBytes = 12;  // the usual length of a value and a state
    const std::size_t cells = plan.probes[query.probe].sources.size() * columns_;
    out_.reserve(4096 + cells * kUsualBytes);
    states_.reserve(cells);
    line_.resize(columns_ * (std::max(Metric::kMaxDigits, kMaxStateBytes) + 1));
    appendHead(plan);
  }

  void add(const GridLine& line) override {
    showWindow(line);
    appendLine([&](char* at, std::size_t i) {
      const MetricValue& value = line.values[i];
      if (value.measured()) return query_.metric.write(at, value);
      return std::copy_n("null", 4, at);
    });
    addStates(line.states);
    ++lines_;
  }

  http::Response finish() override {
    out_ += R"(],"states":[)";
    out_.reserve(out_.size() + states_bytes_ + 2 * lines_ + 16);
    const std::size_t lines = std::exchange(lines_, 0);
    for (const std::uint8_t* line = states_.data(); lines_ < lines; line += columns_, ++lines_) {
      appendLine([&](char* at, std::size_t i) {
        const StateText& text = texts_[line[i]];
        std::memcpy(at, text.bytes.data(), kMaxStateBytes);
        return at + text.size;
      });
    }
    out_ += "]}\n";
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

  void addStates(const States& states) {
    const std::size_t first = states_.size();
    states_.resize(first + states.size());
    std::uint8_t* const numbers = states_.data() + first;
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const std::size_t number = states[i] ? static_cast<std::size_t>(*states[i]) : kNotAPair;
      numbers[i] = static_cast<std::uint8_t>(number);
      bytes += texts_[number].size + 1;
    }
    states_bytes_ += bytes;
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
  const StateTexts texts_ = stateTexts();
  std::string out_;
  std::size_t window_at_ = 0;
  std::size_t window_size_ = 0;
  std::optional<Nanos> newest_utc_;
  std::string line_;                  // the buffer for one line
  std::vector<std::uint8_t> states_;  // of all cells, as the document has them after all values
  std::size_t states_bytes_ = 0;      // with the commas
  std::size_t lines_ = 0;
};

}  // namespace

std::unique_ptr<GridWriter> jsonGrid(const GridPlan& plan, const GridQuery& query) {
  return std::make_unique<JsonGrid>(plan, query);
}

}  // namespace pingloom::controller::api
