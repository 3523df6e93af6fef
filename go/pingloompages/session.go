package pingloompages

import (
	"fmt"
	"math/rand"
	"time"
)

const (
	firstDelay     = 100 * time.Millisecond
	maxDelay       = 5 * time.Second
	longEnough     = 5 * time.Second       // a connection that lasted this long resets the back-off
	answerTime     = 10 * time.Second      // an agent that takes longer is stuck
	fullSocketTime = 10 * time.Millisecond // until the next attempt
	askAgain       = 30 * time.Second      // until a refused page is offered again
	maxUnanswered  = 32
)

type sessionState int

const (
	stateNotYet sessionState = iota // it has not tried
	stateDown
	stateRegistering
	stateRegistered
)

// expectation is an answer that the agent owes.
type expectation struct {
	kind    uint16 // of the message that it answers
	number  uint32 // of the page
	page    *page  // for typeAdopt, typeDefine and typeRemove
	metric  *entry
	request *pageRequest // for typePage
	since   time.Time
}

// pageRequest is a goroutine's request for a page from the agent. Its fields but ended may be read
// once done is closed.
type pageRequest struct {
	number uint32
	flags  uint16
	asked  bool
	ended  bool // nobody waits any more
	done   chan struct{}

	memory     *memory // what the agent granted
	generation uint64
	connection *connection // by which it was granted
	refusal    error       // the agent has no page for this process
}

// session is the session with the agent across reconnects. It sends the registration first, then
// every page, then the metrics of each page that the agent knows and what was removed of them. After a
// lost connection everything is sent again, so an agent may restart at any time. The lock of Pages guards it, and nothing here
// waits. The caller passes the time.
type session struct {
	path         string
	registration []byte
	listen       func(*connection) // starts to receive

	connection   *connection // nil unless there is one
	state        sessionState
	expected     []expectation // the oldest first, at most maxUnanswered
	releases     []uint32      // pages that were granted too late
	request      *pageRequest  // nil unless a goroutine waits
	slow         bool          // whether a request timed out and no answer arrived since
	broken       bool          // whether to close: a send failed, or registration was refused
	owner        uint64
	refused      uint64
	troubles     []error
	registeredAt time.Time
	retryAt      time.Time
	sendAgainAt  time.Time
	askAgainAt   time.Time
	delay        time.Duration // the latest pause of the back-off
}

func newSession(path, application string, labels []label) *session {
	body := appendString(nil, application)
	body = append(body, byte(len(labels)))
	return &session{path: path, registration: appendLabels(body, labels)}
}

// step does all that is due, apart from receiving.
func (s *session) step(now time.Time, pages []*page) {
	if s.connection == nil {
		if s.state == stateDown && now.Before(s.retryAt) {
			return
		}
		s.connect(now, pages)
	}
	if s.connection != nil {
		s.tell(now, pages)
	}
	if s.broken {
		s.hangUp(now, pages, nil)
	}
	if len(s.expected) > 0 && now.Sub(s.expected[0].since) > answerTime {
		s.hangUp(now, pages, &problem{ErrBadAgent, s.path + ": the agent does not answer"})
	}
}

// nextStep is the latest time for step.
func (s *session) nextStep(now time.Time) time.Time {
	if s.state == stateDown {
		return s.retryAt
	}
	if s.sendAgainAt.After(now) {
		return s.sendAgainAt
	}
	return now.Add(time.Second)
}

func (s *session) connect(now time.Time, pages []*page) {
	s.state = stateRegistering
	made, err := dial(s.path)
	if err != nil {
		s.hangUp(now, pages, &problem{ErrNoAgent, fmt.Sprintf("%.200s: %v", s.path, err)})
		return
	}
	s.connection = made
	s.listen(made)
	s.send(expectation{kind: typeRegister, since: now}, s.registration, -1)
}

func (s *session) hangUp(now time.Time, pages []*page, trouble error) {
	if trouble != nil {
		s.troubles = append(s.troubles, trouble)
	}
	if s.state == stateRegistered && now.Sub(s.registeredAt) >= longEnough {
		s.delay = 0
	}
	s.disconnect()
	for _, page := range pages {
		page.forget(now)
	}
	// Half of the delay is random, so that the processes of a host do not all reconnect at once.
	s.delay *= 2
	if s.delay < firstDelay {
		s.delay = firstDelay
	} else if s.delay > maxDelay {
		s.delay = maxDelay
	}
	s.retryAt = now.Add(s.delay/2 + time.Duration(rand.Int63n(int64(s.delay/2)+1)))
}

// disconnect closes the connection and ends what waits for it.
func (s *session) disconnect() {
	if s.connection != nil {
		s.connection.close()
	}
	s.connection = nil
	s.expected, s.releases = nil, nil
	s.slow, s.broken = false, false
	s.state = stateDown
	s.closeRequest()
}

// closeRequest lets the waiting goroutine go on.
func (s *session) closeRequest() {
	if s.request != nil {
		close(s.request.done)
		s.request = nil
	}
}

// send returns false if the message has to be sent later.
func (s *session) send(message expectation, body []byte, passed int) bool {
	if s.broken || len(s.expected) >= maxUnanswered {
		return false
	}
	switch s.connection.send(message.kind, message.number, body, passed) {
	case sentLater:
		s.sendAgainAt = message.since.Add(fullSocketTime)
		return false
	case sentNo:
		s.broken = true
		return false
	}
	if message.kind != typeRelease { // which has no answer
		s.expected = append(s.expected, message)
	}
	return true
}

func (s *session) tell(now time.Time, pages []*page) {
	if now.Before(s.sendAgainAt) {
		return
	}
	if s.state == stateRegistering && len(s.expected) == 0 { // the socket was full
		s.send(expectation{kind: typeRegister, since: now}, s.registration, -1)
	}
	if s.state != stateRegistered {
		return
	}
	for len(s.releases) > 0 {
		if !s.send(expectation{kind: typeRelease, number: s.releases[0], since: now}, nil, -1) {
			return
		}
		s.releases = s.releases[1:]
	}
	if request := s.request; request != nil && !request.asked {
		asked := expectation{kind: typePage, number: request.number, request: request, since: now}
		if !s.send(asked, appendUint16(nil, int(request.flags)), -1) {
			return
		}
		request.asked = true
	}
	again := !now.Before(s.askAgainAt)
	for _, page := range pages {
		if again && page.standing == standingRefused {
			page.standing = standingUnknown
		}
		if !s.tellPage(now, page) {
			return
		}
	}
}

func (s *session) tellPage(now time.Time, page *page) bool {
	if page.standing == standingUnknown {
		offer := expectation{kind: typeAdopt, number: page.number, page: page, since: now}
		if !s.send(offer, appendUint16(nil, int(page.flags)), page.memory.fd) {
			return false
		}
		page.standing = standingAsked
	}
	for news := page.news(); news != nil; news = page.news() {
		message := expectation{kind: typeDefine, number: page.number, page: page, metric: news.entry, since: now}
		if news.removed {
			message.kind = typeRemove
		}
		if !s.send(message, news.entry.encode(), -1) {
			return false
		}
		page.metrics.tell()
	}
	return true
}

// mayGrant tells whether it is worth waiting briefly for a page from the agent.
func (s *session) mayGrant() bool { return s.state != stateDown && !s.slow }

func (s *session) ask(number uint32, flags uint16) *pageRequest {
	s.request = &pageRequest{number: number, flags: flags, done: make(chan struct{})}
	return s.request
}

// endRequest ends a request in any state; a page that is granted too late is released.
func (s *session) endRequest(request *pageRequest) {
	request.ended = true
	if s.request == request {
		s.slow = request.asked
		s.request = nil
	}
}
