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
//! `state` contains the game, `command` defines its changes, and `apply` carries them out. A
//! decision takes a [`GameView`](evenkeel_partition::GameView); together with the settings it is a [`Question`], whose answer is
//! a pure function of the question and a seed. Question and answer together are a [`Decided`],
//! which can be explained line by line, stored and replayed. `moves` finds who goes to which team. `recorder`
//! follows the game from START to END and makes a match record of it. `again` recognises a game that GAME only begins once
//! more. [`journal`] is the form in which a running game is stored.
//!
//! Entry points: [`Lobby::apply`] for changes, [`Lobby::place`], [`Lobby::advantage`],
//! [`Lobby::rebalance`], [`Lobby::died`] and [`Lobby::balance`] for decisions, [`Lobby::ask`] for
//! volunteers, [`Lobby::end`] for the result, [`Lobby::take_streak`] for whether one team wins too often.

#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used))] // a test may fail by unwrapping

mod advantage;
mod again;
mod announced;
mod apply;
mod autobalance;
mod balance;
mod bots;
mod command;
mod decide;
mod decision;
#[cfg(test)]
#[path = "../../partition/src/tests/games.rs"]
mod games;
pub mod journal;
mod memory;
mod moves;
mod offers;
mod place;
mod question;
mod rebalance;
mod recorder;
mod roster;
mod settings;
mod state;
mod streak;
mod weights;

#[cfg(test)]
mod tests;

pub use advantage::{
    Advantage, AdvantageSettings, Assistance, Basis, Help, ScoreSoFar, ScoreSpread, StrengthSource,
    TeamState, usual_length,
};
pub use autobalance::{
    Assessment, AutoBalance, AutoBalanceAnswer, AutoBalanceRules, Calm, Fate, GapUnit,
    ImbalanceCause, Lopsided, MoveRule, Power, Situation, StayReason,
};
pub use balance::{Balance, BalanceAnswer, Balanced, LastBalance, Repeat};
pub use bots::{BotPlan, BotUse};
pub use command::{BalanceWatch, Command, LobbyError, NewGame, Update};
pub use decision::{Decision, in_this_form};
pub use offers::{Offer, OfferEvent};
pub use place::{Place, PlaceSettings, Placement, Prospect, Reason};
pub use question::{Decided, Question};
pub use rebalance::{Advice, EvennessOfPlans, Rebalance, RebalanceSettings};
pub use recorder::{Finished, RecordFrame};
pub use roster::{Bot, Human, Roster};
pub use settings::{LobbySettings, RosterSettings};
pub use state::{Lobby, RunningGame};
pub use weights::{BotWeight, PartyFactors, Weights};
