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
mod systems;
mod table;

pub(super) use balance::BalancePage;
pub(super) use board::{Board, BoardChoice, BoardLine, SEARCH, part_of_board};
pub(super) use game::GamePage;
pub(super) use home::Home;
pub(super) use lists::MatchSummary;
pub(super) use live::LivePage;
pub(super) use player::{KindChoice, KnownPlayer, PlayerPage, PlayerStanding};
pub(super) use queues::QueuesPage;
pub(super) use reasons::Reasons;
pub(super) use systems::SystemsPage;
