#![doc = include_str!("../README.md")]
//!
//! # How it is built
//!
//! One running game: its roster, its score, and the decisions on its teams.
//!
//! [`Command`]s change a [`Lobby`]; at the end of a game, so do [`Lobby::end`] and
//! [`Lobby::forget_record`]. Everything else that it depends on is an argument: the
//! players' weights as numbers ([`Weights`]), the time as milliseconds of the session, randomness
//! as a seed. A command that fails changes nothing.
//!
//! [`state`] contains the game, and recognises one that GAME only begins once more. [`command`] defines its changes, and `apply` carries them out. A
//! decision takes a [`GameView`](evenkeel_partition::GameView); together with the settings it is a [`Question`](question::Question), whose answer is
//! a pure function of the question and a seed. Question and answer together are a [`Decided`],
//! which can be explained line by line, stored and replayed. `moves` finds who goes to which team. [`recorder`]
//! follows the game from START to END and makes a match record of it. [`journal`] is the form in which a running game is stored.
//!
//! Entry points: [`Lobby::apply`] for changes, [`Lobby::place`], [`Lobby::advantage`],
//! [`Lobby::rebalance`], [`Lobby::died`] and [`Lobby::balance`] for decisions, [`Lobby::ask`] for
//! volunteers, [`Lobby::end`] for the result, [`Lobby::take_streak`] for whether one team wins too often.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping
#![warn(unreachable_pub)]

pub mod advantage;
mod announced;
mod apply;
pub mod autobalance;
pub mod balance;
pub mod command;
mod decide;
pub mod decision;
#[cfg(test)]
#[allow(
    unreachable_pub,
    reason = "the tests of the program compile this file, too"
)]
#[path = "../../../tests/common/draw.rs"]
mod draw;
#[cfg(test)]
#[path = "../../partition/src/tests/games.rs"]
mod games;
pub mod journal;
mod memory;
mod moves;
pub mod place;
pub mod question;
pub mod rebalance;
pub mod recorder;
pub mod roster;
pub mod settings;
pub mod state;
mod streak;
#[cfg(test)]
#[allow(
    unreachable_pub,
    reason = "the tests of the program compile this file, too"
)]
#[path = "../../../tests/common/told.rs"]
mod told_stories;
pub mod weights;

#[cfg(test)]
mod tests;

pub use command::{Command, LobbyError, NewGame, Update};
pub use decision::Decision;
pub use question::Decided;
pub use settings::LobbySettings;
pub use state::Lobby;
pub use weights::{BotWeight, Weights};
