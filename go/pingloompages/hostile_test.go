package pingloompages

import (
	"errors"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

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
