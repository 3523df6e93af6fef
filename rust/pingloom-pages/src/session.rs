//! The session with the agent across reconnects. It sends the registration first, then every page,
//! then the metrics of each page that the agent knows, and those that are removed. After a lost
//! connection everything is sent again, so that an agent may restart at any time.
//! Nothing here blocks, and the caller passes the time. tell.rs sends, and answers.rs takes answers.

use std::collections::hash_map::RandomState;
use std::collections::VecDeque;
use std::hash::{BuildHasher, Hasher};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::book::Page;
use crate::definition::Labels;
use crate::message::{self, Encoder, Request};
use crate::page::Mapping;
use crate::sys::{self, Received};
use crate::table::Number;
use crate::{Error, ErrorKind};

const FIRST_DELAY: Duration = Duration::from_millis(100);
const MAX_DELAY: Duration = Duration::from_secs(5);
const LONG_ENOUGH: Duration = Duration::from_secs(5); // such a connection resets the back-off
const ANSWER_TIME: Duration = Duration::from_secs(10); // an agent that takes longer is stuck

/// A thread's request for a page from the agent.
pub enum Wanted {
    Nothing,
    Page {
        number: u32,
        flags: u16,
        asked: bool,
    },
    Granted(Grant),
    Refused(String),
    /// There is no agent, or it has nothing at the moment.
    Unavailable,
}

pub struct Grant {
    pub memory: Mapping,
    pub fd: OwnedFd,
    pub generation: u64,
    /// The agent of the current connection granted it.
    pub known: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Down,
    NotYet,
    Registering,
    Registered,
}

#[derive(Clone, Copy)]
pub(crate) struct Expected {
    pub request: Request,
    pub number: u32,
    pub page: usize,    // the index of the page that is adopted or has the metric
    pub metric: Number, // for Define and Remove
    pub since: Instant,
}

pub struct Session {
    path: PathBuf,
    pub(crate) registration: Vec<u8>,
    connection: Option<OwnedFd>,
    pub(crate) state: State,
    pub(crate) expected: VecDeque<Expected>, // oldest first
    pub(crate) releases: Vec<u32>,           // pages that were granted too late
    pub(crate) wanted: Wanted,
    pub(crate) slow: bool, // a request timed out and no answer arrived since
    pub(crate) broken: bool,
    pub(crate) owner: u64,
    pub(crate) refused: u64,
    pub(crate) troubles: Vec<Error>,
    pub(crate) registered_at: Option<Instant>,
    pub(crate) ask_again_at: Option<Instant>, // for the pages that were refused
    retry_at: Option<Instant>,
    pub(crate) send_again_at: Option<Instant>,
    delay: Duration,
}

pub(crate) fn is_due(at: Option<Instant>, now: Instant) -> bool {
    at.map_or(true, |at| now >= at)
}

impl Session {
    pub fn new(path: PathBuf, application: &str, labels: &Labels) -> Session {
        let mut body = Encoder::default();
        body.string(application);
        body.u8(labels.len() as u8);
        body.labels(labels);
        Session {
            path,
            registration: body.0,
            connection: None,
            state: State::NotYet,
            expected: VecDeque::new(),
            releases: Vec::new(),
            wanted: Wanted::Nothing,
            slow: false,
            broken: false,
            owner: 0,
            refused: 0,
            troubles: Vec::new(),
            registered_at: None,
            ask_again_at: None,
            retry_at: None,
            send_again_at: None,
            delay: Duration::ZERO,
        }
    }

    /// Does all that is due: connects, takes answers, sends news.
    pub fn step(&mut self, now: Instant, pages: &mut [Page]) {
        if self.connection.is_none() {
            if self.state == State::Down && !is_due(self.retry_at, now) {
                return;
            }
            self.connect(now, pages);
        }
        self.take_answers(now, pages);
        if self.connection.is_some() {
            self.tell(now, pages);
        }
        if self.broken {
            self.hang_up(now, pages, None);
        }
        if self.expected.front().map_or(false, |first| now - first.since > ANSWER_TIME) {
            self.hang_up(now, pages, Some("the agent does not answer"));
        }
    }

    /// The latest time for step(); call it earlier when fd() is readable.
    pub fn next_step(&self, now: Instant) -> Instant {
        let again = self.send_again_at.filter(|&at| at > now);
        match self.state {
            State::Down => self.retry_at.unwrap_or(now),
            _ => again.unwrap_or(now + Duration::from_secs(1)),
        }
    }

    pub fn fd(&self) -> Option<RawFd> {
        self.connection.as_ref().map(|fd| fd.as_raw_fd())
    }
    pub fn is_registered(&self) -> bool {
        self.state == State::Registered
    }
    pub fn owner(&self) -> u64 {
        self.owner
    }
    pub fn refusals(&self) -> u64 {
        self.refused
    }
    pub fn add_trouble(&mut self, trouble: Error) {
        self.troubles.push(trouble);
    }
    pub fn take_troubles(&mut self) -> Vec<Error> {
        std::mem::take(&mut self.troubles)
    }

    /// Tells whether it is worth waiting briefly for a page from the agent.
    pub fn may_grant(&self) -> bool {
        self.state != State::Down && !self.slow
    }
    pub fn request(&mut self, number: u32, flags: u16) {
        self.wanted = Wanted::Page { number, flags, asked: false };
    }
    pub fn is_waiting(&self) -> bool {
        matches!(self.wanted, Wanted::Page { .. })
    }
    /// Ends the request in any state; a page that is granted later is released.
    pub fn end_request(&mut self) -> Wanted {
        let ended = std::mem::replace(&mut self.wanted, Wanted::Nothing);
        self.slow = self.slow || matches!(ended, Wanted::Page { asked: true, .. });
        ended
    }

    /// In a forked child it drops the parent's connection and connects anew at the given time.
    pub fn start_anew(&mut self, first_connection: Instant) {
        self.connection = None;
        self.expected.clear();
        self.releases.clear();
        self.troubles.clear();
        self.wanted = Wanted::Nothing;
        self.broken = false;
        self.slow = false;
        self.state = State::Down;
        self.owner = 0;
        self.delay = Duration::ZERO;
        self.retry_at = Some(first_connection);
        self.send_again_at = None;
        self.ask_again_at = None;
    }

    fn connect(&mut self, now: Instant, pages: &mut [Page]) {
        self.state = State::Registering;
        match sys::connect_to(self.path.as_os_str().as_bytes()) {
            Ok(fd) => {
                self.connection = Some(fd);
                self.send(now, (Request::Register, 0, 0, 0), &self.registration.clone(), None);
            }
            Err(error) => {
                let text = format!("{}: {}", self.path.display(), sys::words(&error));
                self.troubles.push(Error::new(ErrorKind::NoAgent, text));
                self.hang_up(now, pages, None);
            }
        }
    }

    /// `trouble`: what is wrong with the agent.
    fn hang_up(&mut self, now: Instant, pages: &mut [Page], trouble: Option<&str>) {
        if let Some(trouble) = trouble {
            let text = format!("{}: {trouble}", self.path.display());
            self.troubles.push(Error::new(ErrorKind::BadAgent, text));
        }
        let lasted = self.registered_at.filter(|_| self.is_registered()).map(|since| now - since);
        if lasted.map_or(false, |lasted| lasted >= LONG_ENOUGH) {
            self.delay = Duration::ZERO;
        }
        self.connection = None;
        self.expected.clear();
        self.releases.clear();
        self.broken = false;
        self.slow = false;
        self.state = State::Down;
        match &mut self.wanted {
            Wanted::Page { .. } => self.wanted = Wanted::Unavailable,
            Wanted::Granted(grant) => grant.known = false,
            _ => {}
        }
        pages.iter_mut().for_each(|page| page.forget(now));
        self.delay = (2 * self.delay).clamp(FIRST_DELAY, MAX_DELAY);
        // Half of the delay is random, so that the processes of a host do not all come at once.
        let mut random = RandomState::new().build_hasher();
        random.write_u32(std::process::id());
        let part = f64::from(random.finish() as u32) / f64::from(u32::MAX);
        self.retry_at = Some(now + (self.delay / 2).mul_f64(1.0 + part));
    }

    fn take_answers(&mut self, now: Instant, pages: &mut [Page]) {
        let mut buffer = [0; message::MAX_MESSAGE_BYTES];
        while let (Some(fd), false) = (self.fd(), self.broken) {
            let taken = match sys::receive(fd, &mut buffer) {
                Received::Nothing => return,
                Received::End => return self.hang_up(now, pages, None),
                Received::Broken => false,
                Received::Message(bytes, fd) => match message::parse(&buffer[..bytes]) {
                    Some(answer) => self.accept(now, answer, fd, pages),
                    None => false,
                },
            };
            if !taken {
                return self.hang_up(now, pages, Some("what the agent sent is no answer"));
            }
        }
    }
}
