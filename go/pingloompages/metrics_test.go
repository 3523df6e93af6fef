package pingloompages

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
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
	if err != nil || one.slot != same.slot {
		test.Error(err)
	}
	other, err := pages.Counter(Metric{Name: "one"})
	if err != nil || one.slot == other.slot {
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
		if wanted := []int{0, 8, 16, 17}[i]; err != nil || made.slot != made.memory.slot(wanted) {
			test.Error(i, err)
		}
	}
}

func TestGoroutinesLoseNothing(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	const goroutines, times = 8, 100_000
	var made, all sync.WaitGroup
	made.Add(goroutines)
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			jobs, _ := pages.Counter(Metric{Name: "jobs_total"})
			load, _ := pages.Gauge(Metric{Name: "load"})
			took, _ := pages.Histogram(Metric{Name: "took", Shape: Shape{0, 1, 0}})
			sizes, _ := pages.BoundedHistogram(Metric{Name: "sizes"}, []float64{1, 2})
			made.Done()
			made.Wait()
			for i := 0; i < times; i++ {
				jobs.Add(1)
				load.Add(1)
				took.Observe(2)
				sizes.Observe(1.5)
			}
		}()
	}
	all.Wait()
	settle(test, pages)
	seen := agent.memory(agent.of(typeDefine)[0].page)
	total := uint64(goroutines * times)
	for _, one := range agent.of(typeDefine) {
		first := int(one.body[2]) + int(one.body[3])<<8
		name := string(one.body[19 : 19+one.body[18]])
		expected := map[string][]uint64{"jobs_total": {total}, "load": {math.Float64bits(float64(total))},
			"took": {2 * total, 0, total, 0}, "sizes": {2 * total, 0, total, 0}}[name]
		for i, value := range expected {
			if got := slot(seen, first+i); got != value {
				test.Errorf("%s, slot %d: %d instead of %d", name, i, got, value)
			}
		}
	}
	if count := len(agent.of(typeDefine)); count != 4 {
		test.Errorf("%d metrics", count)
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
		if got := slot(sizes.memory, sizes.first+i); got != wanted {
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
		if got := slot(took.memory, took.first+i); got != wanted {
			test.Errorf("slot %d: %d instead of %d", i, got, wanted)
		}
	}
}

func TestReadersSeeWholeGroups(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	var values [8]Counter
	for i := range values {
		if values[i], err = pages.Counter(Metric{Name: fmt.Sprint("value_", i), Group: group}); err != nil {
			test.Fatal(err)
		}
	}
	const goroutines, times = 4, 20000
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < times; i++ {
				group.Update(func() {
					for _, value := range values {
						value.Add(1)
					}
				})
			}
		}()
	}
	sequence := group.memory.word(atSequence)
	for last, end := uint64(0), uint64(2*goroutines*times); last < end; {
		before := atomic.LoadUint64(sequence)
		var seen [len(values)]uint64
		for i := range seen {
			seen[i] = slot(group.memory, i)
		}
		if before%2 != 0 || atomic.LoadUint64(sequence) != before {
			runtime.Gosched()
			continue
		}
		last = before
		for _, value := range seen {
			if value != before/2 {
				test.Fatalf("%v after %d updates", seen, before/2)
			}
		}
	}
	all.Wait()
}

func TestAGroupIsCommittedAfterAPanic(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	sequence := group.memory.word(atSequence)
	func() {
		defer func() { recover() }()
		group.Update(func() {
			if atomic.LoadUint64(sequence) != 1 {
				test.Error("readers take part of an update")
			}
			panic("x")
		})
	}()
	done := false
	group.Update(func() { done = true })
	if got := atomic.LoadUint64(sequence); got != 4 || !done {
		test.Error(got)
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

func TestHandlesKeepTheMemory(test *testing.T) {
	handles := make([]Counter, 20)
	for i := range handles {
		pages, err := Open(Options{Application: "tested", Socket: socketOf(test)})
		if err != nil {
			test.Fatal(err)
		}
		handles[i] = counter(test, pages, "orders_total")
		pages.Close()
	}
	for i := 0; i < 3; i++ {
		runtime.GC()
		for _, handle := range handles {
			handle.Add(1)
		}
	}
	for _, handle := range handles {
		if got := slot(handle.memory, 0); got != 3 {
			test.Error(got)
		}
	}
}

func TestMemoryIsUnmappedWithTheLastHandle(test *testing.T) {
	before := mappings(test)
	for i := 0; i < 20; i++ {
		made, err := makeMemory()
		if err != nil {
			test.Fatal(err)
		}
		atomic.AddUint64(made.slot(0), 1)
	}
	eventually(test, "all is unmapped", func() bool {
		runtime.GC()
		return mappings(test) <= before
	})
}

func TestUpdatesAllocateNothing(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	group, err := pages.NewGroup()
	if err != nil {
		test.Fatal(err)
	}
	jobs, _ := pages.Counter(Metric{Name: "jobs_total", Unit: 0.1, Group: group})
	load, _ := pages.Gauge(Metric{Name: "load"})
	took, _ := pages.Histogram(Metric{Name: "took"})
	sizes, _ := pages.BoundedHistogram(Metric{Name: "sizes"}, []float64{1, 2, 3})
	allocated := testing.AllocsPerRun(1000, func() {
		load.Add(1)
		took.Observe(5)
		sizes.Observe(2)
		group.Update(func() { jobs.AddFloat(1) })
	})
	if allocated >= 1 { // the session's goroutine allocates now and then
		test.Error(allocated)
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
