package pingloompages

import (
	"encoding/binary"
	"fmt"
	"math"
	"sort"
	"strings"
	"unicode/utf8"
)

// Labels are names and values. A name is [a-zA-Z_][a-zA-Z0-9_]* with at most 128 bytes, is not `le`
// and does not begin with `__`. A value is UTF-8 without control characters, at most 256 bytes.
type Labels map[string]string

// Metric describes a metric that is to be made. The same name and labels give the same metric again,
// wherever in the program it is made. All metrics of a name have one kind and unit.
type Metric struct {
	Name   string // [a-zA-Z_:][a-zA-Z0-9_:]*, at most 128 bytes
	Help   string // UTF-8 without control characters, at most 512 bytes
	Labels Labels // at most 16, including those of the application
	Group  *Group // nil: in no group

	// OwnLine gives the metric cache lines of its own, for one that a goroutine updates millions of
	// times a second while others update its neighbours.
	OwnLine bool

	// Exemplars gives a counter room for an exemplar, which takes 16 slots more, or a histogram for
	// four, which take 64: one for each quarter of its buckets.
	Exemplars bool

	// Unit is for counters, gauges and histograms: the worth of 1 in the unit of the name, from 1e-30
	// to 1e30; 0 means 1. With 1e-9 a metric in seconds is given nanoseconds. A fraction counter has
	// no other unit than 1.
	Unit float64

	// Shape is for histograms; zero means DefaultShape.
	Shape Shape
}

type metricKind uint8

const (
	kindCounter   metricKind = 1
	kindGauge     metricKind = 2
	kindHistogram metricKind = 3
	kindInfo      metricKind = 4
	kindSummary   metricKind = 5
	// kindFractionCounter is a counter whose slot is a double. Agents know it as a gauge with
	// flagFractions.
	kindFractionCounter metricKind = 6
)

// family is what all metrics of a name have in common: a counter may be beside a fraction counter.
func (k metricKind) family() metricKind {
	if k == kindFractionCounter {
		return kindCounter
	}
	return k
}

// The limits of docs/page-format.md, "A metric".
const (
	maxNameBytes        = 128
	maxHelpBytes        = 512
	maxLabels           = 16
	maxLabelBytes       = 256
	maxApplicationBytes = 64
	maxBounds           = 502
	maxQuantiles        = 32
	maxSchemaBytes      = 256 * 1024
	maxInfos            = 64
	minUnit             = 1e-30
	maxUnit             = 1e30

	flagShared    = 1
	flagBounds    = 2
	flagExemplars = 4
	flagFractions = 8 // the gauge is a counter: its value only grows
	// With flagFractions, instead of flagExemplars, which older agents refuse for a gauge.
	flagFractionsExemplars = 16
)

type label struct{ name, value string }

// definition is a checked metric. All fields but first are set once.
type definition struct {
	kind        metricKind
	ownLine     bool
	exemplars   int // how many it has room for
	shape       Shape
	unit        float64 // of what it is given; a gauge is kept in the unit of its name
	name, help  string
	labels      []label   // sorted by name
	environment bool      // whether some of them come from the environment
	bounds      []float64 // a histogram's, if it has no shape; a summary's quantiles
	first       int       // the first slot; set by the page
	slots       int       // without those of exemplars, which follow them
	schemaBytes int       // the size of encode()
}

func badArgument(what, why string) error {
	return &problem{ErrBadArgument, what + ": " + why}
}

func isText(text string) bool {
	return utf8.ValidString(text) && strings.IndexFunc(text, isControl) < 0
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func isApplication(name string) bool {
	return name != "" && len(name) <= maxApplicationBytes && isText(name)
}

func isMetricName(name string) bool {
	for i := 0; i < len(name); i++ {
		c := name[i]
		begins := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == ':'
		if !begins && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= maxNameBytes
}

func isLabelName(name string) bool {
	return isMetricName(name) && !strings.Contains(name, ":") && !strings.HasPrefix(name, "__") &&
		name != "le"
}

// makeLabels checks and sorts labels. `common` are those of all metrics of the application.
func makeLabels(labels Labels, common []label) ([]label, error) {
	if len(labels)+len(common) > maxLabels {
		return nil, badArgument("labels", fmt.Sprintf("more than %d", maxLabels))
	}
	var made []label
	for name, value := range labels {
		if !isLabelName(name) {
			return nil, badArgument(fmt.Sprintf("label %.130q", name), "not a label's name")
		}
		if len(value) > maxLabelBytes || !isText(value) {
			return nil, badArgument("label "+name, "its value is too long, or not printable UTF-8")
		}
		if hasLabel(common, name) {
			return nil, badArgument("label "+name, "the application has it, too")
		}
		made = append(made, label{name, value})
	}
	return sorted(made), nil
}

func sorted(labels []label) []label {
	sort.Slice(labels, func(i, j int) bool { return labels[i].name < labels[j].name })
	return labels
}

func makeDefinition(metric Metric, kind metricKind, bounds []float64, common commonLabels) (*definition, error) {
	if !isMetricName(metric.Name) {
		return nil, badArgument(fmt.Sprintf("%.130q", metric.Name), "not a metric's name")
	}
	if len(metric.Help) > maxHelpBytes || !isText(metric.Help) {
		return nil, badArgument(metric.Name, "its help is too long, or not printable UTF-8")
	}
	labels, err := makeLabels(metric.Labels, common.application)
	if err != nil {
		return nil, badArgument(metric.Name, err.Error())
	}
	own := len(labels)
	labels = sorted(common.addEnvironment(labels))
	made := &definition{kind: kind, ownLine: metric.OwnLine, name: metric.Name,
		help: metric.Help, labels: labels, environment: len(labels) > own, slots: 1}
	if kind == kindInfo {
		made.slots = 0
	}
	if err := made.setUnit(metric.Unit); err != nil {
		return nil, err
	}
	switch {
	case kind == kindSummary:
		err = made.setQuantiles(bounds)
	case kind == kindHistogram && bounds == nil:
		err = made.setShape(metric.Shape)
	case kind == kindHistogram:
		err = made.setBounds(bounds)
	}
	if err == nil && metric.Exemplars {
		err = made.setExemplars()
	}
	made.schemaBytes = len(made.encode()) // independent of the slots
	return made, err
}

// setUnit takes the unit that the application asks for, if its kind has one.
func (d *definition) setUnit(unit float64) error {
	d.unit = 1
	if unit == 0 || d.kind == kindInfo || d.kind == kindSummary {
		return nil
	}
	if !(unit >= minUnit && unit <= maxUnit) {
		return badArgument(d.name, "the unit is not a number from 1e-30 to 1e30")
	}
	if d.kind == kindFractionCounter && unit != 1 {
		return badArgument(d.name, "a fraction counter is given numbers in the unit of its name")
	}
	d.unit = unit
	return nil
}

func (d *definition) setShape(shape Shape) error {
	if shape == (Shape{}) {
		shape = DefaultShape
	}
	if !shape.valid() {
		return badArgument(d.name, "no histogram has this shape")
	}
	if 1+shape.buckets() > pageSlots {
		return badArgument(d.name, "a histogram of this shape is larger than a page")
	}
	d.shape = shape
	d.slots = 1 + shape.buckets()
	return nil
}

func (d *definition) setBounds(bounds []float64) error {
	right := len(bounds) >= 1 && len(bounds) <= maxBounds
	for i := 0; right && i < len(bounds); i++ {
		right = !math.IsNaN(bounds[i]) && !math.IsInf(bounds[i], 0) &&
			(i == 0 || bounds[i-1] < bounds[i])
	}
	if !right {
		return badArgument(d.name,
			fmt.Sprintf("its bounds are not 1 to %d finite numbers in ascending order", maxBounds))
	}
	d.bounds = append([]float64(nil), bounds...)
	d.slots = len(bounds) + 2
	return nil
}

func (d *definition) setExemplars() error {
	switch d.kind {
	case kindCounter, kindFractionCounter:
		d.exemplars = counterExemplars
	case kindHistogram:
		d.exemplars = histogramExemplars
	default:
		return badArgument(d.name, "only counters and histograms have exemplars")
	}
	if d.allSlots() > pageSlots {
		return badArgument(d.name, "with its exemplars it is larger than a page")
	}
	return nil
}

// allSlots is the number of its slots with those of its exemplars.
func (d *definition) allSlots() int { return d.slots + d.exemplars*exemplarSlots }

func (d *definition) setQuantiles(quantiles []float64) error {
	right := len(quantiles) <= maxQuantiles
	for i := 0; right && i < len(quantiles); i++ {
		right = quantiles[i] >= 0 && quantiles[i] <= 1 && (i == 0 || quantiles[i-1] < quantiles[i])
	}
	if !right {
		return badArgument(d.name, fmt.Sprintf(
			"its quantiles are not up to %d numbers from 0 to 1 in ascending order", maxQuantiles))
	}
	for _, one := range d.labels {
		if one.name == "quantile" {
			return badArgument(d.name, "a summary has no label 'quantile' of its own")
		}
	}
	d.bounds = append([]float64(nil), quantiles...)
	d.slots = len(quantiles) + 2
	return nil
}

// key identifies the combination of name and labels. Names and texts contain no zero byte.
func (d *definition) key() string {
	parts := []string{d.name}
	for _, one := range d.labels {
		parts = append(parts, one.name, one.value)
	}
	return strings.Join(parts, "\x00")
}

func (d *definition) sameMetric(other *definition) bool {
	same := d.kind == other.kind && d.unit == other.unit && d.shape == other.shape &&
		len(d.bounds) == len(other.bounds) && d.exemplars == other.exemplars
	for i := 0; same && i < len(d.bounds); i++ {
		same = d.bounds[i] == other.bounds[i]
	}
	return same
}

// encode returns the body of a define message.
func (d *definition) encode() []byte {
	kind, unit, flags := d.kind, d.unit, byte(0)
	switch d.kind {
	case kindCounter, kindHistogram:
		flags = flagShared
	case kindGauge:
		unit = 1 // that of its slot
	case kindFractionCounter: // older agents show the gauge, and the value is right
		kind, flags = kindGauge, flagFractions
	}
	if d.bounds != nil {
		flags |= flagBounds
	}
	if d.exemplars > 0 && d.kind == kindFractionCounter {
		flags |= flagFractionsExemplars
	} else if d.exemplars > 0 {
		flags |= flagExemplars
	}
	out := []byte{byte(kind), flags}
	out = appendUint16(out, d.first)
	out = appendUint16(out, d.slots)
	out = append(out, d.shape.Lowest, d.shape.Highest, d.shape.Precision, byte(len(d.labels)))
	out = appendFloat(out, unit)
	out = appendString(out, d.name)
	out = appendText(out, d.help)
	out = appendLabels(out, d.labels)
	if d.bounds != nil {
		out = appendUint16(out, len(d.bounds))
		for _, bound := range d.bounds {
			out = appendFloat(out, bound)
		}
	}
	return out
}

func appendUint16(out []byte, value int) []byte {
	return binary.LittleEndian.AppendUint16(out, uint16(value))
}

func appendFloat(out []byte, value float64) []byte {
	return binary.LittleEndian.AppendUint64(out, math.Float64bits(value))
}

func appendString(out []byte, text string) []byte {
	return append(append(out, byte(len(text))), text...)
}

func appendText(out []byte, text string) []byte {
	return append(appendUint16(out, len(text)), text...)
}

func appendLabels(out []byte, labels []label) []byte {
	for _, one := range labels {
		out = appendString(out, one.name)
		out = appendText(out, one.value)
	}
	return out
}
