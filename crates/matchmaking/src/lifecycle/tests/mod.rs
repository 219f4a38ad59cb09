//! Tickets and matches by example, and over random histories.

mod disk;
mod histories;
mod hosted;
mod hosting;
mod pickup;
mod situations;

use super::*;
use evenkeel_model::Timestamp;

/// Two queues of one group, of which `checked` has a ready check, and one of another group.
fn queues() -> Vec<(String, QueueTerms)> {
    let terms = |ready_check, group: &str| QueueTerms {
        ttl: 600_000,
        ready_check,
        group: group.to_owned(),
        ..QueueTerms::default()
    };
    vec![
        ("plain".to_owned(), terms(0, "a")),
        ("checked".to_owned(), terms(30_000, "a")),
        ("other".to_owned(), terms(0, "b")),
    ]
}

/// Nothing is stored.
fn begin(settings: CoordinatorSettings, queues: Vec<(String, QueueTerms)>, now: i64) -> Lifecycle {
    Lifecycle::restore(
        settings,
        queues,
        StoredState::default(),
        Timestamp(now),
        |_| true,
    )
}

fn life(now: i64) -> Lifecycle {
    begin(CoordinatorSettings::default(), queues(), now)
}

/// All changes, also those that can wait.
fn changes(life: &mut Lifecycle) -> Vec<Change> {
    take(life).write
}

fn take(life: &mut Lifecycle) -> Effects {
    life.take_effects(true, || "pass".to_owned())
}

fn submission(owner: &str, id: &str, queue: &str, players: &[&str]) -> Submission {
    Submission {
        owner: owner.to_owned(),
        id: id.to_owned(),
        queue: queue.to_owned(),
        players: players.iter().map(|player| (*player).to_owned()).collect(),
        spec: std::sync::Arc::default(),
    }
}

fn proposal(teams: &[&[TicketNumber]]) -> Proposal {
    Proposal {
        teams: teams.iter().map(|team| team.to_vec()).collect(),
        size: 1,
        ..Proposal::default()
    }
}
