package pingloompages

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// exemplarAt returns labels and value of an exemplar, and whether it is whole.
func exemplarAt(slots slots, first int) (Labels, float64, bool) {
	raw := make([]byte, exemplarBytes)
	for i := 0; i < exemplarSlots; i++ {
		binary.LittleEndian.PutUint64(raw[8*i:], atomic.LoadUint64(slots.at(first+i)))
	}
	checksum := fnv.New64a()
	checksum.Write(raw[8:])
	sequence := binary.LittleEndian.Uint64(raw[8:])
	if sequence == 0 || sequence%2 != 0 || binary.LittleEndian.Uint64(raw) != checksum.Sum64() {
		return nil, 0, false
	}
	labels, rest := Labels{}, raw[atExemplarLabels:]
	text := func() string {
		length := int(rest[0])
		made := string(rest[1 : 1+length])
		rest = rest[1+length:]
		return made
	}
	for len(rest) > 0 && rest[0] != 0 {
		name := text()
		labels[name] = text()
	}
	return labels, math.Float64frombits(binary.LittleEndian.Uint64(raw[atExemplarValue:])), true
}

func TestExemplarsAreBehindTheirMetrics(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	counter, err := pages.Counter(Metric{Name: "a_total", Exemplars: true})
	if err != nil {
		test.Fatal(err)
	}
	next, _ := pages.Counter(Metric{Name: "next_total"})
	took, err := pages.Histogram(Metric{Name: "b_seconds", Exemplars: true})
	if err != nil {
		test.Fatal(err)
	}
	waits, err := pages.BoundedHistogram(Metric{Name: "c_seconds", Exemplars: true}, []float64{0.1, 1})
	if err != nil {
		test.Fatal(err)
	}
	if next.slots().at(0) != counter.slots().at(17) {
		test.Error("the next metric is not behind the counter's exemplar")
	}
	trace := Labels{"trace_id": "4bf92f3577b34da6a3ce929d0e0e4736", "span_id": "00f067aa0ba902b7"}
	for _, err := range []error{counter.AddExemplar(3, trace), took.ObserveExemplar(2000, Labels{"t": "fast"}),
		took.ObserveExemplar(10_000_000_000, Labels{"t": "slow"}), waits.ObserveExemplar(0.5, Labels{"t": "w"})} {
		if err != nil {
			test.Error(err)
		}
	}
	for _, one := range []struct {
		slots slots
		first int
		label string
		value float64
	}{{took.slots(), 99, "fast", 2000}, {took.slots(), 99 + 48, "slow", 1e10}, {waits.slots(), 4 + 16, "w", 0.5}} {
		labels, value, whole := exemplarAt(one.slots, one.first)
		if !whole || labels["t"] != one.label || value != one.value {
			test.Errorf("%v: %v %v %v", one, labels, value, whole)
		}
	}
	labels, value, whole := exemplarAt(counter.slots(), 1)
	if !whole || value != 3 || len(labels) != 2 || labels["span_id"] != trace["span_id"] {
		test.Errorf("%v %v %v", labels, value, whole)
	}
	at := time.Unix(0, int64(atomic.LoadUint64(counter.slots().at(1+2))))
	if age := time.Since(at); age < -time.Minute || age > time.Minute {
		test.Error(at)
	}
	if atomic.LoadUint64(took.slots().at(0)) != 10_000_002_000 || atomic.LoadUint64(waits.slots().at(2)) != 1 {
		test.Error("the values are not counted")
	}
}

func TestWhatIsNoExemplarIsCountedAllTheSame(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	counter, _ := pages.Counter(Metric{Name: "a_total", Exemplars: true})
	waits, _ := pages.BoundedHistogram(Metric{Name: "c_seconds", Exemplars: true}, []float64{0.1, 1})
	wrong := []Labels{nil, {"a": ""}, {"a": "", "b": ""}, {"a": ""}, {"a": "", "b": ""}, {"a b": "c"}, {"le": "1"}, {"a": "b\nc"}, {"a": "\xff"}, {"a": strings.Repeat("x", 94)}}
	for _, labels := range wrong {
		if err := counter.AddExemplar(1, labels); !errors.Is(err, ErrBadArgument) {
			test.Errorf("%q: %v", labels, err)
		}
	}
	if err := waits.ObserveExemplar(math.Inf(1), Labels{"a": "b"}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if got := atomic.LoadUint64(counter.slots().at(0)); got != uint64(len(wrong)) {
		test.Error(got)
	}
	if _, _, whole := exemplarAt(counter.slots(), 1); whole {
		test.Error("there is one")
	}
	if err := counter.AddExemplar(1, Labels{"a": strings.Repeat("x", 93)}); err != nil {
		test.Error(err)
	}
	plain, _ := pages.Counter(Metric{Name: "plain_total"})
	if err := plain.AddExemplar(2, Labels{"a": "b"}); err != nil || atomic.LoadUint64(plain.slots().at(0)) != 2 {
		test.Error(err)
	}
	if err := (Counter{}).AddExemplar(2, Labels{"a": "b"}); err != nil {
		test.Error(err)
	}
	if _, err := pages.Gauge(Metric{Name: "g", Exemplars: true}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if _, err := pages.Counter(Metric{Name: "plain_total", Exemplars: true}); !errors.Is(err, ErrConflict) {
		test.Error(err)
	}
	if _, err := pages.Histogram(Metric{Name: "h", Exemplars: true, Shape: Shape{10, 38, 4}}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if !pages.Remove(Metric{Name: "a_total"}) {
		test.Error("it is not removed")
	}
	if err := counter.AddExemplar(1, Labels{"a": "late"}); err != nil {
		test.Error(err)
	}
}

func TestNothingIsWrittenWhileAnotherGoroutineWrites(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	counter, err := pages.Counter(Metric{Name: "a_total", Exemplars: true})
	if err != nil {
		test.Fatal(err)
	}
	sequence := counter.slots().at(1 + sequenceSlot)
	write := func(trace string) (changed int) {
		before := [exemplarSlots]uint64{}
		for i := range before {
			before[i] = atomic.LoadUint64(counter.slots().at(1 + i))
		}
		if err := counter.AddExemplar(1, Labels{"t": trace, "empty": ""}); err != nil {
			test.Error(err)
		}
		for i := range before {
			if atomic.LoadUint64(counter.slots().at(1+i)) != before[i] {
				changed++
			}
		}
		return changed
	}
	if write("first") == 0 || atomic.LoadUint64(sequence) != 2 {
		test.Error("the first one is not written")
	}
	atomic.StoreUint64(sequence, 3)
	if changed := write("second"); changed != 0 {
		test.Errorf("%d slots have changed", changed)
	}
	atomic.StoreUint64(sequence, 4)
	if write("third") == 0 || atomic.LoadUint64(sequence) != 6 {
		test.Error("the third one is not written")
	}
	if labels, _, whole := exemplarAt(counter.slots(), 1); !whole || labels["t"] != "third" {
		test.Error(labels)
	}
	if counted := atomic.LoadUint64(counter.slots().at(0)); counted != 3 {
		test.Error(counted)
	}
}

func TestNoExemplarIsAMixture(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	took, err := pages.Histogram(Metric{Name: "b_seconds", Exemplars: true})
	if err != nil {
		test.Fatal(err)
	}
	var stop atomic.Bool
	var all sync.WaitGroup
	for _, letter := range "ab" {
		labels := Labels{"t": strings.Repeat(string(letter), 60)}
		value := uint64(letter)
		all.Add(1)
		go func() {
			defer all.Done()
			for !stop.Load() {
				if err := took.ObserveExemplar(value, labels); err != nil {
					test.Error(err)
				}
			}
		}()
	}
	seen := map[string]int{}
	for deadline := time.Now().Add(time.Minute); len(seen) < 2 && time.Now().Before(deadline) || seen["a"]+seen["b"] < 1000; {
		labels, value, whole := exemplarAt(took.slots(), 99)
		if !whole {
			continue
		}
		letter := string(rune(value))
		if labels["t"] != strings.Repeat(letter, 60) {
			test.Fatal(labels, value)
		}
		seen[letter]++
	}
	stop.Store(true)
	all.Wait()
	if len(seen) != 2 {
		test.Error(seen)
	}
}
