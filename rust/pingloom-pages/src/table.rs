//! The metrics of one page: where their slots are, and what the agent has been told of them.
//!
//! The slots of a removed metric rest: for a minute after the agent has forgotten it, because
//! collectors may still read them as what they were (docs/page-format.md, "Removal"), and for as
//! long as one of the metric's handles lives, because it still counts there.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{fence, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::definition::{Definition, Kind};
use crate::page::SLOTS;

const SLOTS_PER_LINE: usize = 8;
const MAX_INFOS: usize = 64;
/// It is longer than an agent lets collectors read by an earlier schema.
pub const REST: Duration = Duration::from_secs(60);

/// Numbers are never used again.
pub type Number = u64;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    No,
    Asked,
    Known,
    Refused,
}

struct Entry {
    metric: Definition,
    /// Each handle has a clone.
    users: Arc<()>,
    told: Told,
    removed: bool,
    rests_until: Option<Instant>,
}

/// What the agent has to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct News {
    pub number: Number,
    pub removed: bool,
}

pub struct Table {
    entries: BTreeMap<Number, Entry>,
    next: Number,
    news: VecDeque<News>,      // at most one for each entry that does not rest
    resting: VecDeque<Number>, // in the order in which their rests end
    held: Vec<Number>,         // their rests have ended, but handles live
    taken: [bool; SLOTS],
    free: usize,
    used_slots: usize,
    schema_bytes: usize,
    infos: usize,
    living: usize,
    known: usize,
    fresh: bool, // no agent has been told anything
}

/// The slots that a metric occupies, including what it leaves unused of cache lines of its own.
fn reserved(metric: &Definition) -> usize {
    let slots = metric.all_slots();
    if metric.own_line {
        (slots + SLOTS_PER_LINE - 1) / SLOTS_PER_LINE * SLOTS_PER_LINE
    } else {
        slots
    }
}

impl Default for Table {
    fn default() -> Table {
        Table {
            entries: BTreeMap::new(),
            next: 0,
            news: VecDeque::new(),
            resting: VecDeque::new(),
            held: Vec::new(),
            taken: [false; SLOTS],
            free: SLOTS,
            used_slots: 0,
            schema_bytes: 0,
            infos: 0,
            living: 0,
            known: 0,
            fresh: true,
        }
    }
}

impl Table {
    fn free_slots(&self, metric: &Definition) -> Option<usize> {
        let wanted = reserved(metric);
        let step = if metric.own_line { SLOTS_PER_LINE } else { 1 };
        let mut first = 0;
        while wanted <= self.free && first + wanted <= SLOTS {
            match self.taken[first..first + wanted].iter().position(|&taken| taken) {
                None => return Some(first),
                Some(at) => first = ((first + at) / step + 1) * step,
            }
        }
        None
    }

    pub fn has_room(&self, metric: &Definition, most_bytes: usize) -> bool {
        self.schema_bytes + metric.schema_bytes <= most_bytes
            && match metric.kind {
                Kind::Info => self.infos < MAX_INFOS,
                _ => self.free_slots(metric).is_some(),
            }
    }

    fn occupy(&mut self, first: usize, slots: usize, taken: bool) {
        self.taken[first..first + slots].fill(taken);
        self.free = if taken { self.free - slots } else { self.free + slots };
    }

    /// REQUIRES: has_room().
    pub fn add(&mut self, mut metric: Definition) -> Number {
        match self.free_slots(&metric) {
            Some(first) if metric.kind != Kind::Info => {
                metric.first = first as u16;
                self.occupy(first, reserved(&metric), true);
                self.used_slots = self.used_slots.max(first + metric.all_slots());
            }
            _ => {
                metric.first = self.used_slots as u16;
                self.infos += 1;
            }
        }
        self.schema_bytes += metric.schema_bytes;
        self.living += 1;
        let number = self.next;
        self.next += 1;
        let users = Arc::new(());
        let entry = Entry { metric, users, told: Told::No, removed: false, rests_until: None };
        self.entries.insert(number, entry);
        self.news.push_back(News { number, removed: false });
        number
    }

    /// REQUIRES: the metric was not swept; so do all functions that take a number.
    pub fn metric(&self, number: Number) -> &Definition {
        &self.entries[&number].metric
    }
    /// What each handle of the metric keeps.
    pub fn users(&self, number: Number) -> Arc<()> {
        self.entries[&number].users.clone()
    }
    /// Without those that were removed.
    pub fn living(&self) -> usize {
        self.living
    }
    /// How many of the living ones the agent knows.
    pub fn known(&self) -> usize {
        self.known
    }
    /// Counted from the first; it never falls.
    pub fn used_slots(&self) -> usize {
        self.used_slots
    }

    fn entry(&mut self, number: Number) -> &mut Entry {
        self.entries.get_mut(&number).expect("it was not swept")
    }

    pub fn remove(&mut self, number: Number, now: Instant) {
        let entry = self.entry(number);
        entry.removed = true;
        let told = entry.told;
        self.living -= 1;
        match told {
            Told::Asked => {} // the answer decides whether there is something to remove
            Told::Known => {
                self.known -= 1;
                self.news.push_back(News { number, removed: true });
            }
            Told::No => {
                // It may be long until an agent takes what is queued, and this needs no mention.
                self.news.retain(|news| news.number != number);
                self.rest(number, now);
            }
            Told::Refused => self.rest(number, now),
        }
    }

    fn rest(&mut self, number: Number, now: Instant) {
        let entry = self.entry(number);
        entry.rests_until = Some(now + REST);
        let (bytes, info) = (entry.metric.schema_bytes, entry.metric.kind == Kind::Info);
        self.schema_bytes -= bytes;
        if info {
            self.infos -= 1;
            self.entries.remove(&number); // it has nothing that rests
        } else {
            self.resting.push_back(number);
        }
    }

    /// Makes room by what has rested. Its numbers become invalid.
    pub fn sweep(&mut self, now: Instant) {
        while let Some(&number) = self.resting.front() {
            if self.entries[&number].rests_until.map_or(false, |until| now < until) {
                break;
            }
            self.resting.pop_front();
            self.held.push(number);
        }
        for number in std::mem::take(&mut self.held) {
            let entry = &self.entries[&number];
            // Nobody can make a handle of it any more, so the count does not grow again.
            if Arc::strong_count(&entry.users) > 1 {
                self.held.push(number);
                continue;
            }
            // What the last handle has written comes before all that is written from now on.
            fence(Ordering::Acquire);
            let (first, slots) = (usize::from(entry.metric.first), reserved(&entry.metric));
            self.occupy(first, slots, false);
            self.entries.remove(&number);
        }
    }

    pub fn news(&self) -> Option<News> {
        self.news.front().copied()
    }

    #[cfg(test)]
    pub fn queued(&self) -> usize {
        self.news.len()
    }

    /// The agent was told of news().
    pub fn tell(&mut self) {
        if let Some(news) = self.news.pop_front() {
            self.fresh = false;
            if !news.removed {
                self.entry(news.number).told = Told::Asked;
            }
        }
    }

    pub fn defined(&mut self, number: Number) {
        let entry = self.entry(number);
        entry.told = Told::Known;
        if entry.removed {
            self.news.push_back(News { number, removed: true });
        } else {
            self.known += 1;
        }
    }

    /// The agent has not taken the definition.
    pub fn refused(&mut self, number: Number, now: Instant) {
        let entry = self.entry(number);
        entry.told = Told::Refused;
        if entry.removed {
            self.rest(number, now);
        }
    }

    /// The agent has removed the metric.
    pub fn forgotten(&mut self, number: Number, now: Instant) {
        self.rest(number, now);
    }

    /// There is no agent, and the next one is told of all metrics that were not removed.
    pub fn start_over(&mut self, now: Instant) {
        if std::mem::replace(&mut self.fresh, true) {
            return;
        }
        self.known = 0;
        self.news.clear();
        let mut ended = Vec::new();
        for (&number, entry) in &mut self.entries {
            if !entry.removed {
                entry.told = Told::No;
                self.news.push_back(News { number, removed: false });
            } else if entry.rests_until.is_none() {
                ended.push(number);
            }
        }
        ended.into_iter().for_each(|number| self.rest(number, now));
    }
}
