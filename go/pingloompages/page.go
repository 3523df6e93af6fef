package pingloompages

import (
	"sync/atomic"
	"time"
)

const (
	flagGrouped  = 1
	slotsPerLine = 8
)

// standing is what the agent knows about a page. It is unknown again with every connection.
type standing int

const (
	standingUnknown standing = iota
	standingAsked
	standingKnown
	standingRefused
)

// page is one page of this process: its memory, its metrics, and how much of that the agent knows.
// The lock of Pages guards it; goroutines with handles write its slots.
type page struct {
	number   uint32
	flags    uint16
	memory   *memory
	metrics  metricTable
	standing standing
}

// newPage writes the header, whose first word makes the page valid.
func newPage(number uint32, flags uint16, memory *memory) *page {
	atomic.StoreUint64(memory.word(atMagic), pageMagic|pageVersion<<32|uint64(flags)<<48)
	return &page{number: number, flags: flags, memory: memory, metrics: newTable()}
}

func (p *page) grouped() bool { return p.flags&flagGrouped != 0 }

func (p *page) hasRoom(metric *definition) bool {
	most := maxSchemaBytes
	if p.grouped() && metric.environment {
		most /= 4 // a group has this page only, so the environment leaves most of it to the application
	}
	return p.metrics.hasRoom(metric, most)
}

// add adds a metric for which there is room. Its slots are 0, and may have been those of a metric
// that was removed.
func (p *page) add(metric *definition) *entry {
	made := p.metrics.add(metric)
	for i := 0; i < metric.allSlots(); i++ {
		atomic.StoreUint64(p.memory.slot(metric.first+i), 0)
	}
	atomic.StoreUint32(p.memory.half(atSlots), uint32(p.metrics.slots))
	return made
}

func (p *page) beat() { atomic.AddUint64(p.memory.word(atHeartbeat), 1) }

func (p *page) forget(now time.Time) {
	p.standing = standingUnknown
	p.metrics.startOver(now)
	// What an agent has said does not outlive the connection to it.
	atomic.StoreUint32(p.memory.half(atKeepOneIn), 0)
}

func (p *page) belongsTo(owner, generation uint64) {
	atomic.StoreUint64(p.memory.word(atOwner), owner)
	atomic.StoreUint64(p.memory.word(atGeneration), generation)
	p.standing = standingKnown
}

// news returns what the agent has to be told next, or nil.
func (p *page) news() *news {
	if p.standing != standingKnown {
		return nil
	}
	return p.metrics.next()
}

// metricKnown makes readers read the schema again.
func (p *page) metricKnown(metric *entry) {
	p.metrics.defined(metric)
	atomic.AddUint32(p.memory.half(atSchema), 1)
}

// metricForgotten notes that the agent has removed a metric.
func (p *page) metricForgotten(metric *entry, now time.Time) {
	p.metrics.rest(metric, now)
	atomic.AddUint32(p.memory.half(atSchema), 1)
}
