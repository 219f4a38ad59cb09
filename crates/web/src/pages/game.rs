//! `/matches/N`: one match.
//!
//! - Its players, its score over time, and the chances that went with it.
//! - What would have been expected of other teams, and which exchange of two players would have made them most even.

use maud::{Markup, html};
use serde::Serialize;

use crate::{
    Site, WebError,
    answer::{NoQuery, Page},
    chances::{
        AS_PICKED, AS_STARTED, FORECAST, OF_CHANCES, OF_FORECAST, OF_WITH_SCORE, UsualScores,
        favourite, of_forecast, sentence,
    },
    learning::{AccountEntry, PlayerExchange, SwapSeat, Swaps, swaps},
    links::PlayerLink as _,
    model::{
        Ruleset,
        match_chances::{MAX_TEAM_CHANGES, TeamCause, TeamChances, TeamChange, versus},
        names::plain_name,
        record::UNTIMED_MILLIS,
        team_names::TeamNames,
        text::counted,
    },
    pages::{
        parts::{MatchSummary, PageTable, ruleset_link},
        reasons::{Reasons, reasons},
    },
    plot,
    share::share,
    store::{MatchSeat, PageMatch, PageSeat, Player},
    words::{self, known},
};

/// The page of a match.
#[derive(Debug, Serialize)]
pub(crate) struct GamePage {
    #[serde(flatten)]
    summary: MatchSummary,
    /// The changes of its teams in play, with what was predicted after each.
    changes: Vec<GameChange>,
    mutators: Vec<String>,
    teams: Vec<GameTeam>,
    /// Players who were on no team, or in a game without teams.
    others: Vec<GameSeat>,
    #[serde(flatten)]
    prediction_history: GamePredictions,
    /// The exchange of two players that would have made the teams most even.
    #[serde(skip_serializing_if = "Option::is_none")]
    fairest: Option<FairestExchange>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasons: Option<Reasons>,
    /// The arm that was drawn for it in an experiment, `a` or `b`.
    #[serde(skip_serializing_if = "Option::is_none")]
    arm: Option<String>,
}

/// A team and its players.
#[derive(Debug, Serialize)]
struct GameTeam {
    number: usize,
    /// `None` if it is not known.
    score: Option<f64>,
    players: Vec<GameSeat>,
}

impl GamePage {
    fn millis(&self) -> i64 {
        if self.summary.line.untimed {
            return i64::try_from(UNTIMED_MILLIS).unwrap_or(i64::MAX);
        }
        (self.summary.line.ended.0 - self.summary.line.started.0).max(0)
    }

    /// How long it was in milliseconds, if that was stated.
    fn whole(&self) -> Option<i64> {
        (!self.summary.line.untimed).then(|| self.millis())
    }

    /// What was expected, and what happened.
    fn verdict(&self) -> Markup {
        let told = &self.summary.line.chances;
        let told = (told.started.as_ref().map(|teams| (AS_STARTED, teams)))
            .or(told.picked.as_ref().map(|teams| (AS_PICKED, teams)));
        let expected =
            told.map(|(moment, teams)| sentence(moment, teams, "had", &self.summary.team_names));
        let happened = match (self.summary.line.outcome.as_str(), self.summary.line.winner) {
            (_, Some(team)) => format!("{0} won.", self.summary.team_names.title(team.into())),
            ("draw", _) => "It was a draw.".to_owned(),
            ("abandoned", _) => "It was abandoned.".to_owned(),
            _ => String::new(),
        };
        html! {
            p {
                @if let Some(sentence) = &expected { (sentence) " " }
                (happened)
                @if let Some(surprise) = self.summary.surprise() { " " (surprise) }
                @if let Some(code) = &self.summary.line.unrated { (mark!(" The match does not count: {0}", { (words::unrated(code)) })) }
            }
        }
    }

    fn facts(&self, site: &Site) -> Markup {
        let line = &self.summary.line;
        html! {
            dl.facts {
                @if !line.map.is_empty() { div { dt { "Map" } dd { (site.links.to_map(&line.map)) } } }
                @if line.ruleset.is_some() { div { dt { "Game type" } dd { (ruleset_link(site, line)) } } }
                div { dt { "Began" } dd { (words::time(line.started)) } }
                @if !line.untimed { div { dt { "Played" } dd { (mark!("{0} min", { (words::length(self.millis())) })) } } }
                @if !line.server.is_empty() { div { dt { "Server" } dd { a href=(site.links.server(&line.server)) { (words::server_name(&line.server)) } } } }
                @if !self.mutators.is_empty() { div { dt { "Mutators" } dd { (self.mutators.join(", ")) } } }
            }
        }
    }
}

impl Page for GamePage {
    type Choice = NoQuery;
    const PATH: &str = "/matches/{name}";

    /// Reads the match with this number.
    async fn read(site: &Site, number: &str, _: &NoQuery) -> Result<Self, WebError> {
        let id: i64 = number.parse().map_err(|_| WebError::NoMatch)?;
        let found = site.pages().matches().page_match(id).await?;
        let found = found.ok_or(WebError::NoMatch)?;
        let numbers = site.settings.shows_numbers();
        let rulebook = site.learning().rulebook();
        let ruleset = rulebook.ruleset_of_mode(&found.game_type, &found.mode, &found.mutators);
        let swapped = match numbers {
            true => other_teams(site, &found, &ruleset),
            false => Swaps::default(),
        };
        let summary = MatchSummary::new(site, found.line.clone());
        let prediction_history = GamePredictions::read(site, &found, &ruleset).await?;
        let fairest = swapped
            .fairest
            .and_then(|exchange| FairestExchange::of(exchange, &found.seats));
        let balance = found.balance.as_deref().filter(|_| numbers);
        let team = |(number, score): (usize, &Option<f64>)| GameTeam {
            number,
            score: *score,
            players: Vec::new(),
        };
        let mut page = Self {
            changes: found
                .changes
                .iter()
                .filter(|_| numbers)
                .map(|change| GameChange::new(change, &found.seats))
                .collect(),
            mutators: found.mutators.iter().map(|name| plain_name(name)).collect(),
            teams: found.line.scores.iter().enumerate().map(team).collect(),
            others: Vec::new(),
            reasons: balance.and_then(reasons),
            arm: found.arm,
            prediction_history,
            fairest,
            summary,
        };
        let pinned = site.learning().pinned().await?;
        for (at, seat) in found.seats.into_iter().enumerate() {
            let team = seat
                .team
                .and_then(|team| page.teams.get_mut(usize::from(team)));
            let other_side = swapped.other_side.get(at).copied().flatten();
            let pinned = pinned.contains_key(&seat.key);
            let seat = GameSeat::new(seat, numbers, pinned, other_side);
            match team {
                Some(team) => team.players.push(seat),
                None => page.others.push(seat),
            }
        }
        Ok(page)
    }

    fn title(&self) -> String {
        let line = &self.summary.line;
        match line.map.is_empty() {
            true => format!("Match {}", line.id),
            false => format!("Match {} on {}", line.id, plain_name(&line.map)),
        }
    }

    fn path(&self) -> String {
        format!("/matches/{}", self.summary.line.id)
    }

    fn description(&self, _: &Site) -> String {
        let line = &self.summary.line;
        format!(
            "{0}. {1} on {2}, {3}.",
            self.summary.headline(),
            self.summary.ruleset_or_dash(),
            words::minute(line.ended),
            counted(line.humans + line.bots, "player")
        )
    }

    fn card(&self, site: &Site) -> Option<Markup> {
        Some(html! {
            @if let Some(scores) = self.summary.known_scores() {
                (words::coloured_scores(&scores, &self.summary.team_names))
            }
            (self.verdict())
            (self.facts(site))
        })
    }

    fn body(&self, site: &Site) -> Result<Markup, WebError> {
        let other = |list: &[GameSeat]| list.iter().any(|seat| seat.other_side.is_some());
        let names = &self.summary.team_names;
        let any_other = self.teams.iter().any(|team| other(&team.players));
        Ok(html! {
            h1 { (self.title()) }
            @if let Some(scores) = self.summary.known_scores() {
                (words::coloured_scores(&scores, &self.summary.team_names))
            }
            (self.verdict())
            (self.facts(site))
            @if !self.teams.is_empty() {
                div.columns.teams {
                    @for (at, team) in self.teams.iter().enumerate() {
                        section {
                            h2 { span class=(words::team_class(names.colour(at))) { (names.title(at)) } @if let Some(score) = team.score { " – " (words::number(score)) } }
                            p.note {
                                (counted(team.players.len(), "player"))
                                @if let Some(sum) = weights_before(&team.players) { (mark!(", weights before {0}", { (words::tenths(sum)) })) }
                            }
                            (players(site, &names.title(at), &team.players, self.whole(), other(&team.players)))
                        }
                    }
                }
            }
            @if !self.others.is_empty() {
                h2 { @if self.teams.is_empty() { "Players" } @else { "On no team" } }
                (players(site, "Players", &self.others, self.whole(), false))
            }
            @if let Some(forecast) = self.summary.line.forecast {
                p.note { (FORECAST) ": " (favourite(of_forecast(forecast), 2, &self.summary.team_names)) ". " (OF_FORECAST) }
            }
            @if any_other {
                p.note {
                    "“K : D” are kills and deaths, “Played” is the time on the team. “Before” is the weight before \
         this match, “Change” what the match did to it, and “Reason” what moved it or held it." " " "“Other side” is the forecast for the other team if this player alone \
         had been on it, by the weights before the match. What the system has learned since, how much a strength or \
         a side of the map counts, is as of now."
                }
            }
            @if let Some(fairest) = &self.fairest { (fairest.body(site, &self.summary.team_names)) }
            (self.prediction_history.body(&self.summary, self.millis())?)
            (chances_table(site, &self.summary, &self.changes))
            @if let Some(reasons) = &self.reasons {
                h2 { "Why these teams" }
                (reasons.body())
            }
            @if let Some(arm) = &self.arm {
                p.note {
                    (mark!("This match belongs to arm {0} of {1}.", { (arm) },
                        { a href=(site.links.to("/experiment")) { "an experiment" } }))
                }
            }
            (share(site, &self.path(), false, false))
        })
    }
}

/// A player of the match.
#[derive(Debug, Serialize)]
struct GameSeat {
    #[serde(flatten)]
    shown: MatchSeat,
    /// What the match has entered into the player's account.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    entry: Option<AccountEntry>,
    /// The forecast for the other team if this player alone had been on it, by the weights before the match.
    #[serde(skip_serializing_if = "Option::is_none")]
    other_side: Option<f64>,
}

impl GameSeat {
    /// The seat as a page shows it, with a weight that is `pinned` or not; weights only with `numbers`.
    fn new(seat: PageSeat, numbers: bool, pinned: bool, other_side: Option<f64>) -> Self {
        let entry = seat.entry.filter(|_| numbers);
        Self {
            shown: seat.shown,
            entry: entry.map(|entry| AccountEntry::new(entry, pinned).rounded()),
            other_side,
        }
    }

    fn before(&self) -> Option<f64> {
        self.entry.map(|entry| entry.weight_before)
    }

    fn reason(&self) -> Option<String> {
        self.entry?.reason()
    }
}

/// The sum of the weights before the match; `None` if one of them is not known.
fn weights_before(list: &[GameSeat]) -> Option<f64> {
    let weights = list.iter().map(GameSeat::before);
    let sum = weights.sum::<Option<f64>>();
    sum.filter(|_| !list.is_empty())
}

/// A table of players of a match that lasted `whole` milliseconds, if that is known. With `other`, it has a column of the forecasts for
/// the other side.
fn players<'a>(
    site: &'a Site,
    caption: &str,
    list: &'a [GameSeat],
    whole: Option<i64>,
    other: bool,
) -> PageTable<'a, GameSeat> {
    let player = |seat: &GameSeat| {
        html! {
            (seat.shown.player.link(&site.links))
            @if let Some(left) = &seat.shown.left { " " span.tag { (left) } }
        }
    };
    PageTable::of(caption, list)
        .name("Player", player)
        .num("Points", |seat| known(seat.shown.points, words::number))
        .only_if(list.iter().any(|seat| seat.shown.points.is_some()))
        .wide_num("K : D", |seat| {
            format!("{} : {}", seat.shown.kills, seat.shown.deaths)
        })
        .explained("Kills and deaths")
        .only_if(
            list.iter()
                .any(|seat| seat.shown.kills > 0 || seat.shown.deaths > 0),
        )
        .num("Played", move |seat| {
            played(seat.shown.played, whole.unwrap_or_default())
        })
        .only_if(whole.is_some())
        .num("Before", |seat| known(seat.before(), words::tenths))
        .explained("The weight before this match")
        .only_if(list.iter().any(|seat| seat.entry.is_some()))
        .num("Change", |seat| {
            known(seat.entry.map(|entry| entry.change), words::signed)
        })
        .explained("How the weight changed from before this match to after it")
        .only_if(list.iter().any(|seat| seat.entry.is_some()))
        .wide_text("Reason", |seat| words::or_dash(seat.reason()))
        .only_if(list.iter().any(|seat| seat.reason().is_some()))
        .num("Other side", |seat| known(seat.other_side, words::chance))
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

/// A change of who was on which team, in play.
#[derive(Debug, Serialize)]
struct GameChange {
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
    fn new(change: &TeamChange, seats: &[PageSeat]) -> Self {
        let seat = |who| seats.iter().find(|seat| seat.seat == who);
        let seat = change.who.and_then(seat);
        let player = seat.map(|seat| seat.shown.player.clone());
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

/// Teams at a moment of a match.
struct Moment<'a> {
    time: String,
    what: Markup,
    teams: &'a TeamChances,
}

/// The chances of a match as they were picked, as play started, and after each change.
fn chances_table(site: &Site, summary: &MatchSummary, changes: &[GameChange]) -> Markup {
    let moment = |time: &str, what: &str, teams| Moment {
        time: time.to_owned(),
        what: html! { (what) },
        teams,
    };
    let told = &summary.line.chances;
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
    let mut table = PageTable::of("Chances", &moments)
        .text("Time", |one| &one.time)
        .name("Teams", |one| &one.what)
        .num("Players", move |one| words::or_dash(sizes(one)))
        .num("of them bots", |one| versus(&one.teams.bots))
        .only_if(moments.iter().any(has_bots));
    for team in 0..teams {
        table = table.num(&summary.team_names.title(team), move |one| {
            known(one.teams.win.get(team).copied(), words::chance)
        });
    }
    html! {
        h2 { "Chances" }
        (table)
        p.note {
            (OF_CHANCES)
            @if changes.len() >= MAX_TEAM_CHANGES { (mark!(" Only the first {0} changes are kept.", { (MAX_TEAM_CHANGES) })) }
        }
    }
}

/// How a match went on.
#[derive(Debug, Serialize)]
struct GamePredictions {
    /// Changes of the score: milliseconds, team, and points.
    events: Vec<(i64, u8, f64)>,
    /// The chance of team 0 with the score, as (milliseconds, chance). Empty if it is not known.
    chance_over_time: Vec<(u64, f64)>,
}

impl GamePredictions {
    /// The course of a match under this ruleset.
    async fn read(site: &Site, found: &PageMatch, ruleset: &Ruleset) -> Result<Self, WebError> {
        let line = &found.line;
        let before = before(found);
        let whole = found.events.len() < PageMatch::MOST_EVENTS;
        let told = site.settings.shows_numbers() && line.scores.len() == 2 && !before.is_empty();
        let chance_over_time = match told && whole && !found.events.is_empty() && !line.untimed {
            true => {
                let millis = u64::try_from(line.ended.0.saturating_sub(line.started.0));
                let usual = UsualScores::of(site, ruleset).await?;
                usual.prediction_history(&before, &found.events, millis.unwrap_or(0))
            }
            false => Vec::new(),
        };
        Ok(Self {
            events: found.events.clone(),
            chance_over_time,
        })
    }

    /// The plots.
    fn body(&self, summary: &MatchSummary, millis: i64) -> Result<Markup, WebError> {
        let names = &summary.team_names;
        let Some(scores) = summary.known_scores().filter(|_| !self.events.is_empty()) else {
            return Ok(html! {});
        };
        let label = format!("Score over time, to the result {0}", words::scores(&scores));
        let score = plot::score(&label, (scores.len(), names), millis, &self.events)?;
        let chance = match self.chance_over_time.is_empty() {
            true => html! {},
            false => self.chance(names)?,
        };
        Ok(html! {
            div.columns {
                figure {
                    figcaption {
                        "Score over time: "
                        @for team in 0..scores.len() { span class=(words::team_class(names.colour(team))) { (names.name(team)) } " " }
                    }
                    (score)
                }
                (chance)
            }
            @if !self.chance_over_time.is_empty() { p.note { (OF_WITH_SCORE) } }
        })
    }

    /// The plot of the chance.
    fn chance(&self, names: &TeamNames) -> Result<Markup, WebError> {
        let of = |point: Option<&(u64, f64)>| {
            point.map_or(String::new(), |(_, chance)| words::chance(*chance))
        };
        let points = &self.chance_over_time;
        let least = points.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let most = points.iter().max_by(|a, b| a.1.total_cmp(&b.1));
        let label = format!(
            "Chance of {0} over time: {1} at the start, between {2} and {3}",
            names.name(0),
            of(points.first()),
            of(least),
            of(most)
        );
        let plot = plot::chance(&label, points, names.colour(0))?;
        Ok(html! {
            figure {
                figcaption { (mark!("Chance of {0} with the score", { span class=(words::team_class(names.colour(0))) { (names.name(0)) } })) }
                (plot)
            }
        })
    }
}

/// The chances of team 0 without the score, each with the time from which it holds: those that were predicted while the
/// match was played, else the forecast.
fn before(found: &PageMatch) -> Vec<(u64, f64)> {
    let told = &found.line.chances;
    let started = told.started.as_ref().or(told.picked.as_ref());
    let started = started.and_then(|teams| teams.of_first());
    let start = started.or(found.line.forecast).map(|chance| (0, chance));
    let changes = found.changes.iter();
    let changes = changes.filter_map(|change| Some((change.at, change.teams.of_first()?)));
    start.into_iter().chain(changes).collect()
}

/// Two players who would have changed places, and the forecast for team 0 then.
#[derive(Debug, Serialize)]
struct FairestExchange {
    players: [Player; 2],
    chance: f64,
}

impl FairestExchange {
    /// The exchange of players with these seats.
    fn of(exchange: PlayerExchange, seats: &[PageSeat]) -> Option<Self> {
        let player = |at: usize| Some(seats.get(at)?.shown.player.clone());
        let [one, other] = exchange.seats.map(player);
        Some(Self {
            players: [one?, other?],
            chance: words::rounded(exchange.chance, 4),
        })
    }

    fn body(&self, site: &Site, names: &TeamNames) -> Markup {
        let [one, other] = &self.players;
        html! {
            p {
                (mark!("Most even with one exchange: {0} for {1}, which would have made it {2}.",
                    { (one.link(&site.links)) },
                    { (other.link(&site.links)) },
                    { (favourite(of_forecast(self.chance), 2, names)) }
                ))
            }
        }
    }
}

/// The forecasts for other teams of a match between two teams.
fn other_teams(site: &Site, found: &PageMatch, ruleset: &Ruleset) -> Swaps {
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
