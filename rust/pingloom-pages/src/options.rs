use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::core::{lock, Core, Listener};
use crate::definition::{check_application, check_labels, CommonLabels, Labels};
use crate::{environment, Error};

const DEFAULT_SOCKET: &str = "/run/pingloom/pages.sock";
const SOCKET_VARIABLE: &str = "PINGLOOM_PAGES_SOCKET";

/// How [`Pages::open`](crate::Pages::open) presents the application to the agent.
#[derive(Default)]
pub struct Options {
    application: Option<String>,
    labels: Labels,
    socket: Option<PathBuf>,
    on_error: Option<Listener>,
}

impl Options {
    pub fn new() -> Options {
        Options::default()
    }
    /// 1 to 64 bytes without control characters. Without it, `$OTEL_SERVICE_NAME` or the program's
    /// name.
    pub fn application(mut self, name: impl Into<String>) -> Options {
        self.application = Some(name.into());
        self
    }
    /// Adds a label to all metrics; see [`Metric::label`](crate::Metric::label). Metrics get those of
    /// `$OTEL_RESOURCE_ATTRIBUTES`, too, as far as they have room for more.
    pub fn label(mut self, name: impl Into<String>, value: impl Into<String>) -> Options {
        self.labels.push((name.into(), value.into()));
        self
    }
    /// The agent's socket. Without it, `$PINGLOOM_PAGES_SOCKET` or `/run/pingloom/pages.sock`.
    /// Programs with raised privileges ignore all of these variables.
    pub fn socket(mut self, path: impl AsRef<Path>) -> Options {
        self.socket = Some(path.as_ref().to_path_buf());
        self
    }
    /// The library's thread calls it once for each different error, 32 at most. It may neither fork
    /// nor drop the pages. Without it, errors are not reported.
    pub fn on_error(mut self, listener: impl Fn(&Error) + Send + Sync + 'static) -> Options {
        self.on_error = Some(Box::new(listener));
        self
    }

    pub(crate) fn into_core(self) -> Result<Core, Error> {
        let given = self.application.or_else(environment::service);
        let application = given.unwrap_or_else(program);
        check_application(&application)?;
        let mut labels = CommonLabels {
            application: check_labels(&self.labels, &Labels::new())?,
            ..CommonLabels::default()
        };
        let attributes = environment::attributes();
        let trouble = attributes.map(|read| labels.environment = read).err();
        let path = self.socket.unwrap_or_else(usual_socket);
        let core = Core::new(path, &application, labels, self.on_error);
        if let Some(trouble) = trouble {
            lock(&core.state).session.add_trouble(trouble);
        }
        Ok(core)
    }
}

fn program() -> String {
    let path = env::args_os().next().map(PathBuf::from).unwrap_or_default();
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

fn usual_socket() -> PathBuf {
    let set = environment::variable(SOCKET_VARIABLE);
    set.map_or_else(|| PathBuf::from(DEFAULT_SOCKET), PathBuf::from)
}

impl fmt::Debug for Options {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Options")
            .field("application", &self.application)
            .field("labels", &self.labels)
            .field("socket", &self.socket)
            .finish_non_exhaustive()
    }
}
