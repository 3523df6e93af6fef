package pingloompages

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func defined(name string, slots int) *definition {
	made := &definition{kind: kindHistogram, name: name, slots: slots, schemaBytes: 30}
	if slots == 0 {
		made.kind = kindInfo
	}
	return made
}

// tell returns the names that the agent is told next, those that are removed with a minus.
func tell(table *metricTable) string {
	var names strings.Builder
	for next := table.next(); next != nil; next = table.next() {
		names.WriteString(map[bool]string{true: "-", false: "+"}[next.removed] + next.entry.name)
		table.tell()
	}
	return names.String()
}

func expect(test *testing.T, got, wanted any) {
	test.Helper()
	if got != wanted {
		test.Errorf("%v instead of %v", got, wanted)
	}
}

func TestSlotsRestFromTheAgentsAnswerOn(test *testing.T) {
	table, now := newTable(), time.Now()
	add := func(name string, slots int) *entry {
		table.sweep(now)
		return table.add(defined(name, slots))
	}
	old := add("old", 3)
	expect(test, tell(&table), "+old")
	table.defined(old)
	table.remove(old, now)
	expect(test, tell(&table), "-old")
	now = now.Add(10 * slotRest) // the agent does not answer
	expect(test, add("a", 1).first, 3)
	table.rest(old, now)
	now = now.Add(slotRest - 1)
	expect(test, add("b", 1).first, 4)
	now = now.Add(1)
	expect(test, add("c", 2).first, 0)
	expect(test, add("d", 1).first, 2)
	expect(test, add("e", 1).first, 5)
	expect(test, tell(&table), "+a+b+c+d+e")
	expect(test, len(table.living), 5)
}

func TestTheAgentHearsOnlyOfWhatItKnows(test *testing.T) {
	table, now := newTable(), time.Now()
	table.remove(table.add(defined("never_told", 1)), now)
	expect(test, tell(&table), "")
	asked, refused := table.add(defined("asked", 1)), table.add(defined("refused", 1))
	expect(test, tell(&table), "+asked+refused")
	table.remove(asked, now)
	table.remove(refused, now)
	expect(test, tell(&table), "")
	table.defined(asked)
	table.refused(refused, now)
	expect(test, tell(&table), "-asked")
	// The agent is gone before it answers.
	left := table.add(defined("left", 1))
	tell(&table)
	table.defined(left)
	table.startOver(now)
	expect(test, tell(&table), "+left")
	table.sweep(now.Add(slotRest))
	expect(test, table.add(defined("next", 3)).first, 0)
	expect(test, len(table.entries), 2)
	expect(test, table.schemaBytes, 60)
}

func TestLabelSetsThatComeAndGoNeedNoMoreRoom(test *testing.T) {
	table, now := newTable(), time.Now()
	for i := 0; i < 10_000; i++ {
		now = now.Add(slotRest / 500)
		table.sweep(now)
		for _, one := range []*definition{defined("m", 1), defined("i", 0)} {
			if !table.hasRoom(one, maxSchemaBytes) {
				test.Fatal("no room after ", i)
			}
			made := table.add(one)
			tell(&table)
			table.defined(made)
			table.remove(made, now)
			tell(&table)
			table.rest(made, now)
		}
	}
	expect(test, len(table.entries) <= 504, true)
}

func TestWhatComesAndGoesWhileTheAgentIsAwayIsNotQueued(test *testing.T) {
	table, now := newTable(), time.Now()
	table.add(defined("first", 1))
	for i := 0; i < 10_000; i++ {
		now = now.Add(slotRest / 500)
		table.sweep(now)
		table.startOver(now) // there is still no agent
		for _, slots := range []int{1, 0} {
			table.remove(table.add(defined("m", slots)), now)
			if len(table.queue) != 1 {
				test.Fatal(len(table.queue), " items are queued after ", i)
			}
		}
	}
	// The room behind the queue counts too, because it is never given back.
	expect(test, cap(table.queue) < 10, true)
	table.add(defined("last", 1))
	expect(test, tell(&table), "+first+last")
}

func TestWhatIsRemovedIsForgottenAndItsHandlesAreInert(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	metric := func(name string) Metric { return Metric{Name: name, Labels: Labels{"till": "7"}} }
	orders, _ := pages.Counter(metric("orders_total"))
	depth, _ := pages.Gauge(metric("depth"))
	took, _ := pages.Histogram(metric("took"))
	bounded, _ := pages.BoundedHistogram(metric("bounded"), []float64{1, 2})
	waits, _ := pages.Summary(metric("waits"), []float64{0.5})
	pages.Info(metric("build_info"))
	orders.Add(7)
	settle(test, pages)
	names := []string{"orders_total", "depth", "took", "bounded", "waits", "build_info"}
	for _, name := range names {
		expect(test, pages.Remove(Metric{Name: name}), false)
		expect(test, pages.Remove(metric(name)), true)
		expect(test, pages.Remove(metric(name)), false)
	}
	expect(test, pages.Remove(Metric{Name: "no name"}), false)
	expect(test, (*Pages)(nil).Remove(metric("depth")), false)
	eventually(test, "the agent is told", func() bool { return len(agent.of(typeRemove)) == len(names) })
	for i, told := range agent.of(typeRemove) {
		if !bytes.Equal(told.body, agent.of(typeDefine)[i].body) {
			test.Error(names[i], " is named as something else than it was defined")
		}
	}
	before := append([]byte(nil), orders.memory.bytes[headerBytes:]...)
	orders.Add(1)
	orders.Set(9)
	depth.Set(1)
	depth.Add(1)
	took.Observe(1)
	bounded.Observe(1)
	waits.Set(1, 2, 3)
	if !bytes.Equal(before, orders.memory.bytes[headerBytes:]) {
		test.Error("a removed metric was written")
	}
	expect(test, pages.Status().Metrics, 0)
	// The name is free, and what is made again begins with 0.
	again, err := pages.Counter(Metric{Name: "depth", Labels: Labels{"till": "7"}})
	if err != nil {
		test.Fatal(err)
	}
	expect(test, atomic.LoadUint64(again.first.Load()), uint64(0))
	again.Add(2)
	settle(test, pages)
	expect(test, atomic.LoadUint64(again.first.Load()), uint64(2))
}

func TestARefusedRemovalIsANewBeginning(test *testing.T) {
	agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		if got.kind != typeRemove {
			return false
		}
		a.answer(socket, typeRefused, got.page, refusal(1, "no such message"))
		return true
	})
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	counter(test, pages, "first")
	counter(test, pages, "second").Add(3)
	settle(test, pages)
	expect(test, pages.Remove(Metric{Name: "first"}), true)
	eventually(test, "it connects again", func() bool { return len(agent.of(typeRegister)) == 2 })
	settle(test, pages)
	expect(test, len(agent.of(typeDefine)), 3)
	err := pages.Status().Err
	if !errors.Is(err, ErrRefused) || err.Error() != "the agent refuses to remove metric first: no such message" {
		test.Error(err)
	}
}

func TestGoroutinesMayMakeUpdateAndRemoveAtOnce(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	eventually(test, "it is connected", func() bool { return pages.Status().Connected })
	var all sync.WaitGroup
	for goroutine := 0; goroutine < 3; goroutine++ {
		all.Add(1)
		go func(goroutine int) {
			defer all.Done()
			for i := 0; i < 200; i++ {
				metric := Metric{Name: "m", Labels: Labels{"n": fmt.Sprint(goroutine, "_", i)}}
				made, err := pages.Counter(metric)
				if err != nil || atomic.LoadUint64(made.first.Load()) != 0 {
					test.Error("it does not begin with 0", err)
				}
				made.Add(1)
				if !pages.Remove(metric) {
					test.Error("it is not there")
				}
				made.Add(1)
			}
		}(goroutine)
	}
	all.Wait()
	expect(test, pages.Status().Metrics, 0)
	expect(test, len(pages.metrics)+len(pages.families), 0)
	expect(test, pages.Status().Refused, uint64(0))
	expect(test, pages.Status().Pages <= 2, true)
}
