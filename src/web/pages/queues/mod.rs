//! `/queues`: waits, matches and penalties of the queues, and the instances that host their matches.

mod hosting;
mod now;
mod rules;
mod week;

use std::time::Duration;

use maud::{Markup, html};
use serde::Serialize;
use tokio::time::timeout;

use super::table::Table;
use crate::{
    model::{Timestamp, counted},
    protocol,
    store::QueueHour,
    web::{
        Site,
        answer::Page,
        error::WebError,
        page_request::Nothing,
        plot::{self, Bar},
        words::{self, as_text, known},
    },
};

use hosting::{HostedSummary, InstanceSummary};
use now::QueueNow;
use rules::RulePenalty;
use week::{UsualWeek, WEEKS};

/// How many hours are shown, the running one included.
const HOURS: i64 = 24;
const HOUR: i64 = 3_600_000;
/// How long a page waits for the task that runs the queues.
const PATIENCE: Duration = Duration::from_secs(1);

/// The page of queues, with the instances that host their matches.
#[derive(Debug, Serialize)]
pub(in crate::web) struct QueuesPage {
    queues: Vec<QueueSummary>,
    instances: Vec<InstanceSummary>,
    /// The latest hosted matches, the last one first.
    hosted: Vec<HostedSummary>,
}

/// A queue, and what became of its tickets.
#[derive(Debug, Serialize)]
struct QueueSummary {
    name: String,
    /// Tickets and players that wait now.
    tickets: usize,
    players: usize,
    /// The median wait of the last matched tickets, in seconds.
    median_wait: Option<u32>,
    #[serde(flatten)]
    now: QueueNow,
    /// What is usual in each hour of the week.
    week: UsualWeek,
    /// The sums and means of the last 24 hours.
    day: QueueLine,
    hours: Vec<HourLine>,
    /// What the rules found in the last matches.
    matches_looked_at: usize,
    rules: Vec<RulePenalty>,
}

/// What became of the tickets that left a queue in some hours, and of its matches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
struct QueueLine {
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
    line: QueueLine,
}

impl QueueLine {
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
        name: String,
        size: Option<&protocol::QueueLine>,
        hours: &[QueueHour],
        (now, at): (QueueNow, i64),
        (matches_looked_at, rules): (usize, Vec<RulePenalty>),
    ) -> Self {
        let first = at - (HOURS - 1);
        let line = |hour: i64| {
            let own = hours.iter().filter(|own| own.number() == hour);
            HourLine {
                from: Timestamp(hour.saturating_mul(HOUR)),
                line: QueueLine::of(own),
            }
        };
        Self {
            name,
            tickets: size.map_or(0, |size| size.tickets),
            players: size.map_or(0, |size| size.players),
            median_wait: size.and_then(|size| size.wait),
            now,
            week: UsualWeek::of(hours, at),
            day: QueueLine::of(hours.iter().filter(|own| own.number() >= first)),
            hours: (first..first + HOURS).map(line).collect(),
            matches_looked_at,
            rules,
        }
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let bar =
            |hour: &HourLine| Bar::new(words::hour(hour.from), hour.line.mean_wait.unwrap_or(0.0));
        let bars: Vec<Bar> = self.hours.iter().map(bar).collect();
        let title = format!(text!(queues.mean_wait_in_by_hour_in_seconds), self.name);
        let used = self.hours.iter().rev();
        let used: Vec<&HourLine> = used
            .filter(|hour| hour.line != QueueLine::default())
            .collect();
        Ok(html! {
            h2 { (self.name) }
            dl.facts {
                div { dt { (text!(queues.waiting_now)) } dd {
                    (mark!(queues.in, { (counted(self.players, "player")) }, { (counted(self.tickets, "ticket")) }))
                } }
                div { dt { (text!(queues.oldest_ticket)) } dd { (self.now.oldest()) } }
                div { dt { (text!(queues.median_wait)) } dd { (words::or_dash(self.median_wait.map(|wait| wait_of(f64::from(wait))))) } }
                div { dt { (text!(queues.matches_in_24_hours)) } dd { (self.day.matches) } }
                div { dt { (text!(queues.tickets)) } dd {
                    (mark!(queues.matched_cancelled_expired,
                        { (self.day.matched) },
                        { (self.day.cancelled) },
                        { (self.day.expired) }
                    ))
                    @if self.day.unready > 0 { (mark!(queues.of_the_cancelled_ones_in_a_ready, { (self.day.unready) })) }
                } }
            }
            (self.now.body(&self.name))
            (self.week.body(&self.name, site.now()))
            @if used.is_empty() {
                p { (text!(queues.no_ticket_has_left_this_queue_in)) }
            } @else {
                figure { figcaption { (text!(queues.mean_wait_by_hour_in_seconds)) } (plot::bars(&title, text!(queues.hour_utc), &bars)?) }
                (hours(&self.name, &used))
            }
            @if !self.rules.is_empty() { (rules::table(&self.name, &self.rules, self.matches_looked_at)) }
        })
    }
}

/// A wait in minutes and seconds.
fn wait_of(seconds: f64) -> String {
    words::length((seconds * 1_000.0) as i64)
}

fn hours<'a>(queue: &str, list: &[&'a HourLine]) -> Table<'a, HourLine> {
    Table::of(
        &format!(text!(queues.hours_of), queue = queue),
        list.iter().copied(),
    )
    .name(text!(queues.hour), |hour| words::time(hour.from))
    .num(text!(common.matches), |hour| hour.line.matches)
    .num(text!(queues.matched), |hour| hour.line.matched)
    .wide_num(text!(queues.cancelled), |hour| hour.line.cancelled)
    .wide_num(text!(queues.expired), |hour| hour.line.expired)
    .num(text!(queues.mean_wait), |hour| {
        known(hour.line.mean_wait, wait_of)
    })
    .wide_num(text!(queues.longest), |hour| {
        known(hour.line.longest_wait, wait_of)
    })
    .wide_num(text!(queues.mean_penalty), |hour| {
        known(hour.line.mean_penalty, words::tenths)
    })
}

impl Page for QueuesPage {
    type Choice = Nothing;
    const PATH: &str = "/queues";

    /// Reads the page of queues; there is none if no queues are configured.
    async fn read(site: &Site, _: &str, _: &Nothing) -> Result<Self, WebError> {
        let names = site.queues().names();
        if names.is_empty() {
            return Err(WebError::NotFound);
        }
        let sizes = timeout(PATIENCE, site.queues().list()).await;
        let sizes = sizes.ok().and_then(Result::ok).unwrap_or_default();
        let at = site.now().0.div_euclid(HOUR);
        let mut queues = Vec::with_capacity(names.len());
        for (name, rules) in names {
            let size = sizes.iter().find(|size| size.name == name);
            let hours = site
                .pages()
                .queues()
                .queue_hours(&name, Timestamp((at - WEEKS * 168) * HOUR))
                .await?;
            let now = QueueNow::read(site, &name, site.now()).await?;
            let findings = rules::read(site, &name, &rules).await?;
            queues.push(QueueSummary::new(name, size, &hours, (now, at), findings));
        }
        let (instances, hosted) = hosting::read(site).await?;
        Ok(Self {
            queues,
            instances,
            hosted,
        })
    }

    fn title(&self) -> String {
        text!(common.queues).to_owned()
    }

    fn description(&self, _: &Site) -> String {
        let waiting: usize = self.queues.iter().map(|queue| queue.players).sum();
        format!(
            text!(queues.wait_for_a_match_now),
            counted(waiting, "player")
        )
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let mut sections = Vec::with_capacity(self.queues.len());
        for queue in &self.queues {
            sections.push(queue.body(site)?);
        }
        Ok(html! {
            h1 { (text!(common.queues)) }
            @for section in &sections { (section) }
            p.note {
                (text!(queues.a_ticket_is_one_or_more_players_who))
            }
            (hosting::body(site, &self.instances, &self.hosted))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_add_up() {
        let hour = |hour, matched, waited, matches| QueueHour {
            queue: "q".into(),
            began: Timestamp(hour * HOUR),
            matched,
            cancelled: 1,
            expired: 0,
            waited,
            longest: waited,
            matches,
            penalty: 0.5 * matches as f64,
            unready: 1,
        };
        let rows = [hour(10, 2, 30_000, 1), hour(12, 0, 0, 0)];
        let now = (QueueNow::default(), 10 + HOURS - 1);
        let summary = QueueSummary::new("q".into(), None, &rows, now, (0, Vec::new()));
        assert_eq!(summary.hours.len(), HOURS as usize);
        assert_eq!(summary.hours[0].from, Timestamp(10 * HOUR));
        assert_eq!(summary.hours[1].line, QueueLine::default());
        assert_eq!(summary.day.mean_wait, Some(15.0));
        assert_eq!(summary.day.mean_penalty, Some(0.5));
        assert_eq!((summary.day.matched, summary.day.cancelled), (2, 2));
        assert_eq!(summary.day.unready, 2);
        assert_eq!(summary.hours[2].line.mean_wait, None);
    }
}
