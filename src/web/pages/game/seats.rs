//! The players of a match, in a table.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    store::{PageSeat, PageStay},
    web::{
        Site,
        name::Player,
        pages::{entry::Entry, table::Table},
        words::{self, known},
    },
};

/// A player of the match.
#[derive(Debug, Serialize)]
pub(super) struct GameSeat {
    player: Player,
    points: Option<f64>,
    kills: i64,
    deaths: i64,
    /// How long the player was on teams, in milliseconds.
    played: i64,
    stays: Vec<PageStay>,
    left: Option<String>,
    /// What the match has entered into the player's account.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    entry: Option<Entry>,
    /// The forecast for the other team if this player alone had been on it, by the weights before the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) other_side: Option<f64>,
}

impl GameSeat {
    /// The seat as a page shows it, with a weight that is `pinned` or not; weights only with `numbers`.
    pub(super) fn new(
        seat: PageSeat,
        numbers: bool,
        pinned: bool,
        other_side: Option<f64>,
    ) -> Self {
        let entry = seat.entry.filter(|_| numbers);
        Self {
            player: Player::new(seat.handle, seat.name, seat.key.kind),
            points: seat.points,
            kills: seat.kills,
            deaths: seat.deaths,
            played: seat
                .stays
                .iter()
                .map(|stay| (stay.to - stay.from).max(0))
                .sum(),
            stays: seat.stays,
            left: seat.left,
            entry: entry.map(|entry| Entry::new(&entry, pinned)),
            other_side,
        }
    }

    fn before(&self) -> Option<f64> {
        self.entry.as_ref().map(Entry::before)
    }

    fn reason(&self) -> Option<String> {
        self.entry.as_ref()?.reason()
    }
}

/// The sum of the weights before the match; `None` if one of them is not known.
pub(super) fn weights_before(list: &[GameSeat]) -> Option<f64> {
    let weights = list.iter().map(GameSeat::before);
    let sum = weights.sum::<Option<f64>>();
    sum.filter(|_| !list.is_empty())
}

/// A table of players of a match that lasted `whole` milliseconds. With `other`, it has a column of the forecasts for
/// the other side.
pub(super) fn players<'a>(
    site: &'a Site,
    caption: &str,
    list: &'a [GameSeat],
    whole: i64,
    other: bool,
) -> Table<'a, GameSeat> {
    let player = |seat: &GameSeat| {
        html! {
            (seat.player.link(&site.links))
            @if let Some(left) = &seat.left { " " span.tag { (left) } }
        }
    };
    Table::of(caption, list)
        .name(text!(common.player), player)
        .num(text!(common.points), |seat| {
            known(seat.points, words::number)
        })
        .only_if(list.iter().any(|seat| seat.points.is_some()))
        .wide_num(text!(game.k_d), |seat| {
            format!("{} : {}", seat.kills, seat.deaths)
        })
        .explained(text!(game.kills_and_deaths))
        .only_if(list.iter().any(|seat| seat.kills > 0 || seat.deaths > 0))
        .num(text!(common.played), move |seat| played(seat.played, whole))
        .num(text!(common.before), |seat| {
            known(seat.before(), words::tenths)
        })
        .explained(text!(game.the_weight_before_this_match))
        .only_if(list.iter().any(|seat| seat.entry.is_some()))
        .num(text!(common.change), |seat| {
            known(seat.entry.as_ref().map(Entry::change), words::signed)
        })
        .explained(text!(game.how_the_weight_changed_from_before))
        .only_if(list.iter().any(|seat| seat.entry.is_some()))
        .wide_text(text!(common.reason), |seat| words::or_dash(seat.reason()))
        .only_if(list.iter().any(|seat| seat.reason().is_some()))
        .num(text!(game.other_side), |seat| {
            known(seat.other_side, words::chance)
        })
        .only_if(other)
}

/// How long a player has played, and which part of the match, unless it was all of it.
fn played(millis: i64, whole: i64) -> Markup {
    let share = millis as f64 / whole.max(1) as f64;
    html! {
        (words::length(millis))
        @if share < 0.995 { span.wide { " (" (words::percent(share)) ")" } }
    }
}
