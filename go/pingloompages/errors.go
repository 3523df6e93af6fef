package pingloompages

import "errors"

// The causes of errors, to be compared with errors.Is. The text of an error says what is wrong.
var (
	// ErrBadArgument means that a name, label, text, unit or shape is invalid, or that the Pages are
	// closed.
	ErrBadArgument = errors.New("invalid argument")
	// ErrConflict means that metrics of that name exist and are something else.
	ErrConflict = errors.New("metric exists as something else")
	// ErrFull means that the group's page is full, or that the process has all pages it may have.
	ErrFull = errors.New("full")
	// ErrQuota means that the agent has no page for it.
	ErrQuota = errors.New("the agent has no page")
	// ErrNoMemory means that the system has no memory or no descriptor for a page.
	ErrNoMemory = errors.New("no memory")

	// The following are reported only by Status and Options.OnError.

	// ErrNoAgent means that there is no agent (yet); another attempt follows.
	ErrNoAgent = errors.New("no agent")
	// ErrRefused means that the agent refused something and gave a reason.
	ErrRefused = errors.New("refused by the agent")
	// ErrBadAgent means that the agent's answers are malformed or missing; the connection was closed.
	ErrBadAgent = errors.New("bad agent")
)

// problem is an error with a text of its own that is one of the causes above.
type problem struct {
	cause error
	text  string
}

func (p *problem) Error() string { return p.text }
func (p *problem) Unwrap() error { return p.cause }
