//! The part of Core that makes metrics, groups and their pages, and removes metrics.

use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use crate::book::Page;
use crate::core::{lock, Catalogue, Core, Family, Place};
use crate::definition::{CommonLabels, Definition, Kind};
use crate::metric::Membership;
use crate::page::{Mapping, GROUPED};
use crate::session::Wanted;
use crate::{Error, ErrorKind, Metric};

/// How long to wait for a page from the agent; after that the library makes its own.
const AGENT_TIME: Duration = Duration::from_millis(200);
const MAX_PAGES: usize = 1024; // each needs a descriptor

/// A metric that was made: its memory, its slots there, and how it counts.
pub struct Made {
    pub memory: Arc<Mapping>,
    pub definition: Definition,
    /// It keeps the slots from being given to another metric.
    pub users: Arc<()>,
    /// The claim of the only writer; counters and histograms for all threads have none.
    pub writer: Option<Arc<()>>,
}

impl Core {
    pub fn make(
        &self,
        metric: &Metric,
        kind: Kind,
        shared: bool,
        bounds: Option<&[f64]>,
    ) -> Result<Made, Error> {
        let mut catalogue = lock(&self.catalogue);
        let mut place_with = |labels: &CommonLabels| -> Result<(Place, String), Error> {
            let definition = Definition::check(metric, kind, shared, bounds, labels)?;
            let key = definition.key();
            Ok((self.place(&mut catalogue, metric.group.as_ref(), definition)?, key))
        };
        let (place, key) = match place_with(&self.labels) {
            // Where there is no room for the environment's labels, they give way.
            Err(error) if error.kind() == ErrorKind::Full => {
                let application = self.labels.application.clone();
                place_with(&CommonLabels { application, ..CommonLabels::default() })?
            }
            placed => placed?,
        };
        let mut writer = None;
        if !shared && matches!(kind, Kind::Counter | Kind::Histogram) {
            writer = Some(catalogue.claim(&key).ok_or_else(|| {
                let text = format!("{}: it has a writer already", metric.name);
                Error::new(ErrorKind::Conflict, text)
            })?);
        }
        let state = lock(&self.state);
        let page = &state.pages[place.page];
        let definition = page.metrics.metric(place.metric).clone();
        let users = page.metrics.users(place.metric);
        Ok(Made { memory: page.memory.clone(), definition, users, writer })
    }

    fn place(
        &self,
        catalogue: &mut Catalogue,
        group: Option<&Membership>,
        definition: Definition,
    ) -> Result<Place, Error> {
        let key = definition.key();
        let conflict =
            |why| Err(Error::new(ErrorKind::Conflict, format!("{}: {why}", definition.name)));
        if let Some(&known) = catalogue.metrics.get(&key) {
            let state = lock(&self.state);
            let page = &state.pages[known.page];
            let same_group = match group {
                None => !page.is_grouped(),
                Some(group) => is_page_of(page, group),
            };
            if !same_group || !page.metrics.metric(known.metric).is_same(&definition) {
                return conflict("made already, as something else");
            }
            return Ok(known);
        }
        let (kind, unit) = (definition.kind.family(), definition.unit);
        let other = |known: &Family| known.kind != kind || known.unit != unit;
        if catalogue.families.get(&definition.name).map_or(false, other) {
            return conflict("metrics of this name are something else");
        }
        let page = self.page_for(catalogue, group, &definition)?;
        let family = Family { kind, unit, metrics: 0 };
        catalogue.families.entry(definition.name.clone()).or_insert(family).metrics += 1;
        let mut state = lock(&self.state);
        let place = Place { page, metric: state.pages[page].add(definition) };
        catalogue.metrics.insert(key, place);
        state.wake();
        Ok(place)
    }

    /// Returns whether there was such a metric.
    pub fn remove(&self, metric: &Metric) -> bool {
        let mut catalogue = lock(&self.catalogue);
        let application = self.labels.application.clone();
        let without = CommonLabels { application, ..CommonLabels::default() };
        let mut removed = false;
        // It was made with the environment's labels, or without them where there was no room.
        for labels in [&self.labels, &without] {
            let named = Metric { labels: metric.labels.clone(), ..Metric::new(&metric.name) };
            let place = Definition::check(&named, Kind::Info, false, None, labels)
                .ok()
                .and_then(|definition| catalogue.forget(&definition.key(), &definition.name));
            if let Some(place) = place {
                let mut state = lock(&self.state);
                state.pages[place.page].metrics.remove(place.metric, Instant::now());
                state.wake();
                removed = true;
            }
        }
        removed
    }

    fn page_for(
        &self,
        catalogue: &mut Catalogue,
        group: Option<&Membership>,
        definition: &Definition,
    ) -> Result<usize, Error> {
        let mut state = lock(&self.state);
        let now = Instant::now();
        state.pages.iter_mut().for_each(|page| page.metrics.sweep(now));
        let pages = &state.pages;
        if let Some(group) = group {
            let page = pages
                .iter()
                .position(|one| is_page_of(one, group))
                .ok_or_else(|| Error::bad(&definition.name, "there is no such group"))?;
            if pages[page].has_room(definition) {
                return Ok(page);
            }
            let text = format!("{}: the group's page is full", definition.name);
            return Err(Error::new(ErrorKind::Full, text));
        }
        let with_room = pages.iter().position(|one| !one.is_grouped() && one.has_room(definition));
        drop(state);
        match with_room {
            Some(page) => Ok(page),
            None => self.new_page(catalogue, 0),
        }
    }

    pub fn make_group(&self) -> Result<Arc<Mapping>, Error> {
        let mut catalogue = lock(&self.catalogue);
        let page = self.new_page(&mut catalogue, GROUPED)?;
        let memory = lock(&self.state).pages[page].memory.clone();
        Ok(memory)
    }

    fn new_page(&self, catalogue: &mut Catalogue, flags: u16) -> Result<usize, Error> {
        if lock(&self.state).pages.len() >= MAX_PAGES {
            let text = format!("a process may have {MAX_PAGES} pages");
            return Err(Error::new(ErrorKind::Full, text));
        }
        let number = catalogue.next_number();
        if let Some(page) = self.page_from_agent(number, flags)? {
            return Ok(page);
        }
        let (memory, fd) = Mapping::make().map_err(|error| {
            Error::new(ErrorKind::NoMemory, format!("no memory for a page: {error}"))
        })?;
        let number = catalogue.next_number(); // the agent may grant the other one too late
        let mut state = lock(&self.state);
        let index = self.add_page(&mut state, Page::new(number, flags, memory, fd));
        state.wake();
        Ok(index)
    }

    /// Yields no page if there is no agent or it takes too long.
    fn page_from_agent(&self, number: u32, flags: u16) -> Result<Option<usize>, Error> {
        let mut state = lock(&self.state);
        if state.thread.is_none() || !state.session.may_grant() {
            return Ok(None);
        }
        state.session.request(number, flags);
        state.wake();
        let (mut state, _) = self
            .answered
            .wait_timeout_while(state, AGENT_TIME, |state| state.session.is_waiting())
            .unwrap_or_else(PoisonError::into_inner);
        match state.session.end_request() {
            Wanted::Refused(why) => Err(Error::new(ErrorKind::Quota, why)),
            Wanted::Granted(grant) => {
                let mut page = Page::new(number, flags, grant.memory, grant.fd);
                if grant.known {
                    page.belongs_to(state.session.owner(), grant.generation);
                }
                Ok(Some(self.add_page(&mut state, page)))
            }
            _ => Ok(None),
        }
    }
}

fn is_page_of(page: &Page, group: &Membership) -> bool {
    page.is_grouped() && group.0.as_ref().map_or(false, |memory| Arc::ptr_eq(memory, &page.memory))
}
