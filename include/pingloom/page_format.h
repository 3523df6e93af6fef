/* The metric page: 4 KiB of shared memory that an application writes and a collector reads by RDMA.
 *
 * A page is little endian and has 8-byte values and no names. The names are in the schema, which
 * the application sends to its agent when it makes a metric. docs/page-format.md describes both,
 * with an example. This header is for C and C++. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define PINGLOOM_STATIC_ASSERT(what, why) static_assert(what, why)
#else
#define PINGLOOM_STATIC_ASSERT(what, why) _Static_assert(what, why)
#endif

#define PINGLOOM_PAGE_BYTES 4096
#define PINGLOOM_PAGE_SLOTS 504
#define PINGLOOM_PAGE_MAGIC 0x47504c50u /* the bytes "PLPG" */
#define PINGLOOM_PAGE_VERSION 1

/* The flags of a page. */
#define PINGLOOM_PAGE_GROUPED 1u /* its values belong together: readers check `sequence` */

struct pingloom_page_header {
  uint32_t magic;
  uint16_t version;
  uint16_t flags;
  uint64_t generation; /* given by the agent; no two pages of an agent ever have the same */
  uint64_t owner;      /* given by the agent: the connection that the page belongs to */
  uint64_t heartbeat;  /* increases by one every second while the application lives */
  uint64_t sequence;   /* PINGLOOM_PAGE_GROUPED: odd while a group is being updated; otherwise 0 */
  uint32_t slots;      /* the number in use, counted from the first */
  uint32_t schema_version; /* increases by one with every metric that is added or removed */
  /* Written by the agent: of so many traces of the application a tracer should keep one; 1: all; 0:
   * no collector says. */
  uint32_t keep_one_in;
  uint8_t reserved[12]; /* 0 */
};

struct pingloom_page {
  struct pingloom_page_header header;
  uint64_t slots[PINGLOOM_PAGE_SLOTS];
};

PINGLOOM_STATIC_ASSERT(sizeof(struct pingloom_page_header) == 64, "the header is one cache line");
PINGLOOM_STATIC_ASSERT(offsetof(struct pingloom_page_header, sequence) == 32, "page-format.md");
PINGLOOM_STATIC_ASSERT(offsetof(struct pingloom_page_header, slots) == 40, "page-format.md");
PINGLOOM_STATIC_ASSERT(offsetof(struct pingloom_page_header, keep_one_in) == 48, "page-format.md");
PINGLOOM_STATIC_ASSERT(sizeof(struct pingloom_page) == PINGLOOM_PAGE_BYTES, "page-format.md");

/* What a metric's slots hold. */
enum pingloom_metric_kind {
  PINGLOOM_COUNTER = 1, /* one slot: an unsigned number that only grows */
  /* One slot: an IEEE 754 double. It may be a counter whose fractions count, see page-format.md. */
  PINGLOOM_GAUGE = 2,
  /* Several slots: the sum, then the buckets, see pingloom_histogram_bucket(). */
  PINGLOOM_HISTOGRAM = 3,
  PINGLOOM_INFO = 4, /* no slot: an info consists of its labels */
  /* Several slots: the count, the sum, and the value of each quantile; the last two are doubles. */
  PINGLOOM_SUMMARY = 5
};

/* An exemplar: one of the values that a metric was given, with labels that say which trace it
 * belongs to. Exemplars follow the slots of a counter or histogram that has them. The exemplar of a
 * value in bucket i of n is number i * PINGLOOM_HISTOGRAM_EXEMPLARS / n of its histogram, so rare
 * large values stay beside frequent small ones. */
#define PINGLOOM_COUNTER_EXEMPLARS 1
#define PINGLOOM_HISTOGRAM_EXEMPLARS 4
#define PINGLOOM_EXEMPLAR_SLOTS 16
#define PINGLOOM_EXEMPLAR_LABEL_BYTES 96

struct pingloom_exemplar {
  uint64_t checksum; /* FNV-1a with 64 bits of the following bytes, see docs/page-format.md */
  uint64_t sequence; /* 0: there is none yet; odd: it is being written */
  uint64_t time;     /* nanoseconds since 1970-01-01 UTC */
  double value;
  /* For each label u8 length, name, u8 length, value; 0 follows the last one if there is room. */
  uint8_t labels[PINGLOOM_EXEMPLAR_LABEL_BYTES];
};

PINGLOOM_STATIC_ASSERT(sizeof(struct pingloom_exemplar) == PINGLOOM_EXEMPLAR_SLOTS * 8,
                       "page-format.md");

/* A log-linear histogram of whole numbers: every power of two from 2^lowest to 2^highest is divided
 * into 2^precision buckets of the same width. One bucket lies below them and one above. Slot 0 of a
 * histogram is the sum of all values (modulo 2^64), and bucket i is slot 1 + i. The number of
 * values is the sum of the buckets. */
struct pingloom_histogram_shape {
  uint8_t lowest;    /* 0 .. 62; >= precision */
  uint8_t highest;   /* lowest + 1 .. 63 */
  uint8_t precision; /* 0 .. 5 */
};

static inline unsigned pingloom_histogram_buckets(struct pingloom_histogram_shape shape) {
  return 2u + ((unsigned)(shape.highest - shape.lowest) << shape.precision);
}
static inline unsigned pingloom_histogram_slots(struct pingloom_histogram_shape shape) {
  return 1u + pingloom_histogram_buckets(shape);
}

/* Returns the bucket of a value. A bucket includes its upper bound, as in Prometheus' `le`. */
static inline unsigned pingloom_histogram_bucket(struct pingloom_histogram_shape shape,
                                                 uint64_t value) {
  unsigned power;
  if (value <= ((uint64_t)1 << shape.lowest)) return 0;
  value -= 1;
  power = 63u - (unsigned)__builtin_clzll(value);
  if (power >= shape.highest) return pingloom_histogram_buckets(shape) - 1;
  return 1u + ((power - shape.lowest) << shape.precision) +
         ((unsigned)(value >> (power - shape.precision)) & ((1u << shape.precision) - 1u));
}
/* Returns the largest value of a bucket; for the last bucket this is UINT64_MAX. */
static inline uint64_t pingloom_histogram_upper(struct pingloom_histogram_shape shape,
                                                unsigned bucket) {
  unsigned power, part;
  if (bucket == 0) return (uint64_t)1 << shape.lowest;
  if (bucket + 1 >= pingloom_histogram_buckets(shape)) return UINT64_MAX;
  power = shape.lowest + ((bucket - 1) >> shape.precision);
  part = ((bucket - 1) & ((1u << shape.precision) - 1u)) + 1u;
  return ((uint64_t)1 << power) + ((uint64_t)part << (power - shape.precision));
}

#ifdef __cplusplus
}
#endif
