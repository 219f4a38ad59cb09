//! The course of a match's chances, in a table.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    domain::{MAX_TEAM_CHANGES, TeamCause, TeamChances, TeamChange, versus},
    store::PageSeat,
    web::{
        Site,
        chances::{AS_PICKED, AS_STARTED, OF_CHANCES},
        name::Player,
        pages::lists::{MatchSummary, scrolled},
        words,
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
                    None => span.gone { "a player" },
                }
            }
            (after)
        }
    }
}

/// The chances of a match as they were picked, as play started, and after each change.
pub(super) fn table(site: &Site, summary: &MatchSummary, changes: &[GameChange]) -> Markup {
    let told = &summary.chances;
    let first = [(AS_PICKED, &told.picked), (AS_STARTED, &told.started)];
    let first = first
        .iter()
        .filter_map(|(moment, teams)| Some((*moment, teams.as_ref()?)));
    let all = (first.clone().map(|(_, teams)| teams)).chain(changes.iter().map(|one| &one.teams));
    let bots = all
        .clone()
        .any(|teams| teams.bots.iter().any(|&bots| bots > 0));
    let teams = all
        .map(|teams| teams.win.len().max(teams.humans.len()))
        .max();
    let Some(teams) = teams else { return html! {} };
    let numbers = |of: &TeamChances| {
        html! {
            td.num { (words::or_dash(Some(of.sizes()).filter(|sizes| !sizes.is_empty()))) }
            @if bots { td.num { (versus(&of.bots)) } }
            @for team in 0..teams { td.num { (words::or_dash(of.win.get(team).map(|&chance| words::chance(chance)))) } }
        }
    };
    html! {
        h2 { "Chances" }
        (scrolled("Chances", &html! {
            table {
                thead {
                    tr {
                        th scope="col" { "Time" }
                        th scope="col" { "Teams" }
                        th.num scope="col" { "Players" }
                        @if bots { th.num scope="col" { "of them bots" } }
                        @for team in 0..teams { th.num scope="col" { "Team " (team) } }
                    }
                }
                tbody {
                    @for (moment, of) in first {
                        tr {
                            td { @if moment == AS_STARTED { "0:00" } @else { "–" } }
                            th scope="row" { (moment) }
                            (numbers(of))
                        }
                    }
                    @for change in changes {
                        tr {
                            td { (words::length(i64::try_from(change.at).unwrap_or(i64::MAX))) }
                            th scope="row" { (change.text(site)) }
                            (numbers(&change.teams))
                        }
                    }
                }
            }
        }))
        p.note {
            (OF_CHANCES)
            @if changes.len() >= MAX_TEAM_CHANGES { " Only the first " (MAX_TEAM_CHANGES) " changes are kept." }
        }
    }
}
