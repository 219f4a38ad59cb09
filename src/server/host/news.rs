//! What an instance is sent of its matches, and the game that it opens for one.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::HostClient;
use crate::{
    domain::Ident,
    protocol::{HostNotice, HostSeat},
    queues::{HostNews, HostPlan, Link, OpenSeat},
    session::HostedGame,
};

/// The team and the party of each player who is on the way to a match in play.
pub(super) type Expected = Arc<Mutex<BTreeMap<String, (u8, Option<String>)>>>;

impl HostClient {
    /// What sends the connection news of its matches.
    pub(super) fn link(&self) -> Link {
        let (sender, mailbox) = (self.mailbox.clone(), self.mailbox.clone());
        let expected = self.expected.clone();
        let send = move |news: &HostNews| {
            expect(&expected, news);
            if let Err(error) = sender.push_all(notice(news).lines()) {
                tracing::warn!(%error, "an instance is not sent a match");
            }
        };
        Link::new(send, move || mailbox.is_open(), self.heard.clone())
    }
}

/// Notes who is on the way to the match in play.
fn expect(expected: &Expected, news: &HostNews) {
    match news {
        HostNews::Admit(seats) => expected.lock().extend(
            seats
                .iter()
                .map(|seat| (seat.player.clone(), (seat.team, seat.party.clone()))),
        ),
        HostNews::Dismiss(players) => {
            expected
                .lock()
                .retain(|player, _| !players.contains(player));
        }
        HostNews::Open(_) | HostNews::Close { .. } => {}
    }
}

fn notice(news: &HostNews) -> HostNotice {
    match news {
        HostNews::Admit(seats) => HostNotice::Admit(seats.iter().map(seat).collect()),
        HostNews::Dismiss(players) => HostNotice::Dismiss(players.clone()),
        HostNews::Close { id, why } => HostNotice::Close {
            id: *id,
            why: why.as_str(),
        },
        HostNews::Open(opening) => HostNotice::Session {
            id: opening.id,
            queue: opening.queue.clone(),
            mode: opening.mode.clone(),
            map: opening.map.clone(),
            seats: opening.seats.iter().map(seat).collect(),
        },
    }
}

fn seat(seat: &OpenSeat) -> HostSeat {
    HostSeat {
        player: seat.player.clone(),
        team: seat.team,
        pass: seat.pass.clone(),
        party: seat.party.clone(),
    }
}

/// The game of a match, as its queue has formed it.
pub(super) fn hosted_game(plan: &HostPlan) -> HostedGame {
    let mut names = plan.ruleset.split('+');
    let human = |seat: &OpenSeat| {
        let id = Ident::from_text(&seat.player);
        (id, seat.team, seat.party.clone())
    };
    let chance = plan
        .chance
        .map(|chance| format!("the predicted chance that team 0 wins is {chance:.6}"));
    let formed = format!(
        "match {} of queue {}, with a penalty of {:.3}",
        plan.id, plan.queue, plan.penalty
    );
    HostedGame {
        game_type: Ident::from_text(names.next().unwrap_or_default()),
        mutators: names.map(str::to_owned).collect(),
        map: plan.map.clone(),
        teams: plan.teams,
        humans: plan.seats.iter().map(human).collect(),
        reasons: std::iter::once(formed).chain(chance).collect(),
    }
}
