use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::core::{lock, Core};
use crate::definition::{CommonLabels, Definition, Kind};
use crate::table::{Table, REST};
use crate::{Counter, Metric};

/// A metric of one slot, or an info.
fn named(name: &str, kind: Kind) -> Definition {
    Definition::check(&Metric::new(name), kind, false, None, &CommonLabels::default()).unwrap()
}

fn bounded(name: &str, bounds: &[f64]) -> Definition {
    let common = CommonLabels::default();
    Definition::check(&Metric::new(name), Kind::Histogram, true, Some(bounds), &common).unwrap()
}

/// The names that the agent is told next, those that are removed with a minus.
fn tell(table: &mut Table) -> String {
    let mut names = String::new();
    while let Some(news) = table.news() {
        names += if news.removed { "-" } else { "+" };
        names += &table.metric(news.number).name;
        table.tell();
    }
    names
}

fn slot_of(table: &mut Table, metric: Definition) -> u16 {
    let number = table.add(metric);
    table.metric(number).first
}

#[test]
fn slots_rest_from_the_agents_answer_on() {
    let (mut table, mut now) = (Table::default(), Instant::now());
    let old = table.add(bounded("old", &[1.0]));
    assert_eq!(tell(&mut table), "+old");
    table.defined(old);
    table.remove(old, now);
    assert_eq!((table.living(), table.known()), (0, 0));
    assert_eq!(tell(&mut table), "-old");
    now += 10 * REST; // the agent does not answer
    table.sweep(now);
    assert_eq!(slot_of(&mut table, named("a", Kind::Gauge)), 3);
    table.forgotten(old, now);
    now += REST - Duration::from_millis(1);
    table.sweep(now);
    assert_eq!(slot_of(&mut table, named("b", Kind::Gauge)), 4);
    table.sweep(now + Duration::from_millis(1));
    assert_eq!(slot_of(&mut table, named("c", Kind::Gauge)), 0);
    assert_eq!(tell(&mut table), "+a+b+c");
}

#[test]
fn slots_rest_while_a_handle_lives() {
    let (mut table, now) = (Table::default(), Instant::now());
    let old = table.add(named("old", Kind::Counter));
    let handle = table.users(old);
    table.remove(old, now);
    table.sweep(now + REST);
    assert_eq!(slot_of(&mut table, named("a", Kind::Gauge)), 1);
    drop(handle);
    table.sweep(now + REST);
    assert_eq!(slot_of(&mut table, named("b", Kind::Gauge)), 0);
}

#[test]
fn handles_keep_the_slots_of_what_was_removed() {
    let labels = CommonLabels::default();
    let core = Core::new("/nonexistent/pages.sock".into(), "tested", labels, None);
    let metric = Metric::new("old");
    let handle = Counter::of(&core.make(&metric, Kind::Counter, true, None).unwrap());
    let clone = handle.clone();
    assert!(core.remove(&metric));
    drop(handle);
    let slot_after_the_rest = || {
        lock(&core.state).pages[0].metrics.sweep(Instant::now() + REST);
        let name = format!("new_{}", core.status().metrics);
        core.make(&Metric::new(name), Kind::Counter, true, None).unwrap().definition.first
    };
    assert_eq!(slot_after_the_rest(), 1);
    clone.add(5);
    drop(clone);
    assert_eq!(slot_after_the_rest(), 0);
    let slots = &lock(&core.state).pages[0].memory.clone();
    assert_eq!(slots.page().slots[0].load(Ordering::Relaxed), 0, "it begins with 0");
}

#[test]
fn the_agent_hears_only_of_what_it_knows() {
    let (mut table, now) = (Table::default(), Instant::now());
    let never_told = table.add(named("never_told", Kind::Gauge));
    table.remove(never_told, now);
    assert_eq!(tell(&mut table), "");
    let asked = table.add(named("asked", Kind::Gauge));
    let refused = table.add(named("refused", Kind::Gauge));
    assert_eq!(tell(&mut table), "+asked+refused");
    table.remove(asked, now);
    table.remove(refused, now);
    assert_eq!(tell(&mut table), "", "the answers decide");
    table.defined(asked);
    table.refused(refused, now);
    assert_eq!(tell(&mut table), "-asked");
    // The agent is gone before it answers.
    let left = table.add(named("left", Kind::Gauge));
    tell(&mut table);
    table.defined(left);
    table.start_over(now);
    assert_eq!((tell(&mut table), table.known()), ("+left".to_string(), 0));
    table.sweep(now + REST);
    assert_eq!(slot_of(&mut table, bounded("next", &[1.0])), 0, "all three have rested");
}

#[test]
fn label_sets_that_come_and_go_need_no_more_room() {
    let (mut table, mut now) = (Table::default(), Instant::now());
    for round in 0..10_000 {
        now += REST / 500;
        table.sweep(now);
        for kind in [Kind::Counter, Kind::Info] {
            let metric = named("m", kind);
            assert!(table.has_room(&metric, 256 * 1024), "round {round}");
            let number = table.add(metric);
            tell(&mut table);
            table.defined(number);
            table.remove(number, now);
            tell(&mut table);
            table.forgotten(number, now);
        }
    }
    assert!(table.used_slots() <= 502);
}

#[test]
fn what_comes_and_goes_while_the_agent_is_away_is_not_queued() {
    let (mut table, mut now) = (Table::default(), Instant::now());
    table.add(named("first", Kind::Counter));
    for round in 0..10_000 {
        now += REST / 500;
        table.sweep(now);
        table.start_over(now); // there is still no agent
        for kind in [Kind::Counter, Kind::Info] {
            let number = table.add(named("m", kind));
            assert_eq!(table.queued(), 2, "round {round}");
            table.remove(number, now);
            assert_eq!(table.queued(), 1, "round {round}");
        }
    }
    table.add(named("last", Kind::Counter));
    assert_eq!(tell(&mut table), "+first+last");
}

#[test]
fn lines_are_never_shared() {
    let mut table = Table::default();
    let alone = |name| {
        let mut metric = named(name, Kind::Gauge);
        metric.own_line = true;
        metric
    };
    assert_eq!(slot_of(&mut table, named("first", Kind::Gauge)), 0);
    assert_eq!(slot_of(&mut table, alone("alone")), 8);
    assert_eq!(slot_of(&mut table, alone("other")), 16);
    assert_eq!(slot_of(&mut table, named("second", Kind::Gauge)), 1);
    assert_eq!(slot_of(&mut table, bounded("wide", &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])), 24);
}
