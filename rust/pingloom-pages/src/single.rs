use std::sync::Arc;
use std::time::Duration;

use crate::handles::Slots;
use crate::make::Made;
use crate::{Error, Shape};

/// A [`Counter`](crate::Counter) that one thread at a time updates: an update is a load and a
/// store, and no atomic addition. It takes `&mut self` and cannot be cloned, so nobody else
/// updates it meanwhile. The same metric can be made again after this has been dropped.
#[derive(Debug)]
pub struct SingleCounter {
    slots: Slots,
    _writer: Option<Arc<()>>, // None: it is inert
}

impl SingleCounter {
    pub(crate) fn of(made: Made) -> SingleCounter {
        SingleCounter { slots: Slots::of(&made), _writer: made.writer }
    }
    /// Adds 1.
    #[inline]
    pub fn inc(&mut self) {
        self.add(1);
    }
    /// `n` is in the unit of the metric.
    #[inline]
    pub fn add(&mut self, n: u64) {
        self.slots.add_alone(0, n);
    }
    /// As [`Counter::add_exemplar`](crate::Counter::add_exemplar).
    pub fn add_exemplar(&mut self, n: u64, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.add(n);
        self.slots.put_exemplar((0, 1), n as f64, labels)
    }
    pub fn get(&self) -> u64 {
        self.slots.get(0)
    }
}

impl Default for SingleCounter {
    fn default() -> SingleCounter {
        SingleCounter { slots: Slots::inert(), _writer: None }
    }
}

/// A [`Histogram`](crate::Histogram) that one thread at a time updates; see [`SingleCounter`].
#[derive(Debug)]
pub struct SingleHistogram {
    slots: Slots,
    shape: Shape,
    _writer: Option<Arc<()>>, // None: it is inert
}

impl SingleHistogram {
    pub(crate) fn of(made: Made) -> SingleHistogram {
        let shape = made.definition.shape.unwrap_or_default();
        SingleHistogram { slots: Slots::of(&made), shape, _writer: made.writer }
    }
    /// `value` is in the unit of the metric.
    #[inline]
    pub fn observe(&mut self, value: u64) {
        self.slots.add_alone(0, value);
        self.slots.add_alone(1 + self.shape.bucket(value), 1);
    }
    /// As [`Histogram::observe_exemplar`](crate::Histogram::observe_exemplar).
    pub fn observe_exemplar(&mut self, value: u64, labels: &[(&str, &str)]) -> Result<(), Error> {
        self.observe(value);
        let bucket = (self.shape.bucket(value), self.shape.buckets());
        self.slots.put_exemplar(bucket, value as f64, labels)
    }
    /// Observes a duration in nanoseconds, for metrics whose unit is 1e-9.
    #[inline]
    pub fn observe_duration(&mut self, duration: Duration) {
        self.observe(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX));
    }
}

impl Default for SingleHistogram {
    fn default() -> SingleHistogram {
        SingleHistogram { slots: Slots::inert(), shape: Shape::default(), _writer: None }
    }
}
