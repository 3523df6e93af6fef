package pingloompages

import "time"

// take handles what was received by a connection: an answer, or the error that ended it. It returns
// false if the connection is of no use any more.
func (s *session) take(now time.Time, from *connection, got *answer, failure error, pages []*page) bool {
	if s.connection != from { // it was closed meanwhile
		if got != nil {
			got.drop()
		}
		return false
	}
	if failure != nil && failure != errMalformed {
		s.hangUp(now, pages, nil)
		return false
	}
	if failure == nil {
		accepted := s.accept(now, got)
		got.drop() // unless the memory took it
		if accepted {
			return true
		}
	}
	s.hangUp(now, pages, &problem{ErrBadAgent, s.path + ": " + errMalformed.Error()})
	return false
}

func answerTo(asked uint16) uint16 {
	switch asked {
	case typeRegister:
		return typeRegistered
	case typeDefine:
		return typeDefined
	case typeRemove:
		return typeRemoved
	}
	return typeGranted
}

// accept returns false if the answer does not match the oldest request. Answers are hostile until
// they do.
func (s *session) accept(now time.Time, got *answer) bool {
	if len(s.expected) == 0 {
		return false
	}
	asked := s.expected[0]
	s.expected = s.expected[1:]
	s.slow = false
	wantsDescriptor := asked.kind == typePage && got.kind == typeGranted
	if got.page != asked.number || (got.descriptor >= 0) != wantsDescriptor {
		return false
	}
	if got.kind == typeRefused {
		s.acceptRefusal(now, asked, got)
		return true
	}
	if got.kind != answerTo(asked.kind) {
		return false
	}
	switch asked.kind {
	case typeRegister:
		s.state = stateRegistered
		s.registeredAt = now
		s.owner = got.owner
	case typeDefine:
		asked.page.metricKnown(asked.metric)
	case typeRemove:
		asked.page.metricForgotten(asked.metric, now)
	case typeAdopt:
		asked.page.belongsTo(s.owner, got.generation)
	default:
		return s.acceptGrant(asked, got)
	}
	return true
}

func (s *session) acceptGrant(asked expectation, got *answer) bool {
	memory, err := takeMemory(got.descriptor)
	got.descriptor = -1
	if err != nil {
		return false
	}
	if asked.request.ended {
		memory.closeDescriptor()
		s.releases = append(s.releases, asked.number)
		return true
	}
	asked.request.memory = memory
	asked.request.generation = got.generation
	asked.request.connection = s.connection
	s.closeRequest()
	return true
}

func (s *session) acceptRefusal(now time.Time, asked expectation, got *answer) {
	s.refused++
	what := "a page"
	switch asked.kind {
	case typeRegister:
		what = "this process"
		s.broken = true
	case typeDefine:
		what = "metric " + asked.metric.name
		asked.page.metrics.refused(asked.metric, now)
	case typeRemove:
		// An agent that does not remove a metric, because it is too old or knows something else, forgets
		// it when the connection ends. The next connection defines what is left.
		what = "to remove metric " + asked.metric.name
		s.broken = true
	case typeAdopt:
		asked.page.standing = standingRefused
		s.askAgainAt = now.Add(askAgain)
	}
	trouble := &problem{ErrRefused, "the agent refuses " + what + ": " + got.why}
	if got.refusal == refusalQuota {
		trouble.cause = ErrQuota
	}
	if asked.kind == typePage && !asked.request.ended {
		// The waiting goroutine reports the refusal, or goes on with memory of its own.
		if got.refusal != refusalUnavailable {
			asked.request.refusal = &problem{ErrQuota, trouble.text}
		}
		s.closeRequest()
	}
	s.troubles = append(s.troubles, trouble)
}
