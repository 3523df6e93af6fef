//! A session and an agent that says what a test tells it, in virtual time.

use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::book::{Page, Standing};
use crate::definition::{Definition, Kind};
use crate::page::Mapping;
use crate::session::{Session, Wanted};
use crate::sys::{self, agents, Received, Sent};
use crate::{ErrorKind, Metric};

const REGISTERED: u16 = 101;
const GRANTED: u16 = 102;
const DEFINED: u16 = 103;
const REFUSED: u16 = 104;

struct Lab {
    path: PathBuf,
    listener: Option<OwnedFd>,
    peer: Option<OwnedFd>,
    session: Session,
    pages: Vec<Page>,
    now: Instant,
}

impl Drop for Lab {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn message(kind: u16, page: u32, body: &[u8]) -> Vec<u8> {
    let head = [&b"PLRG\x01\0"[..], &kind.to_le_bytes(), &page.to_le_bytes()].concat();
    [&head[..], &(body.len() as u32).to_le_bytes(), body].concat()
}

impl Lab {
    fn new() -> Lab {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rust-{}-{number}.sock", std::process::id()));
        let _ = std::fs::remove_file(&path);
        let labels = vec![("service".to_string(), "shop".to_string())];
        let session = Session::new(path.clone(), "orders", &labels);
        Lab { path, listener: None, peer: None, session, pages: Vec::new(), now: Instant::now() }
    }

    /// The agent starts, or starts anew.
    fn start_agent(&mut self) {
        let _ = std::fs::remove_file(&self.path);
        self.peer = None;
        self.listener = Some(agents::listen_at(self.path.to_str().unwrap().as_bytes()));
    }

    fn step(&mut self) {
        self.session.step(self.now, &mut self.pages);
    }

    fn step_after(&mut self, time: Duration) {
        self.now += time;
        self.step();
    }

    /// The next message that the agent gets: its type, page, body and descriptor.
    fn get(&mut self) -> Option<(u16, u32, Vec<u8>, Option<OwnedFd>)> {
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

    fn kinds(&mut self) -> Vec<u16> {
        std::iter::from_fn(|| self.get()).map(|(kind, ..)| kind).collect()
    }

    fn say(&mut self, message: &[u8], passed: Option<RawFd>) {
        let peer = self.peer.as_ref().expect("somebody has connected").as_raw_fd();
        assert_eq!(sys::send(peer, message, passed), Sent::Yes);
    }

    /// The session is registered as owner 1000.
    fn registered() -> Lab {
        let mut lab = Lab::new();
        lab.start_agent();
        lab.register();
        lab
    }

    fn register(&mut self) {
        self.step();
        assert_eq!(self.kinds(), [1]);
        let owner = [&1000u64.to_le_bytes()[..], &[8, 0, 0, 0]].concat();
        self.say(&message(REGISTERED, 0, &owner), None);
        self.step();
        assert!(self.session.is_registered());
    }

    fn add_page(&mut self) {
        let (memory, fd) = Mapping::make().unwrap();
        self.pages.push(Page::new(self.pages.len() as u32 + 1, 0, memory, fd));
    }

    fn add_metric(&mut self, name: &str, kind: Kind) {
        let metric = Metric::new(name).help("Orders.").label("till", "1");
        let metric = if kind == Kind::Gauge { Metric::new(name) } else { metric };
        let shared = kind == Kind::Counter;
        self.pages[0].add(Definition::check(&metric, kind, shared, None, &vec![]).unwrap());
    }

    fn troubles(&mut self) -> Vec<ErrorKind> {
        self.session.take_troubles().iter().map(|one| one.kind()).collect()
    }
}

/// The hexadecimal examples of the format's description.
fn documented() -> VecDeque<Vec<u8>> {
    let mut examples: VecDeque<Vec<u8>> = VecDeque::new();
    for line in include_str!("../../../docs/page-format.md").lines() {
        let address = line.strip_prefix("    ").and_then(|text| text.get(..4));
        let address = match address.map(|text| usize::from_str_radix(text, 16)) {
            Some(Ok(address)) => address,
            _ => continue,
        };
        if address == 0 {
            examples.push_back(Vec::new());
        }
        let example = examples.back_mut().unwrap();
        assert_eq!(example.len(), address, "{line}");
        let bytes = line[10..].split(' ').take_while(|text| text.len() == 2);
        example.extend(bytes.map(|text| u8::from_str_radix(text, 16).unwrap()));
    }
    examples
}

#[test]
fn messages_and_page_are_those_of_the_description() {
    let mut documented = documented();
    assert_eq!(documented.len(), 3);
    let mut lab = Lab::new();
    lab.start_agent();
    lab.step();
    let (kind, page, body, _) = lab.get().unwrap();
    assert_eq!(message(kind, page, &body), documented.pop_front().unwrap());
    lab.say(&message(REGISTERED, 0, &[&1000u64.to_le_bytes()[..], &[8, 0, 0, 0]].concat()), None);
    lab.add_page();
    lab.add_metric("orders_total", Kind::Counter);
    lab.add_metric("load", Kind::Gauge);
    lab.step();
    let (kind, page, body, fd) = lab.get().unwrap();
    assert_eq!((kind, page, body, fd.is_some()), (3, 1, vec![0, 0], true));
    lab.say(&message(GRANTED, 1, &1u64.to_le_bytes()), None);
    lab.step();
    let (kind, page, body, _) = lab.get().unwrap();
    assert_eq!(message(kind, page, &body), documented.pop_front().unwrap());
    lab.say(&message(DEFINED, 1, &[]), None);
    lab.say(&message(DEFINED, 1, &[]), None);
    lab.step();
    let memory = lab.pages[0].memory.clone();
    memory.page().slots[0].fetch_add(42, Ordering::Relaxed);
    memory.page().slots[1].store(1.5f64.to_bits(), Ordering::Relaxed);
    (0..7).for_each(|_| memory.page().beat());
    let bytes: Vec<u8> = memory.page().words().into_iter().flat_map(u64::to_le_bytes).collect();
    let wanted = documented.pop_front().unwrap();
    assert_eq!(bytes[..wanted.len()], wanted);
    assert!(bytes[wanted.len()..].iter().all(|&byte| byte == 0));
}

#[test]
fn a_new_agent_is_told_everything_again() {
    let mut lab = Lab::registered();
    lab.add_page();
    lab.add_metric("orders_total", Kind::Counter);
    for generation in [1u64, 2] {
        lab.step();
        assert_eq!(lab.kinds(), [3]);
        lab.say(&message(GRANTED, 1, &generation.to_le_bytes()), None);
        lab.step();
        assert_eq!(lab.kinds(), [4]);
        lab.say(&message(DEFINED, 1, &[]), None);
        lab.step();
        assert_eq!((lab.pages[0].standing, lab.pages[0].known), (Standing::Known, 1));
        assert_eq!(lab.pages[0].memory.page().words()[1], generation);
        assert_eq!(lab.pages[0].memory.page().words()[5] >> 32, generation, "it never falls");
        lab.start_agent();
        lab.step();
        assert_eq!((lab.pages[0].standing, lab.pages[0].known), (Standing::Unknown, 0));
        lab.now += Duration::from_secs(6);
        lab.register();
    }
}

#[test]
fn a_page_of_the_agent_arrives_or_is_released() {
    let mut lab = Lab::registered();
    let fd = sys::sealed_memfd().unwrap();
    lab.session.request(7, 1);
    lab.step();
    assert_eq!(lab.kinds(), [2]);
    lab.say(&message(GRANTED, 7, &5u64.to_le_bytes()), Some(fd.as_raw_fd()));
    lab.step();
    match lab.session.end_request() {
        Wanted::Granted(grant) => assert_eq!((grant.generation, grant.known), (5, true)),
        _ => panic!("it was granted"),
    }
    lab.session.request(8, 0);
    lab.step();
    assert_eq!(lab.kinds(), [2]);
    assert!(matches!(lab.session.end_request(), Wanted::Page { asked: true, .. }));
    assert!(!lab.session.may_grant(), "nobody waits again for a slow agent");
    lab.say(&message(GRANTED, 8, &6u64.to_le_bytes()), Some(fd.as_raw_fd()));
    lab.step();
    assert_eq!(lab.kinds(), [5]);
    assert!(lab.session.may_grant());
}

#[test]
fn what_is_no_answer_ends_the_connection() {
    let zeros = File::open("/dev/zero").unwrap();
    let unsealed = sys::memfd().unwrap();
    let sealed = sys::sealed_memfd().unwrap();
    let (sealed, unsealed) = (Some(sealed.as_raw_fd()), Some(unsealed.as_raw_fd()));
    let zeros = Some(zeros.as_raw_fd());
    let generation = 5u64.to_le_bytes();
    let long = message(DEFINED, 7, &[0; 17000]);
    let hostile = [
        (message(GRANTED, 7, &generation), None),
        (message(GRANTED, 7, &generation), unsealed),
        (message(GRANTED, 7, &generation), zeros),
        (message(GRANTED, 8, &generation), sealed),
        (message(GRANTED, 7, &generation[..7]), sealed),
        (message(DEFINED, 7, &[]), None),
        (message(REGISTERED, 7, &[0; 12]), None),
        (message(REFUSED, 7, &[8, 0, 9, 0]), None),
        (message(REFUSED, 7, &[8, 0, 0, 0]), sealed),
        (message(99, 7, &[]), None),
        (b"x".to_vec(), None),
        (long, None),
    ];
    for (number, (answer, passed)) in hostile.iter().enumerate() {
        let mut lab = Lab::registered();
        lab.add_page();
        lab.session.request(7, 0);
        lab.step();
        assert_eq!(lab.kinds(), [2, 3]);
        lab.say(answer, *passed);
        lab.step();
        assert_eq!(lab.troubles(), [ErrorKind::BadAgent], "answer {number}");
        assert_eq!(lab.session.fd(), None, "answer {number}");
        assert!(matches!(lab.session.end_request(), Wanted::Unavailable), "answer {number}");
        assert_eq!(lab.pages[0].memory.page().words()[1], 0, "answer {number}");
    }
}

#[test]
fn an_answer_that_nobody_asked_for_ends_the_connection() {
    let mut lab = Lab::registered();
    lab.say(&message(DEFINED, 0, &[]), None);
    lab.step();
    assert_eq!((lab.troubles(), lab.session.fd()), (vec![ErrorKind::BadAgent], None));
}

#[test]
fn an_agent_that_does_not_answer_is_left() {
    let mut lab = Lab::registered();
    lab.add_page();
    lab.step();
    lab.step_after(Duration::from_millis(9_900));
    assert!(lab.session.fd().is_some());
    lab.step_after(Duration::from_millis(200));
    assert_eq!((lab.troubles(), lab.session.fd()), (vec![ErrorKind::BadAgent], None));
}

#[test]
fn refused_pages_are_offered_again_later() {
    let mut lab = Lab::registered();
    lab.add_page();
    lab.step();
    assert_eq!(lab.kinds(), [3]);
    lab.say(&message(REFUSED, 1, b"\x04\0\x04\0full"), None);
    lab.step();
    assert_eq!((lab.troubles(), lab.session.refusals()), (vec![ErrorKind::Quota], 1));
    lab.step_after(Duration::from_secs(29));
    assert_eq!(lab.kinds(), []);
    lab.step_after(Duration::from_secs(2));
    assert_eq!(lab.kinds(), [3]);
}

#[test]
fn few_messages_wait_for_their_answers() {
    let mut lab = Lab::registered();
    (0..40).for_each(|_| lab.add_page());
    lab.step();
    assert_eq!(lab.kinds().len(), 32);
    lab.say(&message(GRANTED, 1, &1u64.to_le_bytes()), None);
    lab.step();
    assert_eq!(lab.kinds().len(), 1);
}

#[test]
fn attempts_to_connect_become_rarer() {
    let mut lab = Lab::new();
    let mut longest = Duration::ZERO;
    for _ in 0..10 {
        lab.step();
        assert_eq!(lab.troubles(), [ErrorKind::NoAgent]);
        let next = lab.session.next_step(lab.now);
        let pause = next - lab.now;
        assert!(pause >= longest / 4 && pause >= Duration::from_millis(50), "{pause:?}");
        assert!(pause <= Duration::from_secs(5), "{pause:?}");
        longest = longest.max(pause);
        lab.now = next;
    }
    assert!(longest > Duration::from_secs(2));
    lab.start_agent();
    lab.register();
}
