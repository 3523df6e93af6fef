//! Metric pages for Rust applications: counters, gauges and histograms in shared memory that
//! collectors read by RDMA. docs/pages.md explains them, and docs/page-format.md is what this crate
//! follows; it links no other part of pingloom and needs no other crate.
//!
//! ```no_run
//! use pingloom_pages::{Metric, Options, Pages};
//!
//! let pages = Pages::open(Options::new().application("shop").label("service", "orders"))?;
//! let orders = pages.counter(&Metric::new("orders_total").help("Orders that were placed."))?;
//! orders.inc();
//! # Ok::<(), pingloom_pages::Error>(())
//! ```
//!
//! An update is an atomic add or store in a page: no lock, no system call, no allocation; one with
//! an exemplar copies labels and asks for the time, too. Making a
//! metric is slow, because it takes a lock and waits at most 0.2 s for the agent when it needs a
//! new page: make metrics once and keep the handles, which are Send and Sync.
//!
//! Nothing fails because there is no agent. The metrics count on in the same memory, and the next
//! agent reads them. A thread of the crate connects, tries again after 0.1 to 5 s, and writes a
//! heartbeat every second. After `fork()` the child's handles count in memory of its own that
//! begins with 0, and the child registers 0.1 s later; a bare `clone` system call must not be used.
//!
//! Bounds: 1,024 pages of 4 KiB and a descriptor each, 504 slots, 64 infos and 256 KiB of names and
//! labels a page, 32 messages that wait for the agent's answer.

#![deny(missing_debug_implementations, unsafe_op_in_unsafe_fn)]

mod answers;
mod book;
mod core;
mod definition;
#[cfg(test)]
mod definition_test;
mod environment;
mod error;
mod exemplar;
#[cfg(test)]
mod exemplar_test;
mod fork;
mod fraction;
#[cfg(test)]
mod fraction_test;
mod handles;
mod heartbeat;
#[cfg(test)]
mod heartbeat_test;
mod make;
mod message;
mod metric;
mod options;
mod page;
mod session;
#[cfg(test)]
mod session_lab;
#[cfg(test)]
mod session_test;
mod shape;
mod single;
mod summary;
mod sys;
mod table;
#[cfg(test)]
mod table_test;
mod tell;

use std::fmt;
use std::sync::Arc;

pub use crate::error::{Error, ErrorKind};
pub use crate::fraction::FractionCounter;
pub use crate::handles::{BoundedHistogram, Counter, Gauge, Group, Histogram, Update};
pub use crate::metric::Metric;
pub use crate::options::Options;
pub use crate::shape::Shape;
pub use crate::single::{SingleCounter, SingleHistogram};
pub use crate::summary::Summary;

use crate::core::{lock, Core};
use crate::definition::Kind;

/// All metrics of an application. Dropping it ends its thread, and collectors show its metrics no
/// more. A process may have several, each a process of its own to the agent.
pub struct Pages {
    core: Arc<Core>,
}

/// What the library's thread knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// An agent knows this process.
    pub connected: bool,
    /// This process' owner number at that agent, or 0.
    pub owner: u64,
    pub pages: usize,
    /// How many of the pages the agent knows.
    pub known_pages: usize,
    pub metrics: usize,
    /// How many of the metrics the agent knows.
    pub known_metrics: usize,
    /// Refusals by agents since opening.
    pub refused: u64,
    /// The last error in the background.
    pub error: Option<Error>,
}

impl Pages {
    /// Starts the library's thread and returns at once, with or without an agent. It fails only if
    /// the application's name or labels are invalid.
    pub fn open(options: Options) -> Result<Pages, Error> {
        let core = Arc::new(options.into_core()?);
        // A child that is forked meanwhile must not keep the connection, so the core is watched
        // before it has one.
        fork::watch(&core);
        core.start(&mut lock(&core.state));
        Ok(Pages { core })
    }

    /// Each of these functions fails if something about the metric is invalid, if it was made as
    /// something else, or if there is no page for it. `unwrap_or_default()` then gives an inert
    /// handle.
    pub fn counter(&self, metric: &Metric) -> Result<Counter, Error> {
        Ok(Counter::of(&self.core.make(metric, Kind::Counter, true, None)?))
    }
    /// A counter of fractions has no unit other than 1.
    pub fn fraction_counter(&self, metric: &Metric) -> Result<FractionCounter, Error> {
        Ok(FractionCounter::of(&self.core.make(metric, Kind::FractionCounter, false, None)?))
    }
    pub fn gauge(&self, metric: &Metric) -> Result<Gauge, Error> {
        Ok(Gauge::of(&self.core.make(metric, Kind::Gauge, false, None)?))
    }
    pub fn histogram(&self, metric: &Metric) -> Result<Histogram, Error> {
        Ok(Histogram::of(&self.core.make(metric, Kind::Histogram, true, None)?))
    }
    /// It also fails while another handle of the metric lives, as single_histogram() does.
    pub fn single_counter(&self, metric: &Metric) -> Result<SingleCounter, Error> {
        Ok(SingleCounter::of(self.core.make(metric, Kind::Counter, false, None)?))
    }
    pub fn single_histogram(&self, metric: &Metric) -> Result<SingleHistogram, Error> {
        Ok(SingleHistogram::of(self.core.make(metric, Kind::Histogram, false, None)?))
    }
    /// `bounds` are the upper bounds of all buckets but the last, in the unit of the metric's name:
    /// 1 to 502 finite numbers in ascending order.
    pub fn bounded_histogram(
        &self,
        metric: &Metric,
        bounds: &[f64],
    ) -> Result<BoundedHistogram, Error> {
        let made = self.core.make(metric, Kind::Histogram, true, Some(bounds))?;
        Ok(BoundedHistogram::of(&made))
    }
    /// `quantiles` are 0 to 32 numbers from 0 to 1 in ascending order. The metric has no label
    /// `quantile`.
    pub fn summary(&self, metric: &Metric, quantiles: &[f64]) -> Result<Summary, Error> {
        Ok(Summary::of(&self.core.make(metric, Kind::Summary, false, Some(quantiles))?))
    }
    /// An info has no value. It consists of its labels, for example a version.
    pub fn info(&self, metric: &Metric) -> Result<(), Error> {
        self.core.make(metric, Kind::Info, false, None).map(|_| ())
    }
    /// Ends the metric with this name and these labels, whatever its kind; the rest of `metric` does
    /// not matter. Collectors drop its series within seconds. If it is made again it is a new
    /// metric and begins with 0. Its handles count where nobody reads; its slots are given to
    /// other metrics once all handles have been dropped, and a minute later at the earliest.
    /// Returns whether there was one.
    pub fn remove(&self, metric: &Metric) -> bool {
        self.core.remove(metric)
    }
    pub fn group(&self) -> Result<Group, Error> {
        Ok(Group { memory: Some(self.core.make_group()?) })
    }

    pub fn status(&self) -> Status {
        self.core.status()
    }

    /// Lets the crate's thread call a function once a second, just before it writes the heartbeats,
    /// with or without an agent: for values that have to be asked for, such as the length of a
    /// queue. There is one function, and another takes its place. When this returns, the former
    /// one is not running any more, and was dropped, unless it is what calls this.
    ///
    /// The function may update metrics. It may neither make nor remove them, drop the pages, nor
    /// fork, and it keeps the pages open if it owns an `Arc` of them. If it takes longer than a few
    /// seconds, readers take the pages for stale. If it panics, it is dropped and the heartbeats go
    /// on; [`status`](Pages::status) and [`Options::on_error`] say so. A forked child has no
    /// function until it sets one, because that of its parent may have been running.
    pub fn on_heartbeat(&self, function: impl FnMut() + Send + 'static) {
        self.core.set_on_heartbeat(Some(Box::new(function)));
    }
    /// Removes the function of [`on_heartbeat`](Pages::on_heartbeat), likewise.
    pub fn remove_on_heartbeat(&self) {
        self.core.set_on_heartbeat(None);
    }

    /// For tracers: of so many traces of this application keep one. 1 while a collector finds its
    /// values unusual: keep all. 0: no collector says, so use a rate of your own. It is one load,
    /// without a lock or a system call. Before the first metric is made it is 0.
    pub fn keep_one_in(&self) -> u32 {
        self.core.keep_one_in()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.core.stop();
        fork::unwatch(&self.core);
    }
}

impl fmt::Debug for Pages {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Pages").field("status", &self.status()).finish()
    }
}
