//! The course of a match's chances, in a table.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{MAX_TEAM_CHANGES, TeamCause, TeamChances, TeamChange, versus},
    store::PageSeat,
    web::{
        Site,
        chances::{AS_PICKED, AS_STARTED, OF_CHANCES},
        name::Player,
        pages::{lists::MatchSummary, table::Table},
        words::{self, known},
    },
};

/// A change of who was on which team, in play.
#[derive(Debug, Serialize)]
pub(super) struct GameChange {
    /// Milliseconds since the start of play.
    at: u64,
    cause: TeamCause,
    /// Whose team it was; `None` for all.
    player: Option<Player>,
    from: Option<u8>,
    to: Option<u8>,
    /// The teams after the change.
    #[serde(flatten)]
    teams: TeamChances,
    /// What comes before and after the player's name.
    #[serde(skip)]
    words: (Option<&'static str>, String),
}

impl GameChange {
    /// The change as a page shows it, with the players of these seats.
    pub(super) fn new(change: &TeamChange, seats: &[PageSeat]) -> Self {
        let seat = |who| seats.iter().find(|seat| seat.seat == who);
        let seat = change.who.and_then(seat);
        let player =
            seat.map(|seat| Player::new(seat.handle.clone(), seat.name.clone(), seat.key.kind));
        Self {
            at: change.at,
            cause: change.cause,
            player,
            from: change.from,
            to: change.to,
            teams: change.teams.clone(),
            words: change.words(),
        }
    }

    fn text(&self, site: &Site) -> Markup {
        let (before, after) = &self.words;
        html! {
            @if let Some(before) = before {
                (before)
                @match &self.player {
                    Some(player) => (player.link(&site.links)),
                    None => span.gone { (text!(common.a_player)) },
                }
            }
            (after)
        }
    }
}

/// Teams at a moment of a match.
struct Moment<'a> {
    time: String,
    what: Markup,
    teams: &'a TeamChances,
}

/// The chances of a match as they were picked, as play started, and after each change.
pub(super) fn table(site: &Site, summary: &MatchSummary, changes: &[GameChange]) -> Markup {
    let moment = |time: &str, what: &str, teams| Moment {
        time: time.to_owned(),
        what: html! { (what) },
        teams,
    };
    let told = &summary.chances;
    let mut moments = Vec::new();
    moments.extend(
        told.picked
            .iter()
            .map(|teams| moment("–", AS_PICKED, teams)),
    );
    moments.extend(
        told.started
            .iter()
            .map(|teams| moment("0:00", AS_STARTED, teams)),
    );
    moments.extend(changes.iter().map(|change| Moment {
        time: words::length(i64::try_from(change.at).unwrap_or(i64::MAX)),
        what: change.text(site),
        teams: &change.teams,
    }));
    let count = |one: &Moment<'_>| one.teams.win.len().max(one.teams.humans.len());
    let Some(teams) = moments.iter().map(count).max() else {
        return html! {};
    };
    let has_bots = |one: &Moment<'_>| one.teams.bots.iter().any(|&bots| bots > 0);
    let sizes = |one: &Moment<'_>| Some(one.teams.sizes()).filter(|sizes| !sizes.is_empty());
    let mut table = Table::of(text!(game.chances), &moments)
        .text(text!(game.time), |one| &one.time)
        .name(text!(common.teams), |one| &one.what)
        .num(text!(common.players), move |one| words::or_dash(sizes(one)))
        .num(text!(game.of_them_bots), |one| versus(&one.teams.bots))
        .only_if(moments.iter().any(has_bots));
    for team in 0..teams {
        table = table.num(&summary.team_names.title(team), move |one| {
            known(one.teams.win.get(team).copied(), words::chance)
        });
    }
    html! {
        h2 { (text!(game.chances)) }
        (table)
        p.note {
            (OF_CHANCES)
            @if changes.len() >= MAX_TEAM_CHANGES { (mark!(game.only_the_first_changes_are_kept, { (MAX_TEAM_CHANGES) })) }
        }
    }
}
