//! An agent's side of the socket, for tests.

use super::*;

extern "C" {
    fn bind(fd: c_int, address: *const SocketAddress, bytes: u32) -> c_int;
    fn listen(fd: c_int, backlog: c_int) -> c_int;
    fn accept(fd: c_int, address: *mut c_void, bytes: *mut u32) -> c_int;
    fn socketpair(domain: c_int, kind: c_int, protocol: c_int, fds: *mut c_int) -> c_int;
}

pub fn listen_at(path: &[u8]) -> OwnedFd {
    let mut address = SocketAddress { family: AF_UNIX as u16, path: [0; 108] };
    address.path[..path.len()].copy_from_slice(path);
    // SAFETY: the address lives during the calls and has the stated size.
    unsafe {
        let fd = owned(socket(AF_UNIX, SOCK_SEQPACKET | CLOEXEC | NONBLOCK, 0)).unwrap();
        let bytes = size_of::<SocketAddress>() as u32;
        assert_eq!(bind(fd.as_raw_fd(), &address, bytes), 0);
        assert_eq!(listen(fd.as_raw_fd(), 8), 0);
        fd
    }
}

pub fn take_connection(listener: &OwnedFd) -> Option<OwnedFd> {
    // SAFETY: nobody asks for the peer's address.
    owned(unsafe { accept(listener.as_raw_fd(), null_mut(), null_mut()) }).ok()
}

fn pair() -> (OwnedFd, OwnedFd) {
    let mut fds = [0; 2];
    // SAFETY: the array has room for two descriptors.
    let failed = unsafe { socketpair(AF_UNIX, SOCK_SEQPACKET | CLOEXEC, 0, fds.as_mut_ptr()) };
    assert_eq!(failed, 0);
    (owned(fds[0]).unwrap(), owned(fds[1]).unwrap())
}

/// Sends a message with as many copies of a descriptor.
fn send_copies(to: &OwnedFd, message: &[u8], passed: &OwnedFd, copies: usize) {
    let mut control = [0u64; 16];
    control[0] = (HEAD_BYTES + copies * size_of::<c_int>()) as u64;
    control[1] = SOL_SOCKET as u64 | (SCM_RIGHTS as u64) << 32;
    for copy in 0..copies {
        control[2 + copy / 2] |= (passed.as_raw_fd() as u64) << (32 * (copy % 2));
    }
    let mut part = Part { base: message.as_ptr() as *mut c_void, bytes: message.len() };
    let header = Message {
        name: null_mut(),
        name_bytes: 0,
        parts: &mut part,
        part_count: 1,
        control: control.as_mut_ptr().cast(),
        control_bytes: if copies > 0 { HEAD_BYTES + (copies + 1) / 2 * 8 } else { 0 },
        flags: 0,
    };
    // SAFETY: the header points at data that lives during the call, with its sizes.
    assert_eq!(unsafe { sendmsg(to.as_raw_fd(), &header, 0) }, message.len() as isize);
}

/// What is received, and whether all of its descriptors are closed once it is dropped.
fn received(message: &[u8], copies: usize) -> (Received, std::os::unix::net::UnixStream) {
    let (agent, application) = pair();
    let (watched, passed) = std::os::unix::net::UnixStream::pair().unwrap();
    send_copies(&agent, message, &passed.into(), copies);
    (receive(application.as_raw_fd(), &mut [0; 8]), watched)
}

fn assert_closed(mut watched: std::os::unix::net::UnixStream) {
    watched.set_read_timeout(Some(std::time::Duration::from_secs(20))).unwrap();
    let read = std::io::Read::read(&mut watched, &mut [0]);
    assert_eq!(read.expect("a descriptor leaked"), 0);
}

#[test]
fn a_message_brings_one_descriptor_at_most() {
    let (answer, watched) = received(b"12345678", 1);
    assert!(matches!(&answer, Received::Message(8, Some(_))));
    drop(answer);
    assert_closed(watched);
    let (answer, _) = received(b"12345678", 0);
    assert!(matches!(answer, Received::Message(8, None)));
    for (message, copies) in [(&b"1"[..], 2), (b"1", 3), (b"1", 4), (b"1", 9), (b"123456789", 1)] {
        let (answer, watched) = received(message, copies);
        assert!(matches!(answer, Received::Broken), "{copies} descriptors");
        assert_closed(watched);
    }
    let (answer, watched) = received(b"", 1);
    assert!(matches!(answer, Received::End));
    assert_closed(watched);
}
