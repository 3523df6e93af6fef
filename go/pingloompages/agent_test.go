package pingloompages

import (
	"errors"
	"math"
	"net"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

type conversation = func(*scriptedAgent, *net.UnixConn, message) bool

func counter(test *testing.T, pages *Pages, name string) Counter {
	test.Helper()
	made, err := pages.Counter(Metric{Name: name})
	if err != nil {
		test.Fatal(err)
	}
	return made
}

// slot reads a slot of a page as the agent sees it.
func slot(memory *memory, index int) uint64 { return atomic.LoadUint64(memory.slot(index)) }

func TestValuesAreHandedToAnAgentThatComesLaterAndToTheNext(test *testing.T) {
	path := socketOf(test)
	var mutex sync.Mutex
	var told []error
	pages := open(test, Options{Socket: path, OnError: func(err error) {
		mutex.Lock()
		defer mutex.Unlock()
		told = append(told, err)
	}})
	eventually(test, "no agent is noticed", func() bool { return pages.Status().Err != nil })
	orders := counter(test, pages, "orders_total")
	orders.Add(3)
	if status := pages.Status(); !errors.Is(status.Err, ErrNoAgent) || status.Connected ||
		status.Pages != 1 || status.KnownPages != 0 {
		test.Errorf("%+v", status)
	}
	for round := uint64(1); round <= 2; round++ {
		agent := startAgent(test, path, nil)
		settle(test, pages)
		number := agent.of(typeAdopt)[0].page
		seen := agent.memory(number)
		if got := slot(seen, 0); got != 2+round {
			test.Errorf("the agent sees %d", got)
		}
		if owner := atomic.LoadUint64(seen.word(atOwner)); owner != 1000 {
			test.Errorf("owner %d", owner)
		}
		if generation := atomic.LoadUint64(seen.word(atGeneration)); generation != 8 {
			test.Errorf("generation %d", generation)
		}
		if version := atomic.LoadUint32(seen.half(atSchema)); uint64(version) != round {
			test.Errorf("the schema's version %d", version)
		}
		if pages.Status().Err != nil {
			test.Error(pages.Status().Err)
		}
		agent.stop()
		eventually(test, "the end is noticed", func() bool { return !pages.Status().Connected })
		orders.Add(1)
	}
	mutex.Lock()
	defer mutex.Unlock()
	texts := map[string]bool{}
	for _, err := range told {
		if texts[err.Error()] || !errors.Is(err, ErrNoAgent) {
			test.Errorf("told %v", told)
		}
		texts[err.Error()] = true
	}
	if len(told) == 0 {
		test.Error("the listener was told nothing")
	}
}

func TestHeartbeatsGoOnWhetherOrNotThereIsAnAgent(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	orders := counter(test, pages, "orders_total")
	eventually(test, "two beats", func() bool {
		return atomic.LoadUint64(orders.memory.word(atHeartbeat)) >= 2
	})
}

func TestAPageThatIsGrantedTooLateIsReleased(test *testing.T) {
	grant := make(chan bool)
	agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		if got.kind == typePage {
			a.mutex.Unlock() // all that follows waits, because answers come in order
			<-grant
			a.mutex.Lock()
		}
		return false
	})
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	eventually(test, "it is connected", func() bool { return pages.Status().Connected })
	pages.patience = 2 * time.Second // in which the agent gets the request, on a busy machine too
	began := time.Now()
	counter(test, pages, "orders_total").Add(1)
	if took := time.Since(began); took < pages.patience {
		test.Errorf("it waited for %v only", took)
	}
	counter(test, pages, "again_total").Add(1)
	if asked := agent.of(typePage); len(asked) != 1 {
		test.Errorf("%d requests of a slow agent", len(asked))
	}
	close(grant)
	eventually(test, "it is released", func() bool { return len(agent.of(typeRelease)) == 1 })
	if released, asked := agent.of(typeRelease)[0].page, agent.of(typePage)[0].page; released != asked {
		test.Errorf("page %d was released and %d granted", released, asked)
	}
	settle(test, pages)
}

func TestAPageThatIsRefusedIsOfferedAgainLater(test *testing.T) {
	path := socketOf(test)
	pages := open(test, Options{Socket: path})
	counter(test, pages, "orders_total")
	offers := 0
	agent := startAgent(test, path, func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		if got.kind == typeAdopt {
			offers++
		}
		return offers == 1 && refusing(typeAdopt, refusalUnavailable)(a, socket, got)
	})
	eventually(test, "it is refused", func() bool { return pages.Status().Refused == 1 })
	step := func(later time.Duration) {
		pages.mutex.Lock()
		defer pages.mutex.Unlock()
		pages.session.step(time.Now().Add(later), pages.pages)
	}
	step(askAgain - time.Second)
	if offered := len(agent.of(typeAdopt)); offered != 1 {
		test.Errorf("%d offers", offered)
	}
	step(askAgain + time.Second)
	settle(test, pages)
}

func TestAfterCloseNothingHasAnEffect(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	orders := counter(test, pages, "orders_total")
	settle(test, pages)
	pages.Close()
	pages.Close()
	orders.Add(1)
	if _, err := pages.Counter(Metric{Name: "more_total"}); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if _, err := pages.NewGroup(); !errors.Is(err, ErrBadArgument) {
		test.Error(err)
	}
	if status := pages.Status(); status.Connected || status.KnownPages != 0 {
		test.Errorf("%+v", status)
	}
	if orders.memory.fd != -1 || pages.session.connection != nil {
		test.Error("a descriptor is still open")
	}
}

func TestExecutedProgramsInheritNothing(test *testing.T) {
	agent := startAgent(test, socketOf(test), nil)
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	counter(test, pages, "granted_total")
	settle(test, pages)
	agent.stop()
	eventually(test, "the end is noticed", func() bool { return !pages.Status().Connected })
	if _, err := pages.NewGroup(); err != nil { // in memory of its own
		test.Fatal(err)
	}
	inherited, err := exec.Command("ls", "-l", "/proc/self/fd").CombinedOutput()
	if err != nil || strings.Contains(string(inherited), "memfd") || strings.Contains(string(inherited), "socket") {
		test.Errorf("%v: %s", err, inherited)
	}
}

func TestSaturatedFractions(test *testing.T) {
	pages := open(test, Options{Socket: socketOf(test)})
	busy, err := pages.Counter(Metric{Name: "busy_seconds_total", Unit: 1e-9})
	if err != nil {
		test.Fatal(err)
	}
	busy.AddFloat(0.25)
	busy.AddFloat(-1)
	busy.AddFloat(math.NaN())
	if got := atomic.LoadUint64(busy.first.Load()); got != 250_000_000 {
		test.Error(got)
	}
	busy.Set(7)
	if got := atomic.LoadUint64(busy.first.Load()); got != 7 {
		test.Error(got)
	}
}

func TestWhereTheAgentIsLookedFor(test *testing.T) {
	test.Setenv(socketVariable, "")
	if path := socketPath(""); path != defaultSocket {
		test.Error(path)
	}
	test.Setenv(socketVariable, "/of/the/environment")
	if path := socketPath(""); path != "/of/the/environment" {
		test.Error(path)
	}
	if path := socketPath("/asked/for"); path != "/asked/for" {
		test.Error(path)
	}
	for _, wrong := range []string{strings.Repeat("x", 108), "@abstract", "/nonexistent"} {
		pages := open(test, Options{Socket: wrong})
		counter(test, pages, "orders_total").Add(1)
		eventually(test, wrong, func() bool { return errors.Is(pages.Status().Err, ErrNoAgent) })
	}
}
