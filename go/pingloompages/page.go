package pingloompages

import "sync/atomic"

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
	number      uint32
	flags       uint16
	memory      *memory
	metrics     []*definition // ordered by slot
	slots       int           // the number in use
	lineTaken   bool          // whether the last metric needs cache lines of its own
	schemaBytes int
	infos       int

	standing standing
	told     int // metrics that were sent to the agent
	known    int // metrics that the agent has taken
}

// newPage writes the header, whose first word makes the page valid.
func newPage(number uint32, flags uint16, memory *memory) *page {
	atomic.StoreUint64(memory.word(atMagic), pageMagic|pageVersion<<32|uint64(flags)<<48)
	return &page{number: number, flags: flags, memory: memory}
}

func (p *page) grouped() bool { return p.flags&flagGrouped != 0 }

func (p *page) firstSlot(metric *definition) int {
	if metric.kind != kindInfo && (p.lineTaken || metric.ownLine) {
		return (p.slots + slotsPerLine - 1) / slotsPerLine * slotsPerLine
	}
	return p.slots
}

func (p *page) hasRoom(metric *definition) bool {
	if metric.kind == kindInfo && p.infos >= maxInfos {
		return false
	}
	most := maxSchemaBytes
	if p.grouped() && metric.environment {
		most /= 4 // a group has this page only, so the environment leaves most of it to the application
	}
	return p.firstSlot(metric)+metric.slots <= pageSlots && p.schemaBytes+metric.schemaBytes <= most
}

// add adds a metric for which there is room.
func (p *page) add(metric *definition) {
	metric.first = p.firstSlot(metric)
	if metric.kind == kindInfo {
		p.infos++
	} else {
		p.slots = metric.first + metric.slots
		p.lineTaken = metric.ownLine
	}
	p.schemaBytes += metric.schemaBytes
	p.metrics = append(p.metrics, metric)
	atomic.StoreUint32(p.memory.half(atSlots), uint32(p.slots)) // they are zero already
}

func (p *page) beat() { atomic.AddUint64(p.memory.word(atHeartbeat), 1) }

func (p *page) forget() {
	p.standing = standingUnknown
	p.told, p.known = 0, 0
	// What an agent has said does not outlive the connection to it.
	atomic.StoreUint32(p.memory.half(atKeepOneIn), 0)
}

func (p *page) belongsTo(owner, generation uint64) {
	atomic.StoreUint64(p.memory.word(atOwner), owner)
	atomic.StoreUint64(p.memory.word(atGeneration), generation)
	p.standing = standingKnown
}

func (p *page) hasNews() bool { return p.standing == standingKnown && p.told < len(p.metrics) }

// metricKnown makes readers read the schema again.
func (p *page) metricKnown() {
	p.known++
	atomic.AddUint32(p.memory.half(atSchema), 1)
}
