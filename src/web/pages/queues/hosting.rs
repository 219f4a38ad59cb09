//! The instances, and the matches of queues that they host.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    domain::{Timestamp, plain_name},
    store::{HostedLine, InstanceLine},
    web::{
        Site,
        error::WebError,
        pages::lists::{as_text, heads, scrolled},
        words,
    },
};

/// The most instances and hosted matches on the page.
const LISTED: i64 = 50;

/// A line of the table of instances.
#[derive(Debug, Serialize)]
pub(super) struct InstanceSummary {
    name: String,
    region: Option<String>,
    used: i64,
    slots: i64,
    /// One of `connected`, `draining` and `away`.
    state: &'static str,
}

/// A line of the table of hosted matches.
#[derive(Debug, Serialize)]
pub(super) struct HostedSummary {
    id: i64,
    queue: String,
    state: String,
    #[serde(serialize_with = "as_text")]
    since: Timestamp,
    instance: Option<String>,
    players: i64,
    /// Whether the result is on disk, so that the match has a page.
    recorded: bool,
}

impl From<InstanceLine> for InstanceSummary {
    fn from(line: InstanceLine) -> Self {
        Self {
            name: plain_name(&line.name),
            region: line.region.as_deref().map(plain_name),
            used: line.used,
            slots: line.slots,
            state: match (line.is_away, line.drains) {
                (true, _) => "away",
                (false, true) => "draining",
                (false, false) => "connected",
            },
        }
    }
}

impl From<HostedLine> for HostedSummary {
    fn from(line: HostedLine) -> Self {
        Self {
            id: line.id,
            queue: line.queue,
            state: line.state,
            since: line.since,
            instance: line.instance.as_deref().map(plain_name),
            players: line.players,
            recorded: line.is_recorded,
        }
    }
}

/// Reads the instances and the latest hosted matches.
pub(super) async fn read(
    site: &Site,
) -> Result<(Vec<InstanceSummary>, Vec<HostedSummary>), WebError> {
    let instances = site.pages().instance_lines(LISTED).await?;
    let hosted = site.pages().hosted_lines(LISTED).await?;
    Ok((
        instances.into_iter().map(InstanceSummary::from).collect(),
        hosted.into_iter().map(HostedSummary::from).collect(),
    ))
}

/// The tables, where there is something in them.
pub(super) fn body(site: &Site, instances: &[InstanceSummary], hosted: &[HostedSummary]) -> Markup {
    html! {
        @if !instances.is_empty() {
            h2 { "Instances" }
            (scrolled("Instances", &instance_table(instances)))
        }
        @if !hosted.is_empty() {
            h2 { "Hosted matches" }
            (scrolled("Hosted matches", &hosted_table(site, hosted)))
        }
    }
}

fn instance_table(list: &[InstanceSummary]) -> Markup {
    html! {
        table {
            (heads(&[("Instance", ""), ("Region", ""), ("Matches", "num"), ("State", "")]))
            tbody {
                @for row in list {
                    tr {
                        th scope="row" { (row.name) }
                        td { (words::or_dash(row.region.clone())) }
                        td.num { (row.used) " of " (row.slots) }
                        td { (row.state) }
                    }
                }
            }
        }
    }
}

fn hosted_table(site: &Site, list: &[HostedSummary]) -> Markup {
    html! {
        table {
            (heads(&[
                ("Match", ""), ("Queue", ""), ("State", ""), ("Since", "wide"),
                ("Instance", "wide"), ("Players", "num wide"),
            ]))
            tbody {
                @for row in list {
                    tr {
                        th scope="row" {
                            @match row.recorded {
                                true => a href=(site.links.game(row.id)) { (row.id) },
                                false => (row.id),
                            }
                        }
                        td { (row.queue) }
                        td { (row.state) }
                        td.wide { (words::time(row.since)) }
                        td.wide { (words::or_dash(row.instance.clone())) }
                        td.num.wide { (row.players) }
                    }
                }
            }
        }
    }
}
