//! The memory of one page: its layout (docs/page-format.md) and its shared mapping. Other threads,
//! the agent and collectors access it at any time, so every access is atomic. An x86-64 or arm64
//! store of 8 bytes is whole, which is all that readers of values rely on: values are Relaxed.

use std::io;
use std::ops::Range;
use std::os::unix::io::OwnedFd;
use std::ptr::NonNull;
use std::sync::atomic::{fence, AtomicU32, AtomicU64, Ordering};

use crate::sys;

pub const SLOTS: usize = 504;
/// The page's values belong together, and readers go by its sequence.
pub const GROUPED: u16 = 1;
const MAGIC: u64 = 0x4750_4c50; // the bytes "PLPG"
const VERSION: u64 = 1;

#[repr(C)]
#[derive(Debug)]
pub struct Layout {
    begin: AtomicU64, // magic, version and flags
    generation: AtomicU64,
    owner: AtomicU64,
    heartbeat: AtomicU64,
    sequence: AtomicU64,
    slots_in_use: AtomicU32,
    schema_version: AtomicU32,
    keep_one_in: AtomicU32, // the agent writes it
    reserved: AtomicU32,
    also_reserved: AtomicU64,
    pub slots: [AtomicU64; SLOTS],
}

const _: () = assert!(std::mem::size_of::<Layout>() == sys::PAGE_BYTES);

#[allow(clippy::declare_interior_mutable_const)] // it is only ever copied
const ZERO: AtomicU64 = AtomicU64::new(0);
/// What inert handles write.
pub static INERT: Layout = Layout {
    begin: ZERO,
    generation: ZERO,
    owner: ZERO,
    heartbeat: ZERO,
    sequence: ZERO,
    slots_in_use: AtomicU32::new(0),
    schema_version: AtomicU32::new(0),
    keep_one_in: AtomicU32::new(0),
    reserved: AtomicU32::new(0),
    also_reserved: ZERO,
    slots: [ZERO; SLOTS],
};

impl Layout {
    /// Everything before it is visible to a reader that finds the page valid: a Release store.
    pub fn write_begin(&self, flags: u16, slots: usize) {
        self.use_slots(slots);
        let begin = MAGIC | VERSION << 32 | u64::from(flags) << 48;
        self.begin.store(begin, Ordering::Release);
    }
    /// Release: the slots' zeros come first.
    pub fn use_slots(&self, slots: usize) {
        self.slots_in_use.store(slots as u32, Ordering::Release);
    }
    pub fn clear_slots(&self, slots: Range<usize>) {
        self.slots[slots].iter().for_each(|slot| slot.store(0, Ordering::Relaxed));
    }
    /// The agent names both, and the application writes them. A collector believes the page once
    /// the generation is right, so that comes last.
    pub fn belongs_to(&self, owner: u64, generation: u64) {
        self.owner.store(owner, Ordering::Release);
        self.generation.store(generation, Ordering::Release);
    }
    pub fn beat(&self) {
        self.heartbeat.fetch_add(1, Ordering::Relaxed);
    }
    pub fn keep_one_in(&self) -> u32 {
        self.keep_one_in.load(Ordering::Relaxed)
    }
    /// What an agent has said does not outlive the connection to it.
    pub fn forget_sampling(&self) {
        self.keep_one_in.store(0, Ordering::Relaxed);
    }
    /// Readers read the schema again.
    pub fn schema_changed(&self) {
        self.schema_version.fetch_add(1, Ordering::Release);
    }
    /// Makes the sequence odd. The fence keeps later stores of values from becoming visible
    /// before it; a Release store alone would order only what comes earlier.
    pub fn begin_update(&self) {
        let sequence = self.sequence.load(Ordering::Relaxed) | 1;
        self.sequence.store(sequence, Ordering::Relaxed);
        fence(Ordering::Release);
    }
    /// Makes the sequence even. Release: all values of the update become visible first. `| 1` is
    /// for a child that was forked during an update, whose page begins with an even sequence.
    pub fn end_update(&self) {
        let sequence = (self.sequence.load(Ordering::Relaxed) | 1).wrapping_add(1);
        self.sequence.store(sequence, Ordering::Release);
    }
    fn clear(&self) {
        for word in [&self.begin, &self.generation, &self.owner, &self.heartbeat, &self.sequence] {
            word.store(0, Ordering::Relaxed);
        }
        self.slots_in_use.store(0, Ordering::Relaxed);
        self.schema_version.store(0, Ordering::Relaxed);
        self.forget_sampling();
        self.reserved.store(0, Ordering::Relaxed);
        self.also_reserved.store(0, Ordering::Relaxed);
        for word in &self.slots {
            word.store(0, Ordering::Relaxed);
        }
    }
    #[cfg(test)]
    pub fn words(&self) -> Vec<u64> {
        let versions = u64::from(self.schema_version.load(Ordering::Acquire)) << 32
            | u64::from(self.slots_in_use.load(Ordering::Acquire));
        [&self.begin, &self.generation, &self.owner, &self.heartbeat, &self.sequence]
            .map(|word| word.load(Ordering::Acquire))
            .into_iter()
            .chain([versions, u64::from(self.keep_one_in())])
            .chain(
                [&self.also_reserved]
                    .into_iter()
                    .chain(&self.slots)
                    .map(|one| one.load(Ordering::Acquire)),
            )
            .collect()
    }
}

/// A mapped page. Handles share it, so it stays mapped for as long as one of them lives.
#[derive(Debug)]
pub struct Mapping {
    at: NonNull<u8>,
}

// SAFETY: the mapping does not belong to a thread, and Layout has only atomics.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Makes memory of its own, with the descriptor that an agent may map.
    pub fn make() -> io::Result<(Mapping, OwnedFd)> {
        let fd = sys::sealed_memfd()?;
        Ok((Mapping { at: sys::map(&fd)? }, fd))
    }

    /// Takes memory from an agent and clears it. None unless it is sealed like that of make().
    pub fn take(fd: &OwnedFd) -> Option<Mapping> {
        if !sys::is_sealed_page(fd) {
            return None;
        }
        let mapping = Mapping { at: sys::map(fd).ok()? };
        mapping.page().clear();
        Some(mapping)
    }

    pub fn page(&self) -> &Layout {
        // SAFETY: a page is mapped there until drop(). It is aligned, has the size of a Layout, any
        // bytes are valid in one, and the seals keep it from being shrunk.
        unsafe { self.at.cast().as_ref() }
    }

    /// In a forked child it replaces the parent's memory by new memory at the same address, so that
    /// all handles stay valid, and returns its descriptor. It returns none if it had to take
    /// private memory, which no agent can map.
    pub fn replace(&self) -> Option<OwnedFd> {
        let fd = sys::sealed_memfd().ok();
        // SAFETY: the page was mapped by make() or take(), and is accessed as a Layout only.
        unsafe {
            if fd.is_some() && sys::map_over(self.at, fd.as_ref()).is_ok() {
                return fd;
            }
            let _ = sys::map_over(self.at, None);
        }
        None
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: page() lends for no longer than self, so nobody uses the page any more.
        unsafe { sys::unmap(self.at) }
    }
}
