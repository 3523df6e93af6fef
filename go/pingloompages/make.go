package pingloompages

import (
	"errors"
	"fmt"
	"time"
)

const (
	agentTime = 200 * time.Millisecond
	maxPages  = 1024 // each needs a descriptor
)

// placed is a metric on its page, and where its handles write.
type placed struct {
	page       *page
	definition *entry
	place      *place
}

type family struct {
	kind    metricKind
	unit    float64
	metrics int
}

// Counter makes a counter.
func (p *Pages) Counter(metric Metric) (Counter, error) {
	made, err := p.makeMetric(metric, kindCounter, nil)
	if err != nil {
		return Counter{}, err
	}
	return Counter{made.place, made.definition.unit, made.definition.exemplars}, nil
}

// FractionCounter makes a counter of fractions.
func (p *Pages) FractionCounter(metric Metric) (FractionCounter, error) {
	made, err := p.makeMetric(metric, kindFractionCounter, nil)
	if err != nil {
		return FractionCounter{}, err
	}
	return FractionCounter{made.place, made.definition.exemplars}, nil
}

// Gauge makes a gauge.
func (p *Pages) Gauge(metric Metric) (Gauge, error) {
	made, err := p.makeMetric(metric, kindGauge, nil)
	if err != nil {
		return Gauge{}, err
	}
	return Gauge{made.place, made.definition.unit}, nil
}

// Histogram makes a histogram of whole numbers.
func (p *Pages) Histogram(metric Metric) (Histogram, error) {
	made, err := p.makeMetric(metric, kindHistogram, nil)
	if err != nil {
		return Histogram{}, err
	}
	return Histogram{made.place, made.definition.shape, made.definition.unit, made.definition.exemplars}, nil
}

// BoundedHistogram makes a histogram whose buckets have these upper bounds, in the unit of the name,
// and one more without a bound. There are 1 to 502 bounds, finite and ascending. The metric's Shape
// is ignored, and its Unit is the smallest difference that the sum resolves.
func (p *Pages) BoundedHistogram(metric Metric, bounds []float64) (BoundedHistogram, error) {
	if bounds == nil {
		bounds = []float64{} // which is refused
	}
	made, err := p.makeMetric(metric, kindHistogram, bounds)
	if err != nil {
		return BoundedHistogram{}, err
	}
	return BoundedHistogram{made.place, made.definition.bounds, made.definition.unit, made.definition.exemplars}, nil
}

// Summary makes a summary, which shows quantiles that the application has computed itself. There are
// 0 to 32 of them, from 0 to 1 and ascending. The metric's Shape and Unit are ignored, and it has no
// label `quantile`.
func (p *Pages) Summary(metric Metric, quantiles []float64) (Summary, error) {
	made, err := p.makeMetric(metric, kindSummary, quantiles)
	if err != nil {
		return Summary{}, err
	}
	return Summary{made.place, len(made.definition.bounds)}, nil
}

// Info makes an info, which has no value. It consists of its labels, for example a version.
func (p *Pages) Info(metric Metric) error {
	_, err := p.makeMetric(metric, kindInfo, nil)
	return err
}

// NewGroup makes a group and its page. After an error the group is inert.
func (p *Pages) NewGroup() (*Group, error) {
	if p == nil {
		return &Group{}, badArgument("group", "the pages were not opened")
	}
	p.making.Lock()
	defer p.making.Unlock()
	page, err := p.newPage(flagGrouped)
	if err != nil {
		return &Group{}, err
	}
	return &Group{memory: page.memory}, nil
}

func (p *Pages) makeMetric(metric Metric, kind metricKind, bounds []float64) (*placed, error) {
	if p == nil {
		return nil, badArgument(fmt.Sprintf("%.130q", metric.Name), "the pages were not opened")
	}
	p.making.Lock()
	defer p.making.Unlock()
	made, err := p.makeWith(p.labels, metric, kind, bounds)
	if errors.Is(err, ErrFull) {
		// Where there is no room for the environment's labels, they give way.
		return p.makeWith(commonLabels{application: p.labels.application}, metric, kind, bounds)
	}
	return made, err
}

// makeWith makes a metric with these labels beside its own. REQUIRES: making is held.
func (p *Pages) makeWith(common commonLabels, metric Metric, kind metricKind, bounds []float64) (*placed, error) {
	definition, err := makeDefinition(metric, kind, bounds, common)
	if err != nil {
		return nil, err
	}
	if p.isClosed() {
		return nil, badArgument(metric.Name, "the pages are closed")
	}
	key := definition.key()
	if known := p.metrics[key]; known != nil {
		if !known.definition.sameMetric(definition) || !isIn(known.page, metric.Group) {
			return nil, &problem{ErrConflict, metric.Name + ": made already, as something else"}
		}
		return known, nil
	}
	wanted := p.families[metric.Name]
	if wanted == nil {
		wanted = &family{kind: kind.family(), unit: definition.unit}
	}
	if wanted.kind != kind.family() || wanted.unit != definition.unit {
		return nil, &problem{ErrConflict, metric.Name + ": metrics of this name are something else"}
	}
	page, err := p.pageFor(metric.Group, definition)
	if page == nil && err == nil {
		page, err = p.newPage(0)
	}
	if err != nil {
		return nil, err
	}
	wanted.metrics++
	p.families[metric.Name] = wanted
	p.mutex.Lock()
	made := &placed{page: page, definition: page.add(definition)}
	p.mutex.Unlock()
	made.place = newPlace(page.memory, definition)
	p.metrics[key] = made
	p.wake()
	return made, nil
}

// Remove ends the metric with this name and these labels, whatever its kind: collectors drop its
// series within seconds. The rest of metric does not matter. It returns whether there was one.
// Updates of its handles have no effect any more. If the metric is made again, it is a new one that
// begins with 0.
func (p *Pages) Remove(metric Metric) bool {
	if p == nil {
		return false
	}
	p.making.Lock()
	defer p.making.Unlock()
	// It was made with the environment's labels, or without them where there was no room.
	with := p.removeWith(p.labels, metric)
	without := p.removeWith(commonLabels{application: p.labels.application}, metric)
	return with || without
}

// removeWith removes the metric that has these labels beside its own. REQUIRES: making is held.
func (p *Pages) removeWith(common commonLabels, metric Metric) bool {
	definition, err := makeDefinition(Metric{Name: metric.Name, Labels: metric.Labels}, kindInfo, nil, common)
	if err != nil {
		return false
	}
	key := definition.key()
	known := p.metrics[key]
	if known == nil {
		return false
	}
	delete(p.metrics, key)
	family := p.families[metric.Name]
	if family.metrics--; family.metrics == 0 {
		delete(p.families, metric.Name)
	}
	known.place.leave()
	p.mutex.Lock()
	known.page.metrics.remove(known.definition, time.Now())
	p.mutex.Unlock()
	p.wake()
	return true
}

func (p *Pages) isClosed() bool {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	return p.closed
}

func isIn(page *page, group *Group) bool {
	if group == nil {
		return !page.grouped()
	}
	return page.memory == group.memory
}

// pageFor returns a page with room, or nil if there is none. REQUIRES: making is held.
func (p *Pages) pageFor(group *Group, definition *definition) (*page, error) {
	now := time.Now()
	p.mutex.Lock()
	defer p.mutex.Unlock()
	for _, candidate := range p.pages {
		candidate.metrics.sweep(now)
		if group == nil && (candidate.grouped() || !candidate.hasRoom(definition)) ||
			group != nil && candidate.memory != group.memory {
			continue
		}
		if !candidate.hasRoom(definition) {
			return nil, &problem{ErrFull, definition.name + ": the group's page is full"}
		}
		return candidate, nil
	}
	if group != nil {
		return nil, badArgument(definition.name, "there is no such group")
	}
	return nil, nil
}

// newPage asks the agent, or makes memory of its own. REQUIRES: making is held.
func (p *Pages) newPage(flags uint16) (*page, error) {
	if len(p.pages) >= maxPages {
		return nil, &problem{ErrFull, fmt.Sprintf("a process may have %d pages", maxPages)}
	}
	made, err := p.pageFromAgent(flags)
	if made != nil || err != nil {
		return made, err
	}
	memory, err := makeMemory()
	if err != nil {
		return nil, &problem{ErrNoMemory, "no memory for a page: " + err.Error()}
	}
	p.numbered++
	made = newPage(p.numbered, flags, memory)
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.closed {
		memory.closeDescriptor()
		return nil, badArgument("page", "the pages are closed")
	}
	p.addPage(made)
	p.wake() // the agent has to be told
	return made, nil
}

// pageFromAgent returns no page if there is no agent or it takes too long. REQUIRES: making is held.
func (p *Pages) pageFromAgent(flags uint16) (*page, error) {
	p.mutex.Lock()
	if p.closed || !p.session.mayGrant() {
		p.mutex.Unlock()
		return nil, nil
	}
	p.numbered++
	request := p.session.ask(p.numbered, flags)
	p.mutex.Unlock()
	p.wake()
	timer := time.NewTimer(p.patience)
	defer timer.Stop()
	select {
	case <-request.done:
	case <-timer.C:
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.session.endRequest(request)
	if request.memory == nil {
		return nil, request.refusal
	}
	if p.closed {
		request.memory.closeDescriptor()
		return nil, badArgument("page", "the pages are closed")
	}
	made := newPage(request.number, flags, request.memory)
	if request.connection == p.session.connection {
		made.belongsTo(p.session.owner, request.generation)
	}
	p.addPage(made)
	return made, nil
}

// addPage adds a page; pages are never removed. REQUIRES: both locks are held.
func (p *Pages) addPage(made *page) {
	if len(p.pages) == 0 {
		p.first.Store(made.memory)
	}
	p.pages = append(p.pages, made)
}
