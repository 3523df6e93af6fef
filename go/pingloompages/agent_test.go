package pingloompages

import (
	"errors"
	"math"
	"net"
	"os"
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

func TestAnAgentThatAnswersNonsenseIsLeftAndTriedAgain(test *testing.T) {
	registered := append(number(1), 16, 0, 0, 0)
	right := messageOf(typeRegistered, 0, registered)
	changed := func(at int, to byte) []byte {
		bytes := append([]byte(nil), right...)
		bytes[at] = to
		return bytes
	}
	file, err := os.CreateTemp(test.TempDir(), "")
	if err != nil {
		test.Fatal(err)
	}
	defer file.Close()
	fd := int(file.Fd())
	for name, answer := range map[string]struct {
		bytes  []byte
		passed []int
	}{
		"a short head":       {right[:15], nil},
		"another magic":      {changed(0, 0), nil},
		"another version":    {changed(4, 2), nil},
		"a request":          {changed(6, typeRegister), nil},
		"another answer":     {messageOf(typeDefined, 0, nil), nil},
		"another page":       {changed(8, 1), nil},
		"a wrong length":     {changed(12, 11), nil},
		"a huge length":      {changed(15, 0xff), nil},
		"a short body":       {messageOf(typeRegistered, 0, registered[:11]), nil},
		"a short refusal":    {messageOf(typeRefused, 0, []byte{1, 0, 0}), nil},
		"a refusal's length": {messageOf(typeRefused, 0, []byte{1, 0, 2, 0, 'x'}), nil},
		"a large message":    {append(append([]byte(nil), right...), make([]byte, 20000)...), nil},
		"a descriptor":       {right, []int{fd}},
		"two descriptors":    {right, []int{fd, fd}},
		"many descriptors":   {right, []int{fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd, fd}},
	} {
		test.Run(name, func(test *testing.T) {
			agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
				a.send(socket, answer.bytes, answer.passed...)
				return true
			})
			pages := open(test, Options{Socket: agent.listener.Addr().String()})
			eventually(test, "it is tried again", func() bool { return len(agent.of(typeRegister)) > 1 })
			if err := pages.Status().Err; !errors.Is(err, ErrBadAgent) {
				test.Errorf("%v", err)
			}
			counter(test, pages, "orders_total").Add(1)
			pages.Close()
			agent.stop()
			eventually(test, "no descriptor is left", func() bool { return descriptors(test, file.Name()) == 1 })
		})
	}
}

// descriptors counts this process' descriptors of a file.
func descriptors(test *testing.T, name string) int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		test.Fatal(err)
	}
	count := 0
	for _, entry := range entries {
		if target, err := os.Readlink("/proc/self/fd/" + entry.Name()); err == nil && target == name {
			count++
		}
	}
	return count
}

func TestMemoryThatAnAgentCouldShrinkIsNotTouched(test *testing.T) {
	pipe, other, err := os.Pipe()
	if err != nil {
		test.Fatal(err)
	}
	defer pipe.Close()
	defer other.Close()
	for name, passed := range map[string][]int{"none": nil, "a pipe": {int(pipe.Fd())},
		"an unsealed memfd": {memfd(test, pageBytes, 0)}, "a small memfd": {memfd(test, 0, pageSeals)},
		"a large memfd":                  {memfd(test, 2*pageBytes, pageSeals)},
		"two":                            {memfd(test, pageBytes, pageSeals), memfd(test, pageBytes, pageSeals)},
		"a memfd that cannot be written": {memfd(test, pageBytes, pageSeals|8)}} {
		test.Run(name, func(test *testing.T) {
			agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
				if got.kind == typePage {
					a.answer(socket, typeGranted, got.page, number(7), passed...)
				}
				return got.kind == typePage
			})
			pages := open(test, Options{Socket: agent.listener.Addr().String()})
			orders := counter(test, pages, "orders_total")
			orders.Add(1)
			settle(test, pages)
			adopted := agent.of(typeAdopt)
			if got := slot(agent.memory(adopted[len(adopted)-1].page), 0); got != 1 {
				test.Errorf("%d", got)
			}
		})
	}
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
	began := time.Now()
	counter(test, pages, "orders_total").Add(1)
	if took := time.Since(began); took < agentTime {
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

func refusing(kind uint16, reason uint16) conversation {
	return func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		if got.kind == kind {
			a.answer(socket, typeRefused, got.page, refusal(reason, "no\n\xff"+strings.Repeat("x", 1000)))
		}
		return got.kind == kind
	}
}

func TestRefusals(test *testing.T) {
	for name, one := range map[string]struct {
		kind, reason uint16
		made         error // by making a metric
		later        error
	}{
		"quota":       {typePage, refusalQuota, ErrQuota, ErrQuota},
		"unavailable": {typePage, refusalUnavailable, nil, ErrRefused},
		"metric":      {typeDefine, 7, nil, ErrRefused},
		"register":    {typeRegister, 3, nil, ErrRefused},
	} {
		test.Run(name, func(test *testing.T) {
			agent := startAgent(test, socketOf(test), refusing(one.kind, one.reason))
			pages := open(test, Options{Socket: agent.listener.Addr().String()})
			pages.patience = time.Minute
			orders, err := pages.Counter(Metric{Name: "orders_total"})
			orders.Add(1)
			if !errors.Is(err, one.made) || (err == nil) != (one.made == nil) {
				test.Errorf("%v", err)
			}
			eventually(test, "the refusal is counted", func() bool {
				status := pages.Status()
				return status.Refused > 0 && errors.Is(status.Err, one.later)
			})
			text := pages.Status().Err.Error()
			if !strings.Contains(text, "no??xxx") || len(text) > 300 {
				test.Errorf("%q", text)
			}
		})
	}
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

func TestAStuckAgentIsSentABoundedNumberOfMessages(test *testing.T) {
	agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		return got.kind == typeDefine
	})
	pages := open(test, Options{Socket: agent.listener.Addr().String()})
	for i := 0; i < 3*maxUnanswered; i++ {
		counter(test, pages, "orders_"+strings.Repeat("x", i)).Add(1)
	}
	eventually(test, "all that may be in flight", func() bool { return len(agent.of(typeDefine)) == maxUnanswered })
	if status := pages.Status(); status.Metrics != 3*maxUnanswered || status.KnownMetrics != 0 {
		test.Errorf("%+v", status)
	}
	pages.mutex.Lock()
	pages.session.step(time.Now(), pages.pages)
	pages.mutex.Unlock()
	if sent := len(agent.of(typeDefine)); sent != maxUnanswered {
		test.Errorf("%d definitions", sent)
	}
}

func TestASessionGivesUpOnSilenceAndBacksOff(test *testing.T) {
	path := socketOf(test)
	agent := startAgent(test, path, func(*scriptedAgent, *net.UnixConn, message) bool { return true })
	tried := newSession(path, "tested", nil)
	tried.listen = func(*connection) {}
	now := time.Now()
	tried.step(now, nil)
	tried.step(now.Add(answerTime), nil)
	if tried.connection == nil {
		test.Fatal("it gave up early")
	}
	now = now.Add(answerTime + 1)
	tried.step(now, nil)
	if tried.connection != nil || len(tried.troubles) != 1 || !errors.Is(tried.troubles[0], ErrBadAgent) {
		test.Fatal(tried.troubles)
	}
	agent.stop()
	for delay, i := firstDelay, 0; i < 10; i++ {
		if pause := tried.nextStep(now).Sub(now); pause < delay/2 || pause > delay {
			test.Errorf("pause %d is %v", i, pause)
		}
		now = tried.nextStep(now)
		tried.step(now, nil)
		if delay *= 2; delay > maxDelay {
			delay = maxDelay
		}
	}
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
	if got := atomic.LoadUint64(busy.slot); got != 250_000_000 {
		test.Error(got)
	}
	busy.Set(7)
	if got := atomic.LoadUint64(busy.slot); got != 7 {
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
