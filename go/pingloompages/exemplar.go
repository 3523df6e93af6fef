package pingloompages

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"sync/atomic"
	"time"
)

// What docs/page-format.md says of exemplars.
const (
	exemplarSlots      = 16
	counterExemplars   = 1
	histogramExemplars = 4

	exemplarBytes    = 8 * exemplarSlots
	atExemplarTime   = 16
	atExemplarValue  = 24
	atExemplarLabels = 32
	sequenceSlot     = 1 // the slot after the checksum
)

// AddExemplar adds n units and keeps them as the counter's exemplar, with labels that say which trace
// they belong to: Labels{"trace_id": "4bf9..."}. The metric needs Exemplars; without it no exemplar
// is kept. It adds whatever it returns: an error means that the labels are none or all empty, not
// labels, or more than 96 bytes, with two for each label. It never waits; an exemplar is dropped
// while another goroutine writes one there.
func (c Counter) AddExemplar(n uint64, labels Labels) error {
	c.Add(n)
	return c.place.putExemplar(c.exemplars, 1, 0, 1, float64(n), labels)
}

// ObserveExemplar counts a value, and keeps it with labels as Counter.AddExemplar does: as the
// exemplar of its quarter of the buckets.
func (h Histogram) ObserveExemplar(value uint64, labels Labels) error {
	h.Observe(value)
	buckets := h.shape.buckets()
	return h.place.putExemplar(h.exemplars, 1+buckets, h.shape.bucket(value), buckets, float64(value), labels)
}

// ObserveExemplar counts a value, and keeps it with labels as Histogram.ObserveExemplar does. A value
// that is not finite is counted, and an error.
func (h BoundedHistogram) ObserveExemplar(value float64, labels Labels) error {
	h.Observe(value)
	buckets := len(h.bounds) + 1
	return h.place.putExemplar(h.exemplars, 1+buckets, h.bucket(value), buckets, value, labels)
}

// putExemplar keeps the exemplar of a value in a bucket. The places for `count` exemplars begin at
// slot `first` of the metric.
func (p *place) putExemplar(count, first, bucket, buckets int, value float64, labels Labels) error {
	if p == nil || count == 0 {
		return nil
	}
	raw, err := encodeExemplar(value, labels)
	if err != nil {
		return err
	}
	slots := p.slots()
	first += bucket * count / buckets * exemplarSlots
	sequence := slots.at(first + sequenceSlot)
	before := atomic.LoadUint64(sequence)
	if before%2 != 0 || !atomic.CompareAndSwapUint64(sequence, before, before+1) {
		return nil
	}
	binary.LittleEndian.PutUint64(raw[8*sequenceSlot:], before+2)
	checksum := fnv.New64a()
	checksum.Write(raw[8:])
	binary.LittleEndian.PutUint64(raw, checksum.Sum64())
	for i := 0; i < exemplarSlots; i++ {
		if i != sequenceSlot {
			atomic.StoreUint64(slots.at(first+i), binary.LittleEndian.Uint64(raw[8*i:]))
		}
	}
	atomic.StoreUint64(sequence, before+2)
	runtime.KeepAlive(p.memory)
	return nil
}

// encodeExemplar returns an exemplar without checksum and sequence.
func encodeExemplar(value float64, labels Labels) ([]byte, error) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil, badArgument("exemplar", "its value is not finite")
	}
	raw := make([]byte, atExemplarLabels, exemplarBytes)
	binary.LittleEndian.PutUint64(raw[atExemplarTime:], uint64(time.Now().UnixNano()))
	binary.LittleEndian.PutUint64(raw[atExemplarValue:], math.Float64bits(value))
	var pairs []label
	told := false // whether a label has a value
	for name, content := range labels {
		pairs = append(pairs, label{name, content})
		told = told || content != ""
	}
	for _, one := range sorted(pairs) {
		if len(raw)+2+len(one.name)+len(one.value) > exemplarBytes {
			return nil, badArgument("exemplar", "its labels have more than 96 bytes")
		}
		if !isLabelName(one.name) || !isText(one.value) {
			return nil, badArgument(fmt.Sprintf("exemplar's label %q", one.name), "not a label")
		}
		raw = appendString(appendString(raw, one.name), one.value)
	}
	if !told { // an empty label is none
		return nil, badArgument("exemplar", "it has no labels with a value")
	}
	return raw[:exemplarBytes], nil
}
