//! `/queues`: waits, matches and penalties of the queues, and the instances that host their matches.
//!
//! A queue shows who waits now, how even its latest matches were, what its rules cost in them, and what is usual at each
//! hour of the week.

#[cfg(test)]
mod tests;

use std::time::Duration;

use maud::{Markup, html};
use serde::Serialize;
use tokio::time::timeout;

use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    matchmaking::planner::RuleReport,
    model::{Timestamp, names::plain_name, text::counted},
    pages::{balance::FavouriteShare, parts::PageTable},
    plot::{self, Bar},
    protocol,
    store::{HostedRow, InstanceRow, QueueEvenness, QueueHour, as_text},
    words::{self, known},
};

/// How many hours are shown, the running one included.
const HOURS: i64 = 24;
const HOUR: i64 = 3_600_000;
/// How long a page waits for the task that runs the queues.
const PATIENCE: Duration = Duration::from_secs(1);

/// The page of queues, with the instances that host their matches.
#[derive(Debug, Default, Serialize)]
pub(crate) struct QueuesPage {
    queues: Vec<QueueSummary>,
    instances: Vec<InstanceRow>,
    /// The latest hosted matches, the last one first.
    hosted: Vec<HostedRow>,
}

/// A queue, and what became of its tickets.
#[derive(Debug, Serialize)]
struct QueueSummary {
    /// Who waits now, as QUEUES says it.
    #[serde(flatten)]
    line: protocol::reply::QueueLine,
    #[serde(flatten)]
    now: QueueNow,
    /// What is usual in each hour of the week.
    week: UsualWeek,
    /// The sums and means of the last 24 hours.
    day: QueueTotals,
    hours: Vec<HourLine>,
    /// What the rules found in the last matches.
    matches_looked_at: usize,
    rules: Vec<RulePenalty>,
}

/// What became of the tickets that left a queue in some hours, and of its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct QueueTotals {
    matches: i64,
    matched: i64,
    cancelled: i64,
    expired: i64,
    /// Those of the cancelled tickets that left because a player declined the match or did not answer in time.
    unready: i64,
    /// The mean wait of the matched tickets, in seconds.
    mean_wait: Option<f64>,
    /// The longest wait of a matched ticket, in seconds.
    longest_wait: Option<f64>,
    mean_penalty: Option<f64>,
}

#[derive(Debug, Serialize)]
struct HourLine {
    #[serde(serialize_with = "as_text")]
    from: Timestamp,
    #[serde(flatten)]
    line: QueueTotals,
}

impl QueueTotals {
    fn of<'a>(hours: impl Iterator<Item = &'a QueueHour> + Clone) -> Self {
        let sum = |of: fn(&QueueHour) -> i64| hours.clone().map(of).sum::<i64>();
        let (matches, matched) = (sum(|hour| hour.matches), sum(|hour| hour.matched));
        let longest = hours.clone().map(|hour| hour.longest).max();
        let penalty = hours.clone().map(|hour| hour.penalty).sum();
        Self {
            matches,
            matched,
            cancelled: sum(|hour| hour.cancelled),
            expired: sum(|hour| hour.expired),
            unready: sum(|hour| hour.unready),
            mean_wait: words::mean(sum(|hour| hour.waited) as f64 / 1_000.0, matched),
            longest_wait: longest
                .filter(|_| matched > 0)
                .map(|millis| millis as f64 / 1_000.0),
            mean_penalty: words::mean(penalty, matches),
        }
    }
}

impl QueueSummary {
    fn new(
        line: protocol::reply::QueueLine,
        hours: &[QueueHour],
        (now, at): (QueueNow, i64),
        (matches_looked_at, rules): (usize, Vec<RulePenalty>),
    ) -> Self {
        let first = at - (HOURS - 1);
        let hour_line = |hour: i64| {
            let own = hours.iter().filter(|own| own.number() == hour);
            HourLine {
                from: Timestamp(hour.saturating_mul(HOUR)),
                line: QueueTotals::of(own),
            }
        };
        Self {
            line,
            now,
            week: UsualWeek::of(hours, at),
            day: QueueTotals::of(hours.iter().filter(|own| own.number() >= first)),
            hours: (first..first + HOURS).map(hour_line).collect(),
            matches_looked_at,
            rules,
        }
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let bar =
            |hour: &HourLine| Bar::new(words::hour(hour.from), hour.line.mean_wait.unwrap_or(0.0));
        let bars: Vec<Bar> = self.hours.iter().map(bar).collect();
        let title = format!("Mean wait in {0} by hour, in seconds", self.line.name);
        let used = self.hours.iter().rev();
        let used: Vec<&HourLine> = used
            .filter(|hour| hour.line != QueueTotals::default())
            .collect();
        Ok(html! {
            h2 { (self.line.name) }
            dl.facts {
                div { dt { "Waiting now" } dd {
                    (mark!("{0} in {1}", { (counted(self.line.players, "player")) }, { (counted(self.line.tickets, "ticket")) }))
                } }
                div { dt { "Oldest ticket" } dd { (self.now.oldest()) } }
                div { dt { "Median wait" } dd { (words::or_dash(self.line.wait.map(|wait| wait_of(f64::from(wait))))) } }
                div { dt { "Matches in 24 hours" } dd { (self.day.matches) } }
                div { dt { "Tickets" } dd {
                    (mark!("{0} matched, {1} cancelled, {2} expired",
                        { (self.day.matched) },
                        { (self.day.cancelled) },
                        { (self.day.expired) }
                    ))
                    @if self.day.unready > 0 { (mark!("; {0} of the cancelled ones in a ready check", { (self.day.unready) })) }
                } }
            }
            (self.now.body(&self.line.name))
            (self.week.body(&self.line.name, site.now()))
            @if used.is_empty() {
                p { "No ticket has left this queue in the last 24 hours." }
            } @else {
                figure { figcaption { "Mean wait by hour, in seconds" } (plot::bars(&title, "hour (UTC)", &bars)?) }
                (hours(&self.line.name, &used))
            }
            @if !self.rules.is_empty() { (rules_table(&self.line.name, &self.rules, self.matches_looked_at)) }
        })
    }
}

/// A wait in minutes and seconds.
fn wait_of(seconds: f64) -> String {
    words::length((seconds * 1_000.0) as i64)
}

fn hours<'a>(queue: &str, list: &[&'a HourLine]) -> PageTable<'a, HourLine> {
    PageTable::of(
        &format!("Hours of {queue}", queue = queue),
        list.iter().copied(),
    )
    .name("Hour", |hour| words::time(hour.from))
    .num("Matches", |hour| hour.line.matches)
    .num("Matched", |hour| hour.line.matched)
    .wide_num("Cancelled", |hour| hour.line.cancelled)
    .wide_num("Expired", |hour| hour.line.expired)
    .num("Mean wait", |hour| known(hour.line.mean_wait, wait_of))
    .wide_num("Longest", |hour| known(hour.line.longest_wait, wait_of))
    .wide_num("Mean penalty", |hour| {
        known(hour.line.mean_penalty, words::tenths)
    })
}

impl Page for QueuesPage {
    type Choice = NoQuery;
    const PATH: &str = "/queues";

    /// Reads the page of queues; there is none if no queues are configured.
    async fn read(site: &Site, _: &str, _: &NoQuery) -> Result<Self, WebError> {
        let names = site.queues().names();
        if names.is_empty() {
            return Err(WebError::NotFound);
        }
        let sizes = timeout(PATIENCE, site.queues().list()).await;
        let sizes = sizes.ok().and_then(Result::ok).unwrap_or_default();
        let at = site.now().0.div_euclid(HOUR);
        let mut queues = Vec::with_capacity(names.len());
        for (name, rules) in names {
            let line = sizes.iter().find(|size| size.name == name).cloned();
            let line = line.unwrap_or_else(|| protocol::reply::QueueLine {
                name: name.clone(),
                tickets: 0,
                players: 0,
                wait: None,
            });
            let hours = site
                .pages()
                .queues()
                .queue_hours(&name, Timestamp((at - WEEKS * 168) * HOUR))
                .await?;
            let now = QueueNow::read(site, &name, site.now()).await?;
            let findings = read_rules(site, &name, &rules).await?;
            queues.push(QueueSummary::new(line, &hours, (now, at), findings));
        }
        let (instances, hosted) = read_hosting(site).await?;
        Ok(Self {
            queues,
            instances,
            hosted,
        })
    }

    fn title(&self) -> String {
        "Queues".to_owned()
    }

    fn description(&self, _: &Site) -> String {
        let waiting: usize = self.queues.iter().map(|queue| queue.line.players).sum();
        format!("{0} wait for a match now.", counted(waiting, "player"))
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let mut sections = Vec::with_capacity(self.queues.len());
        for queue in &self.queues {
            sections.push(queue.body(site)?);
        }
        Ok(html! {
            h1 { "Queues" }
            @for section in &sections { (section) }
            p.note {
                "A ticket is one or more players who queue together. Waits are in \
         minutes and seconds, by the hour in which a match took the ticket. A penalty is what the violations of \
         rules that are not hard cost."
            }
            (hosting_body(site, &self.instances, &self.hosted))
        })
    }
}

/// How many tickets are listed, those who wait longest.
const TICKETS: i64 = 10;
/// How many matches are looked at, the latest ones.
const MATCHES: i64 = 200;

/// A ticket that waits.
#[derive(Debug, Serialize)]
struct WaitingRow {
    players: usize,
    /// How long it has waited, in seconds.
    seconds: i64,
}

/// A queue now.
#[derive(Debug, Default, Serialize)]
struct QueueNow {
    /// The tickets that wait longest, the oldest first.
    waiting: Vec<WaitingRow>,
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
    won: Option<FavouriteShare>,
}

impl QueueNow {
    async fn read(site: &Site, queue: &str, now: Timestamp) -> Result<Self, WebError> {
        let tickets = site
            .pages()
            .queues()
            .waiting_tickets(queue, TICKETS)
            .await?;
        let waiting = tickets.iter().map(|ticket| WaitingRow {
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
                won: FavouriteShare::of(favoured, decided),
            },
        })
    }

    /// How long the oldest ticket has waited, in words.
    fn oldest(&self) -> String {
        let oldest = self.waiting.first();
        words::or_dash(oldest.map(|ticket| wait_of(ticket.seconds as f64)))
    }

    fn body(&self, queue: &str) -> Markup {
        let even = &self.even;
        html! {
            @if self.waiting.len() > 1 {
                (PageTable::of(&format!("Who waits in {queue}", queue = queue), &self.waiting)
                    .name("Ticket", |ticket| counted(ticket.players, "player"))
                    .num("Has waited", |ticket| wait_of(ticket.seconds as f64)))
            }
            @if even.matches > 0 {
                p {
                    (mark!("The latest {0}{1}{2}.",
                        { (counted(even.matches as u64, "match")) },
                        { @if let Some(chance) = even.favourite { (mark!(": a chance of {0} for the favourite on average", { (words::chance(chance)) })) } },
                        { @if let Some(won) = &even.won { (mark!("; the favourite won {0} of those that a team won", { (won.text()) })) } }
                    ))
                }
            }
        }
    }
}

/// A rule, and what its violations cost.
#[derive(Debug, PartialEq, Serialize)]
struct RulePenalty {
    rule: String,
    /// In how many matches it cost something.
    violated: usize,
    /// The sum of its costs, divided by the number of all matches.
    mean_cost: f64,
    /// The highest cost in one match.
    highest: f64,
}

/// Reads the last matches of a queue: how many, and what each rule cost in them.
async fn read_rules(
    site: &Site,
    queue: &str,
    rules: &[String],
) -> Result<(usize, Vec<RulePenalty>), WebError> {
    let matches = site.pages().queues().queue_findings(queue, MATCHES).await?;
    let penalties = rules.iter().map(|rule| penalty(rule, &matches)).collect();
    match matches.len() {
        0 => Ok((0, Vec::new())),
        count => Ok((count, penalties)),
    }
}

/// What one rule cost in matches, of which each has its lines.
fn penalty(rule: &str, matches: &[Vec<String>]) -> RulePenalty {
    let cost = |lines: &Vec<String>| {
        let costs = lines.iter().filter_map(|line| RuleReport::cost_in(line));
        let own = costs.filter(|(name, cost)| *name == rule && cost.is_finite());
        own.map(|(_, cost)| cost).sum::<f64>()
    };
    let costs: Vec<f64> = matches.iter().map(cost).collect();
    RulePenalty {
        rule: rule.to_owned(),
        violated: costs.iter().filter(|cost| **cost > 0.0).count(),
        mean_cost: costs.iter().sum::<f64>() / costs.len().max(1) as f64,
        highest: costs.iter().copied().fold(0.0, f64::max),
    }
}

/// A table with the costs of each rule that cost anything.
fn rules_table(queue: &str, rules: &[RulePenalty], matches: usize) -> Markup {
    let share = |violated| words::percent(violated as f64 / matches.max(1) as f64);
    let cost = || rules.iter().filter(|own| own.violated > 0);
    html! {
        h3 { (mark!("Penalties by rule, over the last {0}", { (counted(matches, "match")) })) }
        @if cost().next().is_none() { p { "No rule cost anything." } } @else {
        (PageTable::of(&format!("Rules of {queue}", queue = queue), cost())
            .name("Rule", |own| &own.rule)
            .num("Matches with a cost", |own| format!("{} ({})", own.violated, share(own.violated)))
            .num("Mean cost", |own| format!("{:.2}", own.mean_cost))
            .wide_num("Highest cost", |own| format!("{:.2}", own.highest)))
        }
    }
}

/// The most instances and hosted matches on the page.
const LISTED: u32 = 50;

/// Reads the instances and the latest hosted matches.
async fn read_hosting(site: &Site) -> Result<(Vec<InstanceRow>, Vec<HostedRow>), WebError> {
    let instances = site.pages().queues().instance_rows(LISTED.into()).await?;
    let hosted = site.pages().queues().hosted_rows(LISTED).await?;
    Ok((
        instances
            .into_iter()
            .map(InstanceRow::for_visitors)
            .collect(),
        hosted.into_iter().map(HostedRow::for_visitors).collect(),
    ))
}

/// The tables, where there is something in them.
fn hosting_body(site: &Site, instances: &[InstanceRow], hosted: &[HostedRow]) -> Markup {
    html! {
        @if !instances.is_empty() {
            h2 { "Instances" }
            (instance_table(instances))
        }
        @if !hosted.is_empty() {
            h2 { "Hosted matches" }
            (hosted_table(site, hosted))
        }
    }
}

fn instance_table(list: &[InstanceRow]) -> PageTable<'_, InstanceRow> {
    PageTable::of("Instances", list)
        .name("Instance", |row| plain_name(&row.name))
        .text("Region", |row| {
            words::or_dash(row.region.as_deref().map(plain_name))
        })
        .num("Matches", |row| format!("{0} of {1}", row.used, row.slots))
        .text("State", |row| &row.state)
}

fn hosted_table<'a>(site: &'a Site, list: &'a [HostedRow]) -> PageTable<'a, HostedRow> {
    let number = |row: &HostedRow| match row.outcome.is_some() {
        true => html! { a href=(site.links.game(row.id)) { (row.id) } },
        false => html! { (row.id) },
    };
    PageTable::of("Hosted matches", list)
        .name("Match", number)
        .text("Queue", |row| &row.queue)
        .text("State", |row| &row.state)
        .wide_text("Since", |row| words::time(row.since))
        .wide_text("Instance", |row| {
            words::or_dash(row.instance.as_deref().map(plain_name))
        })
        .wide_num("Players", |row| row.players)
}

/// The hours of a week.
const WEEK: i64 = 168;
/// From how many weeks it is computed.
const WEEKS: i64 = 4;
/// The days, from Monday on.
const DAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
/// The hour of the week, counted from Monday, at the beginning of 1970, which was a Thursday.
const THURSDAY: i64 = 72;

/// What is usual in one hour of the week, in UTC.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
struct UsualHour {
    /// The hour of the week, from 0, Monday at midnight.
    hour: i64,
    /// The mean number of matches.
    matches: f64,
    /// The mean wait of the matched tickets, in seconds.
    wait: Option<f64>,
}

/// What is usual in each hour of the week.
#[derive(Debug, Serialize)]
#[serde(transparent)]
struct UsualWeek(Vec<UsualHour>);

impl UsualWeek {
    /// The means over the last weeks before the hour `now`, at most [`WEEKS`]; `hours` has those that are known. Empty
    /// before a queue was used for a day.
    fn of(hours: &[QueueHour], now: i64) -> Self {
        let past = || {
            hours
                .iter()
                .filter(|own| (now - WEEKS * WEEK..now).contains(&own.number()))
        };
        let Some(first) = past()
            .map(QueueHour::number)
            .min()
            .filter(|first| now - first >= 24)
        else {
            return Self(Vec::new());
        };
        let usual = (0..WEEK).filter_map(|hour| {
            // How often this hour of the week has come since the queue was used first.
            let times = (first..now)
                .filter(|own| hour_of_week(*own) == hour)
                .count();
            let own = || past().filter(|own| hour_of_week(own.number()) == hour);
            let matched = own().map(|own| own.matched).sum();
            let waited: i64 = own().map(|own| own.waited).sum();
            let matches: i64 = own().map(|own| own.matches).sum();
            (times > 0).then(|| UsualHour {
                hour,
                matches: words::rounded(matches as f64 / times as f64, 2),
                wait: words::mean(waited as f64 / 1_000.0, matched)
                    .map(|wait| words::rounded(wait, 1)),
            })
        });
        Self(usual.collect())
    }

    fn at(&self, hour: i64) -> Option<UsualHour> {
        self.0.iter().copied().find(|own| own.hour == hour)
    }

    /// What to expect in the hour after `now`, and a table of the whole week.
    fn body(&self, queue: &str, now: Timestamp) -> Markup {
        if self.0.is_empty() {
            return html! {};
        }
        let next = self.at(hour_of_week(now.0.div_euclid(HOUR) + 1));
        let hours: Vec<i64> = (0..24).collect();
        let mut table = PageTable::of(&format!("Usual week of {queue}", queue = queue), &hours)
            .name("Hour", |hour| format!("{hour:02}"));
        for (day, name) in (0..).zip(DAYS) {
            table = table.num(name, move |hour| {
                known(
                    self.at(day * 24 + hour).map(|own| own.matches),
                    words::number,
                )
            });
        }
        html! {
            @if let Some(next) = next {
                p {
                    (mark!("In the next hour, {0} matches are usual{1}.",
                        { (words::number(next.matches)) },
                        { @if let Some(wait) = next.wait { (mark!(", after waits of {0}", { (wait_of(wait)) })) } }
                    ))
                }
            }
            details {
                summary { "Matches in each hour of the week" }
                (table)
                p.note { "The mean of the last four weeks at most, by the hour in UTC. A dash \
         is an hour that has not come yet." }
            }
        }
    }
}

/// The hour of the week, from Monday at midnight, of an hour since 1970.
fn hour_of_week(hour: i64) -> i64 {
    (hour + THURSDAY).rem_euclid(WEEK)
}
