//! All pages and metrics of one Pages, and the thread that sends heartbeats and keeps the session
//! with the agent. `catalogue` is locked while a metric is made, which may wait for the agent;
//! `state` is never locked while waiting. Whoever locks both locks `catalogue` first.

use std::collections::{HashMap, HashSet};
use std::os::raw::c_void;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::PathBuf;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use crate::book::{Page, Standing};
use crate::definition::{CommonLabels, Kind};
use crate::heartbeat::OnHeartbeat;
use crate::page::Mapping;
use crate::session::Session;
use crate::sys::{self, Thread, Wakeup};
use crate::table::Number;
use crate::{Error, ErrorKind, Status};

const BEAT: Duration = Duration::from_secs(1);
const MAX_REPORTED: usize = 32;
/// It keeps a child that only executes another program from registering.
const CHILD_DELAY: Duration = Duration::from_millis(100);

pub type Listener = Box<dyn Fn(&Error) + Send + Sync>;

/// Where a metric is: the index of its page, and its number there. Pages never go.
#[derive(Clone, Copy)]
pub struct Place {
    pub page: usize,
    pub metric: Number,
}

/// What all metrics of a name have in common.
pub struct Family {
    pub kind: Kind,
    pub unit: f64,
    pub metrics: usize,
}

/// What was made. Only threads that make something use it.
#[derive(Default)]
pub struct Catalogue {
    pub metrics: HashMap<String, Place>, // keyed by Definition::key()
    pub families: HashMap<String, Family>, // keyed by name
    /// The writers of metrics for one thread, keyed like `metrics`.
    writers: HashMap<String, Weak<()>>,
    last_number: u32,
}

impl Catalogue {
    /// A number for a page. After 2^32 of them one may be in use, which the agent refuses.
    pub fn next_number(&mut self) -> u32 {
        self.last_number = self.last_number.wrapping_add(1);
        self.last_number
    }

    /// Drops a metric. Later ones of its name and labels are others.
    pub fn forget(&mut self, key: &str, name: &str) -> Option<Place> {
        let place = self.metrics.remove(key)?;
        self.writers.remove(key);
        if let Some(family) = self.families.get_mut(name) {
            family.metrics -= 1;
            if family.metrics == 0 {
                self.families.remove(name);
            }
        }
        Some(place)
    }

    /// None while the metric has a writer.
    pub fn claim(&mut self, key: &str) -> Option<Arc<()>> {
        if self.writers.get(key).map_or(false, |writer| writer.strong_count() > 0) {
            return None;
        }
        let writer = Arc::new(());
        self.writers.insert(key.to_string(), Arc::downgrade(&writer));
        Some(writer)
    }
}

pub struct State {
    pub pages: Vec<Page>, // never shrinks
    pub session: Session,
    pub thread: Option<Thread>,
    pub wakeup: Option<Wakeup>,
    pub on_heartbeat: OnHeartbeat,
    next_beat: Instant,
    stop: bool,
    last_trouble: Option<Error>,
    reported: HashSet<String>,
}

pub struct Core {
    pub labels: CommonLabels,
    on_error: Option<Listener>,
    pub catalogue: Mutex<Catalogue>,
    pub state: Mutex<State>,
    pub answered: Condvar,
    /// The first page's memory, once there is one. The pointer owns one count of the Arc.
    first: AtomicPtr<Mapping>,
}

impl Drop for Core {
    fn drop(&mut self) {
        let first = *self.first.get_mut();
        if !first.is_null() {
            // SAFETY: add_page() has taken the count, and nobody uses the pointer any more.
            unsafe { drop(Arc::from_raw(first)) }
        }
    }
}

/// A panic of another thread leaves nothing half done that matters, so its poison is ignored.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn thread_body(core: *mut c_void) -> *mut c_void {
    // SAFETY: start() leaked one count of this Arc for this thread.
    let core = unsafe { Arc::from_raw(core as *const Core) };
    // Nothing may unwind into the C library.
    let _ = catch_unwind(AssertUnwindSafe(|| core.run()));
    std::ptr::null_mut()
}

impl Core {
    pub fn new(
        path: PathBuf,
        application: &str,
        labels: CommonLabels,
        on_error: Option<Listener>,
    ) -> Core {
        let session = Session::new(path, application, &labels.application);
        Core {
            labels,
            on_error,
            catalogue: Mutex::default(),
            state: Mutex::new(State {
                pages: Vec::new(),
                session,
                thread: None,
                wakeup: None,
                on_heartbeat: OnHeartbeat::default(),
                next_beat: Instant::now() + BEAT,
                stop: false,
                last_trouble: None,
                reported: HashSet::new(),
            }),
            answered: Condvar::new(),
            first: AtomicPtr::default(),
        }
    }

    /// Adds a page and returns its index. Pages are never removed.
    pub fn add_page(&self, state: &mut State, page: Page) -> usize {
        if state.pages.is_empty() {
            let memory = Arc::into_raw(page.memory.clone()) as *mut Mapping;
            self.first.store(memory, Ordering::Release);
        }
        state.pages.push(page);
        state.pages.len() - 1
    }

    /// It takes no lock.
    pub fn keep_one_in(&self) -> u32 {
        // SAFETY: the pointer is null, or owns a count of the Arc until drop().
        let first = unsafe { self.first.load(Ordering::Acquire).as_ref() };
        first.map_or(0, |memory| memory.page().keep_one_in())
    }

    /// Starts the thread. Without one the metrics count, but nobody reads them.
    pub fn start(self: &Arc<Core>, state: &mut State) {
        state.next_beat = Instant::now() + BEAT;
        state.wakeup = Wakeup::new().ok();
        state.thread = None;
        if state.wakeup.is_some() {
            let argument = Arc::into_raw(self.clone());
            state.thread = sys::start_thread(thread_body, argument as *mut c_void);
            if state.thread.is_none() {
                // SAFETY: no thread has taken the count that was leaked above.
                drop(unsafe { Arc::from_raw(argument) });
            }
        }
        if state.thread.is_none() {
            let text = "no thread: nobody can read the pages";
            state.last_trouble = Some(Error::new(ErrorKind::NoMemory, text));
        }
    }

    /// Ends the thread, and with it the connection: the agent's collectors drop the pages.
    pub fn stop(&self) {
        let mut state = lock(&self.state);
        state.stop = true;
        state.wake();
        let thread = state.thread.take();
        drop(state);
        if let Some(thread) = thread {
            thread.join();
        }
        lock(&self.state).session.start_anew(Instant::now());
    }

    fn run(&self) {
        loop {
            let mut state = lock(&self.state);
            if state.stop {
                return;
            }
            let mut now = Instant::now();
            let fd = match &state.wakeup {
                Some(wakeup) => {
                    wakeup.drain();
                    wakeup.fd()
                }
                None => return,
            };
            if now >= state.next_beat {
                state = self.call_on_heartbeat(state);
                now = Instant::now();
                state.beat(now);
            }
            let State { session, pages, .. } = &mut *state;
            session.step(now, pages);
            let news = state.keep_troubles();
            let agent = state.session.fd();
            let next = state.next_beat.min(state.session.next_step(now));
            drop(state);
            self.answered.notify_all();
            for trouble in &news {
                self.report(trouble);
            }
            let left = next.saturating_duration_since(now).as_micros();
            sys::wait(fd, agent, ((left + 999) / 1000).clamp(1, 1000) as i32);
        }
    }

    fn report(&self, trouble: &Error) {
        if let Some(on_error) = &self.on_error {
            // A panic in the application's function must not end the heartbeat.
            let _ = catch_unwind(AssertUnwindSafe(|| on_error(trouble)));
        }
    }

    pub fn status(&self) -> Status {
        let state = lock(&self.state);
        let pages = &state.pages;
        Status {
            connected: state.session.is_registered(),
            owner: if state.session.is_registered() { state.session.owner() } else { 0 },
            pages: pages.len(),
            known_pages: pages.iter().filter(|one| one.standing == Standing::Known).count(),
            metrics: pages.iter().map(|one| one.metrics.living()).sum(),
            known_metrics: pages.iter().map(|one| one.metrics.known()).sum(),
            refused: state.session.refusals(),
            error: state.last_trouble.clone(),
        }
    }

    /// REQUIRES: this is a child just after fork(), and the lock is held for it.
    pub fn start_anew_in_child(self: &Arc<Core>, state: &mut State) {
        let now = Instant::now();
        state.session.start_anew(now + CHILD_DELAY);
        state.last_trouble = None;
        state.on_heartbeat.start_anew();
        let mut shareable = true;
        for page in &mut state.pages {
            shareable &= page.start_anew(now);
        }
        if !shareable {
            let text = "no page for this child: nobody can read its values";
            state.last_trouble = Some(Error::new(ErrorKind::NoMemory, text));
        }
        // The parent's thread does not exist in this process.
        if state.thread.is_some() {
            // SAFETY: start() leaked a count for that thread, which can no longer drop it.
            unsafe { Arc::decrement_strong_count(Arc::as_ptr(self)) };
            self.start(state);
        }
    }
}

impl State {
    pub fn wake(&self) {
        if let Some(wakeup) = &self.wakeup {
            wakeup.wake();
        }
    }

    fn beat(&mut self, now: Instant) {
        for page in &self.pages {
            page.memory.page().beat();
        }
        self.next_beat += BEAT;
        if self.next_beat <= now {
            self.next_beat = now + BEAT; // the process was stopped for a while
        }
    }

    /// Returns those that were not reported yet.
    fn keep_troubles(&mut self) -> Vec<Error> {
        let mut news = Vec::new();
        for trouble in self.session.take_troubles() {
            self.last_trouble = Some(trouble.clone());
            if self.reported.len() < MAX_REPORTED && self.reported.insert(trouble.to_string()) {
                news.push(trouble);
            }
        }
        let no_agent = |trouble: &Error| trouble.kind() == ErrorKind::NoAgent;
        if self.session.is_registered() && self.last_trouble.as_ref().map_or(false, no_agent) {
            self.last_trouble = None;
        }
        news
    }
}
