use crate::handles::Slots;
use crate::make::Made;
use crate::Error;

/// A number in the unit of the metric's name, such as seconds, that only grows and is an `f64`. Any
/// thread may add to it.
///
/// A [`Counter`](crate::Counter) is faster and exact, and counts fractions in a small
/// [unit](crate::Metric::unit). Prefer this one where no unit is small enough, or where the value
/// comes as an `f64` from elsewhere. Agents and collectors that do not know it show a gauge.
#[derive(Clone, Debug)]
pub struct FractionCounter(Slots);

impl FractionCounter {
    pub(crate) fn of(made: &Made) -> FractionCounter {
        FractionCounter(Slots::of(made))
    }
    /// A compare-and-swap, so nothing is lost when several threads add. A number that is negative,
    /// infinite or NaN adds nothing.
    #[inline]
    pub fn add(&self, value: f64) {
        if is_countable(value) {
            self.0.add_double(0, value);
        }
    }
    /// Adds, and keeps the exemplar as [`Counter::add_exemplar`](crate::Counter::add_exemplar) does.
    /// A number that [`add`](FractionCounter::add) ignores is not kept either, and is an error.
    pub fn add_exemplar(&self, value: f64, labels: &[(&str, &str)]) -> Result<(), Error> {
        if !is_countable(value) {
            return Err(Error::bad("exemplar", "its value is negative or not finite"));
        }
        self.add(value);
        self.0.put_exemplar((0, 1), value, labels)
    }
    /// Sets it to a value that is counted elsewhere and never falls. One that is negative, infinite
    /// or NaN is ignored.
    #[inline]
    pub fn set(&self, value: f64) {
        if is_countable(value) {
            self.0.set(0, value.to_bits());
        }
    }
    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.get(0))
    }
}

impl Default for FractionCounter {
    fn default() -> FractionCounter {
        FractionCounter(Slots::inert())
    }
}

/// Tells whether a counter can grow by it.
fn is_countable(value: f64) -> bool {
    value >= 0.0 && value.is_finite()
}
