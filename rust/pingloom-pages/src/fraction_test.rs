use std::sync::atomic::Ordering;
use std::thread;

use crate::definition::{Definition, Kind};
use crate::session_lab::{message, Lab, DEFINED, GRANTED};
use crate::{ErrorKind, FractionCounter, Metric, Options, Pages};

fn open() -> Pages {
    Pages::open(Options::new().application("tested").socket("/nonexistent/pages.sock")).unwrap()
}

/// The body of its definition, with `first` as its first slot.
fn definition(kind: u8, flags: u8, first: u8, name: &str, help: &str) -> Vec<u8> {
    let begin = [kind, flags, first, 0, 1, 0, 0, 0, 0, 0];
    let unit = 1.0f64.to_le_bytes();
    let texts = [&[name.len() as u8], name.as_bytes(), &[help.len() as u8, 0], help.as_bytes()];
    [&begin[..], &unit[..], &texts.concat()].concat()
}

#[test]
fn it_is_a_gauge_with_a_flag() {
    let mut lab = Lab::registered();
    lab.add_page();
    let busy = Metric::new("busy_seconds_total").help("Busy.");
    let idle = Metric::new("idle_seconds_total").exemplars();
    let depth = Metric::new("depth_seconds").unit(1e-9);
    for (metric, kind) in
        [(&busy, Kind::FractionCounter), (&idle, Kind::FractionCounter), (&depth, Kind::Gauge)]
    {
        let made = Definition::check(metric, kind, false, None, &Default::default()).unwrap();
        lab.pages[0].add(made);
    }
    lab.step();
    lab.kinds();
    lab.say(&message(GRANTED, 1, &1u64.to_le_bytes()), None);
    lab.step();
    let first = definition(2, 8, 0, "busy_seconds_total", "Busy.");
    for wanted in [
        first.clone(),
        definition(2, 8 | 16, 1, "idle_seconds_total", ""),
        definition(2, 0, 18, "depth_seconds", ""),
    ] {
        let (kind, page, body, _) = lab.get().unwrap();
        assert_eq!((kind, page, body), (4, 1, wanted));
        lab.say(&message(DEFINED, 1, &[]), None);
    }
    lab.step();
    lab.pages[0].metrics.remove(0, lab.now);
    lab.step();
    let (kind, page, body, _) = lab.get().unwrap();
    assert_eq!((kind, page, body), (6, 1, first));
}

#[test]
fn it_never_falls() {
    let pages = open();
    let busy = pages.fraction_counter(&Metric::new("busy_seconds_total").exemplars()).unwrap();
    let trace = [("trace_id", "4bf9")];
    busy.add(0.25);
    for wrong in [-1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        busy.add(wrong);
        busy.set(wrong);
        let error = busy.add_exemplar(wrong, &trace).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadArgument, "{wrong}");
    }
    assert_eq!(busy.get(), 0.25);
    busy.add_exemplar(0.5, &trace).unwrap();
    assert!(busy.add_exemplar(1.0, &[]).is_err());
    assert_eq!(busy.get(), 1.75, "it counts all the same");
    busy.set(7.0);
    assert_eq!(busy.get(), 7.0);
    let next = pages.counter(&Metric::new("next_total")).unwrap();
    assert_eq!(next.get(), 0, "the exemplar is not in its slot");
    assert!(pages.remove(&Metric::new("busy_seconds_total")));
    busy.add(1.0);
    let again = pages.fraction_counter(&Metric::new("busy_seconds_total")).unwrap();
    assert_eq!((busy.get(), again.get()), (8.0, 0.0), "the handle counts where nobody reads");
    FractionCounter::default().add(1.0);
    FractionCounter::default().set(1.0);
    FractionCounter::default().add_exemplar(1.0, &trace).unwrap();
}

#[test]
fn threads_lose_nothing() {
    let pages = open();
    let metric = Metric::new("busy_seconds_total");
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let busy = pages.fraction_counter(&metric).unwrap();
                (0..10_000).for_each(|_| busy.add(3.0));
            });
        }
    });
    assert_eq!(pages.fraction_counter(&metric).unwrap().get(), 240_000.0);
}

#[test]
fn it_is_a_counter_among_metrics_of_its_name() {
    let pages = open();
    let (busy, jobs) = (Metric::new("busy_seconds_total"), Metric::new("jobs_total"));
    let labelled = |metric: &Metric| metric.clone().label("a", "1");
    pages.fraction_counter(&busy).unwrap();
    pages.counter(&jobs).unwrap();
    pages.gauge(&Metric::new("depth")).unwrap();
    pages.counter(&labelled(&busy)).unwrap();
    pages.fraction_counter(&labelled(&jobs)).unwrap();
    for conflict in [
        pages.counter(&busy).err(),
        pages.single_counter(&busy).err(),
        pages.gauge(&busy).err(),
        pages.gauge(&busy.clone().label("b", "2")).err(),
        pages.fraction_counter(&jobs).err(),
        pages.fraction_counter(&labelled(&busy)).err(),
        pages.fraction_counter(&Metric::new("depth").label("a", "1")).err(),
    ] {
        assert_eq!(conflict.unwrap().kind(), ErrorKind::Conflict);
    }
    let unit = pages.fraction_counter(&Metric::new("nanoseconds").unit(1e-9));
    assert_eq!(unit.unwrap_err().kind(), ErrorKind::BadArgument);
}

#[test]
fn a_gauge_is_given_numbers_of_its_unit() {
    let pages = open();
    let metric = Metric::new("delay_seconds").unit(0.25);
    let delay = pages.gauge(&metric).unwrap();
    delay.set(10.0);
    delay.add(-2.0);
    assert_eq!(delay.get(), 8.0);
    let made = pages.core.make(&metric, Kind::Gauge, false, None).unwrap();
    let slot = made.memory.page().slots[0].load(Ordering::Relaxed);
    assert_eq!(f64::from_bits(slot), 2.0, "the page has it in seconds");
    for unit in [0.0, -1.0, 1e-31, 1e31, f64::NAN, f64::INFINITY] {
        let error = pages.gauge(&Metric::new("wrong_seconds").unit(unit)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadArgument, "{unit}");
    }
    let conflict = pages.gauge(&Metric::new("delay_seconds")).unwrap_err();
    assert_eq!(conflict.kind(), ErrorKind::Conflict);
}
