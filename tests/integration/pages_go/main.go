// The applications of test_pages_go.py.
//
// `writer IDENTITY PAGES` writes what tests/lab/pages_writer.cpp writes: groups whose values prove
// themselves. `counter GOROUTINES TIMES` updates one metric of each kind from all goroutines, so
// that its values are known. `remover FILE VALUE` has a counter with two label sets, and removes one
// of them once there is such a file. They all stay until they are killed.
package main

import (
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"pingloom/pingloompages"
)

const values = 8

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func open(application string) *pingloompages.Pages {
	pages, err := pingloompages.Open(pingloompages.Options{
		Application: application,
		OnError:     func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	must(err)
	return pages
}

type writtenPage struct {
	group  *pingloompages.Group
	count  pingloompages.Counter
	values [values]pingloompages.Gauge
}

func makePage(pages *pingloompages.Pages, identity string, number int) *writtenPage {
	group, err := pages.NewGroup()
	must(err)
	page := &writtenPage{group: group}
	labels := pingloompages.Labels{"identity": identity, "page": strconv.Itoa(number)}
	page.count, err = pages.Counter(pingloompages.Metric{Name: "lab_writes_total",
		Help: "Groups written.", Labels: labels, Group: group})
	must(err)
	for i := range page.values {
		labels["value"] = strconv.Itoa(i)
		page.values[i], err = pages.Gauge(pingloompages.Metric{Name: "lab_value",
			Help: "A value of a group.", Labels: labels, Group: group})
		must(err)
	}
	return page
}

func write(identity string, count int) {
	pages := open("writer-" + identity)
	number, err := strconv.Atoi(identity)
	must(err)
	var written []*writtenPage
	for i := 0; i < count; i++ {
		written = append(written, makePage(pages, identity, i))
	}
	for round := 1; ; round++ {
		for at, page := range written {
			page.group.Update(func() {
				page.count.Add(1)
				for i, value := range page.values {
					value.Set(float64((number*1_000_003 + at*10_007 + i*101 + round*7_919) % (1 << 40)))
				}
			})
		}
		time.Sleep(time.Millisecond)
	}
}

func count(goroutines, times int) {
	pages := open(`shop "go"`)
	labels := pingloompages.Labels{"path": `a"b\c`}
	jobs, err := pages.Counter(pingloompages.Metric{Name: "go_jobs_total", Help: `Jobs, "done".`, Labels: labels})
	must(err)
	busy, err := pages.Counter(pingloompages.Metric{Name: "go_busy_seconds_total", Unit: 1e-9})
	must(err)
	idle, err := pages.FractionCounter(pingloompages.Metric{Name: "go_idle_seconds_total", Exemplars: true})
	must(err)
	load, err := pages.Gauge(pingloompages.Metric{Name: "go_load"})
	must(err)
	delay, err := pages.Gauge(pingloompages.Metric{Name: "go_delay_seconds", Unit: 0.25})
	must(err)
	delay.Set(6)
	asked, err := pages.Gauge(pingloompages.Metric{Name: "go_asked"})
	must(err)
	pages.OnHeartbeat(func() { asked.Set(7) })
	took, err := pages.Histogram(pingloompages.Metric{Name: "go_took_seconds", Unit: 1e-9})
	must(err)
	sizes, err := pages.BoundedHistogram(pingloompages.Metric{Name: "go_size_bytes"}, []float64{1, 10})
	must(err)
	waits, err := pages.Summary(pingloompages.Metric{Name: "go_wait_seconds"}, []float64{0.5, 0.99})
	must(err)
	waits.Set(8, 2.5, 0.25, 0.75)
	slow, err := pages.Histogram(pingloompages.Metric{Name: "go_slow_seconds", Unit: 1e-9, Exemplars: true})
	must(err)
	must(slow.ObserveExemplar(3_000_000, pingloompages.Labels{"trace_id": "4bf92f35"}))
	must(pages.Info(pingloompages.Metric{Name: "go_build_info", Labels: pingloompages.Labels{"version": "1.2"}}))
	var all sync.WaitGroup
	for i := 0; i < goroutines; i++ {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := 0; i < times; i++ {
				jobs.Add(1)
				busy.AddFloat(0.25)
				idle.Add(0.5)
				load.Add(0.5)
				took.Observe(1500)
				sizes.Observe(float64(i % 20))
			}
		}()
	}
	all.Wait()
	must(idle.AddExemplar(0.125, pingloompages.Labels{"trace_id": "00f067aa"}))
	fmt.Println("counted")
	select {}
}

func remove(file string, value int) {
	pages := open("remover")
	tills := map[string]pingloompages.Counter{}
	metric := func(till string) pingloompages.Metric {
		return pingloompages.Metric{Name: "go_orders_total", Labels: pingloompages.Labels{"till": till}}
	}
	for _, till := range []string{"kept", "gone"} {
		made, err := pages.Counter(metric(till))
		must(err)
		made.Add(uint64(value))
		tills[till] = made
	}
	for removed := false; ; time.Sleep(time.Millisecond) {
		if _, err := os.Stat(file); err == nil && !removed {
			removed = pages.Remove(metric("gone"))
			fmt.Println("removed", removed)
		}
		for _, till := range tills { // also the one that was removed
			till.Add(1)
		}
	}
}

func main() {
	if len(os.Args) == 4 {
		last, err := strconv.Atoi(os.Args[3])
		must(err)
		switch os.Args[1] {
		case "writer":
			write(os.Args[2], last)
		case "counter":
			goroutines, err := strconv.Atoi(os.Args[2])
			must(err)
			count(goroutines, last)
		case "remover":
			remove(os.Args[2], last)
		}
	}
	fmt.Fprintln(os.Stderr, "usage: pages_go writer IDENTITY PAGES | counter GOROUTINES TIMES | remover FILE VALUE")
	os.Exit(2)
}
