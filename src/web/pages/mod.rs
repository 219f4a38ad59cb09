//! The pages. Each file has the data of one page, and the HTML that is made of it.

mod balance;
mod board;
mod companions;
mod game;
mod home;
mod lists;
mod live;
mod player;
mod queues;
mod reasons;
mod swaps;
mod systems;

pub(super) use balance::{BalanceChoice, balance};
pub(super) use board::{BoardChoice, BoardLine, ruleset};
pub(super) use game::game;
pub(super) use home::home;
pub(super) use lists::MatchSummary;
pub(super) use live::live;
pub(super) use player::{KindChoice, player};
pub(super) use queues::queues;
pub(super) use reasons::Reasons;
pub(super) use systems::systems;
