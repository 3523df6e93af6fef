package pingloompages

import (
	"bytes"
	"runtime"
	"time"
)

// heartbeatFunction is what the application wants to be called before each heartbeat. The lock of
// Pages guards it.
type heartbeatFunction struct {
	call   func()        // nil: there is none
	ended  chan struct{} // is closed when the call that is running ends; nil: none is running
	caller string        // the goroutine that calls
}

// OnHeartbeat lets the goroutine that writes the heartbeats call a function once a second, just
// before it writes them, with or without an agent: for values that have to be asked for, such as the
// length of a queue. There is one function: another takes its place, and nil or Close removes it.
// When that returns, the former one is not running any more, unless it has made the call itself.
//
// The function may update metrics. It may neither make nor remove them, nor call Close. If it takes
// longer than a few seconds, readers take the pages for stale. A panic of it ends the program, as in
// any goroutine; after runtime.Goexit it is called again a second later.
func (p *Pages) OnHeartbeat(function func()) {
	if p == nil {
		return
	}
	p.mutex.Lock()
	if p.closed {
		function = nil
	}
	p.onHeartbeat.call = function
	running := p.onHeartbeat
	p.mutex.Unlock()
	if running.ended != nil && running.caller != goroutine() {
		<-running.ended
	}
}

// callOnHeartbeat calls the application's function if a heartbeat is due, and returns the time after
// that.
func (p *Pages) callOnHeartbeat(now time.Time) time.Time {
	p.mutex.Lock()
	call := p.onHeartbeat.call
	if call == nil || now.Before(p.nextBeat) {
		p.mutex.Unlock()
		return now
	}
	ended := make(chan struct{})
	p.onHeartbeat.ended, p.onHeartbeat.caller = ended, goroutine()
	p.mutex.Unlock()
	returned := false
	defer func() {
		p.mutex.Lock()
		defer p.mutex.Unlock()
		p.onHeartbeat.ended = nil
		close(ended)
		if !returned { // it has called runtime.Goexit, which must not end the heartbeats
			p.beat(time.Now())
			go p.run()
		}
	}()
	call()
	returned = true
	return time.Now()
}

// goroutine names the goroutine that calls it: the language has no other way to tell whether the
// application's function calls OnHeartbeat, which would then wait for itself.
func goroutine() string {
	stack := make([]byte, 64)
	stack = stack[:runtime.Stack(stack, false)] // goroutine 7 [running]: ...
	name, _, _ := bytes.Cut(stack, []byte(" ["))
	return string(name)
}
