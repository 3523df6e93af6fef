//! The part of Session that handles the agent's answers, which are not trusted until they match a
//! request.

use std::os::unix::io::OwnedFd;
use std::time::{Duration, Instant};

use crate::book::{Page, Standing};
use crate::message::{Answer, Body, Request, QUOTA, UNAVAILABLE};
use crate::page::Mapping;
use crate::session::{Expected, Grant, Session, State, Wanted};
use crate::{Error, ErrorKind};

const ASK_AGAIN: Duration = Duration::from_secs(30);

impl Session {
    /// Returns false if the answer does not match the oldest request.
    pub(crate) fn accept(
        &mut self,
        now: Instant,
        answer: Answer,
        fd: Option<OwnedFd>,
        pages: &mut [Page],
    ) -> bool {
        let asked = match self.expected.pop_front() {
            Some(asked) if asked.number == answer.page => asked,
            _ => return false,
        };
        self.slow = false;
        match (asked.request, answer.body, fd) {
            (_, Body::Refused { reason, why }, None) => {
                self.accept_refusal(now, asked, reason, &why, pages);
            }
            (Request::Register, Body::Registered { owner }, None) => {
                self.state = State::Registered;
                self.registered_at = Some(now);
                self.owner = owner;
            }
            (Request::Define, Body::Defined, None) => pages[asked.page].metric_known(asked.metric),
            (Request::Remove, Body::Removed, None) => {
                pages[asked.page].metric_forgotten(asked.metric, now);
            }
            (Request::Adopt, Body::Granted { generation }, None) => {
                pages[asked.page].belongs_to(self.owner, generation);
            }
            (Request::Page, Body::Granted { generation }, Some(fd)) => {
                return self.accept_grant(asked, generation, fd);
            }
            _ => return false,
        }
        true
    }

    fn accept_grant(&mut self, asked: Expected, generation: u64, fd: OwnedFd) -> bool {
        let memory = match Mapping::take(&fd) {
            Some(memory) => memory,
            None => return false,
        };
        if self.waits_for(asked) {
            self.wanted = Wanted::Granted(Grant { memory, fd, generation, known: true });
        } else {
            self.releases.push(asked.number);
        }
        true
    }

    fn waits_for(&self, asked: Expected) -> bool {
        matches!(self.wanted, Wanted::Page { number, asked: true, .. } if number == asked.number)
    }

    fn accept_refusal(
        &mut self,
        now: Instant,
        asked: Expected,
        reason: u16,
        why: &str,
        pages: &mut [Page],
    ) {
        self.refused += 1;
        let name_of = |asked: Expected| &pages[asked.page].metrics.metric(asked.metric).name;
        let what = match asked.request {
            Request::Register => "this process".to_string(),
            Request::Define => format!("metric {}", name_of(asked)),
            Request::Remove => format!("to remove metric {}", name_of(asked)),
            _ => "a page".to_string(),
        };
        let text = format!("the agent refuses {what}: {why}");
        match asked.request {
            // An agent that does not remove a metric, because it is too old or knows something else,
            // forgets it when the connection ends. The next connection defines what is left.
            Request::Register | Request::Remove => self.broken = true,
            Request::Define => pages[asked.page].metrics.refused(asked.metric, now),
            Request::Adopt => {
                pages[asked.page].standing = Standing::Refused;
                self.ask_again_at = Some(now + ASK_AGAIN);
            }
            // The waiting thread reports the refusal or continues with its own memory.
            Request::Page if self.waits_for(asked) => {
                self.wanted = match reason {
                    UNAVAILABLE => Wanted::Unavailable,
                    _ => Wanted::Refused(text.clone()),
                };
            }
            _ => {}
        }
        let kind = if reason == QUOTA { ErrorKind::Quota } else { ErrorKind::Refused };
        self.troubles.push(Error::new(kind, text));
    }
}
