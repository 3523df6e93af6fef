use std::sync::Arc;

use crate::page::Mapping;
use crate::{Group, Shape};

/// What a metric is called and how it counts. The same name and labels give the same metric,
/// wherever in the program it is made.
///
/// ```
/// use pingloom_pages::Metric;
/// let asked = Metric::new("order_seconds").help("How long an order took.").label("till", "1");
/// let asked = asked.unit(1e-9); // it is given nanoseconds
/// ```
#[derive(Clone, Debug)]
pub struct Metric {
    pub(crate) name: String,
    pub(crate) help: String,
    pub(crate) labels: Vec<(String, String)>,
    pub(crate) unit: f64,
    pub(crate) shape: Shape,
    pub(crate) own_line: bool,
    pub(crate) exemplars: bool,
    pub(crate) group: Option<Membership>,
}

/// The group that a metric is asked for; the group of an inert handle has no memory.
#[derive(Clone, Debug)]
pub(crate) struct Membership(pub(crate) Option<Arc<Mapping>>);

impl Metric {
    /// `name` is `[a-zA-Z_:][a-zA-Z0-9_:]*` and has at most 128 bytes.
    pub fn new(name: impl Into<String>) -> Metric {
        Metric {
            name: name.into(),
            help: String::new(),
            labels: Vec::new(),
            unit: 1.0,
            shape: Shape::default(),
            own_line: false,
            exemplars: false,
            group: None,
        }
    }
    /// Explains the metric in at most 512 bytes without control characters.
    pub fn help(mut self, help: impl Into<String>) -> Metric {
        self.help = help.into();
        self
    }
    /// Adds a label. `name` is `[a-zA-Z_][a-zA-Z0-9_]*` with at most 128 bytes, not `le` and not
    /// `__...`. `value` has at most 256 bytes without control characters. A metric has at most 16
    /// labels, including those of the application.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Metric {
        self.labels.push((name.into(), value.into()));
        self
    }
    /// Sets the worth of 1 in the unit of the name, for example 1e-9 if a name in `_seconds` is
    /// given nanoseconds. It is for counters, gauges and histograms, ranges from 1e-30 to 1e30, and
    /// is the same for all metrics of a name. A fraction counter has no other unit than 1.
    pub fn unit(mut self, unit: f64) -> Metric {
        self.unit = unit;
        self
    }
    /// Sets the shape of a log-linear histogram; other metrics ignore it.
    pub fn shape(mut self, shape: Shape) -> Metric {
        self.shape = shape;
        self
    }
    /// Gives it cache lines of its own, for a metric that one thread updates very often while
    /// others update its neighbours.
    pub fn own_line(mut self) -> Metric {
        self.own_line = true;
        self
    }
    /// Gives a counter room for an exemplar, which takes 16 slots more, or a histogram for four, which
    /// take 64: one for each quarter of its buckets.
    pub fn exemplars(mut self) -> Metric {
        self.exemplars = true;
        self
    }
    /// Makes it a member of the group: update it during the group's updates only.
    pub fn group(mut self, group: &Group) -> Metric {
        self.group = Some(Membership(group.memory.clone()));
        self
    }
}
