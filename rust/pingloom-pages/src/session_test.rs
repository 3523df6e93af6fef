use std::collections::VecDeque;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::os::unix::io::AsRawFd;
use std::sync::atomic::Ordering;
use std::time::Duration;

use crate::book::Standing;
use crate::definition::Kind;
use crate::session::Wanted;
use crate::session_lab::{message, Lab, DEFINED, GRANTED, REFUSED, REGISTERED, REMOVED};
use crate::{sys, ErrorKind};

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
fn what_an_agent_says_about_traces_ends_with_the_connection() {
    let mut lab = Lab::registered();
    lab.add_page();
    let file = File::from(lab.pages[0].fd.as_ref().unwrap().try_clone().unwrap());
    file.write_all_at(&100u32.to_le_bytes(), 48).unwrap();
    assert_eq!(lab.pages[0].memory.page().keep_one_in(), 100);
    lab.pages[0].forget(lab.now);
    assert_eq!(lab.pages[0].memory.page().keep_one_in(), 0);
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
        assert_eq!((lab.pages[0].standing, lab.pages[0].metrics.known()), (Standing::Known, 1));
        assert_eq!(lab.pages[0].memory.page().words()[1], generation);
        assert_eq!(lab.pages[0].memory.page().words()[5] >> 32, generation, "it never falls");
        lab.start_agent();
        lab.step();
        assert_eq!((lab.pages[0].standing, lab.pages[0].metrics.known()), (Standing::Unknown, 0));
        lab.now += Duration::from_secs(6);
        lab.register();
    }
}

#[test]
fn a_removal_names_what_was_defined_and_a_new_agent_hears_of_what_is_left() {
    let mut lab = Lab::registered();
    lab.add_page();
    lab.add_metric("orders_total", Kind::Counter);
    lab.add_metric("load", Kind::Gauge);
    lab.step();
    lab.kinds();
    lab.say(&message(GRANTED, 1, &1u64.to_le_bytes()), None);
    lab.step();
    let (_, _, defined, _) = lab.get().unwrap();
    assert_eq!(lab.kinds(), [4]);
    lab.say(&message(DEFINED, 1, &[]), None);
    lab.say(&message(DEFINED, 1, &[]), None);
    lab.step();
    lab.pages[0].metrics.remove(0, lab.now);
    lab.step();
    let (kind, page, body, _) = lab.get().unwrap();
    assert_eq!((kind, page, body), (6, 1, defined));
    lab.say(&message(REMOVED, 1, &[]), None);
    lab.step();
    assert_eq!(lab.pages[0].memory.page().words()[5] >> 32, 3, "the schema has changed");
    // The agent refuses another removal: it is left, and the next connection begins without it.
    lab.pages[0].metrics.remove(1, lab.now);
    lab.add_metric("orders_total", Kind::Counter);
    lab.step();
    assert_eq!(lab.kinds(), [6, 4]);
    lab.say(&message(REFUSED, 1, b"\x01\0\x02\0no"), None);
    lab.step();
    assert_eq!((lab.troubles(), lab.session.fd()), (vec![ErrorKind::Refused], None));
    lab.start_agent();
    lab.now += Duration::from_secs(6);
    lab.register();
    lab.step();
    lab.kinds();
    lab.say(&message(GRANTED, 1, &2u64.to_le_bytes()), None);
    lab.step();
    let (kind, _, body, _) = lab.get().unwrap();
    assert_eq!((kind, body[2]), (4, 2), "the slots of both rest");
    assert_eq!(lab.kinds(), []);
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
