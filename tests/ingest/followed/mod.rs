//! Whole logs through the sidecars: what each sends line by line, and whether the matches that the daemon records of it are
//! those that [`ingest`](evenkeel::ingest) finds in the same log.

mod agreement;
mod daemon;
mod evening;
mod golden;
mod logs;
