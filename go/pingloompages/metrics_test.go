package pingloompages

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"sync/atomic"
	"testing"
)

func TestMistakesAreRefusedWithAReason(test *testing.T) {
	pages := open(test, Options{Labels: Labels{"service": "x"}, Socket: socketOf(test)})
	many := Labels{}
	for i := 0; i < maxLabels; i++ { // one more than there is room for
		many[fmt.Sprint("label", i)] = "x"
	}
	for name, wrong := range map[string]Metric{
		"no name": {}, "a blank": {Name: "no name"}, "a digit": {Name: "1a"}, "a long name": {Name: strings.Repeat("a", 129)},
		"a long help": {Name: "a", Help: strings.Repeat("x", 513)}, "a control": {Name: "a", Help: "x\ny"},
		"no UTF-8": {Name: "a", Help: "\xff"}, "a label": {Name: "a", Labels: Labels{"a:b": "c"}},
		"le": {Name: "a", Labels: Labels{"le": "c"}}, "reserved": {Name: "a", Labels: Labels{"__a": "c"}},
		"a long value":            {Name: "a", Labels: Labels{"b": strings.Repeat("x", 257)}},
		"the application's label": {Name: "a", Labels: Labels{"service": "y"}}, "labels": {Name: "a", Labels: many},
		"a negative unit": {Name: "a", Unit: -1}, "no unit": {Name: "a", Unit: math.NaN()},
		"a tiny unit": {Name: "a", Unit: 1e-31}, "a shape": {Name: "a", Shape: Shape{1, 5, 2}},
		"a large shape": {Name: "a", Shape: Shape{5, 63, 5}}, "no group": {Name: "a", Group: &Group{}},
	} {
		made, err := pages.Histogram(wrong)
		if !errors.Is(err, ErrBadArgument) || err.Error() == "" {
			test.Errorf("%s: %v", name, err)
		}
		made.Observe(1)
	}
	for _, bounds := range [][]float64{nil, {}, {2, 1}, {1, 1}, {math.Inf(1)}, {math.NaN()}, make([]float64, maxBounds+1)} {
		if _, err := pages.BoundedHistogram(Metric{Name: "a"}, bounds); !errors.Is(err, ErrBadArgument) {
			test.Errorf("%v: %v", bounds, err)
		}
	}
	for _, quantiles := range [][]float64{{0.9, 0.5}, {0.5, 0.5}, {-0.1}, {1.1}, {math.NaN()}, make([]float64, maxQuantiles+1)} {
		if _, err := pages.Summary(Metric{Name: "a"}, quantiles); !errors.Is(err, ErrBadArgument) {
			test.Errorf("%v: %v", quantiles, err)
		}
	}
	labelled := Metric{Name: "a", Labels: Labels{"quantile": "0.5"}}
	if _, err := pages.Summary(labelled, []float64{0.5}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	for _, options := range []Options{{Application: strings.Repeat("x", 65)}, {Application: "a\x00b"},
		{Application: "a", Labels: Labels{"le": "x"}}} {
		if made, err := Open(options); made != nil || !errors.Is(err, ErrBadArgument) {
			test.Errorf("%v: %v", options, err)
		}
	}
	if status := pages.Status(); status.Metrics != 0 || status.Pages != 0 {
		test.Errorf("%+v", status)
	}
}

func TestTheSameMetricIsMadeOnce(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	labels := Labels{"a": "1", "b": "2"}
	one, _ := pages.Counter(Metric{Name: "one", Labels: labels})
	same, err := pages.Counter(Metric{Name: "one", Labels: Labels{"b": "2", "a": "1"}, Help: "is not compared"})
	if err != nil || one.place != same.place {
		test.Error(err)
	}
	other, err := pages.Counter(Metric{Name: "one"})
	if err != nil || one.first.Load() == other.first.Load() {
		test.Error(err)
	}
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	if _, err := pages.Gauge(Metric{Name: "one", Labels: labels}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	if _, err := pages.Gauge(Metric{Name: "one", Labels: Labels{"c": "3"}}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	if _, err := pages.Counter(Metric{Name: "one", Labels: labels, Group: group}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	if _, err := pages.Counter(Metric{Name: "one", Labels: Labels{"c": "3"}, Unit: 2}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
}

func TestPagesAreFilledAndMoreAreMade(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	for i := 0; i < pageSlots+1; i++ {
		counter(test, pages, fmt.Sprint("counter_", i))
	}
	for i := 0; i < 2*maxInfos+1; i++ {
		if err := pages.Info(Metric{Name: fmt.Sprint("info_", i)}); err != nil {
			test.Fatal(err)
		}
	}
	if status := pages.Status(); status.Pages != 3 || status.Metrics != pageSlots+1+2*maxInfos+1 {
		test.Errorf("%+v", status)
	}
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	bounds := make([]float64, maxBounds)
	for i := range bounds {
		bounds[i] = float64(i)
	}
	if _, err := pages.BoundedHistogram(Metric{Name: "full", Group: group}, bounds); err != nil {
		test.Error(err)
	}
	if made, err := pages.Counter(Metric{Name: "more", Group: group}); !errors.Is(err, ErrFull) || made != (Counter{}) {
		test.Error(err)
	}
}

func TestOwnLines(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	for i, ownLine := range []bool{false, true, false, false} {
		made, err := pages.Counter(Metric{Name: fmt.Sprint("counter_", i), OwnLine: ownLine})
		if wanted := []int{0, 8, 1, 2}[i]; err != nil || made.first.Load() != made.memory.slot(wanted) {
			test.Error(i, err)
		}
	}
}

func TestBuckets(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	sizes, err := pages.BoundedHistogram(Metric{Name: "sizes", Unit: 0.5}, []float64{1, 2})
	if err != nil {
		test.Fatal(err)
	}
	for _, value := range []float64{-1, 1, 1.5, 2, 3, math.NaN()} {
		sizes.Observe(value)
	}
	for i, wanted := range []uint64{2 + 3 + 4 + 6, 2, 2, 2} {
		if got := atomic.LoadUint64(sizes.slots().at(i)); got != wanted {
			test.Errorf("slot %d: %d instead of %d", i, got, wanted)
		}
	}
	took, err := pages.Histogram(Metric{Name: "took_seconds", Unit: 1e-9})
	if err != nil {
		test.Fatal(err)
	}
	took.ObserveFloat(1500e-9)
	took.ObserveFloat(-1)
	for i, wanted := range map[int]uint64{0: 1500, 1: 1, 3: 1} {
		if got := atomic.LoadUint64(took.slots().at(i)); got != wanted {
			test.Errorf("slot %d: %d instead of %d", i, got, wanted)
		}
	}
}

func TestSummaries(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	waits, err := pages.Summary(Metric{Name: "wait_seconds"}, []float64{0.5, 0.99})
	if err != nil {
		test.Fatal(err)
	}
	waits.Set(8, 2.5, 0.25, math.NaN())
	waits.Set(9, 3, 1) // is ignored
	for i, wanted := range []uint64{8, math.Float64bits(2.5), math.Float64bits(0.25), math.Float64bits(math.NaN())} {
		if got := atomic.LoadUint64(waits.slots().at(i)); got != wanted {
			test.Errorf("slot %d: %x instead of %x", i, got, wanted)
		}
	}
	if _, err := pages.Summary(Metric{Name: "wait_seconds"}, []float64{0.5}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	alone, err := pages.Summary(Metric{Name: "alone"}, nil)
	if err != nil || alone.first.Load() != waits.slots().at(4) {
		test.Error(alone, err)
	}
	alone.Set(1, 2)
	if body := pages.metrics["alone"].definition.encode(); body[0] != 5 || body[1] != 0 || body[4] != 2 {
		test.Errorf("%x", body)
	}
	if body := pages.metrics["wait_seconds"].definition.encode(); body[0] != 5 || body[1] != flagBounds || body[4] != 4 {
		test.Errorf("%x", body)
	}
}

func TestWhatIsInertMayBeUpdated(test *testing.T) {
	var none *Pages
	counter, err := none.Counter(Metric{Name: "a"})
	if !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	counter.Add(1)
	counter.AddFloat(1)
	counter.Set(1)
	Gauge{}.Set(1)
	Gauge{}.Add(1)
	Histogram{}.Observe(1)
	Histogram{}.ObserveFloat(1)
	BoundedHistogram{}.Observe(1)
	Summary{}.Set(1, 1)
	group, err := none.NewGroup()
	if !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	updated := 0
	group.Update(func() { updated++ })
	(*Group)(nil).Update(func() { updated++ })
	if updated != 2 {
		test.Error(updated)
	}
	none.Close()
	if none.Status() != (Status{}) {
		test.Error(none.Status())
	}
}

func TestAProcessHasABoundedNumberOfPages(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	pages.mutex.Lock()
	for len(pages.pages) < maxPages { // without their memory, for which there may be no descriptors
		pages.pages = append(pages.pages, newPage(uint32(1000+len(pages.pages)), flagGrouped, group.memory))
	}
	pages.mutex.Unlock()
	if _, err := pages.NewGroup(); !errors.Is(err, ErrFull) {
		test.Error(err)
	}
	if _, err := pages.Counter(Metric{Name: "jobs_total"}); !errors.Is(err, ErrFull) {
		test.Error(err)
	}
}
