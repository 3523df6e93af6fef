package pingloompages

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// beatNow makes a heartbeat due, so that tests need not wait for it.
func beatNow(pages *Pages) {
	pages.mutex.Lock()
	defer pages.mutex.Unlock()
	pages.nextBeat = time.Now()
	pages.wake()
}

// within tells whether the channel yields something within a time.
func within(limit time.Duration, channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	case <-time.After(limit):
		return false
	}
}

func TestTheFunctionIsCalledBeforeEachHeartbeat(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	waiting, err := pages.Gauge(Metric{Name: "jobs_waiting"})
	if err != nil {
		test.Fatal(err)
	}
	heartbeat := waiting.memory.word(atHeartbeat)
	seen := make(chan uint64, 100)
	pages.OnHeartbeat(func() {
		waiting.Add(1)
		seen <- atomic.LoadUint64(heartbeat)
	})
	first := <-seen
	if second := <-seen; second != first+1 { // a second later, without an agent
		test.Errorf("called at heartbeat %d and then at %d", first, second)
	}
	pages.OnHeartbeat(nil)
	calls := 2 + len(seen)
	beats := atomic.LoadUint64(heartbeat)
	beatNow(pages)
	eventually(test, "the next heartbeat", func() bool { return atomic.LoadUint64(heartbeat) > beats })
	if called := 2 + len(seen); called != calls || slot(waiting.memory, 0) == 0 {
		test.Errorf("%d calls instead of %d", called, calls)
	}
}

func TestTheFormerFunctionHasEndedWhenAnotherTakesItsPlace(test *testing.T) {
	for name, replace := range map[string]func(*Pages){
		"another": func(pages *Pages) { pages.OnHeartbeat(func() {}) },
		"nil":     func(pages *Pages) { pages.OnHeartbeat(nil) },
		"Close":   (*Pages).Close,
	} {
		pages := open(test, Options{Socket: socketOf(test)})
		began, finish, replaced := make(chan struct{}), make(chan struct{}), make(chan struct{})
		var calls atomic.Int32
		pages.OnHeartbeat(func() {
			if calls.Add(1) == 1 {
				close(began)
				<-finish
			}
		})
		beatNow(pages)
		<-began
		go func() {
			replace(pages)
			close(replaced)
		}()
		if within(50*time.Millisecond, replaced) {
			test.Errorf("%s: it is still running", name)
		}
		pages.Status() // may be asked for meanwhile
		close(finish)
		if !within(20*time.Second, replaced) || calls.Load() != 1 {
			test.Errorf("%s: %d calls", name, calls.Load())
		}
	}
}

func TestTheFunctionMayReplaceItself(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	second := make(chan struct{})
	pages.OnHeartbeat(func() {
		pages.OnHeartbeat(func() {
			pages.OnHeartbeat(nil)
			close(second)
		})
		beatNow(pages)
	})
	beatNow(pages)
	if !within(20*time.Second, second) {
		test.Error("the second function is not called")
	}
}

func TestHeartbeatsGoOnAfterTheFunctionHasEndedItsGoroutine(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	orders := counter(test, pages, "orders_total")
	var calls atomic.Int32
	pages.OnHeartbeat(func() {
		calls.Add(1)
		runtime.Goexit()
	})
	heartbeat := orders.memory.word(atHeartbeat)
	for beats := uint64(0); beats < 3; beats++ {
		beatNow(pages)
		eventually(test, "a heartbeat", func() bool { return atomic.LoadUint64(heartbeat) > beats })
	}
	pages.OnHeartbeat(nil)
	if beats := atomic.LoadUint64(heartbeat); uint64(calls.Load()) != beats {
		test.Errorf("%d calls, %d heartbeats", calls.Load(), beats)
	}
}

func TestAPanicOfTheFunctionEndsTheProgram(test *testing.T) {
	const variable = "PINGLOOM_TEST_PANICS"
	if os.Getenv(variable) != "" {
		pages := open(test, Options{Socket: "/nonexistent"})
		pages.OnHeartbeat(func() { panic("no queue") })
		beatNow(pages)
		time.Sleep(20 * time.Second)
		return
	}
	command := exec.Command(os.Args[0], "-test.run", "^"+test.Name()+"$")
	command.Env = append(os.Environ(), variable+"=1")
	output, err := command.CombinedOutput()
	if err == nil || !strings.Contains(string(output), "panic: no queue") {
		test.Errorf("%v: %s", err, output)
	}
}

func TestClosedPagesAndNilCallNothing(test *testing.T) {
	(*Pages)(nil).OnHeartbeat(func() { test.Error("nil calls") })
	pages := open(test, Options{Socket: socketOf(test)})
	pages.Close()
	pages.OnHeartbeat(func() { test.Error("closed pages call") })
	if pages.onHeartbeat.call != nil {
		test.Error("it is kept")
	}
}
