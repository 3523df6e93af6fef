/* Metric pages for applications: values that a collector reads from this process' memory by RDMA.
 *
 * An update is one relaxed store or atomic add into a page: no lock, no call, no allocation.
 * Making a metric is slow, because it takes a lock and waits at most 0.2 s for the agent when it
 * needs a new page. Make metrics once and keep the handles. Everything works without an agent,
 * while the agent restarts, and in forked children. Nobody reads the values then, or only later.
 * docs/pages.md explains more.
 *
 * Threads: any thread may call the functions that take a pingloom_pages. Each handle states which
 * threads may update it. No handle may be used after pingloom_pages_close(), nor that of a metric
 * that was removed.
 * Needs C99 or C++11 or newer, gcc or clang, and Linux. */
#pragma once

#include <pingloom/page_format.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PINGLOOM_API __attribute__((visibility("default")))

typedef struct pingloom_pages pingloom_pages;

/* The results of functions that make something. pingloom_error_text() returns an explanation. */
enum pingloom_error {
  PINGLOOM_OK = 0,
  PINGLOOM_BAD_ARGUMENT = 1, /* a name, label, text or shape is invalid */
  PINGLOOM_CONFLICT = 2,     /* a metric of that name exists and has another kind or shape */
  PINGLOOM_FULL = 3,  /* the group's page is full, or the process has all pages it may have */
  PINGLOOM_QUOTA = 4, /* the agent has no page for it */
  PINGLOOM_NO_MEMORY = 5,
  /* Only pingloom_pages_status and on_error report these. They also report
   * PINGLOOM_BAD_ARGUMENT if $OTEL_RESOURCE_ATTRIBUTES is malformed and therefore ignored. */
  PINGLOOM_NO_AGENT = 6,  /* there is no agent (yet); the library retries */
  PINGLOOM_REFUSED = 7,   /* the agent refused something and gave a reason */
  PINGLOOM_BAD_AGENT = 8, /* the agent's answers are malformed; the connection was closed */
  /* Only pingloom_metric_remove and pingloom_exemplars_make return it: there is no such metric. */
  PINGLOOM_NO_METRIC = 9,
};

struct pingloom_label {
  const char* name;  /* [a-zA-Z_][a-zA-Z0-9_]*, at most 128 bytes; not `le`, not `__...` */
  const char* value; /* UTF-8 without control characters, at most 256 bytes */
};

/* The library copies strings and arrays. */
struct pingloom_pages_options {
  /* At most 64 bytes of UTF-8; NULL: $OTEL_SERVICE_NAME, or the program's name. */
  const char* application;
  /* They are those of all its metrics. Metrics get those of $OTEL_RESOURCE_ATTRIBUTES, too, as far
   * as they have room for more. */
  const struct pingloom_label* labels;
  size_t label_count; /* at most 16, including those of a metric */
  const char* socket; /* the agent's; NULL: $PINGLOOM_PAGES_SOCKET, or /run/pingloom/pages.sock */
  /* The library's thread calls it once for each different text (32 at most). It may neither fork
   * nor close the pages. NULL: errors are not reported. */
  void (*on_error)(void* context, int error, const char* text);
  void* context;
};

/* Starts the library's thread and returns at once, with or without an agent. After
 * PINGLOOM_BAD_ARGUMENT or PINGLOOM_NO_MEMORY *pages is NULL. All other functions accept that and
 * return inert handles. */
PINGLOOM_API int pingloom_pages_open(const struct pingloom_pages_options* options,
                                     pingloom_pages** pages);
PINGLOOM_API void pingloom_pages_close(pingloom_pages* pages);

/* Explains the last error that a function returned to this thread. Valid until the next one. */
PINGLOOM_API const char* pingloom_error_text(void);

struct pingloom_pages_status {
  int connected;          /* an agent knows this process */
  uint64_t owner;         /* this process' owner number at that agent */
  uint32_t pages;         /* pages in use */
  uint32_t known_pages;   /* pages that the agent knows */
  uint32_t metrics;       /* metrics made */
  uint32_t known_metrics; /* metrics that the agent knows */
  uint64_t refused;       /* refusals by agents since opening */
  int error;              /* the last error in the background, or PINGLOOM_OK */
  char error_text[256];   /* an explanation of the error */
};
PINGLOOM_API void pingloom_pages_get_status(pingloom_pages* pages,
                                            struct pingloom_pages_status* status);

/* For tracers: of so many traces of this application keep one. 1 while a collector finds its values
 * unusual: keep all. 0: no collector says, so use a rate of your own. It is one load, without a
 * lock or a system call. Before the first metric is made it is 0. */
PINGLOOM_API uint32_t pingloom_pages_keep_one_in(const pingloom_pages* pages);

/* The library's thread calls `callback` once a second, just before the heartbeat that tells readers
 * that the application lives: for values that have to be asked for, such as the length of a queue.
 * It may update metrics; it may neither make nor remove them, close the pages, nor fork. There is
 * one callback: another takes its place, and NULL removes it. When this returns, the former one is
 * not running any more, unless the callback itself calls it. A callback that takes longer than a
 * few seconds lets readers take the pages for stale. */
PINGLOOM_API void pingloom_pages_on_heartbeat(pingloom_pages* pages,
                                              void (*callback)(void* context), void* context);

/* ---- Making metrics ---- */

/* Metrics whose values belong together: readers see all updates between begin and commit, or none.
 * A group has a page of its own with PINGLOOM_PAGE_SLOTS slots. Only one thread at a time may
 * update its metrics. */
typedef struct pingloom_group {
  struct pingloom_page* page;
} pingloom_group;

/* Gives a metric cache lines of its own, for one that a thread updates very often while other
 * threads update its neighbours. */
#define PINGLOOM_OWN_LINE 1u
/* Gives a counter or histogram room for exemplars, see pingloom_exemplars_make(). A counter takes
 * 16 slots more, and a histogram 64. An agent or collector that is too old for exemplars shows the
 * metric without them. */
#define PINGLOOM_EXEMPLARS 2u

struct pingloom_metric {
  const char* name; /* [a-zA-Z_:][a-zA-Z0-9_:]*, at most 128 bytes */
  const char* help; /* UTF-8, at most 512 bytes; NULL: none */
  const struct pingloom_label* labels;
  size_t label_count;
  const pingloom_group* group; /* NULL: in no group */
  unsigned options;            /* PINGLOOM_OWN_LINE | PINGLOOM_EXEMPLARS, or 0 */
  /* The shape is for histograms only. Their values are whole numbers, for example nanoseconds. A
   * shape has at most PINGLOOM_PAGE_SLOTS slots. All 0 means {10, 34, 2}, which is 1 us to 17 s in
   * nanoseconds. */
  struct pingloom_histogram_shape shape;
  /* Counters, histograms and scaled gauges: the worth of 1 in the name's unit, 1e-9 for
   * ..._seconds. It is 1e-30 to 1e30, and 0 means 1. That of a fraction counter is 1, because it
   * holds doubles in the name's unit, and that of a plain gauge is ignored. */
  double unit;
};

typedef struct pingloom_counter { /* one thread at a time may add to it */
  uint64_t* slot;
} pingloom_counter;
typedef struct pingloom_shared_counter { /* any thread may add to it */
  uint64_t* slot;
} pingloom_shared_counter;
typedef struct pingloom_fraction_counter { /* any thread may add to it */
  uint64_t* slot;
} pingloom_fraction_counter;
typedef struct pingloom_gauge { /* any thread may set it; the last one wins */
  uint64_t* slot;
} pingloom_gauge;
typedef struct pingloom_scaled_gauge { /* like a gauge; it is given its values in units */
  pingloom_gauge gauge;
  double unit;
} pingloom_scaled_gauge;
typedef struct pingloom_histogram { /* one thread at a time may observe */
  uint64_t* slots;
  struct pingloom_histogram_shape shape;
} pingloom_histogram;
typedef struct pingloom_shared_histogram { /* any thread may observe */
  uint64_t* slots;
  struct pingloom_histogram_shape shape;
} pingloom_shared_histogram;

typedef struct pingloom_bounded_histogram { /* any thread may observe; one at a time may set */
  uint64_t* slots;
  const double* bounds; /* valid as long as the handle */
  size_t bound_count;
} pingloom_bounded_histogram;

typedef struct pingloom_summary { /* one thread at a time may set it */
  uint64_t* slots;
  size_t quantile_count;
} pingloom_summary;

typedef struct pingloom_exemplars { /* any thread may use it */
  uint64_t* slots;
  size_t count;
} pingloom_exemplars;

/* The handle is usable whatever the function returns. After an error it is inert: it writes where
 * nobody reads. The same name and labels give the same slots again. */
PINGLOOM_API int pingloom_counter_make(pingloom_pages* pages, const struct pingloom_metric* metric,
                                       pingloom_counter* counter);
PINGLOOM_API int pingloom_shared_counter_make(pingloom_pages* pages,
                                              const struct pingloom_metric* metric,
                                              pingloom_shared_counter* counter);
/* A counter whose values may have fractions: a double, which is exact up to 2^53. An agent or
 * collector that is too old for it shows it as a gauge without exemplars. */
PINGLOOM_API int pingloom_fraction_counter_make(pingloom_pages* pages,
                                                const struct pingloom_metric* metric,
                                                pingloom_fraction_counter* counter);
PINGLOOM_API int pingloom_gauge_make(pingloom_pages* pages, const struct pingloom_metric* metric,
                                     pingloom_gauge* gauge);
/* A gauge whose values are given in the metric's unit. The page has them in the unit of the name,
 * so a metric may be scaled in one process and not in another. */
PINGLOOM_API int pingloom_scaled_gauge_make(pingloom_pages* pages,
                                            const struct pingloom_metric* metric,
                                            pingloom_scaled_gauge* gauge);
PINGLOOM_API int pingloom_histogram_make(pingloom_pages* pages,
                                         const struct pingloom_metric* metric,
                                         pingloom_histogram* histogram);
PINGLOOM_API int pingloom_shared_histogram_make(pingloom_pages* pages,
                                                const struct pingloom_metric* metric,
                                                pingloom_shared_histogram* histogram);
/* A histogram whose buckets have these upper bounds, in the unit of the name, and one more without
 * a bound. There are 1 to 502 bounds, finite and ascending. The metric's shape is ignored; its unit
 * is that of the sum. */
PINGLOOM_API int pingloom_bounded_histogram_make(pingloom_pages* pages,
                                                 const struct pingloom_metric* metric,
                                                 const double* bounds, size_t bound_count,
                                                 pingloom_bounded_histogram* histogram);
/* A summary: quantiles that the application has computed itself, with the count and the sum of all
 * values. There are 0 to 32 quantiles from 0 to 1, ascending: {0.5, 0.99}. The metric's shape and
 * unit are ignored, and it has no label `quantile`. */
PINGLOOM_API int pingloom_summary_make(pingloom_pages* pages, const struct pingloom_metric* metric,
                                       const double* quantiles, size_t quantile_count,
                                       pingloom_summary* summary);
/* Finds the exemplars of the counter or histogram with this name and these labels, which was made
 * with PINGLOOM_EXEMPLARS; the rest of `metric` does not matter. After an error the handle is
 * inert. It returns PINGLOOM_NO_METRIC if there is no such metric. */
PINGLOOM_API int pingloom_exemplars_make(pingloom_pages* pages,
                                         const struct pingloom_metric* metric,
                                         pingloom_exemplars* exemplars);
/* An info has no value. It consists of its labels, for example a version. */
PINGLOOM_API int pingloom_info_make(pingloom_pages* pages, const struct pingloom_metric* metric);
/* Ends the metric with this name and these labels, whatever its kind; the rest of `metric` does not
 * matter. Collectors drop its series within seconds. If it is made again it is a new metric and
 * begins with 0. Do not use its handles any more, nor the bounds in them: their slots are given to
 * other metrics. That is 60 s later or more, so a thread that is just updating the metric does no
 * harm. Returns PINGLOOM_NO_METRIC if there is no such metric. */
PINGLOOM_API int pingloom_metric_remove(pingloom_pages* pages,
                                        const struct pingloom_metric* metric);
PINGLOOM_API int pingloom_group_make(pingloom_pages* pages, pingloom_group* group);

/* ---- Updating metrics: this never fails and never waits ---- */

static inline void pingloom_slot_add_(uint64_t* slot, uint64_t n) {
  __atomic_store_n(slot, __atomic_load_n(slot, __ATOMIC_RELAXED) + n, __ATOMIC_RELAXED);
}
static inline void pingloom_slot_share_(uint64_t* slot, uint64_t n) {
  __atomic_fetch_add(slot, n, __ATOMIC_RELAXED);
}

static inline void pingloom_counter_add(pingloom_counter counter, uint64_t n) {
  pingloom_slot_add_(counter.slot, n);
}
static inline void pingloom_shared_counter_add(pingloom_shared_counter counter, uint64_t n) {
  pingloom_slot_share_(counter.slot, n);
}

/* Sets a counter to a value that is counted elsewhere and never falls. */
static inline void pingloom_shared_counter_set(pingloom_shared_counter counter, uint64_t value) {
  __atomic_store_n(counter.slot, value, __ATOMIC_RELAXED);
}

static inline void pingloom_slot_set_(uint64_t* slot, double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  __atomic_store_n(slot, bits, __ATOMIC_RELAXED);
}

static inline void pingloom_slot_add_double_(uint64_t* slot, double difference) {
  uint64_t before = __atomic_load_n(slot, __ATOMIC_RELAXED);
  uint64_t after;
  double value;
  do {
    memcpy(&value, &before, sizeof value);
    value += difference;
    memcpy(&after, &value, sizeof after);
  } while (
      !__atomic_compare_exchange_n(slot, &before, after, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

/* A number that is not finite, or not above 0, adds nothing: a counter only grows. */
static inline void pingloom_fraction_counter_add(pingloom_fraction_counter counter, double n) {
  if (n > 0 && __builtin_isfinite(n)) pingloom_slot_add_double_(counter.slot, n);
}
/* Sets it to a value that is counted elsewhere and never falls. */
static inline void pingloom_fraction_counter_set(pingloom_fraction_counter counter, double value) {
  if (value >= 0 && __builtin_isfinite(value)) pingloom_slot_set_(counter.slot, value);
}

static inline void pingloom_gauge_set(pingloom_gauge gauge, double value) {
  pingloom_slot_set_(gauge.slot, value);
}
static inline void pingloom_gauge_add(pingloom_gauge gauge, double difference) {
  pingloom_slot_add_double_(gauge.slot, difference);
}
static inline void pingloom_scaled_gauge_set(pingloom_scaled_gauge gauge, double units) {
  pingloom_gauge_set(gauge.gauge, units * gauge.unit);
}
static inline void pingloom_scaled_gauge_add(pingloom_scaled_gauge gauge, double units) {
  pingloom_gauge_add(gauge.gauge, units * gauge.unit);
}

static inline void pingloom_histogram_observe(pingloom_histogram histogram, uint64_t value) {
  pingloom_slot_add_(histogram.slots, value);
  pingloom_slot_add_(histogram.slots + 1 + pingloom_histogram_bucket(histogram.shape, value), 1);
}
static inline void pingloom_shared_histogram_observe(pingloom_shared_histogram histogram,
                                                     uint64_t value) {
  pingloom_slot_share_(histogram.slots, value);
  pingloom_slot_share_(histogram.slots + 1 + pingloom_histogram_bucket(histogram.shape, value), 1);
}

/* Returns the bucket of a value, which has the unit of the name. */
static inline size_t pingloom_bounded_histogram_bucket(pingloom_bounded_histogram histogram,
                                                       double value) {
  size_t low = 0, high = histogram.bound_count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (value <= histogram.bounds[middle]) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}
/* `value` has the unit of the name and is put into a bucket. `units` is what is added to the sum:
 * the value divided by the metric's unit. */
static inline void pingloom_bounded_histogram_observe(pingloom_bounded_histogram histogram,
                                                      double value, uint64_t units) {
  const size_t bucket = pingloom_bounded_histogram_bucket(histogram, value);
  pingloom_slot_share_(histogram.slots, units);
  pingloom_slot_share_(histogram.slots + 1 + bucket, 1);
}
/* Sets all of a histogram that is counted elsewhere: `buckets` are bound_count + 1 counts, each of
 * its own bucket, and `sum` is in units. An inert histogram has one bucket. */
static inline void pingloom_bounded_histogram_set(pingloom_bounded_histogram histogram,
                                                  const uint64_t* buckets, uint64_t sum) {
  size_t i;
  __atomic_store_n(histogram.slots, sum, __ATOMIC_RELAXED);
  for (i = 0; i <= histogram.bound_count; ++i) {
    __atomic_store_n(histogram.slots + 1 + i, buckets[i], __ATOMIC_RELAXED);
  }
}

/* ---- Updating metrics with exemplars ----
 *
 * An exemplar says which trace a value belongs to: {"trace_id", "4bf9..."}, {"span_id", "00f0..."}.
 * These functions count the value whatever they return. They return PINGLOOM_BAD_ARGUMENT and keep
 * no exemplar if the labels are none or all empty, or have more than PINGLOOM_EXEMPLAR_LABEL_BYTES
 * bytes with two for each label, or are not labels. A counter keeps its last exemplar, and a
 * histogram one for each quarter of its buckets. They never wait: while two threads write the same
 * exemplar, that of one is dropped. One costs much more than an update (docs/pages.md), so give one
 * where a trace is sampled. */

/* Keeps an exemplar that belongs to a value counted elsewhere. `part` of `parts` is the value's
 * bucket, and 0 of 1 for a counter. `value` is in units; that of a bounded histogram has the unit
 * of the name. `time` is in nanoseconds since 1970, and 0 means now. */
PINGLOOM_API int pingloom_exemplar_put(const pingloom_exemplars* exemplars, size_t part,
                                       size_t parts, double value, uint64_t time,
                                       const struct pingloom_label* labels, size_t label_count);

static inline int pingloom_counter_add_exemplar(pingloom_counter counter,
                                                pingloom_exemplars exemplars, uint64_t n,
                                                const struct pingloom_label* labels,
                                                size_t label_count) {
  pingloom_counter_add(counter, n);
  return pingloom_exemplar_put(&exemplars, 0, 1, (double)n, 0, labels, label_count);
}
static inline int pingloom_shared_counter_add_exemplar(pingloom_shared_counter counter,
                                                       pingloom_exemplars exemplars, uint64_t n,
                                                       const struct pingloom_label* labels,
                                                       size_t label_count) {
  pingloom_shared_counter_add(counter, n);
  return pingloom_exemplar_put(&exemplars, 0, 1, (double)n, 0, labels, label_count);
}
static inline int pingloom_fraction_counter_add_exemplar(pingloom_fraction_counter counter,
                                                         pingloom_exemplars exemplars, double n,
                                                         const struct pingloom_label* labels,
                                                         size_t label_count) {
  pingloom_fraction_counter_add(counter, n);
  /* No exemplar is kept of what was not added. */
  return pingloom_exemplar_put(&exemplars, 0, 1, n > 0 ? n : __builtin_nan(""), 0, labels,
                               label_count);
}
static inline int pingloom_shaped_exemplar_put_(struct pingloom_histogram_shape shape,
                                                const pingloom_exemplars* exemplars, uint64_t value,
                                                const struct pingloom_label* labels,
                                                size_t label_count) {
  return pingloom_exemplar_put(exemplars, pingloom_histogram_bucket(shape, value),
                               pingloom_histogram_buckets(shape), (double)value, 0, labels,
                               label_count);
}
static inline int pingloom_histogram_observe_exemplar(pingloom_histogram histogram,
                                                      pingloom_exemplars exemplars, uint64_t value,
                                                      const struct pingloom_label* labels,
                                                      size_t label_count) {
  pingloom_histogram_observe(histogram, value);
  return pingloom_shaped_exemplar_put_(histogram.shape, &exemplars, value, labels, label_count);
}
static inline int pingloom_shared_histogram_observe_exemplar(pingloom_shared_histogram histogram,
                                                             pingloom_exemplars exemplars,
                                                             uint64_t value,
                                                             const struct pingloom_label* labels,
                                                             size_t label_count) {
  pingloom_shared_histogram_observe(histogram, value);
  return pingloom_shaped_exemplar_put_(histogram.shape, &exemplars, value, labels, label_count);
}
static inline int pingloom_bounded_histogram_observe_exemplar(pingloom_bounded_histogram histogram,
                                                              pingloom_exemplars exemplars,
                                                              double value, uint64_t units,
                                                              const struct pingloom_label* labels,
                                                              size_t label_count) {
  pingloom_bounded_histogram_observe(histogram, value, units);
  return pingloom_exemplar_put(&exemplars, pingloom_bounded_histogram_bucket(histogram, value),
                               histogram.bound_count + 1, value, 0, labels, label_count);
}

/* Sets all of a summary: how many values there were since the beginning, their sum, and the value
 * of each quantile, all in the unit of the name. A value is NaN while it is not known. Readers may
 * see some of the new values beside old ones unless the summary is in a group. */
static inline void pingloom_summary_set(pingloom_summary summary, uint64_t count, double sum,
                                        const double* values) {
  size_t i;
  __atomic_store_n(summary.slots, count, __ATOMIC_RELAXED);
  pingloom_slot_set_(summary.slots + 1, sum);
  for (i = 0; i < summary.quantile_count; ++i) pingloom_slot_set_(summary.slots + 2 + i, values[i]);
}

/* No later store to the group's metrics becomes visible before the odd sequence. */
static inline void pingloom_release_fence_(void) {
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wtsan" /* TSan does not know fences, and all stores are atomic */
#endif
  __atomic_thread_fence(__ATOMIC_RELEASE);
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
}

/* Every begin needs its commit. Readers skip the group in between. */
static inline void pingloom_group_begin(pingloom_group group) {
  uint64_t* sequence = &group.page->header.sequence;
  __atomic_store_n(sequence, __atomic_load_n(sequence, __ATOMIC_RELAXED) | 1, __ATOMIC_RELAXED);
  pingloom_release_fence_();
}
static inline void pingloom_group_commit(pingloom_group group) {
  uint64_t* sequence = &group.page->header.sequence;
  /* `| 1` is for a child that was forked after begin: its page starts with an even sequence. */
  __atomic_store_n(sequence, (__atomic_load_n(sequence, __ATOMIC_RELAXED) | 1) + 1,
                   __ATOMIC_RELEASE);
}

/* ---- The same updates as functions, for languages that cannot inline C ---- */

PINGLOOM_API void pingloom_call_counter_add(const pingloom_counter* counter, uint64_t n);
PINGLOOM_API void pingloom_call_shared_counter_add(const pingloom_shared_counter* counter,
                                                   uint64_t n);
PINGLOOM_API void pingloom_call_fraction_counter_add(const pingloom_fraction_counter* counter,
                                                     double n);
PINGLOOM_API void pingloom_call_fraction_counter_set(const pingloom_fraction_counter* counter,
                                                     double value);
PINGLOOM_API void pingloom_call_gauge_set(const pingloom_gauge* gauge, double value);
PINGLOOM_API void pingloom_call_gauge_add(const pingloom_gauge* gauge, double difference);
PINGLOOM_API void pingloom_call_histogram_observe(const pingloom_histogram* histogram,
                                                  uint64_t value);
PINGLOOM_API void pingloom_call_shared_histogram_observe(const pingloom_shared_histogram* histogram,
                                                         uint64_t value);
PINGLOOM_API void pingloom_call_shared_counter_set(const pingloom_shared_counter* counter,
                                                   uint64_t value);
PINGLOOM_API void pingloom_call_bounded_histogram_observe(
    const pingloom_bounded_histogram* histogram, double value, uint64_t units);
PINGLOOM_API void pingloom_call_bounded_histogram_set(const pingloom_bounded_histogram* histogram,
                                                      const uint64_t* buckets, uint64_t sum);
PINGLOOM_API int pingloom_call_shared_counter_add_exemplar(const pingloom_shared_counter* counter,
                                                           const pingloom_exemplars* exemplars,
                                                           uint64_t n,
                                                           const struct pingloom_label* labels,
                                                           size_t label_count);
PINGLOOM_API int pingloom_call_fraction_counter_add_exemplar(
    const pingloom_fraction_counter* counter, const pingloom_exemplars* exemplars, double n,
    const struct pingloom_label* labels, size_t label_count);
PINGLOOM_API int pingloom_call_shared_histogram_observe_exemplar(
    const pingloom_shared_histogram* histogram, const pingloom_exemplars* exemplars, uint64_t value,
    const struct pingloom_label* labels, size_t label_count);
PINGLOOM_API int pingloom_call_bounded_histogram_observe_exemplar(
    const pingloom_bounded_histogram* histogram, const pingloom_exemplars* exemplars, double value,
    uint64_t units, const struct pingloom_label* labels, size_t label_count);
PINGLOOM_API void pingloom_call_summary_set(const pingloom_summary* summary, uint64_t count,
                                            double sum, const double* values);
PINGLOOM_API void pingloom_call_group_begin(const pingloom_group* group);
PINGLOOM_API void pingloom_call_group_commit(const pingloom_group* group);

#ifdef __cplusplus
}
#endif
