use std::fmt;

/// Why something could not be made, or what is wrong in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A name, label, text, unit, shape or bound is invalid.
    BadArgument,
    /// A metric of that name exists and is something else.
    Conflict,
    /// The group's page is full, or the process has all pages that it may have.
    Full,
    /// The agent has no page for it.
    Quota,
    NoMemory,
    /// There is no agent (yet); the library retries. Only in the background.
    NoAgent,
    /// The agent refused something and gave a reason. Only in the background.
    Refused,
    /// The agent's answers are malformed; the connection was closed. Only in the background.
    BadAgent,
    /// The function of [`Pages::on_heartbeat`](crate::Pages::on_heartbeat) has panicked. Only in
    /// the background.
    Panicked,
}

/// A kind for programs and a text for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    kind: ErrorKind,
    text: String,
}

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error { kind, text: text.into() }
    }
    pub(crate) fn bad(what: &str, why: &str) -> Error {
        Error::new(ErrorKind::BadArgument, format!("{what}: {why}"))
    }
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl std::error::Error for Error {}
