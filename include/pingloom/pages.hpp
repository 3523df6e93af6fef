// Metric pages for C++17 applications: pingloom/pages.h with owners and types.
//
//   pingloom::Pages pages({.application = "orders"});   // designated initialisers need C++20
//   auto orders = pages.counter({"orders_total", "Orders that were placed."});
//   orders.add();
//
// Pages owns the memory and can be moved but not copied. The metrics are small handles that can be
// copied freely, and are valid for as long as their Pages, unless they are removed. A
// default-constructed metric is inert: it counts where nobody reads. Nothing here throws because an
// agent is missing or refuses. Such metrics are inert, and lastError() of the Pages gives the
// reason.
#pragma once

#include <pingloom/pages.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace pingloom {

using Labels = std::vector<std::pair<std::string, std::string>>;

class Pages;

// The exemplars of a counter or histogram with MetricOptions::exemplars, see pages.h. Without that,
// and with labels that an exemplar cannot have, values are counted and no exemplar is kept.
class Exemplars {
 public:
  // See pingloom_exemplar_put. Returns whether the labels can be an exemplar's.
  bool put(std::size_t part, std::size_t parts, double value, std::uint64_t time,
           const Labels& labels) const {
    return with(labels, [&](const pingloom_label* first, std::size_t count) {
      return pingloom_exemplar_put(&handle_, part, parts, value, time, first, count);
    });
  }

 private:
  friend class Pages;
  friend class Counter;
  friend class SharedCounter;
  friend class FractionCounter;
  friend class Histogram;
  friend class SharedHistogram;
  friend class BoundedHistogram;
  // Updates with at most as many labels as have room. More of them are none.
  template <typename Update>
  static bool with(const Labels& labels, Update update) {
    std::array<pingloom_label, PINGLOOM_EXEMPLAR_LABEL_BYTES / 3> pointers;
    const bool few = labels.size() <= pointers.size();
    const std::size_t count = few ? labels.size() : 0;
    for (std::size_t i = 0; i < count; ++i) {
      pointers[i] = {labels[i].first.c_str(), labels[i].second.c_str()};
    }
    return update(pointers.data(), count) == PINGLOOM_OK;
  }
  pingloom_exemplars handle_{nullptr, 0};
};

// One thread at a time may add to it.
class Counter {
 public:
  Counter() { pingloom_counter_make(nullptr, nullptr, &handle_); }
  void add(std::uint64_t n = 1) const { pingloom_counter_add(handle_, n); }
  // With an exemplar; returns whether the labels can be an exemplar's.
  bool add(std::uint64_t n, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_counter_add_exemplar(handle_, exemplars_.handle_, n, labels, count);
    });
  }
  // A fraction would be lost. Count in a smaller unit, or use a FractionCounter.
  template <typename Number, std::enable_if_t<std::is_floating_point_v<Number>, int> = 0>
  void add(Number) const = delete;
  template <typename Number, std::enable_if_t<std::is_floating_point_v<Number>, int> = 0>
  bool add(Number, const Labels& exemplar) const = delete;
  const pingloom_counter& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_counter handle_{};
  Exemplars exemplars_;
};

// Any thread may add to it.
class SharedCounter {
 public:
  SharedCounter() { pingloom_shared_counter_make(nullptr, nullptr, &handle_); }
  void add(std::uint64_t n = 1) const { pingloom_shared_counter_add(handle_, n); }
  // With an exemplar, see Counter.
  bool add(std::uint64_t n, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_shared_counter_add_exemplar(handle_, exemplars_.handle_, n, labels, count);
    });
  }
  // Sets it to a value that is counted elsewhere and never falls.
  void set(std::uint64_t value) const { pingloom_shared_counter_set(handle_, value); }
  const Exemplars& exemplars() const { return exemplars_; }
  // A fraction would be lost, see Counter.
  template <typename Number, std::enable_if_t<std::is_floating_point_v<Number>, int> = 0>
  void add(Number) const = delete;
  template <typename Number, std::enable_if_t<std::is_floating_point_v<Number>, int> = 0>
  bool add(Number, const Labels& exemplar) const = delete;
  const pingloom_shared_counter& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_shared_counter handle_{};
  Exemplars exemplars_;
};

// Its values may have fractions. Any thread may add to it.
class FractionCounter {
 public:
  FractionCounter() { pingloom_fraction_counter_make(nullptr, nullptr, &handle_); }
  // A number that is not finite, or not above 0, adds nothing.
  void add(double n) const { pingloom_fraction_counter_add(handle_, n); }
  // With an exemplar, see Counter.
  bool add(double n, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_fraction_counter_add_exemplar(handle_, exemplars_.handle_, n, labels, count);
    });
  }
  // Sets it to a value that is counted elsewhere and never falls.
  void set(double value) const { pingloom_fraction_counter_set(handle_, value); }
  const Exemplars& exemplars() const { return exemplars_; }
  const pingloom_fraction_counter& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_fraction_counter handle_{};
  Exemplars exemplars_;
};

// Its values are in units, see MetricOptions::unit. Any thread may update it; the last one to set
// it wins.
class Gauge {
 public:
  Gauge() { pingloom_scaled_gauge_make(nullptr, nullptr, &handle_); }
  void set(double units) const { pingloom_scaled_gauge_set(handle_, units); }
  void add(double units) const { pingloom_scaled_gauge_add(handle_, units); }
  // For pages.h. This handle is given values in the unit of the name.
  const pingloom_gauge& handle() const { return handle_.gauge; }

 private:
  friend class Pages;
  pingloom_scaled_gauge handle_{};
};

// One thread at a time may observe. Values are whole numbers, see MetricOptions::unit.
class Histogram {
 public:
  Histogram() { pingloom_histogram_make(nullptr, nullptr, &handle_); }
  void observe(std::uint64_t value) const { pingloom_histogram_observe(handle_, value); }
  // With an exemplar, see Counter.
  bool observe(std::uint64_t value, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_histogram_observe_exemplar(handle_, exemplars_.handle_, value, labels, count);
    });
  }
  const pingloom_histogram& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_histogram handle_{};
  Exemplars exemplars_;
};

// Any thread may observe.
class SharedHistogram {
 public:
  SharedHistogram() { pingloom_shared_histogram_make(nullptr, nullptr, &handle_); }
  void observe(std::uint64_t value) const { pingloom_shared_histogram_observe(handle_, value); }
  // With an exemplar, see Counter.
  bool observe(std::uint64_t value, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_shared_histogram_observe_exemplar(handle_, exemplars_.handle_, value, labels,
                                                        count);
    });
  }
  const pingloom_shared_histogram& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_shared_histogram handle_{};
  Exemplars exemplars_;
};

// A histogram with bounds of its own. Any thread may observe, and one at a time may set.
class BoundedHistogram {
 public:
  BoundedHistogram() { pingloom_bounded_histogram_make(nullptr, nullptr, nullptr, 0, &handle_); }
  // See pingloom_bounded_histogram_observe.
  void observe(double value, std::uint64_t units) const {
    pingloom_bounded_histogram_observe(handle_, value, units);
  }
  // With an exemplar, see Counter.
  bool observe(double value, std::uint64_t units, const Labels& exemplar) const {
    return Exemplars::with(exemplar, [&](const pingloom_label* labels, std::size_t count) {
      return pingloom_bounded_histogram_observe_exemplar(handle_, exemplars_.handle_, value, units,
                                                         labels, count);
    });
  }
  const Exemplars& exemplars() const { return exemplars_; }
  // `buckets` has a count for each bound, and one more. A vector of another size is ignored.
  void set(const std::vector<std::uint64_t>& buckets, std::uint64_t sum) const {
    if (buckets.size() != handle_.bound_count + 1) return;
    pingloom_bounded_histogram_set(handle_, buckets.data(), sum);
  }
  const pingloom_bounded_histogram& handle() const { return handle_; }  // for pages.h

 private:
  friend class Pages;
  pingloom_bounded_histogram handle_{};
  Exemplars exemplars_;
};

// Quantiles that are computed elsewhere, with the count and the sum of all values. One thread at a
// time may set it.
class QuantileSummary {
 public:
  QuantileSummary() { pingloom_summary_make(nullptr, nullptr, nullptr, 0, &handle_); }
  // See pingloom_summary_set. `values` has one for each quantile. A vector of another size is
  // ignored.
  void set(std::uint64_t count, double sum, const std::vector<double>& values) const {
    if (values.size() != handle_.quantile_count) return;
    pingloom_summary_set(handle_, count, sum, values.data());
  }

 private:
  friend class Pages;
  pingloom_summary handle_{};
};

// Metrics that are read together. Readers see all updates in the life of an Update, or none. Only
// one thread at a time may have an Update.
class Group {
 public:
  Group() { pingloom_group_make(nullptr, &handle_); }

  class Update {
   public:
    explicit Update(const Group& group) : handle_(group.handle_) { pingloom_group_begin(handle_); }
    ~Update() { pingloom_group_commit(handle_); }
    Update(const Update&) = delete;
    Update& operator=(const Update&) = delete;

   private:
    pingloom_group handle_;
  };

 private:
  friend class Pages;
  pingloom_group handle_{};
};

struct MetricOptions {
  std::string name;
  std::string help{};
  Labels labels{};
  std::optional<Group> group{};  // absent: in no group
  bool own_line = false;         // PINGLOOM_OWN_LINE
  // The shape is for histograms, the unit for them, for counters and for gauges, see
  // pingloom_metric.
  pingloom_histogram_shape shape{};
  double unit = 1;
  bool exemplars = false;  // PINGLOOM_EXEMPLARS
};

struct PagesOptions {
  std::string application{};  // empty: $OTEL_SERVICE_NAME, or the program's name
  Labels labels{};            // the labels of all metrics
  std::string socket{};       // empty: $PINGLOOM_PAGES_SOCKET, or the default socket
  void (*on_error)(void* context, int error, const char* text) = nullptr;  // see pages.h
  void* context = nullptr;
};

class Pages {
 public:
  // Throws std::invalid_argument if the application's name or labels are invalid, or
  // std::bad_alloc.
  explicit Pages(const PagesOptions& options = {}) {
    const std::vector<pingloom_label> labels = pointersTo(options.labels);
    pingloom_pages_options asked{};
    asked.application = options.application.empty() ? nullptr : options.application.c_str();
    asked.labels = labels.data();
    asked.label_count = labels.size();
    asked.socket = options.socket.empty() ? nullptr : options.socket.c_str();
    asked.on_error = options.on_error;
    asked.context = options.context;
    pingloom_pages* pages = nullptr;
    const int error = pingloom_pages_open(&asked, &pages);
    if (error == PINGLOOM_NO_MEMORY) throw std::bad_alloc();
    if (error != PINGLOOM_OK) throw std::invalid_argument(pingloom_error_text());
    pages_.reset(pages);
  }

  Counter counter(const MetricOptions& options) {
    Counter made;
    makeWithExemplars(options, pingloom_counter_make, &made);
    return made;
  }
  SharedCounter sharedCounter(const MetricOptions& options) {
    SharedCounter made;
    makeWithExemplars(options, pingloom_shared_counter_make, &made);
    return made;
  }
  FractionCounter fractionCounter(const MetricOptions& options) {
    FractionCounter made;
    makeWithExemplars(options, pingloom_fraction_counter_make, &made);
    return made;
  }
  Gauge gauge(const MetricOptions& options) {
    Gauge made;
    make(options, pingloom_scaled_gauge_make, &made.handle_);
    return made;
  }
  Histogram histogram(const MetricOptions& options) {
    Histogram made;
    makeWithExemplars(options, pingloom_histogram_make, &made);
    return made;
  }
  SharedHistogram sharedHistogram(const MetricOptions& options) {
    SharedHistogram made;
    makeWithExemplars(options, pingloom_shared_histogram_make, &made);
    return made;
  }
  BoundedHistogram boundedHistogram(const MetricOptions& options,
                                    const std::vector<double>& bounds) {
    BoundedHistogram made;
    const auto making = [&bounds](pingloom_pages* pages, const pingloom_metric* metric,
                                  pingloom_bounded_histogram* handle) {
      return pingloom_bounded_histogram_make(pages, metric, bounds.data(), bounds.size(), handle);
    };
    makeWithExemplars(options, making, &made);
    return made;
  }
  QuantileSummary summary(const MetricOptions& options, const std::vector<double>& quantiles) {
    QuantileSummary made;
    const auto making = [&quantiles](pingloom_pages* pages, const pingloom_metric* metric,
                                     pingloom_summary* handle) {
      return pingloom_summary_make(pages, metric, quantiles.data(), quantiles.size(), handle);
    };
    make(options, making, &made.handle_);
    return made;
  }
  void info(const MetricOptions& options) {
    const auto making = [](pingloom_pages* pages, const pingloom_metric* metric, void*) {
      return pingloom_info_make(pages, metric);
    };
    make(options, making, static_cast<void*>(nullptr));
  }
  // Ends the metric with this name and these labels, see pingloom_metric_remove: its handles must
  // not be used any more. The rest of the options does not matter. Returns whether there was one.
  bool remove(const MetricOptions& options) {
    bool removed = false;
    const auto removing = [&removed](pingloom_pages* pages, const pingloom_metric* metric, void*) {
      const int error = pingloom_metric_remove(pages, metric);
      removed = error == PINGLOOM_OK;
      return error == PINGLOOM_NO_METRIC ? PINGLOOM_OK : error;
    };
    make(options, removing, static_cast<void*>(nullptr));
    return removed;
  }
  Group group() {
    Group made;
    keepError(pingloom_group_make(pages_.get(), &made.handle_));
    return made;
  }

  // Explains why the last inert metric could not be made; empty if none failed. If several threads
  // make metrics of one Pages, use pingloom_error_text() in each thread instead.
  const std::string& lastError() const { return last_error_; }
  // Returns lastError() and forgets it, so that the next error is told from this one.
  std::string takeLastError() { return std::exchange(last_error_, {}); }
  pingloom_pages_status status() const {
    pingloom_pages_status now;
    pingloom_pages_get_status(pages_.get(), &now);
    return now;
  }
  // Calls back once a second before the heartbeat, see pingloom_pages_on_heartbeat. An empty
  // function removes the callback. It must not throw, and must not replace itself.
  // One thread at a time.
  void onHeartbeat(std::function<void()> callback) {
    auto kept = callback ? std::make_unique<std::function<void()>>(std::move(callback)) : nullptr;
    const auto call = [](void* it) { (*static_cast<std::function<void()>*>(it))(); };
    pingloom_pages_on_heartbeat(pages_.get(), kept ? +call : nullptr, kept.get());
    pages_.get_deleter().heartbeat = std::move(kept);
  }
  // For tracers: of so many traces keep one; 1: all, 0: no collector says.
  std::uint32_t keepOneIn() const { return pingloom_pages_keep_one_in(pages_.get()); }

 private:
  struct Close {
    void operator()(pingloom_pages* pages) const { pingloom_pages_close(pages); }
    std::unique_ptr<std::function<void()>> heartbeat;  // what the pages' thread calls
  };

  static std::vector<pingloom_label> pointersTo(const Labels& labels) {
    std::vector<pingloom_label> pointers;
    for (const auto& [name, value] : labels) pointers.push_back({name.c_str(), value.c_str()});
    return pointers;
  }

  bool keepError(int error) {
    if (error != PINGLOOM_OK) last_error_ = pingloom_error_text();
    return error == PINGLOOM_OK;
  }

  template <typename Make, typename Metric>
  void makeWithExemplars(const MetricOptions& options, Make making, Metric* made) {
    if (make(options, making, &made->handle_) && options.exemplars) {
      make(options, pingloom_exemplars_make, &made->exemplars_.handle_);
    }
  }

  // Returns whether there was no error.
  template <typename Make, typename Handle>
  bool make(const MetricOptions& options, Make making, Handle* handle) {
    const std::vector<pingloom_label> labels = pointersTo(options.labels);
    pingloom_metric metric{};
    metric.name = options.name.c_str();
    metric.help = options.help.c_str();
    metric.labels = labels.data();
    metric.label_count = labels.size();
    metric.group = options.group ? &options.group->handle_ : nullptr;
    metric.options =
        (options.own_line ? PINGLOOM_OWN_LINE : 0) | (options.exemplars ? PINGLOOM_EXEMPLARS : 0);
    metric.shape = options.shape;
    metric.unit = options.unit;
    return keepError(making(pages_.get(), &metric, handle));
  }

  std::unique_ptr<pingloom_pages, Close> pages_;
  std::string last_error_;
};

}  // namespace pingloom
