//! The memory of a page.

use std::fs::File;
use std::io;
use std::mem::ManuallyDrop;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::os::unix::io::{AsRawFd, FromRawFd, OwnedFd};
use std::ptr::{null_mut, NonNull};

use super::owned;

pub const PAGE_BYTES: usize = 4096;
const F_ADD_SEALS: c_int = 1033;
const F_GET_SEALS: c_int = 1034;
const SEALS: c_int = 1 | 2 | 4; // against sealing, shrinking and growing
const MFD_CLOEXEC: c_uint = 1;
const MFD_ALLOW_SEALING: c_uint = 2;
const PROT_READ_WRITE: c_int = 1 | 2;
const MAP_SHARED: c_int = 1;
const MAP_PRIVATE: c_int = 2;
const MAP_FIXED: c_int = 0x10;
const MAP_ANONYMOUS: c_int = 0x20;
const ENOMEM: i32 = 12;

extern "C" {
    fn memfd_create(name: *const c_char, flags: c_uint) -> c_int;
    fn fcntl(fd: c_int, command: c_int, ...) -> c_int;
    fn mmap(
        at: *mut c_void,
        bytes: usize,
        access: c_int,
        flags: c_int,
        fd: c_int,
        offset: i64,
    ) -> *mut c_void;
    fn munmap(at: *mut c_void, bytes: usize) -> c_int;
}

/// A new memfd of one zeroed page with all seals that an agent demands.
pub fn sealed_memfd() -> io::Result<OwnedFd> {
    let fd = memfd()?;
    // SAFETY: the command takes an integer and no pointer.
    if unsafe { fcntl(fd.as_raw_fd(), F_ADD_SEALS, SEALS) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(fd)
}

/// A new memfd of one zeroed page without seals.
pub fn memfd() -> io::Result<OwnedFd> {
    let name = b"pingloom-page\0";
    // SAFETY: the name ends with a zero byte.
    let fd = owned(unsafe { memfd_create(name.as_ptr().cast(), MFD_CLOEXEC | MFD_ALLOW_SEALING) })?;
    let file = File::from(fd);
    file.set_len(PAGE_BYTES as u64)?;
    Ok(file.into())
}

/// Tells whether it is a memfd of one page that nobody can shrink. Touching memory behind a
/// descriptor that has been shrunk would kill this process.
pub fn is_sealed_page(fd: &OwnedFd) -> bool {
    // SAFETY: the command takes no argument.
    let seals = unsafe { fcntl(fd.as_raw_fd(), F_GET_SEALS) };
    // SAFETY: ManuallyDrop keeps the file from closing the descriptor, which the caller owns.
    let file = ManuallyDrop::new(unsafe { File::from_raw_fd(fd.as_raw_fd()) });
    let bytes = file.metadata().map(|about| about.len());
    seals >= 0 && seals & SEALS == SEALS && bytes.map_or(false, |bytes| bytes == PAGE_BYTES as u64)
}

fn mapped(at: *mut c_void, flags: c_int, fd: c_int) -> io::Result<NonNull<u8>> {
    // SAFETY: callers pass null or, with MAP_FIXED, the address of a page that map() returned and
    // that all accesses treat as shared memory, so nothing of the program is overwritten.
    let got = unsafe { mmap(at, PAGE_BYTES, PROT_READ_WRITE, flags, fd, 0) };
    if got as isize == -1 {
        return Err(io::Error::last_os_error());
    }
    NonNull::new(got.cast()).ok_or_else(|| io::Error::from_raw_os_error(ENOMEM))
}

/// Maps the page of a descriptor, readable, writable and shared.
pub fn map(fd: &OwnedFd) -> io::Result<NonNull<u8>> {
    mapped(null_mut(), MAP_SHARED, fd.as_raw_fd())
}

/// Replaces the page at `at` by that of `fd`, or by private memory.
///
/// # Safety
/// `at` was returned by map() and is still mapped, and everybody accesses it atomically.
pub unsafe fn map_over(at: NonNull<u8>, fd: Option<&OwnedFd>) -> io::Result<()> {
    let (flags, fd) = match fd {
        Some(fd) => (MAP_SHARED, fd.as_raw_fd()),
        None => (MAP_PRIVATE | MAP_ANONYMOUS, -1),
    };
    mapped(at.as_ptr().cast(), flags | MAP_FIXED, fd).map(|_| ())
}

/// # Safety
/// `at` was returned by map(), and nobody uses it any more.
pub unsafe fn unmap(at: NonNull<u8>) {
    // SAFETY: the caller says that it is mapped and not used.
    unsafe { munmap(at.as_ptr().cast(), PAGE_BYTES) };
}
