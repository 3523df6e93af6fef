package pingloompages

import (
	"fmt"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
)

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
	busy := fractions(test, pages, Metric{Name: "busy_seconds_total"})
	load, _ := pages.Gauge(Metric{Name: "load"})
	took, _ := pages.Histogram(Metric{Name: "took"})
	sizes, _ := pages.BoundedHistogram(Metric{Name: "sizes"}, []float64{1, 2, 3})
	allocated := testing.AllocsPerRun(1000, func() {
		busy.Add(0.25)
		load.Add(1)
		took.Observe(5)
		sizes.Observe(2)
		group.Update(func() { jobs.AddFloat(1) })
	})
	if allocated >= 1 { // the session's goroutine allocates now and then
		test.Error(allocated)
	}
}

func TestKeepOneInIsWhatTheAgentHasWritten(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	if said := (*Pages)(nil).KeepOneIn(); said != 0 {
		test.Errorf("nil says %d", said)
	}
	if said := pages.KeepOneIn(); said != 0 {
		test.Errorf("without a page it is %d", said)
	}
	if _, err := pages.Counter(Metric{Name: "jobs_total"}); err != nil {
		test.Fatal(err)
	}
	settle(test, pages)
	seen := agent.memory(agent.of(typeDefine)[0].page)
	atomic.StoreUint32(seen.half(atKeepOneIn), 100)
	if said := pages.KeepOneIn(); said != 100 {
		test.Errorf("it is %d, not 100", said)
	}
	pages.Close()
	if said := pages.KeepOneIn(); said != 0 {
		test.Errorf("it is %d after Close", said)
	}
}
