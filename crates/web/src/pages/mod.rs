//! The pages. Each file has the data of one page, and the HTML that is made of it.

mod balance;
mod board;
mod experiment;
mod game;
mod home;
mod live;
mod matches;
mod parts;
mod player;
mod queues;
mod reasons;
mod regulars;
mod standing;
mod systems;
mod versus;

pub(super) use balance::BalancePage;
pub(super) use board::{Board, BoardChoice};
pub(super) use experiment::ExperimentPage;
pub(super) use game::GamePage;
pub(super) use home::{Home, RulesetSummary, SearchPage};
pub(super) use live::LivePage;
pub(super) use matches::{MapPage, MatchesChoice, MatchesPage, MatchesPart, ServerPage};
pub(super) use parts::{MatchSummary, kind};
pub(super) use player::{KindChoice, KnownPlayer, PlayerPage, PlayerStanding};
pub(super) use queues::QueuesPage;
pub(super) use reasons::Reasons;
pub(super) use regulars::RegularsPage;
pub(super) use standing::{BoardPart, SEARCH};
pub(super) use systems::SystemsPage;
pub(super) use versus::VersusPage;
