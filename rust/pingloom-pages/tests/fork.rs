//! Forks while other threads count and make metrics. It has no test harness, because children must
//! not inherit one, and an alarm ends it where a child or the parent hangs.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use pingloom_pages::{Counter, Group, Metric, Options, Pages};

extern "C" {
    fn fork() -> i32;
    fn waitpid(pid: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(status: i32) -> !;
}

const FORKS: u64 = 100;

/// Runs `body` in a child and returns whether it was true there.
fn in_child(body: impl FnOnce() -> bool) -> bool {
    // SAFETY: the child runs only this crate, which provides for forks, and ends with _exit.
    unsafe {
        let child = fork();
        if child == 0 {
            alarm(60); // it is not inherited
            _exit(if body() { 7 } else { 1 });
        }
        let mut status = 0;
        assert_eq!(waitpid(child, &mut status, 0), child);
        status == 7 << 8
    }
}

fn make(pages: &Pages, name: &str, number: u64) -> Counter {
    pages.counter(&Metric::new(name).label("n", number.to_string())).unwrap()
}

/// What a child sees: metrics of its own that begin with 0, old and new ones.
fn begins_anew(pages: &Pages, jobs: &Counter, books: &mut Group) -> bool {
    let inherited = jobs.get();
    jobs.add(5);
    let update = books.update();
    drop(update);
    let fresh = make(pages, "fresh_total", 1);
    fresh.inc();
    let same = make(pages, "jobs_total", 0);
    let known = pages.status().known_metrics;
    inherited == 0 && same.get() == 5 && fresh.get() == 1 && known == 0
}

fn counts_from_zero(jobs: &Counter) -> bool {
    jobs.inc();
    jobs.get() == 1
}

fn wait_for(condition: impl Fn() -> bool) -> bool {
    let begin = Instant::now();
    while !condition() && begin.elapsed() < Duration::from_secs(20) {
        thread::sleep(Duration::from_millis(1));
    }
    condition()
}

/// Children have no function of on_heartbeat, whether or not it runs at the fork, and may set one.
fn children_have_no_function(pages: &Pages) -> bool {
    let (calls, ended) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (counted, awaited) = (calls.clone(), ended.clone());
    pages.on_heartbeat(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        wait_for(|| awaited.load(Ordering::Relaxed));
    });
    let called = |times: u64| wait_for(|| calls.load(Ordering::Relaxed) >= times);
    let while_it_runs = called(1)
        && in_child(|| {
            pages.remove_on_heartbeat(); // which waits for no thread of the parent
            let calls = Arc::new(AtomicU64::new(0));
            let counted = calls.clone();
            pages.on_heartbeat(move || {
                counted.fetch_add(1, Ordering::Relaxed);
            });
            wait_for(|| calls.load(Ordering::Relaxed) == 2)
        });
    ended.store(true, Ordering::Relaxed);
    let after_it = called(2)
        && in_child(|| {
            let before = calls.load(Ordering::Relaxed);
            thread::sleep(Duration::from_millis(1500));
            calls.load(Ordering::Relaxed) == before
        });
    let before = calls.load(Ordering::Relaxed);
    while_it_runs && after_it && called(before + 1)
}

fn main() {
    // SAFETY: it takes no pointers.
    unsafe { alarm(120) };
    let pages = Pages::open(Options::new().application("forks").socket("/nonexistent/pages.sock"));
    let pages = pages.unwrap();
    let jobs = make(&pages, "jobs_total", 0);
    let busy = make(&pages, "busy_total", 0);
    let mut books = pages.group().unwrap();
    jobs.add(1000);
    let (ended, counted) = (AtomicBool::new(false), AtomicU64::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                busy.inc();
                counted.fetch_add(1, Ordering::Relaxed);
            }
        });
        scope.spawn(|| {
            for number in (0..400).cycle().take_while(|_| !ended.load(Ordering::Relaxed)) {
                make(&pages, "made_total", number).inc();
            }
        });
        for number in 0..FORKS {
            let grandchild = number % 10 == 0;
            let right = in_child(|| {
                begins_anew(&pages, &jobs, &mut books)
                    && (!grandchild || in_child(|| counts_from_zero(&jobs)))
                    && jobs.get() == 5
            });
            assert!(right, "child {number}");
        }
        ended.store(true, Ordering::Relaxed);
    });
    assert_eq!(jobs.get(), 1000, "children count nowhere else");
    assert_eq!(busy.get(), counted.load(Ordering::Relaxed));
    let update = books.update();
    let of_a_child = in_child(|| {
        drop(update);
        begins_anew(&pages, &jobs, &mut pages.group().unwrap())
    });
    assert!(of_a_child, "a child that was forked during an update");
    assert!(children_have_no_function(&pages), "children call what they have not set");
    pages.remove_on_heartbeat();
    println!("{FORKS} forks: ok");
}
