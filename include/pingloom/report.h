/* Reports of telemetry: latest values, events, counts and paths, which a translator writes into a
 * collector's memory by RDMA. docs/report.md explains more.
 *
 * A report is copied into a datagram, which leaves when it is full, after 10 ms, or by a flush. No
 * call blocks or allocates. What cannot be sent is dropped and counted: pingloom_reporter_status
 * has the number, and so have the translator's metrics. A datagram that is lost on its way is sent
 * again if the translator asks for it; the last 1 MiB of datagrams is kept for that. While the
 * translator is too slow, datagrams wait in the same memory, and the oldest are dropped beyond it.
 *
 * Threads: any thread may call everything but open and close with the same reporter. A forked child
 * may go on with its copy of a reporter; it counts as another reporter then.
 * Needs C99 or C++11 or newer, gcc or clang, and Linux. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PINGLOOM_API __attribute__((visibility("default")))

#define PINGLOOM_REPORT_MAX_KEY 40        /* bytes */
#define PINGLOOM_REPORT_MAX_VALUE 255     /* bytes; a table may take fewer */
#define PINGLOOM_REPORT_DATAGRAM 1400     /* bytes, by default */
#define PINGLOOM_REPORT_MAX_DATAGRAM 8900 /* bytes */

typedef struct pingloom_reporter pingloom_reporter;

struct pingloom_reporter_options {
  /* ADDRESS, ADDRESS:PORT or [ADDRESS]:PORT, not a name. NULL: $PINGLOOM_TRANSLATOR, or
   * 127.0.0.1. The default port is 20716. */
  const char* translator;
  uint32_t reporter; /* the reporter's number, which a translator may have a key for */
  size_t datagram;   /* most bytes of a datagram; 0: PINGLOOM_REPORT_DATAGRAM */
  int forget;        /* not 0: lost datagrams are not sent again, and none waits for the translator,
                      * which saves 1 MiB of memory */
  /* The file of the key that the translator has for this reporter: 32 hexadecimal digits, closed
   * to other users (`pingloom keys reporter FILE`). It seals the datagrams. NULL: no seal. */
  const char* key_file;
};

/* Returns 0, or an errno: EINVAL for options that are not valid or a file without a key, EPERM for
 * a key file that other users may read, or what the file, the socket or the thread failed with.
 * Then *reporter is NULL, which all other functions accept. The translator need not run. */
PINGLOOM_API int pingloom_reporter_open(const struct pingloom_reporter_options* options,
                                        pingloom_reporter** reporter);
/* Sends first what has been reported, and what waits for the translator. */
PINGLOOM_API void pingloom_reporter_close(pingloom_reporter* reporter);

/* The four kinds of reports. They return 0 if the report was taken, EINVAL if a length or number
 * is out of bounds, and EBADF if the reporter is NULL. A report that was refused with EINVAL is
 * counted in `skipped` too. A table is the number of one in the collector's store. */

/* Stores the latest value of a key: 1 to 40 and 1 to 255 bytes. */
PINGLOOM_API int pingloom_report_key_write(pingloom_reporter* reporter, uint16_t table,
                                           const void* key, size_t key_bytes, const void* value,
                                           size_t value_bytes);
/* Appends an entry of 1 to 255 bytes to a list of the table. */
PINGLOOM_API int pingloom_report_append(pingloom_reporter* reporter, uint16_t table, uint32_t list,
                                        const void* entry, size_t entry_bytes);
/* Adds to the count of a key, at most 2^48 - 1. */
PINGLOOM_API int pingloom_report_increment(pingloom_reporter* reporter, uint16_t table,
                                           const void* key, size_t key_bytes, uint64_t amount);
/* Reports one hop of the path of a key. `hop` counts from 0; `hops` is the length of the path, or 0
 * if it is not known. `value` is what the table keeps of a hop. */
PINGLOOM_API int pingloom_report_postcard(pingloom_reporter* reporter, uint16_t table,
                                          const void* key, size_t key_bytes, uint8_t hop,
                                          uint8_t hops, const void* value, size_t value_bytes);

/* Ends the present datagram, which leaves at once unless the translator is too slow. */
PINGLOOM_API void pingloom_reporter_flush(pingloom_reporter* reporter);

struct pingloom_reporter_status {
  uint64_t taken;     /* reports; those that are neither sent nor skipped wait */
  uint64_t sent;      /* reports in datagrams that the kernel took and did not see refused */
  uint64_t skipped;   /* reports that were dropped here */
  uint64_t datagrams; /* that the kernel took */
  uint64_t repeated;  /* datagrams that were sent again, because the translator asked for them */
  int last_error;     /* errno of the last datagram that was dropped or refused; 0: none was */
};
PINGLOOM_API void pingloom_reporter_get_status(pingloom_reporter* reporter,
                                               struct pingloom_reporter_status* status);

#ifdef __cplusplus
}
#endif
