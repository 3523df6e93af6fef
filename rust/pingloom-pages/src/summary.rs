use crate::handles::Slots;
use crate::make::Made;

/// Quantiles that are computed elsewhere, with the count and the sum of all values. One thread at a
/// time may set it.
#[derive(Clone, Debug)]
pub struct Summary {
    slots: Slots,
    quantiles: usize,
}

impl Summary {
    pub(crate) fn of(made: &Made) -> Summary {
        Summary { slots: Slots::of(made), quantiles: made.definition.bounds.len() }
    }
    /// Sets all of it: how many values there were since the beginning, their sum, and the value of
    /// each quantile, all in the unit of the metric's name. A value is NaN while it is not known. If
    /// there is not one value for each quantile, nothing is set. Readers may see some new values
    /// beside old ones unless it is in a group.
    pub fn set(&self, count: u64, sum: f64, values: &[f64]) {
        if values.len() != self.quantiles {
            return;
        }
        self.slots.set(0, count);
        self.slots.set(1, sum.to_bits());
        for (at, value) in values.iter().enumerate() {
            self.slots.set(2 + at, value.to_bits());
        }
    }
}

impl Default for Summary {
    fn default() -> Summary {
        Summary { slots: Slots::inert(), quantiles: 0 }
    }
}
