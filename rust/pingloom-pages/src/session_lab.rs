//! A session and an agent that says what a test tells it, in virtual time.

use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::book::Page;
use crate::definition::{Definition, Kind};
use crate::page::Mapping;
use crate::session::Session;
use crate::sys::{self, agents, Received, Sent};
use crate::{ErrorKind, Metric};

pub const REGISTERED: u16 = 101;
pub const GRANTED: u16 = 102;
pub const DEFINED: u16 = 103;
pub const REFUSED: u16 = 104;
pub const REMOVED: u16 = 105;

/// A session, its pages, and what the agent has of it.
pub struct Lab {
    path: PathBuf,
    listener: Option<OwnedFd>,
    peer: Option<OwnedFd>,
    pub session: Session,
    pub pages: Vec<Page>,
    pub now: Instant,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

pub fn message(kind: u16, page: u32, body: &[u8]) -> Vec<u8> {
    let head = [&b"PLRG\x01\0"[..], &kind.to_le_bytes(), &page.to_le_bytes()].concat();
    [&head[..], &(body.len() as u32).to_le_bytes(), body].concat()
}

impl Lab {
    pub fn new() -> Lab {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rust-{}-{number}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let labels = vec![("service".to_string(), "shop".to_string())];
        let session = Session::new(path.clone(), "orders", &labels);
        Lab { path, listener: None, peer: None, session, pages: Vec::new(), now: Instant::now() }
    }

    /// The agent starts, or starts anew.
    pub fn start_agent(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.peer = None;
        self.listener = Some(agents::listen_at(self.path.to_str().unwrap().as_bytes()));
    }

    pub fn step(&mut self) {
        self.session.step(self.now, &mut self.pages);
    }

    pub fn step_after(&mut self, time: Duration) {
        self.now += time;
        self.step();
    }

    /// The next message that the agent gets: its type, page, body and descriptor.
    pub fn get(&mut self) -> Option<(u16, u32, Vec<u8>, Option<OwnedFd>)> {
        if self.peer.is_none() {
            self.peer = agents::take_connection(self.listener.as_ref()?);
        }
        let mut buffer = [0; 20000];
        match sys::receive(self.peer.as_ref()?.as_raw_fd(), &mut buffer) {
            Received::Message(bytes, fd) => {
                let kind = u16::from_le_bytes([buffer[6], buffer[7]]);
                let page = u32::from_le_bytes(buffer[8..12].try_into().unwrap());
                Some((kind, page, buffer[16..bytes].to_vec(), fd))
            }
            _ => None,
        }
    }

    pub fn kinds(&mut self) -> Vec<u16> {
        std::iter::from_fn(|| self.get()).map(|(kind, ..)| kind).collect()
    }

    pub fn say(&mut self, message: &[u8], passed: Option<RawFd>) {
        let peer = self.peer.as_ref().expect("somebody has connected").as_raw_fd();
        assert_eq!(sys::send(peer, message, passed), Sent::Yes);
    }

    /// The session is registered as owner 1000.
    pub fn registered() -> Lab {
        let mut lab = Lab::new();
        lab.start_agent();
        lab.register();
        lab
    }

    pub fn register(&mut self) {
        self.step();
        assert_eq!(self.kinds(), [1]);
        let owner = [&1000u64.to_le_bytes()[..], &[8, 0, 0, 0]].concat();
        self.say(&message(REGISTERED, 0, &owner), None);
        self.step();
        assert!(self.session.is_registered());
    }

    pub fn add_page(&mut self) {
        let (memory, fd) = Mapping::make().unwrap();
        self.pages.push(Page::new(self.pages.len() as u32 + 1, 0, memory, fd));
    }

    pub fn add_metric(&mut self, name: &str, kind: Kind) {
        let metric = Metric::new(name).help("Orders.").label("till", "1");
        let metric = if kind == Kind::Gauge { Metric::new(name) } else { metric };
        let shared = kind == Kind::Counter;
        self.pages[0]
            .add(Definition::check(&metric, kind, shared, None, &Default::default()).unwrap());
    }

    pub fn troubles(&mut self) -> Vec<ErrorKind> {
        self.session.take_troubles().iter().map(|one| one.kind()).collect()
    }
}
