//! The crate's thread, waiting, and forks.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::raw::{c_int, c_uint, c_ulong, c_void};
use std::os::unix::io::{AsRawFd, RawFd};
use std::ptr::{null, null_mut};

use super::{owned, CLOEXEC, NONBLOCK};

const POLLIN: i16 = 1;
const SIG_SETMASK: c_int = 2;
const AT_SECURE: c_ulong = 23;

#[repr(C)]
struct Polled {
    fd: c_int,
    events: i16,
    returned: i16,
}
#[repr(C)]
struct SignalSet([u64; 16]);

extern "C" {
    fn eventfd(first: c_uint, flags: c_int) -> c_int;
    fn poll(polled: *mut Polled, count: c_ulong, milliseconds: c_int) -> c_int;
    fn sigfillset(set: *mut SignalSet) -> c_int;
    fn pthread_sigmask(how: c_int, set: *const SignalSet, before: *mut SignalSet) -> c_int;
    fn pthread_create(
        thread: *mut c_ulong,
        attributes: *const c_void,
        body: extern "C" fn(*mut c_void) -> *mut c_void,
        argument: *mut c_void,
    ) -> c_int;
    fn pthread_self() -> c_ulong;
    fn pthread_join(thread: c_ulong, result: *mut *mut c_void) -> c_int;
    fn pthread_detach(thread: c_ulong) -> c_int;
    fn pthread_atfork(
        before: extern "C" fn(),
        parent: extern "C" fn(),
        child: extern "C" fn(),
    ) -> c_int;
    fn getauxval(kind: c_ulong) -> c_ulong;
}

/// Wakes a thread that waits in wait().
pub struct Wakeup(File);

impl Wakeup {
    pub fn new() -> io::Result<Wakeup> {
        // SAFETY: it takes no pointers.
        owned(unsafe { eventfd(0, CLOEXEC | NONBLOCK) }).map(|fd| Wakeup(fd.into()))
    }
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
    /// It fails only if a wake-up is pending already.
    pub fn wake(&self) {
        let _ = (&self.0).write(&1u64.to_ne_bytes());
    }
    pub fn drain(&self) {
        let _ = (&self.0).read(&mut [0; 8]);
    }
}

/// Waits until one of the descriptors is readable or the time is over.
pub fn wait(first: RawFd, second: Option<RawFd>, milliseconds: i32) {
    let polled = |fd| Polled { fd, events: POLLIN, returned: 0 };
    let mut all = [polled(first), polled(second.unwrap_or(-1))]; // -1 is ignored
                                                                 // SAFETY: the array lives during the call and has two elements.
    unsafe { poll(all.as_mut_ptr(), 2, milliseconds) };
}

/// Tells the threads of this process apart while they live.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct ThreadId(c_ulong);

/// std::thread::current() is not used, for the reason at start_thread().
pub fn this_thread() -> ThreadId {
    // SAFETY: it takes no pointers.
    ThreadId(unsafe { pthread_self() })
}

pub struct Thread(c_ulong);

/// Starts a thread that handles none of the application's signals. std::thread is not used,
/// because this also runs in forked children, in which its locks may be held for ever.
pub fn start_thread(
    body: extern "C" fn(*mut c_void) -> *mut c_void,
    argument: *mut c_void,
) -> Option<Thread> {
    let mut all = SignalSet([0; 16]);
    let mut before = SignalSet([0; 16]);
    let mut thread: c_ulong = 0;
    // SAFETY: the sets have the size of glibc's sigset_t (1,024 bits), and all pointers are to
    // locals. The body receives its argument as given.
    let failed = unsafe {
        sigfillset(&mut all);
        pthread_sigmask(SIG_SETMASK, &all, &mut before);
        let failed = pthread_create(&mut thread, null(), body, argument);
        pthread_sigmask(SIG_SETMASK, &before, null_mut());
        failed
    };
    if failed == 0 {
        Some(Thread(thread))
    } else {
        None
    }
}

impl Thread {
    /// Waits until the thread has ended. One that is this thread is left to end by itself.
    /// REQUIRES: the thread was started in this process and not in its parent.
    pub fn join(self) {
        // SAFETY: the thread exists and is joined or detached once, because this takes self.
        unsafe {
            if ThreadId(self.0) == this_thread() {
                pthread_detach(self.0);
            } else {
                pthread_join(self.0, null_mut());
            }
        }
    }
}

/// Calls the functions around every fork() from now on.
pub fn watch_forks(before: extern "C" fn(), parent: extern "C" fn(), child: extern "C" fn()) {
    // SAFETY: the functions are valid for the life of the library. If this fails for want of
    // memory, fork() fails as well.
    unsafe { pthread_atfork(before, parent, child) };
}

/// Tells whether the program runs with raised privileges, so that its environment is not trusted.
pub fn is_privileged() -> bool {
    // SAFETY: it takes no pointers.
    unsafe { getauxval(AT_SECURE) != 0 }
}
