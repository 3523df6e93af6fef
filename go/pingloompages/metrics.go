package pingloompages

import (
	"math"
	"runtime"
	"sort"
	"sync/atomic"
	"unsafe"
)

// place is where all handles of a metric write: its slots, or, once it was removed, slots that nobody
// reads. It keeps the page mapped.
type place struct {
	first  atomic.Pointer[uint64]
	memory *memory
}

// removedSlots are written by the handles of removed metrics.
var removedSlots [pageSlots]uint64

func newPlace(memory *memory, metric *definition) *place {
	made := &place{memory: memory}
	made.leave()
	if metric.slots > 0 { // an info has none, and no handle
		made.first.Store(memory.slot(metric.first))
	}
	return made
}

// leave ends the handles' writing into the page, but for goroutines that are just at it. The slots
// rest longer than these take.
func (p *place) leave() { p.first.Store(&removedSlots[0]) }

// slots is where a metric's slots are now.
type slots struct{ first *uint64 }

func (p *place) slots() slots { return slots{p.first.Load()} }

// at returns a slot. A metric's slots are one after the other, and removedSlots has as many as any.
func (s slots) at(index int) *uint64 {
	return (*uint64)(unsafe.Add(unsafe.Pointer(s.first), 8*index))
}

// Counter counts whole numbers of its metric's unit and never falls.
type Counter struct {
	*place
	unit      float64
	exemplars int
}

// Add adds n units.
func (c Counter) Add(n uint64) {
	if c.place != nil {
		atomic.AddUint64(c.first.Load(), n)
		runtime.KeepAlive(c.memory)
	}
}

// AddFloat adds a number in the unit of the metric's name, for example 0.25 seconds. It is rounded
// to whole units, so the metric's Unit is the smallest fraction that is kept: with 1, AddFloat(0.25)
// adds nothing. A negative number or NaN adds nothing.
func (c Counter) AddFloat(value float64) { c.Add(inUnits(value, c.unit)) }

// Set sets the counter to a value that is counted elsewhere and never falls.
func (c Counter) Set(value uint64) {
	if c.place != nil {
		atomic.StoreUint64(c.first.Load(), value)
		runtime.KeepAlive(c.memory)
	}
}

// Gauge is a number that rises and falls.
type Gauge struct {
	*place
	unit float64
}

// Set sets the gauge to a number of its metric's units; the last of several goroutines wins.
func (g Gauge) Set(value float64) {
	if g.place != nil {
		atomic.StoreUint64(g.first.Load(), math.Float64bits(value*g.unit))
		runtime.KeepAlive(g.memory)
	}
}

// Add adds a difference in its metric's units, which may be negative. No addition of another
// goroutine is lost.
func (g Gauge) Add(difference float64) {
	if g.place != nil {
		addFloat(g.first.Load(), difference*g.unit)
		runtime.KeepAlive(g.memory)
	}
}

// addFloat adds to a slot that is a double.
func addFloat(slot *uint64, difference float64) {
	for {
		before := atomic.LoadUint64(slot)
		after := math.Float64bits(math.Float64frombits(before) + difference)
		if atomic.CompareAndSwapUint64(slot, before, after) {
			return
		}
	}
}

// Histogram counts values in buckets of its metric's Shape, and sums them up.
type Histogram struct {
	*place
	shape     Shape
	unit      float64
	exemplars int
}

// Observe counts a value, which is a whole number of the metric's units: with the Unit 1e-9 of a
// metric in seconds it is given nanoseconds.
func (h Histogram) Observe(value uint64) {
	if h.place != nil {
		slots := h.slots()
		atomic.AddUint64(slots.at(0), value)
		atomic.AddUint64(slots.at(1+h.shape.bucket(value)), 1)
		runtime.KeepAlive(h.memory)
	}
}

// ObserveFloat counts a value in the unit of the metric's name, for example time.Duration.Seconds().
// It is rounded to whole units. A negative value or NaN counts as 0.
func (h Histogram) ObserveFloat(value float64) { h.Observe(inUnits(value, h.unit)) }

// BoundedHistogram counts values in buckets whose upper bounds the application chose, and sums them
// up.
type BoundedHistogram struct {
	*place
	bounds    []float64
	unit      float64
	exemplars int
}

// Observe counts a value in the unit of the metric's name. A bucket includes its upper bound. Any
// value goes into its bucket, and NaN into the last one. A negative value or NaN adds nothing to the
// sum, which is kept in whole units of the metric's Unit.
func (h BoundedHistogram) Observe(value float64) {
	if h.place != nil {
		slots := h.slots()
		atomic.AddUint64(slots.at(0), inUnits(value, h.unit))
		atomic.AddUint64(slots.at(1+h.bucket(value)), 1)
		runtime.KeepAlive(h.memory)
	}
}

func (h BoundedHistogram) bucket(value float64) int {
	return sort.Search(len(h.bounds), func(i int) bool { return value <= h.bounds[i] })
}

// Summary shows quantiles that are computed elsewhere, with the count and the sum of all values.
type Summary struct {
	*place
	quantiles int
}

// Set sets all of it: how many values there were since the beginning, their sum, and the value of
// each quantile, all in the unit of the metric's name. A value is NaN while it is not known. Values
// that are not one for each quantile are ignored, and so are count and sum then. One goroutine at a
// time may set it. Readers may see some new values beside old ones unless it is in a group.
func (s Summary) Set(count uint64, sum float64, values ...float64) {
	if s.place == nil || len(values) != s.quantiles {
		return
	}
	slots := s.slots()
	atomic.StoreUint64(slots.at(0), count)
	atomic.StoreUint64(slots.at(1), math.Float64bits(sum))
	for i, value := range values {
		atomic.StoreUint64(slots.at(2+i), math.Float64bits(value))
	}
	runtime.KeepAlive(s.memory)
}

// inUnits returns how many units a value has. Values out of range saturate.
func inUnits(value, unit float64) uint64 {
	units := math.Round(value / unit)
	if !(units > 0) {
		return 0
	}
	if units >= 1<<64 {
		return math.MaxUint64
	}
	return uint64(units)
}
