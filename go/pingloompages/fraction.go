package pingloompages

import (
	"math"
	"runtime"
	"sync/atomic"
)

// FractionCounter counts numbers in the unit of its metric's name, such as seconds, in a float64 and
// never falls. A Counter is faster and exact, and counts fractions in a small Unit. Prefer this one
// where no Unit is small enough, or where the value comes as a float64 from elsewhere. Agents and
// collectors that do not know it show a gauge.
type FractionCounter struct {
	*place
	exemplars int
}

// Add adds a number in the unit of the name. No addition of another goroutine is lost. A number that
// is negative, infinite or NaN adds nothing.
func (c FractionCounter) Add(value float64) {
	if c.place != nil && isCountable(value) {
		addFloat(c.first.Load(), value)
		runtime.KeepAlive(c.memory)
	}
}

// AddExemplar adds a number, and keeps it with labels as Counter.AddExemplar does. A number that Add
// ignores is not kept either, and is an error.
func (c FractionCounter) AddExemplar(value float64, labels Labels) error {
	if !isCountable(value) {
		return badArgument("exemplar", "its value is negative or not finite")
	}
	c.Add(value)
	return c.place.putExemplar(c.exemplars, 1, 0, 1, value, labels)
}

// Set sets the counter to a value that is counted elsewhere and never falls. One that is negative,
// infinite or NaN is ignored.
func (c FractionCounter) Set(value float64) {
	if c.place != nil && isCountable(value) {
		atomic.StoreUint64(c.first.Load(), math.Float64bits(value))
		runtime.KeepAlive(c.memory)
	}
}

// isCountable tells whether a counter can grow by it.
func isCountable(value float64) bool { return value >= 0 && !math.IsInf(value, 1) }
