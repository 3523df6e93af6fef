//! The application of tests/integration/test_pages_rust.py. It takes commands from its standard
//! input, one a line, and answers each with a line. It ends with its input.

use std::io::{self, BufRead, Write};
use std::process::{self, Command};
use std::thread;
use std::time::Duration;

use pingloom_pages::{BoundedHistogram, Counter, Error, FractionCounter, Gauge, Group, Histogram};
use pingloom_pages::{Metric, Options, Pages, SingleCounter, Summary};

extern "C" {
    fn fork() -> i32;
    fn _exit(status: i32) -> !;
}

struct Lab {
    events: Counter,
    busy: Counter,
    idle: FractionCounter,
    depth: Gauge,
    delay: Gauge,
    took: Histogram,
    sizes: BoundedHistogram,
    waits: Summary,
    books: Group,
    items: SingleCounter,
    cents: SingleCounter,
}

fn make(pages: &Pages) -> Result<Lab, Error> {
    let path = r#"a"b\c"#;
    let events = Metric::new("rust_events_total").help("Events with \"quotes\".");
    let books = pages.group()?;
    let took = Metric::new("rust_took_seconds").unit(1e-9);
    pages.info(&Metric::new("rust_info").label("version", "1.0"))?;
    let asked = pages.gauge(&Metric::new("rust_asked"))?;
    pages.on_heartbeat(move || asked.set(7.0));
    let slow = pages.histogram(&Metric::new("rust_slow_seconds").unit(1e-9).exemplars())?;
    slow.observe_exemplar(3_000_000, &[("trace_id", "4bf92f35")])?;
    Ok(Lab {
        events: pages.counter(&events.label("path", path))?,
        busy: pages.counter(&Metric::new("rust_busy_seconds_total").unit(1e-9))?,
        idle: pages.fraction_counter(&Metric::new("rust_idle_seconds_total").exemplars())?,
        depth: pages.gauge(&Metric::new("rust_depth"))?,
        delay: pages.gauge(&Metric::new("rust_delay_seconds").unit(0.25))?,
        took: pages.histogram(&took)?,
        sizes: pages.bounded_histogram(&Metric::new("rust_size"), &[1.5, 2.5, 10.0])?,
        waits: pages.summary(&Metric::new("rust_wait_seconds"), &[0.5, 0.99])?,
        items: pages.single_counter(&Metric::new("rust_items_total").group(&books))?,
        cents: pages.single_counter(&Metric::new("rust_cents_total").group(&books))?,
        books,
    })
}

fn count(lab: &Lab, threads: u64, each: u64) {
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                for n in 0..each {
                    lab.events.inc();
                    lab.idle.add(0.5);
                    lab.depth.add(1.0);
                    lab.took.observe(1000 * n);
                    lab.sizes.observe((n % 4) as f64);
                }
            });
        }
    });
}

/// The child counts too, and lives until it is killed.
fn fork_and_count(lab: &Lab, each: u64) -> i32 {
    // SAFETY: the child calls only this crate, which provides for forks, and sleeps.
    let child = unsafe { fork() };
    if child != 0 {
        return child;
    }
    lab.events.add(each);
    let parent = std::os::unix::process::parent_id();
    while std::os::unix::process::parent_id() == parent {
        thread::sleep(Duration::from_millis(50));
    }
    // SAFETY: it does not return, and nothing of this process has to be tidied.
    unsafe { _exit(0) }
}

fn obey(
    pages: &Pages,
    lab: &mut Lab,
    words: &[&str],
) -> Result<String, Box<dyn std::error::Error>> {
    let number = |at: usize| words.get(at).ok_or("no number")?.parse().map_err(|_| "no number");
    Ok(match words[0] {
        "count" => {
            count(lab, number(1)?, number(2)?);
            lab.busy.add(1_500_000_000);
            lab.idle.add_exemplar(0.125, &[("trace_id", "00f067aa")])?;
            lab.delay.set(6.0);
            lab.waits.set(8, 2.5, &[0.25, 0.75]);
            lab.events.get().to_string()
        }
        "books" => {
            for _ in 0..number(1)? {
                let together = lab.books.update();
                lab.items.add(3);
                lab.cents.add(5985);
                drop(together);
                // A reader sees a group only between two updates.
                thread::sleep(Duration::from_micros(100));
            }
            lab.items.get().to_string()
        }
        "fork" => fork_and_count(lab, number(1)?).to_string(),
        "descriptors" => {
            let listed = Command::new("ls").args(["-l", "/proc/self/fd"]).output()?;
            String::from_utf8(listed.stdout)?.replace('\n', ";")
        }
        "remove" => {
            let busy = Metric::new("rust_busy_seconds_total");
            let info = Metric::new("rust_info").label("version", "1.0");
            let items = Metric::new("rust_items_total");
            [busy, info, items].iter().all(|metric| pages.remove(metric)).to_string()
        }
        "status" => {
            let status = pages.status();
            format!("{} {} {}", status.connected, status.known_metrics, status.metrics)
        }
        other => return Err(format!("unknown command {other:?}").into()),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pages = Pages::open(Options::new().application("rusty").label("service", "tests"))?;
    let mut lab = make(&pages)?;
    println!("{}", process::id());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let answer = obey(&pages, &mut lab, &line.split(' ').collect::<Vec<_>>())?;
        println!("{answer}");
        io::stdout().flush()?;
    }
    Ok(())
}
