use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::core::lock;
use crate::{Error, ErrorKind, Metric, Options, Pages};

const LONG: Duration = Duration::from_secs(20);

fn nobody() -> Options {
    Options::new().application("tested").socket("/nonexistent/pages.sock")
}

fn open() -> Pages {
    Pages::open(nobody()).unwrap()
}

/// How many heartbeats were written into the first page.
fn beats(pages: &Pages) -> u64 {
    lock(&pages.core.state).pages[0].memory.page().words()[3]
}

fn wait_for(what: &str, condition: impl Fn() -> bool) {
    let begin = Instant::now();
    while !condition() {
        assert!(begin.elapsed() < LONG, "{what}");
        thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn it_is_called_before_each_heartbeat() {
    let pages = open();
    let waiting = pages.gauge(&Metric::new("jobs_waiting")).unwrap();
    let memory = lock(&pages.core.state).pages[0].memory.clone();
    let (called, calls) = mpsc::channel();
    let gauge = waiting.clone();
    pages.on_heartbeat(move || {
        gauge.add(1.0);
        called.send(memory.page().words()[3]).unwrap();
    });
    let first = calls.recv_timeout(LONG).unwrap();
    let second = calls.recv_timeout(LONG).unwrap();
    assert_eq!(second, first + 1, "a heartbeat follows each call");
    pages.remove_on_heartbeat();
    assert!(waiting.get() >= 2.0);
    let before = (waiting.get(), beats(&pages));
    wait_for("the next heartbeat", || beats(&pages) > before.1 + 1);
    assert_eq!(waiting.get(), before.0, "it is called no more");
}

#[test]
fn the_former_one_has_ended_when_another_takes_its_place() {
    let replacements: [fn(Pages) -> Option<Pages>; 3] = [
        |pages| {
            pages.on_heartbeat(|| ());
            Some(pages)
        },
        |pages| {
            pages.remove_on_heartbeat();
            Some(pages)
        },
        |pages| {
            drop(pages);
            None
        },
    ];
    for (at, replace) in replacements.into_iter().enumerate() {
        let pages = open();
        let (began, begins) = mpsc::channel();
        let (finish, finishes) = mpsc::channel();
        let owned = Arc::new(());
        let of_function = owned.clone();
        pages.on_heartbeat(move || {
            let _owned = &of_function;
            began.send(()).unwrap();
            finishes.recv_timeout(LONG).unwrap();
        });
        begins.recv_timeout(LONG).unwrap();
        let (replaced, replacing) = mpsc::channel();
        thread::spawn(move || replaced.send(replace(pages)).unwrap());
        let early = replacing.recv_timeout(Duration::from_millis(50)).err();
        assert_eq!(early, Some(RecvTimeoutError::Timeout), "{at}: it is still running");
        finish.send(()).unwrap();
        let pages = replacing.recv_timeout(LONG).unwrap();
        assert_eq!(Arc::strong_count(&owned), 1, "{at}: it was dropped");
        assert!(begins.try_recv().is_err(), "{at}: it is called no more");
        drop(pages);
    }
}

#[test]
fn it_may_replace_itself() {
    let pages = Arc::new(open());
    let (called, calls) = mpsc::channel();
    let weak = Arc::downgrade(&pages);
    pages.on_heartbeat(move || {
        let called = called.clone();
        let pages = weak.upgrade().unwrap();
        pages.on_heartbeat(move || called.send(()).unwrap());
    });
    calls.recv_timeout(LONG).unwrap();
    calls.recv_timeout(LONG).unwrap();
}

#[test]
fn a_panic_ends_the_function_and_not_the_heartbeats() {
    let errors = Arc::new(Mutex::new(Vec::new()));
    let told = errors.clone();
    let listener = move |error: &Error| told.lock().unwrap().push(error.clone());
    let pages = Pages::open(nobody().on_error(listener)).unwrap();
    pages.counter(&Metric::new("jobs_total")).unwrap();
    let calls = Arc::new(AtomicU64::new(0));
    let counted = calls.clone();
    pages.on_heartbeat(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        panic!("a function that panics");
    });
    let panicked = |error: &&Error| error.kind() == ErrorKind::Panicked;
    wait_for("the listener is called", || errors.lock().unwrap().iter().any(|one| panicked(&one)));
    assert_eq!(Arc::strong_count(&calls), 1, "the function was dropped");
    let before = beats(&pages);
    wait_for("heartbeats", || beats(&pages) > before + 1);
    assert_eq!(calls.load(Ordering::Relaxed), 1);
    assert_eq!(errors.lock().unwrap().iter().filter(panicked).count(), 1);
    let (called, again) = mpsc::channel();
    pages.on_heartbeat(move || called.send(()).unwrap());
    again.recv_timeout(LONG).unwrap();
}
