//! What applications rely on where there is no agent.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use pingloom_pages::{
    BoundedHistogram, Counter, ErrorKind, FractionCounter, Gauge, Group, Histogram,
};
use pingloom_pages::{Metric, Options, Pages, Shape, SingleCounter, SingleHistogram, Summary};

fn nobody() -> Options {
    Options::new().application("tested").socket("/nonexistent/pages.sock")
}

fn open() -> Pages {
    Pages::open(nobody()).unwrap()
}

fn named(name: &str) -> Metric {
    Metric::new(name)
}

#[test]
fn handles_are_send_and_sync() {
    fn check<T: Send + Sync + 'static>() {}
    check::<Pages>();
    check::<Counter>();
    check::<FractionCounter>();
    check::<Gauge>();
    check::<Histogram>();
    check::<BoundedHistogram>();
    check::<Group>();
    check::<SingleCounter>();
    check::<SingleHistogram>();
    check::<Summary>();
}

#[test]
fn threads_count_to_an_exact_sum() {
    let pages = open();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                // Every thread makes them, and all get the same ones.
                let counter =
                    pages.counter(&named("jobs_total").label("b", "2").label("a", "1")).unwrap();
                let gauge = pages.gauge(&named("depth")).unwrap();
                let histogram = pages.histogram(&named("took")).unwrap();
                for n in 0..10_000 {
                    counter.inc();
                    gauge.add(0.5);
                    histogram.observe(n);
                }
            });
        }
    });
    let counter = pages.counter(&named("jobs_total").label("a", "1").label("b", "2")).unwrap();
    assert_eq!(counter.get(), 80_000);
    assert_eq!(pages.gauge(&named("depth")).unwrap().get(), 40_000.0);
    assert_eq!(pages.histogram(&named("took")).unwrap().count(), 80_000);
    assert_eq!(pages.status().metrics, 3);
}

#[test]
fn a_name_is_one_thing() {
    let pages = open();
    let group = pages.group().unwrap();
    pages.counter(&named("jobs_total")).unwrap();
    pages.histogram(&named("took")).unwrap();
    pages.summary(&named("waits"), &[0.5, 0.99]).unwrap();
    pages.counter(&named("items_total").group(&group)).unwrap();
    let fine = Shape { lowest: 10, highest: 34, precision: 3 };
    for conflict in [
        pages.gauge(&named("jobs_total")).err(),
        pages.gauge(&named("jobs_total").label("a", "1")).err(),
        pages.counter(&named("jobs_total").unit(1e-9)).err(),
        pages.counter(&named("jobs_total").group(&group)).err(),
        pages.counter(&named("items_total")).err(),
        pages.histogram(&named("took").shape(fine)).err(),
        pages.bounded_histogram(&named("took"), &[1.0]).err(),
        pages.summary(&named("took"), &[0.5]).err(),
        pages.summary(&named("waits"), &[0.5]).err(),
    ] {
        assert_eq!(conflict.unwrap().kind(), ErrorKind::Conflict);
    }
    let foreign = open().group().unwrap();
    for group in [&foreign, &Group::default()] {
        let error = pages.counter(&named("other_total").group(group)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadArgument, "{error}");
    }
    assert_eq!(pages.status().metrics, 4);
}

#[test]
fn a_metric_for_one_thread_has_one_writer() {
    let pages = open();
    let metric = named("jobs_total").label("worker", "1");
    for round in 1..=3 {
        let mut counter = pages.single_counter(&metric).unwrap();
        for second in [pages.single_counter(&metric).err(), pages.counter(&metric).err()] {
            assert_eq!(second.unwrap().kind(), ErrorKind::Conflict);
        }
        thread::spawn(move || {
            counter.inc();
            counter.add(9);
            assert_eq!(counter.get(), 10 * round);
        })
        .join()
        .unwrap();
    }
    let mut took = pages.single_histogram(&named("took").unit(1e-9)).unwrap();
    assert!(pages.single_histogram(&named("took").unit(1e-9)).is_err());
    took.observe(5);
    took.observe_duration(Duration::MAX);
    SingleCounter::default().inc();
    SingleHistogram::default().observe(1);
    assert_eq!(pages.status().metrics, 2);
}

#[test]
fn pages_and_groups_have_bounds() {
    let pages = open();
    let group = pages.group().unwrap();
    for n in 0..504 {
        pages.counter(&named("grouped_total").label("n", n.to_string()).group(&group)).unwrap();
    }
    let error = pages.gauge(&named("one_more").group(&group)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Full);
    assert_eq!(pages.status().pages, 1);
    for n in 0..505 {
        pages.counter(&named("apart_total").label("n", n.to_string())).unwrap();
    }
    assert_eq!(pages.status().pages, 3);
    for n in 0..65 {
        pages.info(&named("build_info").label("n", n.to_string())).unwrap();
    }
    assert_eq!(pages.status().pages, 3, "the 65th info is on another page");
    let last = (0..).find_map(|_| pages.group().err()).unwrap();
    assert_eq!((last.kind(), pages.status().pages), (ErrorKind::Full, 1024));
}

#[test]
fn inert_and_late_handles_count_harmlessly() {
    let pages = open();
    let late = pages.counter(&named("jobs_total")).unwrap();
    let mut books = pages.group().unwrap();
    drop(pages);
    late.add(3);
    assert_eq!(late.get(), 3);
    drop(books.update());
    Counter::default().inc();
    Gauge::default().set(1.0);
    Histogram::default().observe(u64::MAX);
    BoundedHistogram::default().observe(f64::NAN);
    BoundedHistogram::default().set(&[1], 2);
    BoundedHistogram::default().set(&[], 2);
    Summary::default().set(1, 2.0, &[]);
    Summary::default().set(1, 2.0, &[3.0]);
    drop(Group::default().update());
}

#[test]
fn a_missing_agent_is_told_once_and_costs_no_time() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let told = errors.clone();
    let begin = Instant::now();
    let listener = move |error: &pingloom_pages::Error| {
        told.lock().unwrap().push(error.clone());
        panic!("a listener that panics");
    };
    let pages = Pages::open(nobody().on_error(listener)).unwrap();
    let counter = pages.counter(&named("jobs_total")).unwrap();
    while errors.lock().unwrap().is_empty() {
        assert!(begin.elapsed() < Duration::from_secs(20), "the listener is called");
        thread::sleep(Duration::from_millis(1));
    }
    counter.inc();
    let status = pages.status();
    assert!(!status.connected && status.owner == 0 && status.known_metrics == 0);
    assert_eq!(status.error.unwrap().kind(), ErrorKind::NoAgent);
    drop(pages);
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].to_string(), "/nonexistent/pages.sock: No such file or directory");
}

#[test]
fn a_path_that_is_none_is_told() {
    for path in ["", &"x".repeat(108), "a\0b"] {
        let pages = Pages::open(nobody().socket(path)).unwrap();
        pages.counter(&named("jobs_total")).unwrap().inc();
        let begin = Instant::now();
        while pages.status().error.is_none() && begin.elapsed() < Duration::from_secs(20) {
            thread::sleep(Duration::from_millis(1));
        }
        assert!(pages.status().error.unwrap().to_string().contains("1 to 107 bytes"));
    }
}

#[test]
fn a_metric_that_was_removed_is_another_one_later() {
    let pages = open();
    let till = |name: &str| named(name).label("till", "7");
    let orders = pages.counter(&till("orders_total")).unwrap();
    pages.gauge(&till("depth")).unwrap();
    pages.bounded_histogram(&till("took"), &[1.0]).unwrap();
    pages.info(&till("build_info")).unwrap();
    let mut single = pages.single_counter(&till("jobs_total")).unwrap();
    orders.add(7);
    for name in ["orders_total", "depth", "took", "build_info", "jobs_total"] {
        assert!(!pages.remove(&named(name)), "it has a label");
        assert!(pages.remove(&till(name).help("does not matter")));
        assert!(!pages.remove(&till(name)));
    }
    assert!(!pages.remove(&named("no name")));
    assert_eq!(pages.status().metrics, 0);
    let again = pages.counter(&till("orders_total")).unwrap();
    orders.inc();
    single.inc();
    assert_eq!((orders.get(), again.get()), (8, 0), "the handle counts where nobody reads");
    assert!(pages.single_counter(&till("jobs_total")).is_ok(), "the other one is no writer of it");
    assert!(pages.counter(&named("depth")).is_ok(), "the name is free for another kind");
}

#[test]
fn threads_make_update_and_remove_at_once() {
    let pages = open();
    thread::scope(|scope| {
        for number in 0..3 {
            let pages = &pages;
            scope.spawn(move || {
                for round in 0..200 {
                    let metric = named("jobs_total").label("n", format!("{number}_{round}"));
                    let counter = pages.counter(&metric).unwrap();
                    assert_eq!(counter.get(), 0);
                    counter.inc();
                    assert!(pages.remove(&metric));
                }
            });
        }
    });
    assert_eq!((pages.status().metrics, pages.status().pages), (0, 2));
}
