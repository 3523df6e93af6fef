package pingloompages

import "math/bits"

// Shape is the shape of a histogram of whole numbers: every power of two from 2^Lowest to 2^Highest
// is divided into 2^Precision buckets of the same width. One bucket lies below them and one above.
// Lowest is 0 to 62, Highest is Lowest+1 to 63, and Precision is 0 to 5 and at most Lowest. A
// histogram takes a slot for its sum and one for each bucket, 504 at most.
type Shape struct {
	Lowest, Highest, Precision uint8
}

// DefaultShape ranges from 1 us to 17 s for values in nanoseconds, with four buckets per doubling.
var DefaultShape = Shape{Lowest: 10, Highest: 34, Precision: 2}

func (s Shape) valid() bool {
	return s.Precision <= 5 && s.Precision <= s.Lowest && s.Lowest < s.Highest && s.Highest <= 63
}

func (s Shape) buckets() int { return 2 + int(s.Highest-s.Lowest)<<s.Precision }

// bucket returns the bucket of a value. A bucket includes its upper bound.
func (s Shape) bucket(value uint64) int {
	if value <= 1<<s.Lowest {
		return 0
	}
	value--
	power := uint8(bits.Len64(value) - 1)
	if power >= s.Highest {
		return s.buckets() - 1
	}
	part := int(value>>(power-s.Precision)) & (1<<s.Precision - 1)
	return 1 + int(power-s.Lowest)<<s.Precision + part
}
