use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::exemplar::{checksum, write, EXEMPLAR_SLOTS};
use crate::{Counter, ErrorKind, Metric, Options, Pages, Shape};

fn place() -> Vec<AtomicU64> {
    (0..EXEMPLAR_SLOTS).map(|_| AtomicU64::new(0)).collect()
}

/// The bytes of an exemplar, unless it is torn or none.
fn whole(place: &[AtomicU64]) -> Option<Vec<u8>> {
    let raw: Vec<u8> =
        place.iter().flat_map(|slot| slot.load(Ordering::Relaxed).to_le_bytes()).collect();
    let word = |at: usize| u64::from_le_bytes(raw[8 * at..8 * at + 8].try_into().unwrap());
    let even = word(1) != 0 && word(1) % 2 == 0;
    (even && word(0) == checksum(&raw[8..])).then(|| raw)
}

fn value_in(raw: &[u8]) -> f64 {
    f64::from_le_bytes(raw[24..32].try_into().unwrap())
}

#[test]
fn it_is_laid_out_as_documented() {
    assert_eq!(checksum(b"a"), 0xaf63_dc4c_8601_ec8c, "a published vector of FNV-1a");
    let place = place();
    assert_eq!(whole(&place), None);
    write(&place, 1.5, &[("trace_id", "4bf9"), ("b", "")]).unwrap();
    let raw = whole(&place).unwrap();
    assert_eq!(raw[8], 2, "the sequence");
    assert_eq!(value_in(&raw), 1.5);
    assert!(raw[32..].starts_with(b"\x08trace_id\x044bf9\x01b\x00\x00"));
    let time = u64::from_le_bytes(raw[16..24].try_into().unwrap());
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    assert!(now.saturating_sub(Duration::from_nanos(time)) < Duration::from_secs(60));
    let full = "x".repeat(93);
    write(&place, 2.0, &[("a", &full)]).unwrap();
    assert_eq!(value_in(&whole(&place).unwrap()), 2.0);
}

#[test]
fn what_is_none_changes_nothing() {
    let place = place();
    write(&place, 1.0, &[("a", "kept")]).unwrap();
    let long = "x".repeat(94);
    for labels in [
        &[][..],
        &[("a", "")],
        &[("a", ""), ("b", "")],
        &[("a b", "x")],
        &[("le", "x")],
        &[("__a", "x")],
        &[("a", "b\nc")],
        &[("a", "b"), ("a", "c")],
        &[("a", &long)],
    ] {
        let error = write(&place, 1.0, labels).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::BadArgument, "{labels:?}");
    }
    assert!(write(&place, f64::NAN, &[("a", "b")]).is_err());
    assert!(whole(&place).unwrap()[32..].starts_with(b"\x01a\x04kept"));
    place[1].store(5, Ordering::Relaxed);
    write(&place, 9.0, &[("a", "b")]).unwrap();
    assert_eq!(whole(&place), None, "another thread writes there, and nobody waits");
}

#[test]
fn no_exemplar_is_a_mixture() {
    let place = place();
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        for letter in ["a", "b"] {
            let (place, stop) = (&place, &stop);
            scope.spawn(move || {
                let trace = letter.repeat(60);
                while !stop.load(Ordering::Relaxed) {
                    write(place, f64::from(letter.as_bytes()[0]), &[("t", &trace)]).unwrap();
                }
            });
        }
        let mut seen = BTreeSet::new();
        let mut reads = 0_u64;
        while reads < 100_000 || (seen.len() < 2 && reads < 100_000_000) {
            reads += 1;
            if let Some(raw) = whole(&place) {
                let letter = value_in(&raw) as u8;
                assert_eq!(&raw[35..95], vec![letter; 60]);
                seen.insert(letter);
            }
        }
        stop.store(true, Ordering::Relaxed);
        assert_eq!(seen.len(), 2);
    });
}

#[test]
fn metrics_have_room_where_they_ask_for_it() {
    let pages = Pages::open(Options::new().application("tested").socket("/nonexistent")).unwrap();
    let trace = [("trace_id", "4bf9")];
    let counter = pages.counter(&Metric::new("a_total").exemplars()).unwrap();
    counter.add_exemplar(3, &trace).unwrap();
    assert_eq!(counter.get(), 3);
    assert!(counter.add_exemplar(1, &[]).is_err());
    assert_eq!(counter.get(), 4, "it counts all the same");
    let took = pages.histogram(&Metric::new("b_seconds").exemplars()).unwrap();
    took.observe_exemplar(2_000, &trace).unwrap();
    took.observe_exemplar(10_000_000_000, &trace).unwrap();
    assert_eq!(took.count(), 2);
    let bounded = Metric::new("c_seconds").exemplars();
    let bounded = pages.bounded_histogram(&bounded, &[0.1, 1.0]).unwrap();
    bounded.observe_exemplar(0.5, &trace).unwrap();
    assert!(bounded.observe_exemplar(f64::INFINITY, &trace).is_err());
    let mut single = pages.single_histogram(&Metric::new("d_seconds").exemplars()).unwrap();
    single.observe_exemplar(7, &trace).unwrap();
    let mut alone = pages.single_counter(&Metric::new("e_total").exemplars()).unwrap();
    alone.add_exemplar(7, &trace).unwrap();
    assert_eq!(alone.get(), 7);
    let next = pages.counter(&Metric::new("next_total")).unwrap();
    assert_eq!(next.get(), 0, "no exemplar is in its slot");
    next.add_exemplar(1, &trace).unwrap();
    Counter::default().add_exemplar(1, &trace).unwrap();

    let wide = Shape { lowest: 10, highest: 38, precision: 4 };
    for (error, kind) in [
        (pages.gauge(&Metric::new("g").exemplars()).err(), ErrorKind::BadArgument),
        (pages.histogram(&Metric::new("h").exemplars().shape(wide)).err(), ErrorKind::BadArgument),
        (pages.counter(&Metric::new("next_total").exemplars()).err(), ErrorKind::Conflict),
    ] {
        assert_eq!(error.map(|error| error.kind()), Some(kind));
    }
}
