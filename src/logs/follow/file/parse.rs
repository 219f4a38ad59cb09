//! From the bytes of a followed file to the items of its log: the format, the log before it, and when it began.

use std::path::Path;

use super::{FollowStage, FollowedFile};
use crate::{
    ingest::{Format, HEAD, detect},
    logs::{
        LogError, LogFile, Reading,
        folder::earlier,
        follow::{Follow, requests::Requests},
        timestamp,
    },
};

impl FollowedFile {
    fn reading(&self, format: &'static Format) -> Reading {
        let written = self.tail.written().map(timestamp);
        Reading::new(format, &self.follow.server, None, written)
            .of_game(&self.follow.game)
            .in_zone(self.follow.zone())
    }

    /// Reads the next bytes of the file.
    pub(super) fn parse(&mut self, bytes: &[u8]) {
        match &mut self.stage {
            FollowStage::Head(head) => {
                head.extend_from_slice(bytes);
                let Some(format) = format_of(&self.follow, self.tail.path(), head) else {
                    if head.len() >= HEAD {
                        let head = std::mem::take(head);
                        self.ignore(&head);
                    }
                    return;
                };
                let head = std::mem::take(head);
                self.format = Some(format);
                let mut reading = self.reading(format);
                if let Err(error) = self.read_earlier(&mut reading) {
                    let path = self.tail.path().display();
                    tracing::debug!(log = %path, %error, "cannot read the logs before this one");
                    reading = self.reading(format);
                }
                self.before = reading.elapsed();
                reading.feed(&head, &mut self.items);
                self.stage = FollowStage::Reading(Box::new(reading));
            }
            FollowStage::Reading(reading) => reading.feed(bytes, &mut self.items),
            FollowStage::Complete(_) => {}
        }
    }

    /// Reads the logs that were rotated before this one, so that a game that spans them is complete, as it is while the
    /// program runs during a rotation. The games in those logs are recorded when they are followed themselves.
    fn read_earlier(&self, reading: &mut Reading) -> Result<(), LogError> {
        for path in earlier(self.tail.path()) {
            let log = LogFile::new(&path)?;
            let mut chunks = log.chunks()?;
            if chunks.detect()?.name != reading.format().name {
                continue;
            }
            let mut items = Vec::new();
            while let Some(chunk) = chunks.read()? {
                reading.feed(chunk, &mut items);
                items.clear();
            }
            reading.set_begin(log.written.plus_millis(-reading.elapsed()), &mut items);
            reading.forget_begin();
            reading.interrupt();
        }
        Ok(())
    }

    /// Finds when a log without dates began, so that the matches of a long log need not stay in
    /// memory until its end.
    pub(super) fn look_ahead(&mut self, requests: &Requests) -> Result<(), LogError> {
        if let FollowStage::Reading(reading) = &mut self.stage
            && reading.needs_begin()
            && !self.caught_up
        {
            let log = LogFile::new(self.tail.path())?;
            let elapsed = log.elapsed(reading.format(), || requests.is_stopped())?;
            let elapsed = elapsed.saturating_add(self.before);
            reading.set_begin(log.written.plus_millis(-elapsed), &mut self.items);
        }
        Ok(())
    }
}

/// The format of a file that begins with `head`. A folder may contain files that are not logs, so a
/// given format is trusted for a single file only.
fn format_of(follow: &Follow, path: &Path, head: &[u8]) -> Option<&'static Format> {
    match follow.format {
        Some(format) if path == follow.path => Some(format),
        Some(format) => detect(head).filter(|found| found.name == format.name),
        None => detect(head),
    }
}
