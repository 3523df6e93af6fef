package pingloompages

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"
)

const (
	defaultSocket  = "/run/pingloom/pages.sock"
	socketVariable = "PINGLOOM_PAGES_SOCKET"
	maxReported    = 32
)

// Options describe the application. Nothing of it is kept that the caller may change later.
type Options struct {
	// Application has 1 to 64 bytes of UTF-8. "" means $OTEL_SERVICE_NAME, or the program's name.
	Application string
	// Labels are those of all its metrics. Metrics get those of $OTEL_RESOURCE_ATTRIBUTES, too, as far
	// as they have room for more.
	Labels Labels
	// Socket is the agent's; "" means $PINGLOOM_PAGES_SOCKET, or /run/pingloom/pages.sock. Programs
	// that run with raised privileges ignore all of these variables.
	Socket string
	// OnError is called once for each different text, 32 at most, by the goroutine that writes the
	// heartbeats, so it should return soon. It may call Close. nil: errors are not reported.
	OnError func(error)
}

// Pages owns all pages and metrics of an application, and the session with its host's agent.
// A nil *Pages returns inert handles.
type Pages struct {
	labels   commonLabels
	onError  func(error)
	wakeup   chan struct{} // has room for one
	patience time.Duration // how long to wait for a page from the agent

	making   sync.Mutex         // held while a metric is made, which may wait for the agent
	metrics  map[string]*placed // by definition.key; guarded by making
	families map[string]*family // by name; guarded by making
	numbered uint32             // the last page's number; guarded by making

	mutex       sync.Mutex             // guards what follows, and is never held while waiting
	pages       []*page                // at most maxPages; added under both locks
	first       atomic.Pointer[memory] // the first page's, once there is one; any goroutine reads it
	session     *session
	nextBeat    time.Time
	onHeartbeat heartbeatFunction
	closed      bool
	lastTrouble error
	reported    map[string]bool // at most maxReported
}

// Open starts a goroutine and returns at once, with or without an agent. It fails with
// ErrBadArgument if the name or a label is invalid.
func Open(options Options) (*Pages, error) {
	application := options.Application
	if service := environment(serviceVariable); application == "" && isApplication(service) {
		application = service
	}
	if application == "" && len(os.Args) > 0 {
		application = filepath.Base(os.Args[0])
	}
	if !isApplication(application) {
		return nil, badArgument(fmt.Sprintf("application %.66q", application),
			"not 1 to 64 bytes of printable UTF-8")
	}
	labels, err := makeLabels(options.Labels, nil)
	if err != nil {
		return nil, err
	}
	attributes, trouble := readAttributes(environment(attributesVariable))
	common := commonLabels{application: labels, environment: attributes}
	made := &Pages{labels: common, onError: options.OnError, wakeup: make(chan struct{}, 1),
		patience: agentTime,
		metrics:  map[string]*placed{}, families: map[string]*family{}, reported: map[string]bool{},
		session:  newSession(socketPath(options.Socket), application, labels),
		nextBeat: time.Now().Add(time.Second)}
	if trouble != nil {
		made.session.troubles = append(made.session.troubles, trouble)
	}
	made.session.listen = func(from *connection) { go made.receive(from) }
	go made.run()
	return made, nil
}

func socketPath(asked string) string {
	if asked != "" {
		return asked
	}
	if set := environment(socketVariable); set != "" {
		return set
	}
	return defaultSocket
}

// Close ends the session: the agent drops the metrics. Updates have no effect any more, and metrics
// cannot be made. It removes the function of OnHeartbeat.
func (p *Pages) Close() {
	if p == nil {
		return
	}
	defer p.OnHeartbeat(nil) // once the lock is free, because it may wait
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.closed = true
	p.session.disconnect()
	for _, page := range p.pages {
		page.forget(time.Now())
		page.memory.closeDescriptor()
	}
	p.wake()
}

// Status is what the agent knows of this process.
type Status struct {
	Connected    bool
	Owner        uint64 // this process' number at the agent, if connected
	Pages        int    // pages in use
	KnownPages   int    // pages that the agent knows
	Metrics      int    // metrics made
	KnownMetrics int    // metrics that the agent knows
	Refused      uint64 // refusals by agents since Open
	Err          error  // the last error in the background, or nil
}

// Status returns the present state.
func (p *Pages) Status() Status {
	var status Status
	if p == nil {
		return status
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.session.state == stateRegistered {
		status.Connected, status.Owner = true, p.session.owner
	}
	status.Refused = p.session.refused
	status.Pages = len(p.pages)
	for _, page := range p.pages {
		if page.standing == standingKnown {
			status.KnownPages++
		}
		status.Metrics += len(page.metrics.living)
		status.KnownMetrics += page.metrics.known
	}
	status.Err = p.lastTrouble
	return status
}

// KeepOneIn is for tracers: of so many traces of this application keep one. It is 1 while a collector
// finds the application's values unusual: keep all. It is 0 while no collector says, so use a rate
// of your own. It is one load, without a lock or a system call. Before the first metric is made it
// is 0.
func (p *Pages) KeepOneIn() int {
	if p == nil {
		return 0
	}
	first := p.first.Load()
	if first == nil {
		return 0
	}
	return int(atomic.LoadUint32(first.half(atKeepOneIn)))
}

func (p *Pages) wake() {
	select {
	case p.wakeup <- struct{}{}:
	default: // it is awake already
	}
}

// run writes the heartbeats and sends what is new until Close.
func (p *Pages) run() {
	for {
		now := p.callOnHeartbeat(time.Now())
		p.mutex.Lock()
		if p.closed {
			p.mutex.Unlock()
			return
		}
		p.beat(now)
		p.session.step(now, p.pages)
		news := p.takeTroubles()
		next := p.session.nextStep(now)
		if p.nextBeat.Before(next) {
			next = p.nextBeat
		}
		p.mutex.Unlock()
		for _, trouble := range news {
			p.onError(trouble)
		}
		p.sleepUntil(next)
	}
}

func (p *Pages) sleepUntil(next time.Time) {
	timer := time.NewTimer(time.Until(next))
	defer timer.Stop()
	select {
	case <-p.wakeup:
	case <-timer.C:
	}
}

// receive handles all that arrives by a connection until it ends.
func (p *Pages) receive(from *connection) {
	for {
		got, err := from.receive()
		p.mutex.Lock()
		useful := p.session.take(time.Now(), from, got, err, p.pages)
		p.mutex.Unlock()
		p.wake()
		if !useful {
			return
		}
	}
}

func (p *Pages) beat(now time.Time) {
	if now.Before(p.nextBeat) {
		return
	}
	for _, page := range p.pages {
		page.beat()
	}
	p.nextBeat = p.nextBeat.Add(time.Second)
	if !p.nextBeat.After(now) { // the process was stopped for a while
		p.nextBeat = now.Add(time.Second)
	}
}

// takeTroubles returns the errors that were not reported before.
func (p *Pages) takeTroubles() []error {
	var news []error
	for _, trouble := range p.session.troubles {
		p.lastTrouble = trouble
		text := trouble.Error()
		if p.onError != nil && !p.reported[text] && len(p.reported) < maxReported {
			p.reported[text] = true
			news = append(news, trouble)
		}
	}
	p.session.troubles = nil
	if last, is := p.lastTrouble.(*problem); is && last.cause == ErrNoAgent &&
		p.session.state == stateRegistered {
		p.lastTrouble = nil
	}
	return news
}
