package pingloompages

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

// documentedExamples returns the dumps of docs/page-format.md: each line is an offset, two blanks,
// up to sixteen bytes, two blanks and words.
func documentedExamples(test *testing.T) [][]byte {
	path := os.Getenv("PINGLOOM_DOCS")
	if path == "" {
		path = "../../docs"
	}
	file, err := os.Open(path + "/page-format.md")
	if err != nil {
		test.Fatal(err)
	}
	defer file.Close()
	line := regexp.MustCompile(`^    [0-9a-f]{4}  ((?:[0-9a-f]{2} ?)+)`)
	var examples [][]byte
	within := false
	for lines := bufio.NewScanner(file); lines.Scan(); {
		found := line.FindStringSubmatch(lines.Text())
		if found != nil && !within {
			examples = append(examples, nil)
		}
		if within = found != nil; within {
			read, err := hex.DecodeString(strings.ReplaceAll(found[1], " ", ""))
			if err != nil {
				test.Fatal(err)
			}
			examples[len(examples)-1] = append(examples[len(examples)-1], read...)
		}
	}
	return examples
}

func TestTheDocumentedExampleIsWhatHappens(test *testing.T) {
	agent := startAgent(test, socketOf(test), func(a *scriptedAgent, socket *net.UnixConn, got message) bool {
		if got.kind != typePage {
			return false
		}
		made, _ := makeMemory()
		a.memories[got.page] = made
		a.answer(socket, typeGranted, got.page, number(1), made.fd)
		return true
	})
	pages := open(test, Options{Application: "orders", Labels: Labels{"service": "shop"},
		Socket: agent.listener.Addr().String()})
	pages.patience = time.Minute
	orders, err := pages.Counter(Metric{Name: "orders_total", Help: "Orders.", Labels: Labels{"till": "1"}})
	if err != nil {
		test.Fatal(err)
	}
	orders.Add(42)
	load, err := pages.Gauge(Metric{Name: "load"})
	if err != nil {
		test.Fatal(err)
	}
	load.Set(1.5)
	settle(test, pages)

	examples := documentedExamples(test)
	if len(examples) != 3 {
		test.Fatalf("%d examples", len(examples))
	}
	if got := agent.of(typeRegister)[0].raw; !bytes.Equal(got, examples[0]) {
		test.Errorf("registers with\n%x instead of\n%x", got, examples[0])
	}
	if got := agent.of(typeDefine)[0].raw; !bytes.Equal(got, examples[1]) {
		test.Errorf("defines\n%x instead of\n%x", got, examples[1])
	}
	seen := agent.memory(1)
	got := append([]byte(nil), seen.bytes[:len(examples[2])]...)
	binary.LittleEndian.PutUint64(got[atHeartbeat:], 7) // as the example has it
	if !bytes.Equal(got, examples[2]) {
		test.Errorf("the page is\n%x instead of\n%x", got, examples[2])
	}
}

func upper(shape Shape, bucket int) uint64 {
	if bucket == 0 {
		return 1 << shape.Lowest
	}
	if bucket == shape.buckets()-1 {
		return math.MaxUint64
	}
	power := int(shape.Lowest) + (bucket-1)>>shape.Precision
	part := (bucket-1)&(1<<shape.Precision-1) + 1
	return uint64(1)<<power + uint64(part)<<(power-int(shape.Precision))
}

func TestValuesAreWithinTheirBucketsBounds(test *testing.T) {
	if bucket := DefaultShape.bucket(1500); bucket != 2 || DefaultShape.buckets() != 98 {
		test.Fatalf("1500 is in bucket %d of %d", bucket, DefaultShape.buckets())
	}
	for lowest := uint8(0); lowest < 63; lowest++ {
		for highest := lowest + 1; highest <= 63; highest += 7 {
			for precision := uint8(0); precision <= 5 && precision <= lowest; precision++ {
				shape := Shape{lowest, highest, precision}
				if !shape.valid() || shape.bucket(0) != 0 {
					test.Fatal(shape)
				}
				for bucket := 0; bucket < shape.buckets(); bucket++ {
					last := upper(shape, bucket)
					if shape.bucket(last) != bucket || last != math.MaxUint64 && shape.bucket(last+1) != bucket+1 {
						test.Fatal(shape, bucket, last)
					}
				}
			}
		}
	}
}

func TestUnits(test *testing.T) {
	for _, one := range []struct {
		value, unit float64
		units       uint64
	}{{0.25, 1e-9, 250_000_000}, {1.5, 1, 2}, {-1, 1, 0}, {math.NaN(), 1, 0}, {math.Inf(1), 1, math.MaxUint64},
		{1e30, 1, math.MaxUint64}, {0.4, 1, 0}} {
		if got := inUnits(one.value, one.unit); got != one.units {
			test.Errorf("%v has %d units of %v", one.value, got, one.unit)
		}
	}
}

// Whatever an agent sends, what is kept of it is bounded and printable.
func FuzzAnswers(fuzz *testing.F) {
	fuzz.Add(messageOf(typeRegistered, 0, append(number(1), 16, 0, 0, 0)))
	fuzz.Add(messageOf(typeGranted, 1, number(1)))
	fuzz.Add(messageOf(typeDefined, 1, nil))
	fuzz.Add(messageOf(typeRefused, 1, refusal(4, "no\n\xff"+strings.Repeat("\u00e9", 200))))
	fuzz.Fuzz(func(test *testing.T, bytes []byte) {
		got := &answer{descriptor: -1}
		if got.parse(bytes) && (got.kind < typeRegistered || got.kind > typeRefused) {
			test.Error(got.kind)
		}
		if !isText(got.why) || len(got.why) > maxShown+2 {
			test.Errorf("%q", got.why)
		}
	})
}
