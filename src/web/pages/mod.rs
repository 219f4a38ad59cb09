//! The pages. Each file has the data of one page, and the HTML that is made of it.

mod balance;
mod board;
mod companions;
mod game;
mod home;
mod lists;
mod player;
mod reasons;
mod swaps;

pub(super) use balance::{BalanceChoice, balance};
pub(super) use board::{BoardChoice, ruleset};
pub(super) use game::game;
pub(super) use home::home;
pub(super) use lists::MatchSummary;
pub(super) use player::{KindChoice, player};
