//! What an instance is sent of its matches, and the game that it opens for one.

use std::{collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::HostClient;
use crate::{
    domain::Ident,
    protocol::{HostNotice, HostSeat},
    queues::{HostPlan, Link},
    session::HostedGame,
};

/// The team and the party of each player who is on the way to a match in play.
pub(super) type Expected = Arc<Mutex<BTreeMap<String, (u8, Option<String>)>>>;

impl HostClient {
    /// Sends the connection the notices of its matches.
    pub(super) fn link(&self) -> Link {
        let (sender, mailbox) = (self.mailbox.clone(), self.mailbox.clone());
        let expected = self.expected.clone();
        let send = move |notice: &HostNotice| {
            expect(&expected, notice);
            if let Err(error) = sender.push_all(notice.lines()) {
                tracing::warn!(%error, "an instance is not sent a match");
            }
        };
        Link::new(send, move || mailbox.is_open(), self.heard.clone())
    }
}

/// Notes who is on the way to the match in play.
fn expect(expected: &Expected, notice: &HostNotice) {
    match notice {
        HostNotice::Admit(seats) => expected.lock().extend(
            seats
                .iter()
                .map(|seat| (seat.player.clone(), (seat.team, seat.party.clone()))),
        ),
        HostNotice::Dismiss(players) => {
            expected
                .lock()
                .retain(|player, _| !players.contains(player));
        }
        HostNotice::Session(_) | HostNotice::Close { .. } => {}
    }
}

/// The game of a match, as its queue has formed it.
pub(super) fn hosted_game(plan: &HostPlan) -> HostedGame {
    let mut names = plan.ruleset.split('+');
    let human = |seat: &HostSeat| {
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
