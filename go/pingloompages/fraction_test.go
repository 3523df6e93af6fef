package pingloompages

import (
	"bytes"
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"
)

// double reads the first slot of a metric.
func double(place *place) float64 { return math.Float64frombits(atomic.LoadUint64(place.first.Load())) }

func fractions(test *testing.T, pages *Pages, metric Metric) FractionCounter {
	test.Helper()
	made, err := pages.FractionCounter(metric)
	if err != nil {
		test.Fatal(err)
	}
	return made
}

func TestAFractionCounterIsAGaugeWithAFlag(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	busy := fractions(test, pages, Metric{Name: "busy_seconds_total", Help: "Busy."})
	idle := fractions(test, pages, Metric{Name: "idle_seconds_total", Exemplars: true})
	depth, err := pages.Gauge(Metric{Name: "depth_seconds", Unit: 1e-9})
	if err != nil {
		test.Fatal(err)
	}
	busy.Add(0.25)
	idle.Set(2.5)
	depth.Set(4)
	settle(test, pages)
	defined := agent.of(typeDefine)
	for i, wanted := range [][]byte{
		append([]byte{2, 8, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 18}, "busy_seconds_total\x05\x00Busy."...),
		append([]byte{2, 8 | 16, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 18}, "idle_seconds_total\x00\x00"...),
		append([]byte{2, 0, 18, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f, 13}, "depth_seconds\x00\x00"...),
	} {
		if !bytes.Equal(defined[i].body, wanted) {
			test.Errorf("defines\n%x instead of\n%x", defined[i].body, wanted)
		}
	}
	seen := agent.memory(defined[0].page)
	for first, wanted := range map[int]float64{0: 0.25, 1: 2.5, 18: 4e-9} {
		if got := math.Float64frombits(slot(seen, first)); got != wanted {
			test.Errorf("slot %d is %v instead of %v", first, got, wanted)
		}
	}
	if !pages.Remove(Metric{Name: "busy_seconds_total"}) {
		test.Error("it is not removed")
	}
	eventually(test, "the removal", func() bool { return len(agent.of(typeRemove)) == 1 })
	if got := agent.of(typeRemove)[0].body; !bytes.Equal(got, defined[0].body) {
		test.Errorf("removes %x", got)
	}
	busy.Add(1) // counts where nobody reads
	if got := math.Float64frombits(slot(seen, 0)); got != 0.25 {
		test.Error(got)
	}
}

func TestAFractionCounterNeverFalls(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	busy := fractions(test, pages, Metric{Name: "busy_seconds_total", Exemplars: true})
	busy.Add(0.25)
	for _, wrong := range []float64{-1, math.NaN(), math.Inf(1), math.Inf(-1)} {
		busy.Add(wrong)
		busy.Set(wrong)
		if err := busy.AddExemplar(wrong, Labels{"t": "wrong"}); !errors.Is(err, ErrBadArgument) {
			test.Errorf("%v: %v", wrong, err)
		}
	}
	if _, _, whole := exemplarAt(busy.slots(), 1); whole || double(busy.place) != 0.25 {
		test.Error(double(busy.place))
	}
	if err := busy.AddExemplar(0.5, Labels{"t": "kept"}); err != nil {
		test.Error(err)
	}
	if labels, value, whole := exemplarAt(busy.slots(), 1); !whole || labels["t"] != "kept" || value != 0.5 {
		test.Error(labels, value, whole)
	}
	if err := busy.AddExemplar(1, nil); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if got := double(busy.place); got != 1.75 {
		test.Error(got)
	}
	busy.Set(7)
	if got := double(busy.place); got != 7 {
		test.Error(got)
	}
	FractionCounter{}.Add(1)
	FractionCounter{}.Set(1)
	if err := (FractionCounter{}).AddExemplar(1, Labels{"t": "x"}); err != nil {
		test.Error(err)
	}
}

func TestGoroutinesLoseNoFractions(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	const goroutines, times = 8, 50_000
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			busy, _ := pages.FractionCounter(Metric{Name: "busy_seconds_total"})
			for i := 0; i < times; i++ {
				busy.Add(3)
			}
		}()
	}
	all.Wait()
	if got := double(fractions(test, pages, Metric{Name: "busy_seconds_total"}).place); got != 3*goroutines*times {
		test.Error(got)
	}
}

func TestAFractionCounterIsACounterAmongMetricsOfItsName(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	busy := Metric{Name: "busy_seconds_total"}
	other := Metric{Name: "busy_seconds_total", Labels: Labels{"a": "1"}}
	fractions(test, pages, busy)
	_, asCounter := pages.Counter(busy)
	_, asGauge := pages.Gauge(busy)
	_, otherGauge := pages.Gauge(other)
	for _, err := range []error{asCounter, asGauge, otherGauge} {
		if !errors.Is(err, ErrConflict) {
			test.Error(err)
		}
	}
	if _, err := pages.Counter(other); err != nil {
		test.Error(err)
	}
	if _, err := pages.FractionCounter(other); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	counter(test, pages, "jobs_total")
	fractions(test, pages, Metric{Name: "jobs_total", Labels: Labels{"a": "1"}})
	if _, err := pages.Gauge(Metric{Name: "depth"}); err != nil {
		test.Fatal(err)
	}
	if _, err := pages.FractionCounter(Metric{Name: "depth", Labels: Labels{"a": "1"}}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	if _, err := pages.FractionCounter(Metric{Name: "nanoseconds", Unit: 1e-9}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	fractions(test, pages, Metric{Name: "seconds", Unit: 1})
}

func TestAGaugeIsGivenNumbersOfItsUnit(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	delay, err := pages.Gauge(Metric{Name: "delay_seconds", Unit: 0.25})
	if err != nil {
		test.Fatal(err)
	}
	delay.Set(10)
	delay.Add(-2)
	if got := double(delay.place); got != 2 {
		test.Error(got)
	}
	for _, unit := range []float64{-1, 1e-31, 1e31, math.NaN(), math.Inf(1)} {
		if _, err := pages.Gauge(Metric{Name: "wrong_seconds", Unit: unit}); !errors.Is(err, ErrBadArgument) {
			test.Errorf("%v: %v", unit, err)
		}
	}
	if _, err := pages.Gauge(Metric{Name: "delay_seconds"}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
}
