//! The part of Session that sends. Bound: MAX_UNANSWERED messages wait for their answers.

use std::os::unix::io::{AsRawFd, RawFd};
use std::time::{Duration, Instant};

use crate::book::{Page, Standing};
use crate::message::{self, Request};
use crate::session::{is_due, Expected, Session, State, Wanted};
use crate::sys::{self, Sent};
use crate::table::Number;

const FULL_SOCKET_TIME: Duration = Duration::from_millis(10);
const MAX_UNANSWERED: usize = 32;

impl Session {
    /// `(request, number, page, metric)`. Returns false if it has to be sent later or never.
    pub(crate) fn send(
        &mut self,
        now: Instant,
        (request, number, page, metric): (Request, u32, usize, Number),
        body: &[u8],
        passed: Option<RawFd>,
    ) -> bool {
        let fd = match self.fd() {
            Some(fd) if self.expected.len() < MAX_UNANSWERED => fd,
            _ => return false,
        };
        match sys::send(fd, &message::encode(request, number, body), passed) {
            Sent::Later => self.send_again_at = Some(now + FULL_SOCKET_TIME),
            Sent::No => self.broken = true,
            Sent::Yes => {
                if request != Request::Release {
                    self.expected.push_back(Expected { request, number, page, metric, since: now });
                }
                return true;
            }
        }
        false
    }

    pub(crate) fn tell(&mut self, now: Instant, pages: &mut [Page]) {
        if !is_due(self.send_again_at, now) {
            return;
        }
        if self.state == State::Registering && self.expected.is_empty() {
            // The socket was full.
            self.send(now, (Request::Register, 0, 0, 0), &self.registration.clone(), None);
        }
        if !self.is_registered() {
            return;
        }
        while let Some(&number) = self.releases.last() {
            if !self.send(now, (Request::Release, number, 0, 0), &[], None) {
                return;
            }
            self.releases.pop();
        }
        if let Wanted::Page { number, flags, asked: false } = self.wanted {
            if !self.send(now, (Request::Page, number, 0, 0), &flags.to_le_bytes(), None) {
                return;
            }
            self.wanted = Wanted::Page { number, flags, asked: true };
        }
        let again = is_due(self.ask_again_at, now);
        for (index, page) in pages.iter_mut().enumerate() {
            if again && page.standing == Standing::Refused {
                page.standing = Standing::Unknown;
            }
            if !self.tell_page(now, index, page) {
                return;
            }
        }
    }

    fn tell_page(&mut self, now: Instant, index: usize, page: &mut Page) -> bool {
        if let (Standing::Unknown, Some(fd)) = (page.standing, &page.fd) {
            let (flags, passed) = (page.flags.to_le_bytes(), fd.as_raw_fd());
            if !self.send(now, (Request::Adopt, page.number, index, 0), &flags, Some(passed)) {
                return false;
            }
            page.standing = Standing::Asked;
        }
        while let Some(news) = page.news() {
            let request = if news.removed { Request::Remove } else { Request::Define };
            let body = page.metrics.metric(news.number).encode();
            if !self.send(now, (request, page.number, index, news.number), &body, None) {
                return false;
            }
            page.metrics.tell();
        }
        true
    }
}
