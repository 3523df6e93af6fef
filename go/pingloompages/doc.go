// Package pingloompages counts into metric pages: shared memory that a collector reads by RDMA.
// This process takes no part in that.
//
//	pages, err := pingloompages.Open(pingloompages.Options{Application: "shop"})
//	orders, err := pages.Counter(pingloompages.Metric{Name: "orders_total", Help: "Orders."})
//	orders.Add(1)
//
// It is pure Go, needs the standard library only, and runs on Linux on amd64 and arm64. The format
// is that of docs/page-format.md; docs/pages.md says which metric to choose.
//
// # What an application may rely on
//
// An update loads where the metric is and then stores or adds into a page, both atomically: it takes
// no lock, makes no system call and allocates nothing, unless it has an exemplar, which asks for the
// time and allocates. Only Group.Update takes a lock, which is the group's own. Making a metric is
// slow, because it takes a lock, and the first one of a page waits at most 0.2 s for the agent. Make
// metrics once and keep the handles. Everything works without an agent and while the agent restarts:
// values are counted in the same memory, which is handed to the next agent. Nothing here panics or
// fails because an agent is missing or misbehaves. An agent that has no more pages for the
// application makes further metrics inert, with ErrQuota.
//
// Pages.Remove ends a metric, for example one of many label sets. Its handles are inert from then on,
// and its slots are used again after a minute or later. An update that began before the removal and
// takes longer than that would count in another metric.
//
// All methods may be called from any goroutine. A handle may be copied. The zero value of a handle
// is inert: an update of it has no effect. A function that fails returns an inert handle with its
// error, so a program may use handles without a check. Errors wrap one of the Err... values.
//
// A page's memory is unmapped once neither its Pages nor a handle refers to it, so an update after
// Close is harmless. Descriptors are closed in programs that the process executes.
//
// # Why unlocked updates are right
//
// The memory is outside of Go's heap and is only ever accessed with sync/atomic, by naturally
// aligned words. A reader on the other side of the bus therefore never sees half of a value. The
// race detector knows nothing about such memory, and has nothing to report.
//
// The order of stores matters in three places: slots are counted, and told to the agent, after they are zero, the magic
// number is stored last, and a group's sequence is odd before its first value is stored and even
// after its last. Go's memory model makes atomic operations sequentially consistent, and its
// compilers keep that order for any observer of the memory. On amd64 a store is XCHG and an add is
// LOCK XADD, and the processor makes stores visible in program order. On arm64 a store is STLR and
// an add is LDADDAL, or a loop of LDAXR and STLXR: each is a release, which becomes visible after
// all that the goroutine has stored before. The odd sequence is ordered before the values because
// these are releases themselves; C++ needs a fence there, as its stores of values are relaxed.
package pingloompages
