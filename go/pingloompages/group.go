package pingloompages

import (
	"sync"
	"sync/atomic"
)

// Group is a set of metrics whose values belong together: readers see all updates of a call of
// Update, or none. It has a page of its own with 504 slots. Name it in Metric.Group, and update its
// metrics within Update only. The zero value is inert.
type Group struct {
	updating sync.Mutex
	memory   *memory
}

// Update calls update while readers skip the group, so it should be short. Calls from several
// goroutines happen one after the other. A panic of update ends the group's update and goes on.
func (g *Group) Update(update func()) {
	if g == nil || g.memory == nil {
		update()
		return
	}
	g.updating.Lock()
	defer g.updating.Unlock()
	sequence := g.memory.word(atSequence)
	atomic.AddUint64(sequence, 1)
	defer atomic.AddUint64(sequence, 1)
	update()
}
