// A shop's order service as an example of metric pages in Go. Four goroutines take orders, most of
// which succeed, and account for them. It runs until it is ended.
package main

import (
	"fmt"
	"math/rand"
	"os"
	"os/signal"
	"syscall"
	"time"

	"pingloom/pingloompages"
)

type shop struct {
	orders, refused pingloompages.Counter
	open            pingloompages.Gauge
	took            pingloompages.Histogram
	books           *pingloompages.Group
	cents, items    pingloompages.Counter
}

// makeShop makes all metrics once. If one cannot be made, it is inert and the shop works without it.
func makeShop(pages *pingloompages.Pages) *shop {
	made := &shop{}
	made.orders, _ = pages.Counter(pingloompages.Metric{Name: "shop_orders_total", Help: "Orders that were placed."})
	made.refused, _ = pages.Counter(pingloompages.Metric{Name: "shop_refusals_total", Help: "Orders that were refused.",
		Labels: pingloompages.Labels{"reason": "payment"}})
	made.open, _ = pages.Gauge(pingloompages.Metric{Name: "shop_open_orders", Help: "Orders in work."})
	made.took, _ = pages.Histogram(pingloompages.Metric{Name: "shop_order_seconds", Help: "How long an order took.",
		Unit: 1e-9})
	// Readers see revenue and items of one order together.
	made.books, _ = pages.NewGroup()
	made.cents, _ = pages.Counter(pingloompages.Metric{Name: "shop_revenue_cents_total", Help: "What was paid.",
		Group: made.books})
	made.items, _ = pages.Counter(pingloompages.Metric{Name: "shop_items_total", Help: "What was sold.",
		Group: made.books})
	return made
}

func (s *shop) order() {
	s.open.Add(1)
	began := time.Now()
	time.Sleep(time.Duration(2+rand.Intn(4)) * time.Millisecond)
	s.took.ObserveFloat(time.Since(began).Seconds())
	s.open.Add(-1)
	if rand.Intn(100) < 3 {
		s.refused.Add(1)
		return
	}
	s.orders.Add(1)
	items := uint64(1 + rand.Intn(3))
	s.books.Update(func() {
		s.items.Add(items)
		s.cents.Add(items * 1995)
	})
}

func main() {
	pages, err := pingloompages.Open(pingloompages.Options{
		Application: "orders",
		Labels:      pingloompages.Labels{"service": "shop"},
		OnError:     func(err error) { fmt.Fprintln(os.Stderr, err) },
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer pages.Close()
	shop := makeShop(pages)
	for i := 0; i < 4; i++ {
		go func() {
			for {
				shop.order()
			}
		}()
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	<-ended
}
