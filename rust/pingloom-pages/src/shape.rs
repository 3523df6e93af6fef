use crate::page::SLOTS;

/// The shape of a log-linear histogram of whole numbers: every power of two from 2^lowest to
/// 2^highest is divided into 2^precision buckets of the same width. One bucket lies below them and
/// one above. A bucket includes its upper bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// 0 to 62, and at least `precision`
    pub lowest: u8,
    /// `lowest` + 1 to 63
    pub highest: u8,
    /// 0 to 5
    pub precision: u8,
}

impl Default for Shape {
    /// In nanoseconds it ranges from 1 us to 17 s, and a quantile is right within 25 %.
    fn default() -> Shape {
        Shape { lowest: 10, highest: 34, precision: 2 }
    }
}

impl Shape {
    pub(crate) fn is_valid(self) -> bool {
        self.precision <= 5
            && self.precision <= self.lowest
            && self.lowest < self.highest
            && self.highest <= 63
    }
    pub(crate) fn fits_a_page(self) -> bool {
        self.buckets() < SLOTS
    }
    /// The number of buckets of a valid shape.
    pub fn buckets(self) -> usize {
        2 + (usize::from(self.highest - self.lowest) << self.precision)
    }
    /// The bucket of a value, less than buckets().
    #[inline]
    pub fn bucket(self, value: u64) -> usize {
        if value <= 1 << self.lowest {
            return 0;
        }
        let below = value - 1;
        let power = 63 - below.leading_zeros();
        if power >= u32::from(self.highest) {
            return self.buckets() - 1;
        }
        let precision = u32::from(self.precision);
        let part = (below >> (power - precision)) as usize & ((1 << precision) - 1);
        1 + (((power - u32::from(self.lowest)) as usize) << precision) + part
    }
    /// The largest value of a bucket.
    pub fn upper(self, bucket: usize) -> u64 {
        if bucket == 0 {
            return 1 << self.lowest;
        }
        if bucket + 1 >= self.buckets() {
            return u64::MAX;
        }
        let power = usize::from(self.lowest) + ((bucket - 1) >> self.precision);
        let part = ((bucket - 1) & ((1 << self.precision) - 1)) + 1;
        (1 << power) + ((part as u64) << (power - usize::from(self.precision)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_format() {
        let shape = Shape::default();
        assert_eq!(shape.buckets(), 98);
        assert_eq!(shape.bucket(1500), 2);
        assert_eq!((shape.upper(1), shape.upper(2)), (1280, 1536));
    }

    #[test]
    fn every_bucket_ends_at_its_upper_bound() {
        for lowest in 0..=62u8 {
            for highest in lowest + 1..=63 {
                for precision in 0..=lowest.min(5) {
                    let shape = Shape { lowest, highest, precision };
                    assert!(shape.is_valid());
                    for bucket in 0..shape.buckets() - 1 {
                        assert_eq!(shape.bucket(shape.upper(bucket)), bucket, "{shape:?}");
                        assert_eq!(shape.bucket(shape.upper(bucket) + 1), bucket + 1, "{shape:?}");
                    }
                    assert_eq!(shape.bucket(0), 0);
                    assert_eq!(shape.bucket(u64::MAX), shape.buckets() - 1, "{shape:?}");
                }
            }
        }
    }
}
