//! The system calls that the standard library lacks. All foreign declarations of this crate and
//! nearly all of its unsafe blocks are here; the rest is in page.rs, core.rs, fork.rs and
//! handles.rs. Every descriptor is made with CLOEXEC, so no program that the process executes
//! inherits one.

mod memory;
mod socket;
mod threads;

use std::io;
use std::os::raw::c_int;
use std::os::unix::io::{FromRawFd, OwnedFd};

#[cfg(test)]
pub use memory::memfd;
pub use memory::{is_sealed_page, map, map_over, sealed_memfd, unmap, PAGE_BYTES};
#[cfg(test)]
pub use socket::agents;
pub use socket::{connect_to, receive, send, Received, Sent};
pub use threads::{is_privileged, start_thread, this_thread, wait, watch_forks};
pub use threads::{Thread, ThreadId, Wakeup};

#[cfg(not(all(
    target_os = "linux",
    target_endian = "little",
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64")
)))]
compile_error!("pingloom-pages needs Linux on x86-64 or arm64, little endian");

const CLOEXEC: c_int = 0o2_000_000; // of sockets and eventfds
const NONBLOCK: c_int = 0o4_000;

fn owned(fd: c_int) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a system call has just returned this descriptor, so nothing else owns it.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// An error of the system in words.
pub fn words(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(number) => {
            let text = error.to_string();
            text.strip_suffix(&format!(" (os error {number})")).unwrap_or(&text).to_string()
        }
        None => error.to_string(),
    }
}
