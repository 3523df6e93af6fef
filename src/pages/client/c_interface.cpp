// Implements pingloom/pages.h. No exception leaves it, and every returned handle can be used.
#include <pingloom/pages.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "pages/client/environment.h"
#include "pages/client/exemplar.h"
#include "pages/client/fork.h"
#include "pages/client/pages.h"
#include "pages/definition_rules.h"
#include "pages/registration.h"

namespace client = pingloom::pages::client;
using pingloom::pages::client::CommonLabels;
using pingloom::pages::client::Form;
using pingloom::pages::client::Listener;
using pingloom::pages::client::Outcome;
using pingloom::pages::client::Pages;

struct pingloom_pages {  // NOLINT(readability-identifier-naming): its name in C
  Pages all;
};

namespace {

// Inert handles write here; the shape is the smallest histogram's, a sum and three buckets.
constexpr pingloom_histogram_shape kInertShape{0, 1, 0};
pingloom_page inert_page;

thread_local std::string last_text;

int ended(const Outcome& outcome) {
  if (!outcome.ok()) last_text = outcome.text;
  return outcome.error;
}

template <typename Body>
int guarded(const Body& body) noexcept {
  try {
    return ended(body());
  } catch (const std::exception&) {  // bad_alloc, or a failed lock
    last_text.clear();
    return PINGLOOM_NO_MEMORY;
  }
}

std::string socketPath(const pingloom_pages_options& options) {
  if (options.socket != nullptr) return options.socket;
  // The variable is ignored in programs that run with raised privileges.
  const char* set = secure_getenv(pingloom::pages::kSocketVariable);
  return set != nullptr && *set != '\0' ? set : pingloom::pages::kDefaultSocket;
}

Outcome open(const pingloom_pages_options& options, pingloom_pages** pages) {
  // Programs that run with raised privileges ignore the environment.
  const std::string application =
      options.application != nullptr
          ? options.application
          : client::applicationName(secure_getenv(client::kServiceVariable),
                                    program_invocation_short_name);
  CommonLabels labels;
  Outcome outcome = client::checkApplication(application);
  if (outcome.ok()) {
    outcome = client::makeLabels(options.labels, options.label_count, {}, &labels.application);
  }
  if (!outcome.ok()) return outcome;
  Outcome attributes =
      client::readAttributes(secure_getenv(client::kAttributesVariable), &labels.environment);
  std::unique_ptr<pingloom_pages> made(
      new pingloom_pages{{socketPath(options), application, std::move(labels),
                          Listener{options.on_error, options.context}}});
  client::watchForks(&made->all);
  if (!attributes.ok()) made->all.report(std::move(attributes));
  *pages = made.release();
  return {};
}

// The result is inert unless the metric is created.
int make(pingloom_pages* pages, const pingloom_metric* metric, const Form& form,
         Pages::Placed* placed, const std::vector<double>& bounds = {}) {
  *placed = {inert_page.slots, kInertShape, nullptr, 0};
  return guarded([&]() -> Outcome {
    if (pages == nullptr || metric == nullptr) {
      return {PINGLOOM_BAD_ARGUMENT, "pages that were not opened, or no metric"};
    }
    return pages->all.makeMetric(*metric, form, bounds, placed);
  });
}

// Makes a metric of one slot.
int makeSlot(pingloom_pages* pages, const pingloom_metric* metric, const Form& form,
             std::uint64_t** slot) {
  Pages::Placed placed;
  const int error = make(pages, metric, form, &placed);
  *slot = placed.slots;
  return error;
}

int makeHistogram(pingloom_pages* pages, const pingloom_metric* metric, bool shared,
                  std::uint64_t** slots, pingloom_histogram_shape* shape) {
  Pages::Placed placed;
  const int error = make(pages, metric, {PINGLOOM_HISTOGRAM, shared}, &placed);
  *slots = placed.slots;
  *shape = placed.shape;
  return error;
}

std::uint64_t utcNow() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
         static_cast<std::uint64_t>(now.tv_nsec);
}

}  // namespace

int pingloom_pages_open(const pingloom_pages_options* options, pingloom_pages** pages) {
  *pages = nullptr;
  const pingloom_pages_options usual{};
  return guarded([&] { return open(options != nullptr ? *options : usual, pages); });
}

void pingloom_pages_close(pingloom_pages* pages) {
  if (pages == nullptr) return;
  client::unwatchForks(&pages->all);
  delete pages;
}

const char* pingloom_error_text(void) { return last_text.c_str(); }

void pingloom_pages_get_status(pingloom_pages* pages, pingloom_pages_status* status) {
  *status = {};
  if (pages != nullptr) pages->all.status(status);
}

uint32_t pingloom_pages_keep_one_in(const pingloom_pages* pages) {
  return pages == nullptr ? 0 : pages->all.keepOneIn();
}

void pingloom_pages_on_heartbeat(pingloom_pages* pages, void (*callback)(void* context),
                                 void* context) {
  if (pages != nullptr) pages->all.onHeartbeat({callback, context});
}

int pingloom_counter_make(pingloom_pages* pages, const pingloom_metric* metric,
                          pingloom_counter* counter) {
  return makeSlot(pages, metric, {PINGLOOM_COUNTER}, &counter->slot);
}

int pingloom_shared_counter_make(pingloom_pages* pages, const pingloom_metric* metric,
                                 pingloom_shared_counter* counter) {
  return makeSlot(pages, metric, {PINGLOOM_COUNTER, true}, &counter->slot);
}

int pingloom_fraction_counter_make(pingloom_pages* pages, const pingloom_metric* metric,
                                   pingloom_fraction_counter* counter) {
  return makeSlot(pages, metric, {PINGLOOM_COUNTER, true, true}, &counter->slot);
}

int pingloom_gauge_make(pingloom_pages* pages, const pingloom_metric* metric,
                        pingloom_gauge* gauge) {
  return makeSlot(pages, metric, {PINGLOOM_GAUGE}, &gauge->slot);
}

int pingloom_scaled_gauge_make(pingloom_pages* pages, const pingloom_metric* metric,
                               pingloom_scaled_gauge* gauge) {
  gauge->unit = metric == nullptr || metric->unit == 0 ? 1 : metric->unit;
  if (pingloom::pages::isUnit(gauge->unit)) {
    return pingloom_gauge_make(pages, metric, &gauge->gauge);
  }
  gauge->gauge.slot = inert_page.slots;
  return guarded([]() -> Outcome {
    return {PINGLOOM_BAD_ARGUMENT, "the unit is not a number from 1e-30 to 1e30"};
  });
}

int pingloom_histogram_make(pingloom_pages* pages, const pingloom_metric* metric,
                            pingloom_histogram* histogram) {
  return makeHistogram(pages, metric, false, &histogram->slots, &histogram->shape);
}

int pingloom_shared_histogram_make(pingloom_pages* pages, const pingloom_metric* metric,
                                   pingloom_shared_histogram* histogram) {
  return makeHistogram(pages, metric, true, &histogram->slots, &histogram->shape);
}

int pingloom_bounded_histogram_make(pingloom_pages* pages, const pingloom_metric* metric,
                                    const double* bounds, std::size_t bound_count,
                                    pingloom_bounded_histogram* histogram) {
  *histogram = {inert_page.slots, nullptr, 0};
  Pages::Placed placed;
  const int error = guarded([&]() -> Outcome {
    if (bounds == nullptr || bound_count == 0 || bound_count > pingloom::pages::kMaxBounds) {
      return {PINGLOOM_BAD_ARGUMENT,
              "a histogram needs 1 to " + std::to_string(pingloom::pages::kMaxBounds) + " bounds"};
    }
    return {make(pages, metric, {PINGLOOM_HISTOGRAM, true}, &placed,
                 std::vector<double>(bounds, bounds + bound_count)),
            last_text};
  });
  if (error == PINGLOOM_OK) {
    *histogram = {placed.slots, placed.bounds, placed.bound_count};
  }
  return error;
}

int pingloom_summary_make(pingloom_pages* pages, const pingloom_metric* metric,
                          const double* quantiles, std::size_t quantile_count,
                          pingloom_summary* summary) {
  *summary = {inert_page.slots, 0};
  Pages::Placed placed;
  const int error = guarded([&]() -> Outcome {
    if (quantile_count > pingloom::pages::kMaxQuantiles ||
        (quantiles == nullptr && quantile_count != 0)) {
      return {
          PINGLOOM_BAD_ARGUMENT,
          "a summary has up to " + std::to_string(pingloom::pages::kMaxQuantiles) + " quantiles"};
    }
    return {make(pages, metric, {PINGLOOM_SUMMARY}, &placed,
                 std::vector<double>(quantiles, quantiles + quantile_count)),
            last_text};
  });
  if (error == PINGLOOM_OK) *summary = {placed.slots, placed.bound_count};
  return error;
}

int pingloom_exemplars_make(pingloom_pages* pages, const pingloom_metric* metric,
                            pingloom_exemplars* exemplars) {
  *exemplars = {nullptr, 0};
  return guarded([&]() -> Outcome {
    if (pages == nullptr || metric == nullptr) {
      return {PINGLOOM_BAD_ARGUMENT, "pages that were not opened, or no metric"};
    }
    return pages->all.exemplarsOf(*metric, exemplars);
  });
}

int pingloom_exemplar_put(const pingloom_exemplars* exemplars, std::size_t part, std::size_t parts,
                          double value, std::uint64_t time, const pingloom_label* labels,
                          std::size_t label_count) {
  const pingloom_exemplars to = *exemplars;  // another thread may be making the handle inert
  if (to.slots == nullptr || to.count == 0) return PINGLOOM_OK;
  return guarded([&]() -> Outcome {
    if (part >= parts) return {PINGLOOM_BAD_ARGUMENT, "an exemplar of a bucket that is not there"};
    const std::size_t number = part * to.count / parts;
    return client::writeExemplar(to.slots + number * PINGLOOM_EXEMPLAR_SLOTS, value,
                                 time != 0 ? time : utcNow(), labels, label_count);
  });
}

int pingloom_info_make(pingloom_pages* pages, const pingloom_metric* metric) {
  Pages::Placed placed;
  return make(pages, metric, {PINGLOOM_INFO}, &placed);
}

int pingloom_metric_remove(pingloom_pages* pages, const pingloom_metric* metric) {
  return guarded([&]() -> Outcome {
    if (pages == nullptr || metric == nullptr) {
      return {PINGLOOM_BAD_ARGUMENT, "pages that were not opened, or no metric"};
    }
    return pages->all.removeMetric(*metric);
  });
}

int pingloom_group_make(pingloom_pages* pages, pingloom_group* group) {
  group->page = &inert_page;
  return guarded([&]() -> Outcome {
    if (pages == nullptr) return {PINGLOOM_BAD_ARGUMENT, "pages that were not opened"};
    return pages->all.makeGroup(&group->page);
  });
}

void pingloom_call_counter_add(const pingloom_counter* counter, std::uint64_t n) {
  pingloom_counter_add(*counter, n);
}
void pingloom_call_shared_counter_add(const pingloom_shared_counter* counter, std::uint64_t n) {
  pingloom_shared_counter_add(*counter, n);
}
void pingloom_call_fraction_counter_add(const pingloom_fraction_counter* counter, double n) {
  pingloom_fraction_counter_add(*counter, n);
}
void pingloom_call_fraction_counter_set(const pingloom_fraction_counter* counter, double value) {
  pingloom_fraction_counter_set(*counter, value);
}
void pingloom_call_gauge_set(const pingloom_gauge* gauge, double value) {
  pingloom_gauge_set(*gauge, value);
}
void pingloom_call_gauge_add(const pingloom_gauge* gauge, double difference) {
  pingloom_gauge_add(*gauge, difference);
}
void pingloom_call_histogram_observe(const pingloom_histogram* histogram, std::uint64_t value) {
  pingloom_histogram_observe(*histogram, value);
}
void pingloom_call_shared_histogram_observe(const pingloom_shared_histogram* histogram,
                                            std::uint64_t value) {
  pingloom_shared_histogram_observe(*histogram, value);
}
void pingloom_call_shared_counter_set(const pingloom_shared_counter* counter, std::uint64_t value) {
  pingloom_shared_counter_set(*counter, value);
}
void pingloom_call_bounded_histogram_observe(const pingloom_bounded_histogram* histogram,
                                             double value, std::uint64_t units) {
  pingloom_bounded_histogram_observe(*histogram, value, units);
}
void pingloom_call_bounded_histogram_set(const pingloom_bounded_histogram* histogram,
                                         const std::uint64_t* buckets, std::uint64_t sum) {
  pingloom_bounded_histogram_set(*histogram, buckets, sum);
}
int pingloom_call_shared_counter_add_exemplar(const pingloom_shared_counter* counter,
                                              const pingloom_exemplars* exemplars, std::uint64_t n,
                                              const pingloom_label* labels,
                                              std::size_t label_count) {
  return pingloom_shared_counter_add_exemplar(*counter, *exemplars, n, labels, label_count);
}
int pingloom_call_fraction_counter_add_exemplar(const pingloom_fraction_counter* counter,
                                                const pingloom_exemplars* exemplars, double n,
                                                const pingloom_label* labels,
                                                std::size_t label_count) {
  return pingloom_fraction_counter_add_exemplar(*counter, *exemplars, n, labels, label_count);
}
int pingloom_call_shared_histogram_observe_exemplar(const pingloom_shared_histogram* histogram,
                                                    const pingloom_exemplars* exemplars,
                                                    std::uint64_t value,
                                                    const pingloom_label* labels,
                                                    std::size_t label_count) {
  return pingloom_shared_histogram_observe_exemplar(*histogram, *exemplars, value, labels,
                                                    label_count);
}
int pingloom_call_bounded_histogram_observe_exemplar(const pingloom_bounded_histogram* histogram,
                                                     const pingloom_exemplars* exemplars,
                                                     double value, std::uint64_t units,
                                                     const pingloom_label* labels,
                                                     std::size_t label_count) {
  return pingloom_bounded_histogram_observe_exemplar(*histogram, *exemplars, value, units, labels,
                                                     label_count);
}
void pingloom_call_summary_set(const pingloom_summary* summary, std::uint64_t count, double sum,
                               const double* values) {
  pingloom_summary_set(*summary, count, sum, values);
}
void pingloom_call_group_begin(const pingloom_group* group) { pingloom_group_begin(*group); }
void pingloom_call_group_commit(const pingloom_group* group) { pingloom_group_commit(*group); }
