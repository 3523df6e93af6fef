//! One page of this process: its memory, its metrics, and how much of that the agent knows.
//! Threads with handles write its slots; the lock of Core guards everything else.

use std::os::unix::io::OwnedFd;
use std::sync::Arc;
use std::time::Instant;

use crate::definition::Definition;
use crate::page::{Mapping, GROUPED};
use crate::table::{News, Number, Table};

const MAX_SCHEMA_BYTES: usize = 256 * 1024;

/// What the agent knows about a page. It returns to Unknown with every new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Unknown,
    Asked,
    Known,
    Refused,
}

pub struct Page {
    pub number: u32, // unique in this process
    pub flags: u16,
    pub memory: Arc<Mapping>,
    pub fd: Option<OwnedFd>, // None: no agent can map it
    pub standing: Standing,
    pub metrics: Table,
}

impl Page {
    /// Writes the header.
    pub fn new(number: u32, flags: u16, memory: Mapping, fd: OwnedFd) -> Page {
        memory.page().write_begin(flags, 0);
        Page {
            number,
            flags,
            memory: Arc::new(memory),
            fd: Some(fd),
            standing: Standing::Unknown,
            metrics: Table::default(),
        }
    }

    pub fn is_grouped(&self) -> bool {
        self.flags & GROUPED != 0
    }

    pub fn has_room(&self, metric: &Definition) -> bool {
        // A group has this page only, so the environment leaves most of it to the application.
        let scarce = self.is_grouped() && metric.has_environment;
        self.metrics.has_room(metric, if scarce { MAX_SCHEMA_BYTES / 4 } else { MAX_SCHEMA_BYTES })
    }

    /// Its slots are 0, and may have been those of a metric that was removed. REQUIRES: has_room().
    pub fn add(&mut self, metric: Definition) -> Number {
        let number = self.metrics.add(metric);
        let placed = self.metrics.metric(number);
        let (first, slots) = (usize::from(placed.first), placed.all_slots());
        self.memory.page().clear_slots(first..first + slots);
        self.memory.page().use_slots(self.metrics.used_slots());
        number
    }

    /// What the agent has to be told next.
    pub fn news(&self) -> Option<News> {
        match self.standing {
            Standing::Known => self.metrics.news(),
            _ => None,
        }
    }

    pub fn forget(&mut self, now: Instant) {
        self.standing = Standing::Unknown;
        self.metrics.start_over(now);
        self.memory.page().forget_sampling();
    }

    pub fn belongs_to(&mut self, owner: u64, generation: u64) {
        self.memory.page().belongs_to(owner, generation);
        self.standing = Standing::Known;
    }

    pub fn metric_known(&mut self, number: Number) {
        self.metrics.defined(number);
        self.memory.page().schema_changed();
    }

    pub fn metric_forgotten(&mut self, number: Number, now: Instant) {
        self.metrics.forgotten(number, now);
        self.memory.page().schema_changed();
    }

    /// In a forked child it takes new memory for the same metrics, all 0. Returns false if no agent
    /// can map that.
    pub fn start_anew(&mut self, now: Instant) -> bool {
        self.fd = self.memory.replace();
        self.memory.page().write_begin(self.flags, self.metrics.used_slots());
        self.forget(now);
        self.fd.is_some()
    }
}
