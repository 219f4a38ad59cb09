//! The pages. Each file has the data of one page, and the HTML that is made of it.

mod balance;
mod board;
mod board_line;
mod companions;
mod distribution;
mod game;
mod home;
mod lists;
mod live;
mod matches;
mod player;
mod queues;
mod reasons;
mod regulars;
mod search;
mod span;
mod systems;
mod table;
mod venues;
mod versus;

pub(super) use balance::BalancePage;
pub(super) use board::{Board, BoardChoice, SEARCH};
pub(super) use board_line::{BoardLine, part_of_board};
pub(super) use game::GamePage;
pub(super) use home::Home;
pub(super) use lists::MatchSummary;
pub(super) use live::LivePage;
pub(super) use matches::MatchesPage;
pub(super) use player::{KindChoice, KnownPlayer, PlayerPage, PlayerStanding};
pub(super) use queues::QueuesPage;
pub(super) use reasons::Reasons;
pub(super) use regulars::RegularsPage;
pub(super) use search::SearchPage;
pub(super) use systems::SystemsPage;
pub(super) use venues::{MapPage, ServerPage};
pub(super) use versus::VersusPage;
