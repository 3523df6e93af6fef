//! The application's function that the crate's thread calls before each heartbeat.

use std::mem;
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::{MutexGuard, PoisonError};

use crate::core::{lock, Core, State};
use crate::sys::{self, ThreadId};
use crate::{Error, ErrorKind};

pub type Function = Box<dyn FnMut() + Send>;

#[derive(Default)]
pub struct OnHeartbeat {
    /// None while it runs, or if there is none.
    function: Option<Function>,
    /// The number of the function that was set last.
    number: u64,
    /// The number of the function that runs, and the thread that calls it.
    running: Option<(u64, ThreadId)>,
}

impl OnHeartbeat {
    /// In a forked child it forgets the function, which may have been running, and whose locks may
    /// be held by threads that only the parent has. For the same reason it is not dropped.
    pub fn start_anew(&mut self) {
        mem::forget(mem::take(self));
    }
}

impl Core {
    /// Sets the function, and waits until the former one has ended and was dropped, unless that is
    /// what calls this.
    pub fn set_on_heartbeat(&self, function: Option<Function>) {
        let mut state = lock(&self.state);
        let former = mem::replace(&mut state.on_heartbeat.function, function);
        state.on_heartbeat.number += 1;
        let (number, me) = (state.on_heartbeat.number, sys::this_thread());
        let runs = |state: &mut State| match state.on_heartbeat.running {
            Some((running, thread)) => running < number && thread != me,
            None => false,
        };
        let waited = self.answered.wait_while(state, runs).unwrap_or_else(PoisonError::into_inner);
        drop(waited);
        drop(former); // without the lock, because it is the application's
    }

    /// Calls the function, if there is one. The lock is released meanwhile.
    pub fn call_on_heartbeat<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> MutexGuard<'a, State> {
        let mut function = match state.on_heartbeat.function.take() {
            Some(function) => function,
            None => return state,
        };
        let number = state.on_heartbeat.number;
        state.on_heartbeat.running = Some((number, sys::this_thread()));
        drop(state);
        // A panic must not end the heartbeats.
        let panicked = catch_unwind(AssertUnwindSafe(&mut function)).is_err();
        let mut state = lock(&self.state);
        if panicked {
            let text = "on_heartbeat: the function has panicked and is not called any more";
            state.session.add_trouble(Error::new(ErrorKind::Panicked, text));
        }
        if !panicked && state.on_heartbeat.number == number {
            state.on_heartbeat.function = Some(function);
        } else {
            drop(state);
            let _ = catch_unwind(AssertUnwindSafe(|| drop(function)));
            state = lock(&self.state);
        }
        state.on_heartbeat.running = None;
        self.answered.notify_all();
        state
    }
}
