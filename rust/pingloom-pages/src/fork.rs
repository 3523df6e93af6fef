//! Separates parent and child when the process forks. The child gets its own zeroed pages at the
//! same addresses, so that every handle stays valid in both.

use std::cell::UnsafeCell;
use std::mem::transmute;
use std::sync::{Arc, Mutex, MutexGuard, Once};

use crate::core::{lock, Catalogue, Core, State};
use crate::sys;

static WATCHED: Mutex<Vec<Arc<Core>>> = Mutex::new(Vec::new());
static ASKED: Once = Once::new();
static HELD: Held = Held(UnsafeCell::new(None));

/// A core whose locks the forking thread holds. Fields are dropped in order: the locks first.
struct HeldCore {
    state: MutexGuard<'static, State>,
    _catalogue: MutexGuard<'static, Catalogue>,
    core: Arc<Core>,
}

struct HeldAll {
    cores: Vec<HeldCore>,
    _watched: MutexGuard<'static, Vec<Arc<Core>>>,
}

/// Guarded by WATCHED, whose lock is inside: the thread that holds it put it there.
struct Held(UnsafeCell<Option<HeldAll>>);
// SAFETY: only the thread that holds WATCHED touches the cell.
unsafe impl Sync for Held {}

/// Handles forks from then on.
pub fn watch(core: &Arc<Core>) {
    ASKED.call_once(|| sys::watch_forks(before, in_parent, in_child));
    lock(&WATCHED).push(core.clone());
}

pub fn unwatch(core: &Arc<Core>) {
    lock(&WATCHED).retain(|one| !Arc::ptr_eq(one, core));
}

fn hold(core: &Arc<Core>) -> HeldCore {
    let catalogue = lock(&core.catalogue);
    let state = lock(&core.state);
    // SAFETY: the guards live beside an Arc of what they lock, and are dropped before it.
    let state = unsafe { transmute::<MutexGuard<'_, State>, MutexGuard<'static, State>>(state) };
    // SAFETY: as above.
    let catalogue = unsafe {
        transmute::<MutexGuard<'_, Catalogue>, MutexGuard<'static, Catalogue>>(catalogue)
    };
    HeldCore { state, _catalogue: catalogue, core: core.clone() }
}

extern "C" fn before() {
    let watched = lock(&WATCHED);
    let cores = watched.iter().map(hold).collect();
    // SAFETY: this thread holds WATCHED.
    unsafe { *HELD.0.get() = Some(HeldAll { cores, _watched: watched }) };
}

extern "C" fn in_parent() {
    // SAFETY: this thread holds WATCHED since before(), or is the only one of a child.
    drop(unsafe { (*HELD.0.get()).take() });
}

extern "C" fn in_child() {
    // SAFETY: this is the child's only thread, and before() filled the cell.
    if let Some(held) = unsafe { &mut *HELD.0.get() } {
        for one in &mut held.cores {
            one.core.start_anew_in_child(&mut one.state);
        }
    }
    in_parent();
}
