//! A shop's order service as an example of metric pages in Rust. Two threads take orders, most of
//! which succeed, and account for them. It runs until it is ended, or for SECONDS: orders [SECONDS]

use std::thread;
use std::time::{Duration, Instant};

use pingloom_pages::{BoundedHistogram, Counter, Error, Gauge, Group, Metric, Options, Pages};

/// The metrics that all threads update.
struct Shop {
    orders: Counter,
    refused: Counter,
    open: Gauge,
    sizes: BoundedHistogram,
}

impl Shop {
    fn new(pages: &Pages) -> Result<Shop, Error> {
        pages.info(&Metric::new("shop_info").label("version", "1.0").label("region", "north"))?;
        let orders = Metric::new("shop_orders_total").help("Orders that were placed.");
        let refused = Metric::new("shop_refusals_total").help("Orders that were refused.");
        let open = Metric::new("shop_open_orders").help("Orders in work.");
        let sizes = Metric::new("shop_order_items").help("Items of an order.");
        Ok(Shop {
            orders: pages.counter(&orders)?,
            refused: pages.counter(&refused.label("reason", "payment"))?,
            open: pages.gauge(&open)?,
            sizes: pages.bounded_histogram(&sizes, &[1.0, 2.0, 5.0, 10.0])?,
        })
    }
}

/// A small generator, because the standard library has none.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

fn take_orders(pages: &Pages, shop: &Shop, till: u64, end: Option<Instant>) -> Result<(), Error> {
    let named =
        |name: &str, help: &str| Metric::new(name).help(help).label("till", till.to_string());
    let took =
        pages.histogram(&named("shop_order_seconds", "How long an order took.").unit(1e-9))?;
    // Readers see revenue and items of one order together.
    let mut books: Group = pages.group()?;
    let cents =
        pages.counter(&named("shop_revenue_cents_total", "What was paid.").group(&books))?;
    let mut items =
        pages.single_counter(&named("shop_items_total", "What was sold.").group(&books))?;
    let mut random = Random(till);
    while end.map_or(true, |end| Instant::now() < end) {
        thread::sleep(Duration::from_millis(5 + random.below(20)));
        shop.open.add(1.0);
        let begin = Instant::now();
        thread::sleep(Duration::from_micros(500 + random.below(5000)));
        shop.open.add(-1.0);
        took.observe_duration(begin.elapsed());
        if random.below(100) < 3 {
            shop.refused.inc();
            continue;
        }
        shop.orders.inc();
        let sold = 1 + random.below(4);
        shop.sizes.observe(sold as f64);
        let _together = books.update();
        items.add(sold);
        cents.add(sold * 1995);
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds = std::env::args().nth(1).map(|text| text.parse()).transpose()?;
    let end = seconds.map(|seconds| Instant::now() + Duration::from_secs(seconds));
    let pages = Pages::open(Options::new().application("orders").label("service", "orders"))?;
    let shop = Shop::new(&pages)?;
    thread::scope(|scope| {
        let tills = [1, 2].map(|till| {
            scope.spawn({
                let (pages, shop) = (&pages, &shop);
                move || take_orders(pages, shop, till, end)
            })
        });
        tills.into_iter().try_for_each(|till| till.join().expect("no till panics"))
    })?;
    Ok(())
}
