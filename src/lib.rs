//! Evenkeel: even teams for any multiplayer game server.
//!
//! One daemon learns how strong players and bots are from finished games, per game type and set of
//! gameplay mutators, and chooses teams. A game server asks over a line protocol; logs of finished
//! games come in through the command line.
//!
//! ```text
//! a game server ── lines ──▶ server ─▶ protocol ─▶ service ─▶ lobby ─▶ partition ──▶ reply
//! a game log ─▶ cli, or the daemon ─▶ service (`logs`) ─▶ ingest ─▶ store    (finished matches: the only ground truth)
//!                                              └─▶ history ─▶ rating ─▶ weights, derived, rebuilt at will
//! ```
//!
//! # Ground and derived
//!
//! A finished match record is the only ground truth. Weights are a pure function of the stored matches
//! and the configuration: a rebuild folds the matches again in (end time, fingerprint) order and gets
//! the same bits as learning from one match after the other did. So the same log given twice changes
//! nothing, logs in any order end the same, and a new rating system can be tried on the whole past.
//!
//! # Rooms
//!
//! An arrow only ever points down this list; `tests/suite/architecture.rs` reads the imports and fails when
//! one points up.
//!
//! | room | holds | imports |
//! | --- | --- | --- |
//! | [`domain`] | identifiers, rulesets, the match record | nothing of ours |
//! | [`partition`] | choosing teams: problem → ranked splits → one pick | domain |
//! | [`rating`] | one file per rating system behind one small trait | domain |
//! | [`ingest`] | one file per log format: bytes → match records | domain |
//! | [`protocol`] | bytes → request, reply → bytes, once each | domain |
//! | [`sidecar`] | the thinking of a sidecar: log lines and replies → lines to the daemon and console commands | ingest, protocol, domain |
//! | [`lobby`] | one running game: roster, wishes, bots; late arrivals, advantage, moves and the game's course | partition, domain |
//! | [`history`] | the fold of matches into weights | rating, domain |
//! | [`store`] | the only room that knows SQL | domain |
//! | [`service`] | the use cases; owns the locks and the cores | all above but protocol |
//! | [`server`] | TCP: limits, one connection's loop, request → service → reply | service, protocol |
//! | [`client`] | TCP: the other end of the line, for sidecars, tests and plugins | protocol, domain |
//! | [`config`], [`cli`] | the TOML file; one file per subcommand | all |
//!
//! The first eight are pure: no runtime, database, log, files, clock or global random numbers. Time and
//! randomness come in as arguments, weights as numbers.
//!
//! # What is never the case
//!
//! - A weight that cannot be derived again from the stored matches.
//! - A question about a weight that waits for the disk: they are answered from memory.
//! - Half a match on disk: a match is one transaction.
//! - An END that is answered before its match is on disk.
//! - An input without a bound: lines, logs, configurations, database rows and names are checked where
//!   they come in, and refused with a reason.
//! - A pick that cannot be repeated: the seed is always told, and the generator has a name.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

pub mod cli;
pub mod client;
pub mod config;
pub mod domain;
pub mod history;
pub mod ingest;
pub mod lobby;
pub mod partition;
pub mod protocol;
pub mod rating;
pub mod server;
pub mod service;
pub mod sidecar;
pub mod store;
