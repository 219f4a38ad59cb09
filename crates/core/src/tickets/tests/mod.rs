//! The life of tickets by example, and over random histories.

mod disk;
mod histories;
mod hosted;
mod situations;

use super::*;
use crate::domain::Timestamp;

/// Two queues of one group, of which `checked` has a ready check, and one of another group.
fn queues() -> Vec<(String, QueueTerms)> {
    let terms = |ready_check, group: &str| QueueTerms {
        ttl: 600_000,
        ready_check,
        group: group.to_owned(),
        hosted: false,
    };
    vec![
        ("plain".to_owned(), terms(0, "a")),
        ("checked".to_owned(), terms(30_000, "a")),
        ("other".to_owned(), terms(0, "b")),
    ]
}

fn life(now: i64) -> Life {
    Life::restore(queues(), Vec::new(), Vec::new(), Timestamp(now), |_| true)
}

fn submission(owner: &str, id: &str, queue: &str, players: &[&str]) -> Submission {
    Submission {
        owner: owner.to_owned(),
        id: id.to_owned(),
        queue: queue.to_owned(),
        players: players.iter().map(|player| (*player).to_owned()).collect(),
        content: format!("{players:?}"),
    }
}

fn proposal(teams: &[&[TicketNumber]]) -> Proposal {
    Proposal {
        teams: teams.iter().map(|team| team.to_vec()).collect(),
        size: 1,
        ..Proposal::default()
    }
}
