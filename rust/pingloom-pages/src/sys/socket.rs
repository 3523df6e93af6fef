//! The socket to the agent.

use std::io;
use std::mem::size_of;
use std::os::raw::{c_int, c_void};
use std::os::unix::io::{AsRawFd, OwnedFd, RawFd};
use std::ptr::null_mut;

use super::{owned, CLOEXEC, NONBLOCK};

/// A received message may have as many descriptors before it counts as truncated.
const MAX_DESCRIPTORS: usize = 4;
const AF_UNIX: c_int = 1;
const SOCK_SEQPACKET: c_int = 5;
const MSG_CTRUNC: c_int = 0x8;
const MSG_TRUNC: c_int = 0x20;
const MSG_DONTWAIT: c_int = 0x40;
const MSG_NOSIGNAL: c_int = 0x4000;
const MSG_CMSG_CLOEXEC: c_int = 0x4000_0000;
const SOL_SOCKET: c_int = 1;
const SCM_RIGHTS: c_int = 1;
const EINTR: i32 = 4;
const EAGAIN: i32 = 11;
const ENOMEM: i32 = 12;
const ENOBUFS: i32 = 105;
const ETOOMANYREFS: i32 = 109; // the peer has not received the descriptors in flight yet

#[repr(C)]
struct SocketAddress {
    family: u16,
    path: [u8; 108],
}
#[repr(C)]
struct Part {
    base: *mut c_void,
    bytes: usize,
}
#[repr(C)]
struct Message {
    name: *mut c_void,
    name_bytes: u32,
    parts: *mut Part,
    part_count: usize,
    control: *mut c_void,
    control_bytes: usize,
    flags: c_int,
}
impl Message {
    /// A message without control data, which must not outlive its part.
    fn of(part: &mut Part) -> Message {
        Message {
            name: null_mut(),
            name_bytes: 0,
            parts: part,
            part_count: 1,
            control: null_mut(),
            control_bytes: 0,
            flags: 0,
        }
    }
}
#[repr(C)]
struct ControlHead {
    bytes: usize,
    level: c_int,
    kind: c_int,
}

const HEAD_BYTES: usize = size_of::<ControlHead>();
/// Room for a control message with MAX_DESCRIPTORS, in words so that it is aligned.
const CONTROL_WORDS: usize = (HEAD_BYTES + MAX_DESCRIPTORS * size_of::<c_int>()) / 8;

extern "C" {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    fn connect(fd: c_int, address: *const SocketAddress, bytes: u32) -> c_int;
    fn sendmsg(fd: c_int, message: *const Message, flags: c_int) -> isize;
    fn recvmsg(fd: c_int, message: *mut Message, flags: c_int) -> isize;
}

/// Connects to a SOCK_SEQPACKET socket and never blocks.
pub fn connect_to(path: &[u8]) -> io::Result<OwnedFd> {
    let mut address = SocketAddress { family: AF_UNIX as u16, path: [0; 108] };
    if path.is_empty() || path.len() >= address.path.len() || path.contains(&0) {
        return Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "a socket's path has 1 to 107 bytes",
        ));
    }
    address.path[..path.len()].copy_from_slice(path);
    // SAFETY: it takes no pointers.
    let fd = owned(unsafe { socket(AF_UNIX, SOCK_SEQPACKET | CLOEXEC | NONBLOCK, 0) })?;
    let bytes = size_of::<SocketAddress>() as u32;
    // SAFETY: the address lives during the call and has the stated size.
    if unsafe { connect(fd.as_raw_fd(), &address, bytes) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(fd)
}

#[derive(PartialEq, Eq, Debug)]
pub enum Sent {
    Yes,
    Later,
    No,
}

/// Sends one message, with a descriptor or without. It never blocks.
pub fn send(fd: RawFd, message: &[u8], passed: Option<RawFd>) -> Sent {
    let mut part = Part { base: message.as_ptr() as *mut c_void, bytes: message.len() };
    let mut control = [0u64; CONTROL_WORDS];
    let mut header = Message::of(&mut part);
    if let Some(passed) = passed {
        control[0] = (HEAD_BYTES + size_of::<c_int>()) as u64;
        control[1] = SOL_SOCKET as u64 | (SCM_RIGHTS as u64) << 32;
        control[2] = passed as u64;
        header.control = control.as_mut_ptr().cast();
        header.control_bytes = HEAD_BYTES + 8; // the descriptor and its padding
    }
    // SAFETY: the header points at a message, a part and control data that live during the call,
    // with their sizes; sendmsg only reads them.
    if unsafe { sendmsg(fd, &header, MSG_NOSIGNAL | MSG_DONTWAIT) } >= 0 {
        return Sent::Yes;
    }
    match io::Error::last_os_error().raw_os_error() {
        Some(EAGAIN | EINTR | ENOBUFS | ENOMEM | ETOOMANYREFS) => Sent::Later,
        _ => Sent::No,
    }
}

pub enum Received {
    Nothing,
    /// The number of bytes, and the descriptor that came with them.
    Message(usize, Option<OwnedFd>),
    /// The peer closed the connection or died.
    End,
    /// The message is longer than the buffer, or brings more than one descriptor.
    Broken,
}

/// Receives one message. It never blocks.
pub fn receive(fd: RawFd, buffer: &mut [u8]) -> Received {
    let mut part = Part { base: buffer.as_mut_ptr().cast(), bytes: buffer.len() };
    let mut control = [0u64; CONTROL_WORDS];
    let mut header = Message::of(&mut part);
    header.control = control.as_mut_ptr().cast();
    header.control_bytes = CONTROL_WORDS * 8;
    // SAFETY: the header points at a buffer, a part and control data that live during the call and
    // have the stated sizes, which the kernel does not exceed.
    let got = unsafe { recvmsg(fd, &mut header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) };
    if got < 0 {
        let again = matches!(io::Error::last_os_error().raw_os_error(), Some(EAGAIN | EINTR));
        return if again { Received::Nothing } else { Received::End };
    }
    let mut descriptors = take_descriptors(&control, header.control_bytes);
    if got == 0 {
        return Received::End;
    }
    if descriptors.len() > 1 || header.flags & (MSG_TRUNC | MSG_CTRUNC) != 0 {
        return Received::Broken;
    }
    Received::Message(got as usize, descriptors.pop())
}

/// Takes all descriptors out of control data, so that none leaks whatever becomes of the message.
fn take_descriptors(control: &[u64; CONTROL_WORDS], bytes: usize) -> Vec<OwnedFd> {
    let bytes = bytes.min(CONTROL_WORDS * 8);
    let number = |at: usize| (control[at / 8] >> (8 * (at % 8))) as u32 as c_int;
    let mut taken = Vec::new();
    let mut at = 0;
    while at + HEAD_BYTES <= bytes {
        let end = (control[at / 8] as usize).clamp(HEAD_BYTES, bytes - at) + at;
        if number(at + 8) == SOL_SOCKET && number(at + 12) == SCM_RIGHTS {
            for fd in (at + HEAD_BYTES..end).step_by(4).filter(|fd| fd + 4 <= end).map(number) {
                // SAFETY: the kernel has just made this descriptor for this message.
                taken.extend(owned(fd));
            }
        }
        at = (end + 7) / 8 * 8;
    }
    taken
}

#[cfg(test)]
#[path = "agents.rs"]
pub mod agents;
