//! The instances, and the matches of queues that they host.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    model::{Timestamp, plain_name},
    store::{HostedRow, InstanceRow},
    web::{
        Site,
        error::WebError,
        pages::table::Table,
        words::{self, as_text},
    },
};

/// The most instances and hosted matches on the page.
const LISTED: u32 = 50;

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

impl From<InstanceRow> for InstanceSummary {
    fn from(line: InstanceRow) -> Self {
        Self {
            name: plain_name(&line.name),
            region: line.region.as_deref().map(plain_name),
            used: line.used,
            slots: line.slots,
            state: line.state(),
        }
    }
}

impl From<HostedRow> for HostedSummary {
    fn from(line: HostedRow) -> Self {
        Self {
            id: line.id,
            queue: line.queue,
            state: line.state,
            since: line.since,
            instance: line.instance.as_deref().map(plain_name),
            players: line.players,
            recorded: line.outcome.is_some(),
        }
    }
}

/// Reads the instances and the latest hosted matches.
pub(super) async fn read(
    site: &Site,
) -> Result<(Vec<InstanceSummary>, Vec<HostedSummary>), WebError> {
    let instances = site.pages().queues().instance_rows(LISTED.into()).await?;
    let hosted = site.pages().queues().hosted_rows(LISTED).await?;
    Ok((
        instances.into_iter().map(InstanceSummary::from).collect(),
        hosted.into_iter().map(HostedSummary::from).collect(),
    ))
}

/// The tables, where there is something in them.
pub(super) fn body(site: &Site, instances: &[InstanceSummary], hosted: &[HostedSummary]) -> Markup {
    html! {
        @if !instances.is_empty() {
            h2 { (text!(queues.instances)) }
            (instance_table(instances))
        }
        @if !hosted.is_empty() {
            h2 { (text!(queues.hosted_matches)) }
            (hosted_table(site, hosted))
        }
    }
}

fn instance_table(list: &[InstanceSummary]) -> Table<'_, InstanceSummary> {
    Table::of(text!(queues.instances), list)
        .name(text!(queues.instance), |row| &row.name)
        .text(text!(queues.region), |row| {
            words::or_dash(row.region.clone())
        })
        .num(text!(common.matches), |row| {
            format!(text!(common.n_of_all), row.used, row.slots)
        })
        .text(text!(queues.state), |row| row.state)
}

fn hosted_table<'a>(site: &'a Site, list: &'a [HostedSummary]) -> Table<'a, HostedSummary> {
    let number = |row: &HostedSummary| match row.recorded {
        true => html! { a href=(site.links.game(row.id)) { (row.id) } },
        false => html! { (row.id) },
    };
    Table::of(text!(queues.hosted_matches), list)
        .name(text!(common.match), number)
        .text(text!(queues.queue), |row| &row.queue)
        .text(text!(queues.state), |row| &row.state)
        .wide_text(text!(queues.since), |row| words::time(row.since))
        .wide_text(text!(queues.instance), |row| {
            words::or_dash(row.instance.clone())
        })
        .wide_num(text!(common.players), |row| row.players)
}
