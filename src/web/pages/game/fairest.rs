//! What would have been expected of other teams, and which exchange of two players would have made them most even.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    learning::{Exchange, SwapSeat, Swaps, swaps},
    model::{Ruleset, TeamNames},
    store::{PageMatch, PageSeat},
    web::{
        Site,
        chances::{favourite, of_forecast},
        name::Player,
        words,
    },
};

/// Two players who would have changed places, and the forecast for team 0 then.
#[derive(Debug, Serialize)]
pub(super) struct FairestExchange {
    players: [Player; 2],
    chance: f64,
}

impl FairestExchange {
    /// The exchange of players with these seats.
    pub(super) fn of(exchange: Exchange, seats: &[PageSeat]) -> Option<Self> {
        let player = |at: usize| {
            let seat = seats.get(at)?;
            let (handle, name) = (seat.handle.clone(), seat.name.clone());
            Some(Player::new(handle, name, seat.key.kind))
        };
        let [one, other] = exchange.seats.map(player);
        Some(Self {
            players: [one?, other?],
            chance: words::rounded(exchange.chance, 4),
        })
    }

    pub(super) fn body(&self, site: &Site, names: &TeamNames) -> Markup {
        let [one, other] = &self.players;
        html! {
            p {
                (mark!(game.most_even_with_one_exchange_for,
                    { (one.link(&site.links)) },
                    { (other.link(&site.links)) },
                    { (favourite(of_forecast(self.chance), names)) }
                ))
            }
        }
    }
}

/// The forecasts for other teams of a match between two teams.
pub(super) fn other_teams(site: &Site, found: &PageMatch, ruleset: &Ruleset) -> Swaps {
    if found.line.scores.len() != 2 || found.line.unrated.is_some() {
        return Swaps::default();
    }
    let seat = |seat: &PageSeat| {
        Some(SwapSeat {
            key: seat.key.clone(),
            team: seat.team?,
            before: seat.entry.map(|entry| entry.before),
        })
    };
    let seats: Vec<Option<SwapSeat>> = found.seats.iter().map(seat).collect();
    let standings = site.learning().standings_at(site.now());
    let (map, forecast) = (&found.line.map, found.line.forecast);
    swaps(&standings, ruleset, map, &seats, forecast)
}
