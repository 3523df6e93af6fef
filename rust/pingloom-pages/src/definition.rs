//! A metric that was checked, as the agent is told of it (docs/page-format.md, "A metric").

use crate::exemplar::{COUNTER_EXEMPLARS, EXEMPLAR_SLOTS, HISTOGRAM_EXEMPLARS};
use crate::message::Encoder;
use crate::page::SLOTS;
use crate::{Error, Metric, Shape};

pub const MAX_BOUNDS: usize = SLOTS - 2;
pub const MAX_LABELS: usize = 16;
const MAX_QUANTILES: usize = 32;
const MAX_NAME_BYTES: usize = 128;
const MAX_HELP_BYTES: usize = 512;
const MAX_LABEL_BYTES: usize = 256;
const MAX_APPLICATION_BYTES: usize = 64;
const SHARED_WRITERS: u8 = 1;
const BOUNDS: u8 = 2;
const EXEMPLARS: u8 = 4;
const FRACTIONS: u8 = 8; // the gauge is a counter: its value only grows
const FRACTIONS_EXEMPLARS: u8 = 16; // older agents refuse a gauge with EXEMPLARS

pub type Labels = Vec<(String, String)>;

/// The labels that metrics have beside their own.
#[derive(Debug, Default)]
pub struct CommonLabels {
    /// They are registered with the agent, so every metric has them.
    pub application: Labels,
    /// Each metric has as many of these as it has room for, the first ones first.
    pub environment: Labels,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counter = 1,
    Gauge = 2,
    Histogram = 3,
    Info = 4,
    Summary = 5,
    /// A counter whose slot is a double. Agents know it as a gauge with the flag FRACTIONS.
    FractionCounter,
}

impl Kind {
    /// What all metrics of a name have in common: a counter may be beside a fraction counter.
    pub fn family(self) -> Kind {
        match self {
            Kind::FractionCounter => Kind::Counter,
            kind => kind,
        }
    }

    /// What the agent is told. Older agents show the gauge, and its value is right.
    fn on_the_wire(self) -> Kind {
        match self {
            Kind::FractionCounter => Kind::Gauge,
            kind => kind,
        }
    }
}

#[derive(Clone, Debug)]
pub struct Definition {
    pub kind: Kind,
    pub shared: bool,
    pub own_line: bool,
    pub name: String,
    help: String,
    labels: Labels,            // its own and the environment's, sorted
    pub has_environment: bool, // whether some of them come from the environment
    /// The unit of what it is given. A gauge is kept in the unit of its name.
    pub unit: f64,
    /// None: it is no histogram, or has bounds.
    pub shape: Option<Shape>,
    /// A histogram's, or a summary's quantiles.
    pub bounds: Vec<f64>,
    pub first: u16,
    pub slots: u16, // without those of exemplars, which follow them
    /// How many it has room for.
    pub exemplars: usize,
    /// The bytes of encode(), whatever the slots.
    pub schema_bytes: usize,
}

/// Texts are UTF-8 already, because they are Strings.
pub fn is_text(text: &str) -> bool {
    text.bytes().all(|byte| byte >= b' ' && byte != 0x7f)
}

fn is_metric_name(name: &str) -> bool {
    let begins = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_' || byte == b':';
    name.len() <= MAX_NAME_BYTES
        && name.bytes().next().map_or(false, begins)
        && name.bytes().all(|byte| begins(byte) || byte.is_ascii_digit())
}

/// `le` is the label of buckets, and Prometheus keeps names in `__` to itself.
pub fn is_label_name(name: &str) -> bool {
    is_metric_name(name) && !name.contains(':') && !name.starts_with("__") && name != "le"
}

/// Tells whether pages take it.
pub fn is_label(name: &str, value: &str) -> bool {
    is_label_name(name) && is_label_value(value)
}

fn is_label_value(value: &str) -> bool {
    value.len() <= MAX_LABEL_BYTES && is_text(value)
}

pub fn check_application(name: &str) -> Result<(), Error> {
    if !name.is_empty() && name.len() <= MAX_APPLICATION_BYTES && is_text(name) {
        return Ok(());
    }
    Err(Error::bad(&format!("application {name:?}"), "not 1 to 64 bytes of printable UTF-8"))
}

/// Checks and sorts labels; `common` are those of the application, which they are added to.
pub fn check_labels(labels: &Labels, common: &Labels) -> Result<Labels, Error> {
    if labels.len() + common.len() > MAX_LABELS {
        return Err(Error::bad("labels", "more than 16"));
    }
    let mut sorted = labels.clone();
    sorted.sort();
    for (at, (name, value)) in sorted.iter().enumerate() {
        let fault = if !is_label_name(name) {
            "not a label's name"
        } else if !is_label_value(value) {
            "its value is too long, or not printable"
        } else if common.iter().chain(&sorted[..at]).any(|(other, _)| other == name) {
            "given twice"
        } else {
            continue;
        };
        return Err(Error::bad(&format!("label {name:?}"), fault));
    }
    Ok(sorted)
}

/// Adds labels of the environment to those of a metric as far as there is room. Labels of the same
/// name that the metric or the application has win. Returns whether it added any.
fn add_environment(labels: &mut Labels, common: &CommonLabels) -> bool {
    let own = labels.len();
    for one in &common.environment {
        if labels.len() + common.application.len() >= MAX_LABELS {
            break;
        }
        if !labels.iter().chain(&common.application).any(|(name, _)| *name == one.0) {
            labels.push(one.clone());
        }
    }
    labels.sort();
    labels.len() > own
}

fn check_bounds(name: &str, bounds: &[f64]) -> Result<u16, Error> {
    let ascending = bounds.windows(2).all(|two| two[0] < two[1]);
    if bounds.is_empty()
        || bounds.len() > MAX_BOUNDS
        || !ascending
        || !bounds.iter().all(|bound| bound.is_finite())
    {
        let why = "its bounds are not 1 to 502 finite numbers in ascending order";
        return Err(Error::bad(name, why));
    }
    Ok(bounds.len() as u16 + 2)
}

fn check_quantiles(name: &str, quantiles: &[f64], labels: &Labels) -> Result<u16, Error> {
    if labels.iter().any(|(label, _)| label == "quantile") {
        return Err(Error::bad(name, "a summary has no label 'quantile' of its own"));
    }
    let ascending = quantiles.windows(2).all(|two| two[0] < two[1]);
    if quantiles.len() > MAX_QUANTILES
        || !ascending
        || !quantiles.iter().all(|quantile| (0.0..=1.0).contains(quantile))
    {
        let why = "its quantiles are not up to 32 numbers from 0 to 1 in ascending order";
        return Err(Error::bad(name, why));
    }
    Ok(quantiles.len() as u16 + 2)
}

fn exemplars_of(metric: &Metric, kind: Kind, slots: u16) -> Result<usize, Error> {
    let exemplars = match kind {
        _ if !metric.exemplars => 0,
        Kind::Counter | Kind::FractionCounter => COUNTER_EXEMPLARS,
        Kind::Histogram => HISTOGRAM_EXEMPLARS,
        _ => return Err(Error::bad(&metric.name, "only counters and histograms have exemplars")),
    };
    if usize::from(slots) + exemplars * EXEMPLAR_SLOTS > SLOTS {
        return Err(Error::bad(&metric.name, "with its exemplars it is larger than a page"));
    }
    Ok(exemplars)
}

fn unit_of(metric: &Metric, kind: Kind) -> Result<f64, Error> {
    if matches!(kind, Kind::Info | Kind::Summary) {
        return Ok(1.0);
    }
    if !(1e-30..=1e30).contains(&metric.unit) {
        return Err(Error::bad(&metric.name, "the unit is not a number from 1e-30 to 1e30"));
    }
    if kind == Kind::FractionCounter && metric.unit != 1.0 {
        let why = "a fraction counter is given numbers in the unit of its name";
        return Err(Error::bad(&metric.name, why));
    }
    Ok(metric.unit)
}

fn check_shape(name: &str, shape: Shape) -> Result<u16, Error> {
    if !shape.is_valid() {
        return Err(Error::bad(name, "no histogram has this shape"));
    }
    if !shape.fits_a_page() {
        return Err(Error::bad(name, "a histogram of this shape is larger than a page"));
    }
    Ok(shape.buckets() as u16 + 1)
}

impl Definition {
    /// `bounds` are those of a histogram that has bounds of its own, or a summary's quantiles.
    pub fn check(
        metric: &Metric,
        kind: Kind,
        shared: bool,
        bounds: Option<&[f64]>,
        common: &CommonLabels,
    ) -> Result<Definition, Error> {
        let name = &metric.name;
        if !is_metric_name(name) {
            return Err(Error::bad(&format!("{name:?}"), "not a metric's name"));
        }
        if metric.help.len() > MAX_HELP_BYTES || !is_text(&metric.help) {
            return Err(Error::bad(name, "its help is too long, or not printable"));
        }
        let mut labels = check_labels(&metric.labels, &common.application)
            .map_err(|error| Error::bad(name, &error.to_string()))?;
        let has_environment = add_environment(&mut labels, common);
        let unit = unit_of(metric, kind)?;
        let shape = match (kind, bounds) {
            (Kind::Histogram, None) => Some(metric.shape),
            _ => None,
        };
        let slots = match (kind, bounds, shape) {
            (Kind::Info, _, _) => 0,
            (Kind::Summary, bounds, _) => {
                check_quantiles(name, bounds.unwrap_or_default(), &labels)?
            }
            (_, Some(bounds), _) => check_bounds(name, bounds)?,
            (_, _, Some(shape)) => check_shape(name, shape)?,
            _ => 1,
        };
        let exemplars = exemplars_of(metric, kind, slots)?;
        let mut made = Definition {
            kind,
            shared,
            own_line: metric.own_line,
            name: name.clone(),
            help: metric.help.clone(),
            labels,
            has_environment,
            unit,
            shape,
            bounds: bounds.unwrap_or_default().to_vec(),
            first: 0,
            slots,
            exemplars,
            schema_bytes: 0,
        };
        made.schema_bytes = made.encode().len();
        Ok(made)
    }

    /// The number of its slots with those of its exemplars.
    pub fn all_slots(&self) -> usize {
        usize::from(self.slots) + self.exemplars * EXEMPLAR_SLOTS
    }

    /// What makes two metrics the same: the name and labels. None of them has a zero byte.
    pub fn key(&self) -> String {
        let mut key = self.name.clone();
        for (name, value) in &self.labels {
            key.extend(["\0", name, "\0", value]);
        }
        key
    }

    /// Tells whether two metrics of one key count alike.
    pub fn is_same(&self, other: &Definition) -> bool {
        self.kind == other.kind
            && self.shared == other.shared
            && self.unit == other.unit
            && self.shape == other.shape
            && self.bounds == other.bounds
            && self.exemplars == other.exemplars
    }

    pub fn encode(&self) -> Vec<u8> {
        let mut out = Encoder::default();
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let fractions = self.kind == Kind::FractionCounter;
        out.u8(self.kind.on_the_wire() as u8);
        out.u8(flag(self.shared, SHARED_WRITERS)
            | flag(!self.bounds.is_empty(), BOUNDS)
            | flag(fractions, FRACTIONS)
            | flag(self.exemplars > 0, if fractions { FRACTIONS_EXEMPLARS } else { EXEMPLARS }));
        out.u16(self.first);
        out.u16(self.slots);
        let shape = self.shape.map_or([0; 3], |one| [one.lowest, one.highest, one.precision]);
        shape.into_iter().for_each(|one| out.u8(one));
        out.u8(self.labels.len() as u8);
        out.f64(if self.kind == Kind::Gauge { 1.0 } else { self.unit }); // that of its slots
        out.string(&self.name);
        out.text(&self.help);
        out.labels(&self.labels);
        if !self.bounds.is_empty() {
            out.u16(self.bounds.len() as u16);
            self.bounds.iter().for_each(|&bound| out.f64(bound));
        }
        out.0
    }
}
