package pingloompages

import "time"

// slotRest is how long the slots of a removed metric rest: longer than an agent lets collectors read
// by an earlier schema (docs/page-format.md, "Removal").
const slotRest = 60 * time.Second

type told int

const (
	toldNot told = iota
	toldAsked
	toldKnown
	toldRefused
)

// entry is a metric of a table.
type entry struct {
	*definition
	told       told
	removed    bool
	resting    bool
	restsUntil time.Time
}

type news struct {
	entry   *entry
	removed bool
}

// metricTable has the metrics of one page: where their slots are, and what the agent has been told
// of them. The slots of a removed metric rest after the agent has forgotten it, because collectors
// may still read them as what they were. The lock of Pages guards it.
type metricTable struct {
	entries     map[*entry]bool // all that were not swept
	living      []*entry        // those that were not removed, in the order in which they were made
	known       int             // the living ones that the agent knows
	queue       []news          // at most one for each entry that does not rest
	resting     []*entry        // in the order in which their rests end
	taken       [pageSlots]bool
	free        int
	slots       int // the number in use, counted from the first; it never falls
	schemaBytes int
	infos       int
	fresh       bool // whether no agent has been told anything
}

func newTable() metricTable {
	return metricTable{entries: map[*entry]bool{}, free: pageSlots, fresh: true}
}

// reserved is how many slots a metric occupies, including what it leaves unused of cache lines of
// its own.
func reserved(metric *definition) int {
	if metric.ownLine {
		return (metric.allSlots() + slotsPerLine - 1) / slotsPerLine * slotsPerLine
	}
	return metric.allSlots()
}

// freeSlots returns the first slot of a place for a metric, or -1.
func (t *metricTable) freeSlots(metric *definition) int {
	wanted, step := reserved(metric), 1
	if metric.ownLine {
		step = slotsPerLine
	}
	if wanted > t.free {
		return -1
	}
	for first := 0; first+wanted <= pageSlots; {
		end := first
		for end < first+wanted && !t.taken[end] {
			end++
		}
		if end == first+wanted {
			return first
		}
		first = (end/step + 1) * step // the slot at end is taken
	}
	return -1
}

func (t *metricTable) hasRoom(metric *definition, mostBytes int) bool {
	if t.schemaBytes+metric.schemaBytes > mostBytes {
		return false
	}
	if metric.kind == kindInfo {
		return t.infos < maxInfos
	}
	return t.freeSlots(metric) >= 0
}

// occupy takes a metric's slots, or gives them back.
func (t *metricTable) occupy(metric *definition, taken bool) {
	for i := 0; i < reserved(metric); i++ {
		t.taken[metric.first+i] = taken
	}
	if taken {
		t.free -= reserved(metric)
	} else {
		t.free += reserved(metric)
	}
}

// add places a metric for which there is room.
func (t *metricTable) add(metric *definition) *entry {
	if metric.kind == kindInfo {
		metric.first = t.slots
		t.infos++
	} else {
		metric.first = t.freeSlots(metric)
		t.occupy(metric, true)
		if end := metric.first + metric.allSlots(); end > t.slots {
			t.slots = end
		}
	}
	t.schemaBytes += metric.schemaBytes
	made := &entry{definition: metric}
	t.entries[made] = true
	t.living = append(t.living, made)
	t.queue = append(t.queue, news{made, false})
	return made
}

// remove ends a metric.
func (t *metricTable) remove(one *entry, now time.Time) {
	one.removed = true
	for i, other := range t.living {
		if other == one {
			t.living = append(t.living[:i], t.living[i+1:]...)
			break
		}
	}
	switch one.told {
	case toldAsked: // the answer decides whether there is something to remove
	case toldKnown:
		t.known--
		t.queue = append(t.queue, news{one, true})
	case toldNot:
		t.unqueue(one)
		t.rest(one, now)
	case toldRefused:
		t.rest(one, now)
	}
}

// unqueue drops what the agent would be told of a metric. It may be long until an agent takes what
// is queued, and what was removed before it hears of it needs no mention.
func (t *metricTable) unqueue(one *entry) {
	for i := range t.queue {
		if t.queue[i].entry == one {
			last := len(t.queue) - 1
			copy(t.queue[i:], t.queue[i+1:])
			t.queue[last] = news{} // the memory behind the queue keeps no entry
			t.queue = t.queue[:last]
			return
		}
	}
}

func (t *metricTable) rest(one *entry, now time.Time) {
	one.resting = true
	t.schemaBytes -= one.schemaBytes
	if one.kind == kindInfo { // it has nothing that rests
		t.infos--
		delete(t.entries, one)
		return
	}
	one.restsUntil = now.Add(slotRest)
	t.resting = append(t.resting, one)
}

// sweep makes room by what has rested.
func (t *metricTable) sweep(now time.Time) {
	for len(t.resting) > 0 && !now.Before(t.resting[0].restsUntil) {
		t.occupy(t.resting[0].definition, false)
		delete(t.entries, t.resting[0])
		t.resting = t.resting[1:]
	}
}

// next returns what the agent has to be told next, or nil.
func (t *metricTable) next() *news {
	if len(t.queue) == 0 {
		return nil
	}
	return &t.queue[0]
}

// tell notes that the agent was told of next().
func (t *metricTable) tell() {
	one := t.queue[0]
	t.queue = t.queue[1:]
	t.fresh = false
	if !one.removed {
		one.entry.told = toldAsked
	}
}

func (t *metricTable) defined(one *entry) {
	one.told = toldKnown
	if one.removed {
		t.queue = append(t.queue, news{one, true})
	} else {
		t.known++
	}
}

// refused notes that the agent did not take the metric's definition.
func (t *metricTable) refused(one *entry, now time.Time) {
	one.told = toldRefused
	if one.removed {
		t.rest(one, now)
	}
}

// startOver prepares for an agent that knows nothing yet. It is told of what was not removed.
func (t *metricTable) startOver(now time.Time) {
	if t.fresh {
		return
	}
	t.fresh = true
	t.known = 0
	t.queue = nil
	for one := range t.entries {
		if one.removed && !one.resting {
			t.rest(one, now)
		}
	}
	for _, one := range t.living {
		one.told = toldNot
		t.queue = append(t.queue, news{one, false})
	}
}
