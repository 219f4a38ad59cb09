//! The game server's process, if the agent starts it.

use std::{
    collections::VecDeque,
    ffi::OsString,
    io,
    process::{Child, Command, Stdio},
};

use super::DriverError;

/// How often the game server is started within [`WINDOW`] before the agent gives up.
const MAX_STARTS: usize = 5;
/// The time in which starts are counted, in milliseconds.
const WINDOW: u64 = 600_000;
/// The shortest time between two starts, in milliseconds.
const PAUSE: u64 = 2_000;

/// The game server's process. It goes on if the agent is killed.
pub struct ServerProcess {
    program: OsString,
    arguments: Vec<OsString>,
    child: Option<Child>,
    starts: VecDeque<u64>,
}

impl ServerProcess {
    /// A process that is not started yet; `None` without a program.
    pub fn new(command: &[OsString]) -> Option<Self> {
        let (program, arguments) = command.split_first()?;
        Some(Self {
            program: program.clone(),
            arguments: arguments.to_vec(),
            child: None,
            starts: VecDeque::new(),
        })
    }

    /// Whether this agent has started the process, and it runs.
    pub(super) fn runs(&self) -> bool {
        self.child.is_some()
    }

    /// Starts it, unless it was started a moment ago. Returns whether it was started.
    ///
    /// # Errors
    /// Fails if it cannot be started, or was started too often.
    pub(super) fn start(&mut self, now: u64) -> Result<bool, DriverError> {
        self.starts.retain(|at| now < at.saturating_add(WINDOW));
        if self.starts.back().is_some_and(|at| now < at + PAUSE) {
            return Ok(false);
        }
        if self.starts.len() >= MAX_STARTS {
            let text = format!("the game server has ended {MAX_STARTS} times in ten minutes");
            return Err(DriverError::Input(text));
        }
        self.starts.push_back(now);
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::null());
        // Standard output is for what the agent reports.
        command.stdout(io::stderr()).stderr(Stdio::inherit());
        let child = command.spawn().map_err(|source| DriverError::File {
            path: self.program.clone().into(),
            source,
        })?;
        self.child = Some(child);
        Ok(true)
    }

    /// How the process has ended, once, if it has.
    pub(super) fn ended(&mut self) -> Option<String> {
        let text = match self.child.as_mut()?.try_wait() {
            Ok(None) => return None,
            Ok(Some(status)) => format!("the game server has ended: {status}"),
            Err(error) => format!("the game server cannot be watched: {error}"),
        };
        self.child = None;
        Some(text)
    }

    /// Kills the process, if it still runs.
    pub(super) fn kill(&mut self) {
        if let Some(child) = &mut self.child {
            // It may have ended by itself.
            let _ = child.kill();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_ends_at_once_is_started_a_few_times() {
        let mut server = ServerProcess::new(&["true".into()]).unwrap();
        let mut started = |now| server.start(now).map_err(|error| error.to_string());
        assert_eq!(started(0), Ok(true));
        assert_eq!(started(1_999), Ok(false));
        for now in [2_000, 4_000, 6_000, 8_000] {
            assert_eq!(started(now), Ok(true));
        }
        assert!(started(10_000).is_err());
        assert_eq!(started(600_000), Ok(true), "the first start is long ago");
        while server.runs() {
            if let Some(text) = server.ended() {
                assert!(text.contains("exit status: 0"), "{text}");
            }
        }
    }
}
