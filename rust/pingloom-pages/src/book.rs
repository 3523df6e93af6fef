//! One page of this process: its memory, its metrics, and how much of that the agent knows.
//! Threads with handles write its slots; the lock of Core guards everything else.

use std::os::unix::io::OwnedFd;
use std::sync::Arc;

use crate::definition::{Definition, Kind};
use crate::page::{Mapping, GROUPED, SLOTS};

const SLOTS_PER_LINE: usize = 8;
const MAX_INFOS: usize = 64;
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
    pub metrics: Vec<Definition>, // ordered by slot
    pub told: usize,              // how many of them the agent was told of
    pub known: usize,             // and how many it has taken
    slots: usize,                 // in use
    line_taken: bool,             // the last metric has cache lines of its own
    schema_bytes: usize,
    infos: usize,
}

fn next_line(slot: usize) -> usize {
    (slot + SLOTS_PER_LINE - 1) / SLOTS_PER_LINE * SLOTS_PER_LINE
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
            metrics: Vec::new(),
            told: 0,
            known: 0,
            slots: 0,
            line_taken: false,
            schema_bytes: 0,
            infos: 0,
        }
    }

    pub fn is_grouped(&self) -> bool {
        self.flags & GROUPED != 0
    }

    fn first_slot(&self, metric: &Definition) -> usize {
        let apart = self.line_taken || metric.own_line;
        if metric.kind != Kind::Info && apart {
            next_line(self.slots)
        } else {
            self.slots
        }
    }

    pub fn has_room(&self, metric: &Definition) -> bool {
        // A group has this page only, so the environment leaves most of it to the application.
        let scarce = self.is_grouped() && metric.has_environment;
        let most = if scarce { MAX_SCHEMA_BYTES / 4 } else { MAX_SCHEMA_BYTES };
        (metric.kind != Kind::Info || self.infos < MAX_INFOS)
            && self.first_slot(metric) + usize::from(metric.slots) <= SLOTS
            && self.schema_bytes + metric.schema_bytes <= most
    }

    /// REQUIRES: has_room().
    pub fn add(&mut self, mut metric: Definition) {
        let first = self.first_slot(&metric);
        metric.first = first as u16;
        if metric.kind == Kind::Info {
            self.infos += 1;
        } else {
            self.slots = first + usize::from(metric.slots);
            self.line_taken = metric.own_line;
        }
        self.schema_bytes += metric.schema_bytes;
        self.metrics.push(metric);
        self.memory.page().use_slots(self.slots); // which are zero already
    }

    pub fn has_news(&self) -> bool {
        self.standing == Standing::Known && self.told < self.metrics.len()
    }

    pub fn forget(&mut self) {
        self.standing = Standing::Unknown;
        self.told = 0;
        self.known = 0;
        self.memory.page().forget_sampling();
    }

    pub fn belongs_to(&mut self, owner: u64, generation: u64) {
        self.memory.page().belongs_to(owner, generation);
        self.standing = Standing::Known;
    }

    pub fn metric_known(&mut self) {
        self.known += 1;
        self.memory.page().metric_known();
    }

    /// In a forked child it takes new memory for the same metrics, all 0. Returns false if no agent
    /// can map that.
    pub fn start_anew(&mut self) -> bool {
        self.fd = self.memory.replace();
        self.memory.page().write_begin(self.flags, self.slots);
        self.forget();
        self.fd.is_some()
    }
}
