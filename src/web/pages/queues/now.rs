//! Who waits in a queue now, and how even its latest matches were.

use maud::{Markup, html};
use serde::Serialize;

use super::wait_of;
use crate::{
    model::{Timestamp, counted},
    store::QueueEvenness,
    web::{
        Site,
        error::WebError,
        pages::{balance::Share, table::Table},
        words,
    },
};

/// How many tickets are listed, those who wait longest.
const TICKETS: i64 = 10;
/// How many matches are looked at, the latest ones.
const MATCHES: i64 = 200;

/// A ticket that waits.
#[derive(Debug, Serialize)]
struct Waiting {
    players: usize,
    /// How long it has waited, in seconds.
    seconds: i64,
}

/// A queue now.
#[derive(Debug, Default, Serialize)]
pub(super) struct QueueNow {
    /// The tickets that wait longest, the oldest first.
    waiting: Vec<Waiting>,
    even: Even,
}

/// How even the latest matches were.
#[derive(Debug, Default, Serialize)]
struct Even {
    /// The matches with a prediction.
    matches: i64,
    /// The mean chance of the favourite.
    favourite: Option<f64>,
    /// How often the favourite has won.
    won: Option<Share>,
}

impl QueueNow {
    pub(super) async fn read(site: &Site, queue: &str, now: Timestamp) -> Result<Self, WebError> {
        let tickets = site
            .pages()
            .queues()
            .waiting_tickets(queue, TICKETS)
            .await?;
        let waiting = tickets.iter().map(|ticket| Waiting {
            players: ticket.players,
            seconds: (now.0 - ticket.since.0).max(0) / 1_000,
        });
        let QueueEvenness {
            matches,
            favourite,
            decided,
            favoured,
        } = site.pages().queues().queue_evenness(queue, MATCHES).await?;
        let numbers = site.settings.shows_numbers();
        Ok(Self {
            waiting: waiting.collect(),
            even: Even {
                matches,
                favourite: favourite
                    .filter(|_| numbers)
                    .map(|share| words::rounded(share, 4)),
                won: Share::of(favoured, decided),
            },
        })
    }

    /// How long the oldest ticket has waited, in words.
    pub(super) fn oldest(&self) -> String {
        let oldest = self.waiting.first();
        words::or_dash(oldest.map(|ticket| wait_of(ticket.seconds as f64)))
    }

    pub(super) fn body(&self, queue: &str) -> Markup {
        let even = &self.even;
        html! {
            @if self.waiting.len() > 1 {
                (Table::of(&format!(text!(queues.who_waits_in), queue = queue), &self.waiting)
                    .name(text!(queues.ticket), |ticket| counted(ticket.players, "player"))
                    .num(text!(queues.has_waited), |ticket| wait_of(ticket.seconds as f64)))
            }
            @if even.matches > 0 {
                p {
                    (mark!(queues.the_latest,
                        { (counted(even.matches as u64, "match")) },
                        { @if let Some(chance) = even.favourite { (mark!(queues.a_chance_of_for_the_favourite_on, { (words::chance(chance)) })) } },
                        { @if let Some(won) = &even.won { (mark!(queues.the_favourite_won_of_those_that_a, { (won.text()) })) } }
                    ))
                }
            }
        }
    }
}
