use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;

use crate::exemplar::{self, EXEMPLAR_SLOTS};
use crate::make::Made;
use crate::page::{Layout, Mapping, INERT};
use crate::{Error, Shape};

/// The slots of a metric, and what keeps their memory mapped.
///
/// All accesses are Relaxed: a value orders nothing else, and readers need no more than that each
/// 8-byte value is whole. Group updates order values by the sequence (page.rs).
#[derive(Clone, Debug)]
pub(crate) struct Slots {
    slots: NonNull<[AtomicU64]>,
    exemplars: usize, // how many of them follow the values
    _memory: Option<Arc<Mapping>>,
    _users: Option<Arc<()>>, // after a removal nobody else has the slots while this lives
}

// SAFETY: the slots are atomics in memory that belongs to no thread and lives as long as this.
unsafe impl Send for Slots {}
// SAFETY: as above.
unsafe impl Sync for Slots {}

impl Slots {
    pub(crate) fn of(made: &Made) -> Slots {
        let first = usize::from(made.definition.first);
        let slots = &made.memory.page().slots[first..first + made.definition.all_slots()];
        Slots {
            slots: NonNull::from(slots),
            exemplars: made.definition.exemplars,
            _memory: Some(made.memory.clone()),
            _users: Some(made.users.clone()),
        }
    }
    pub(crate) fn inert() -> Slots {
        Slots { slots: NonNull::from(&INERT.slots[..]), exemplars: 0, _memory: None, _users: None }
    }
    #[inline]
    fn all(&self) -> &[AtomicU64] {
        // SAFETY: they are in INERT, or in the mapping that _memory keeps.
        unsafe { self.slots.as_ref() }
    }
    /// Keeps the exemplar of a value that was counted in a bucket, unless it has no room for any.
    pub(crate) fn put_exemplar(
        &self,
        (bucket, buckets): (usize, usize),
        value: f64,
        labels: &[(&str, &str)],
    ) -> Result<(), Error> {
        if self.exemplars == 0 {
            return Ok(());
        }
        let first = self.all().len() - self.exemplars * EXEMPLAR_SLOTS
            + bucket * self.exemplars / buckets * EXEMPLAR_SLOTS;
        exemplar::write(&self.all()[first..first + EXEMPLAR_SLOTS], value, labels)
    }
    #[inline]
    fn add(&self, slot: usize, n: u64) {
        self.all()[slot].fetch_add(n, Ordering::Relaxed);
    }
    /// Adds to a slot that is a double, by a compare-and-swap, so nothing is lost when several
    /// threads add.
    #[inline]
    pub(crate) fn add_double(&self, slot: usize, difference: f64) {
        let sum = |bits| Some((f64::from_bits(bits) + difference).to_bits());
        // It never fails, because the function always returns Some.
        let _ = self.all()[slot].fetch_update(Ordering::Relaxed, Ordering::Relaxed, sum);
    }
    /// Adds as the only writer. An update of another one in between would be lost.
    #[inline]
    pub(crate) fn add_alone(&self, slot: usize, n: u64) {
        self.set(slot, self.get(slot).wrapping_add(n));
    }
    #[inline]
    pub(crate) fn set(&self, slot: usize, value: u64) {
        self.all()[slot].store(value, Ordering::Relaxed);
    }
    #[inline]
    pub(crate) fn get(&self, slot: usize) -> u64 {
        self.all()[slot].load(Ordering::Relaxed)
    }
}

/// An unsigned number that only grows. Any thread may add to it.
///
/// Like all handles it is cheap to clone, and clones count into the same metric. A default one is
/// inert: it counts where nobody reads. Handles outlive their [`Pages`](crate::Pages); nobody
/// reads them then.
#[derive(Clone, Debug)]
pub struct Counter(Slots);

impl Counter {
    pub(crate) fn of(made: &Made) -> Counter {
        Counter(Slots::of(made))
    }
    /// Adds 1.
    #[inline]
    pub fn inc(&self) {
        self.0.add(0, 1);
    }
    /// `n` is in the unit of the metric.
    #[inline]
    pub fn add(&self, n: u64) {
        self.0.add(0, n);
    }
    /// Adds, and keeps what was added as the counter's exemplar, with labels that say which trace it
    /// belongs to: `&[("trace_id", "4bf9...")]`. The metric needs [`Metric::exemplars`](
    /// crate::Metric::exemplars); without it no exemplar is kept. It adds whatever it returns: it
    /// fails if the labels are none or all empty, not labels, or more than 96 bytes with two for
    /// each label. It never waits; an exemplar is dropped while another thread writes one there.
    pub fn add_exemplar(&self, n: u64, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.add(n);
        self.0.put_exemplar((0, 1), n as f64, labels)
    }
    /// Sets it to a value that is counted elsewhere and never falls.
    #[inline]
    pub fn set(&self, value: u64) {
        self.0.set(0, value);
    }
    pub fn get(&self) -> u64 {
        self.0.get(0)
    }
}

impl Default for Counter {
    fn default() -> Counter {
        Counter(Slots::inert())
    }
}

/// A number that goes up and down. Any thread may update it, and the last one to set it wins.
#[derive(Clone, Debug)]
pub struct Gauge {
    slots: Slots,
    unit: f64,
}

impl Gauge {
    pub(crate) fn of(made: &Made) -> Gauge {
        Gauge { slots: Slots::of(made), unit: made.definition.unit }
    }
    /// `value` is in the unit of the metric. The page has it in the unit of the name.
    #[inline]
    pub fn set(&self, value: f64) {
        self.slots.set(0, (value * self.unit).to_bits());
    }
    /// A compare-and-swap, so nothing is lost when several threads add.
    #[inline]
    pub fn add(&self, difference: f64) {
        self.slots.add_double(0, difference * self.unit);
    }
    /// The value in the unit of the metric. With a unit other than 1 it may be rounded.
    pub fn get(&self) -> f64 {
        f64::from_bits(self.slots.get(0)) / self.unit
    }
}

impl Default for Gauge {
    fn default() -> Gauge {
        Gauge { slots: Slots::inert(), unit: 1.0 }
    }
}

/// A log-linear histogram of whole numbers. Any thread may observe.
#[derive(Clone, Debug)]
pub struct Histogram {
    slots: Slots,
    shape: Shape,
}

impl Histogram {
    pub(crate) fn of(made: &Made) -> Histogram {
        let shape = made.definition.shape.unwrap_or_default();
        Histogram { slots: Slots::of(made), shape }
    }
    /// `value` is in the unit of the metric.
    #[inline]
    pub fn observe(&self, value: u64) {
        self.slots.add(0, value);
        self.slots.add(1 + self.shape.bucket(value), 1);
    }
    /// Observes a duration in nanoseconds, for metrics whose unit is 1e-9. It saturates at 584
    /// years.
    #[inline]
    pub fn observe_duration(&self, duration: Duration) {
        self.observe(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }
    /// Observes, and keeps the value as the exemplar of its quarter of the buckets; see
    /// [`Counter::add_exemplar`].
    pub fn observe_exemplar(&self, value: u64, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.observe(value);
        let bucket = (self.shape.bucket(value), self.shape.buckets());
        self.slots.put_exemplar(bucket, value as f64, labels)
    }
    /// How many values were observed.
    pub fn count(&self) -> u64 {
        (0..self.shape.buckets()).fold(0, |sum, at| self.slots.get(1 + at).wrapping_add(sum))
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram { slots: Slots::inert(), shape: Shape::default() }
    }
}

/// A histogram with bounds of its own, as in Prometheus' libraries. Any thread may observe, and
/// one at a time may set.
#[derive(Clone, Debug)]
pub struct BoundedHistogram {
    slots: Slots,
    bounds: Arc<[f64]>,
    unit: f64,
}

impl BoundedHistogram {
    pub(crate) fn of(made: &Made) -> BoundedHistogram {
        let definition = &made.definition;
        let bounds = definition.bounds.clone().into();
        BoundedHistogram { slots: Slots::of(made), bounds, unit: definition.unit }
    }
    /// `value` has the unit of the metric's name, as the bounds do. The sum counts whole units, to
    /// which a negative value adds nothing.
    #[inline]
    pub fn observe(&self, value: f64) {
        // The cast saturates and takes NaN and what is below 0 for 0, so that no value lowers a sum.
        self.slots.add(0, (value / self.unit).round() as u64);
        self.slots.add(1 + self.bucket(value), 1);
    }
    /// NaN is in the last bucket.
    #[inline]
    fn bucket(&self, value: f64) -> usize {
        self.bounds.partition_point(|&bound| value > bound || value.is_nan())
    }
    /// As [`Histogram::observe_exemplar`]. A value that is not finite is observed, and an error.
    pub fn observe_exemplar(&self, value: f64, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.observe(value);
        self.slots.put_exemplar((self.bucket(value), self.bounds.len() + 1), value, labels)
    }
    /// Sets all of a histogram that is counted elsewhere. `buckets` has a count for each bound and
    /// one more, each of its own bucket; `sum` is in units. A slice of another length is ignored.
    pub fn set(&self, buckets: &[u64], sum: u64) {
        if buckets.len() != self.bounds.len() + 1 {
            return;
        }
        self.slots.set(0, sum);
        for (at, &count) in buckets.iter().enumerate() {
            self.slots.set(1 + at, count);
        }
    }
}

impl Default for BoundedHistogram {
    fn default() -> BoundedHistogram {
        BoundedHistogram { slots: Slots::inert(), bounds: Arc::new([]), unit: 1.0 }
    }
}

/// Metrics whose values belong together: readers see all of an update or none of it. A group has a
/// page of its own with 504 slots, and is not cloned, because only one thread at a time may update
/// it.
#[derive(Debug, Default)]
pub struct Group {
    pub(crate) memory: Option<Arc<Mapping>>, // None: it is inert
}

impl Group {
    /// Begins an update, which ends when the result is dropped. Readers skip the group meanwhile,
    /// so keep updates short.
    #[inline]
    pub fn update(&mut self) -> Update<'_> {
        let page = self.memory.as_ref().map_or(&INERT, |memory| memory.page());
        page.begin_update();
        Update { page }
    }
}

/// An update of a group that has begun; dropping it ends the update.
#[derive(Debug)]
#[must_use = "the update ends when this is dropped"]
pub struct Update<'a> {
    page: &'a Layout,
}

impl Drop for Update<'_> {
    #[inline]
    fn drop(&mut self) {
        self.page.end_update();
    }
}
