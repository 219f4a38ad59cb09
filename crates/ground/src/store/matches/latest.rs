//! Reads matches, in lists and one by one, as pages and commands show them; also the players of running games as
//! pages show them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;

use super::{
    Matches,
    chances::{self, chance_columns, chance_tables},
    read_matches::fetch,
};
use crate::{
    model::{
        MatchRecord, Participant, PlayerKey, Timestamp,
        match_chances::{Cause, ChanceSummary, TeamChange},
        names::own_name,
        record::{LeaveReason, Presence},
        weight::WeightEntry,
    },
    store::{
        Player, StoreError, as_plain, as_text,
        db::{columns, *},
        learned::persons::{is_forgotten, nameless},
    },
};

/// Selects the columns of a [`MatchLine`] from matches `m` and their rulings `r`.
macro_rules! lines {
    ($from:literal, $rest:literal) => {
        concat!(
            "SELECT m.id, m.started_at AS started, m.ended_at AS ended, m.untimed, m.map, m.server, m.game_type, m.mode, m.outcome, m.winner, r.ruleset, r.unrated,
                    r.chance AS forecast, ",
            chance_columns!(),
            ", m.scores, m.humans, m.bots ",
            $from,
            chance_tables!(),
            $rest
        )
    };
}

impl Matches<'_> {
    /// The latest matches of a ruleset, or of all, the last one first.
    pub async fn latest_matches(
        self,
        ruleset: Option<&str>,
        limit: usize,
    ) -> Result<Vec<MatchLine>, StoreError> {
        let filter = MatchFilter {
            ruleset,
            abandoned: true,
            ..MatchFilter::default()
        };
        Ok(self.filtered_matches(&filter, limit).await?.lines)
    }

    /// The latest ones without those that were abandoned.
    pub async fn latest_finished(
        self,
        ruleset: Option<&str>,
        limit: usize,
    ) -> Result<Vec<MatchLine>, StoreError> {
        let filter = MatchFilter {
            ruleset,
            ..MatchFilter::default()
        };
        Ok(self.filtered_matches(&filter, limit).await?.lines)
    }

    /// The matches with these ids, in the same order, without those that there are not.
    pub async fn match_lines(self, ids: &[i64]) -> Result<Vec<MatchLine>, StoreError> {
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let mut query = Sql::new(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "WHERE m.id IN "
        ));
        query.list(ids.iter().copied());
        let mut found = HashMap::new();
        let lines: Vec<MatchLine> = query.build_tuple().fetch_all(&self.0.pages).await?;
        found.extend(lines.into_iter().map(|line| (line.id, line)));
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// One match.
    pub async fn page_match(self, id: i64) -> Result<Option<PageMatch>, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let query = sql(lines!(
            "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
            "WHERE m.id = $1"
        ));
        let Some(row) = query.bind(id).fetch_optional(&mut tx).await? else {
            return Ok(None);
        };
        let balance = "SELECT decision FROM decisions
                       WHERE match_id = $1 AND kind = 'balance' AND length(decision) < 100000
                       ORDER BY id DESC LIMIT 1";
        let balance = scalar(balance).bind(id);
        let arm = "SELECT coalesce((SELECT a.arm FROM drawn_arms a WHERE a.game = m.game),
                                   (SELECT a.arm FROM drawn_arms a WHERE a.match_id = m.id))
                   FROM matches m WHERE m.id = $1";
        let arm: Option<Option<String>> = scalar(arm).bind(id).fetch_optional(&mut tx).await?;
        let line = MatchLine::from_row(&row)?;
        let changes = chances::read_changes(&mut tx, id, line.scores.len()).await?;
        let Some(stored) = fetch(&mut tx, &[id]).await?.pop() else {
            return Ok(None);
        };
        let mut record = stored.record;
        record.mutators.truncate(PageMatch::MOST_MUTATORS);
        let seats = seats(&mut tx, id, (line.ruleset.as_deref(), &record)).await?;
        let events = record.events.iter().take(PageMatch::MOST_EVENTS);
        let events = events.map(|event| (millis(event.at), event.team, event.points));
        Ok(Some(PageMatch {
            line,
            changes,
            seats,
            events: events.collect(),
            game_type: record.game_type,
            mode: record.mode,
            mutators: record.mutators,
            balance: balance.fetch_optional(&mut tx).await?,
            arm: arm.flatten(),
        }))
    }
}

/// The players of a match, those with most points first.
async fn seats(
    tx: &mut PooledConnection,
    id: i64,
    (ruleset, record): (Option<&str>, &MatchRecord),
) -> Result<Vec<PageSeat>, StoreError> {
    let query = sql(
        "SELECT p.seat, p.kind, p.player, p.name, p.team, f.weight_before, f.weight, f.deviation, f.cause, o.handle,
                o.player AS counted,
                EXISTS (SELECT 1 FROM player_settings h WHERE h.kind = p.kind AND h.player IN (p.player, o.player) AND h.hidden)
                    AS hidden
         FROM match_players p
         LEFT JOIN performances f ON f.match_id = p.match_id AND f.seat = p.seat
         LEFT JOIN persons o ON o.person = f.person
         WHERE p.match_id = $1 ORDER BY p.points DESC NULLS LAST, p.seat LIMIT $2",
    );
    let query = query.bind(id).bind(PageMatch::MOST_SEATS);
    let rows = query.fetch_all(&mut *tx).await?;
    let seats = rows.iter().map(|row| seat(row, record));
    let mut seats = seats.collect::<Result<Vec<PageSeat>, StoreError>>()?;
    let is_nameless = |seat: &&PageSeat| seat.shown.player.is_nameless();
    let unnamed = seats.iter().filter(is_nameless).map(|seat| &seat.key);
    let mut names = nameless(tx, ruleset, &unnamed.collect()).await?;
    for seat in &mut seats {
        if let Some(name) = names.remove(&seat.key) {
            seat.shown.player.call(name);
        }
    }
    Ok(seats)
}

/// A player as pages show them.
fn seat(row: &Row, record: &MatchRecord) -> Result<PageSeat, StoreError> {
    let seat: u32 = row.get("seat")?;
    let participant = record.participants.get(seat as usize);
    let participant: &Participant =
        participant.ok_or_else(|| StoreError::bad("seat", &seat.to_string()))?;
    let key = row.player()?;
    let name: String = row.get("name")?;
    let gone = row.get("hidden")? || is_forgotten(&key, &name);
    let handle: Option<String> = row.get("handle")?;
    let counted: Option<String> = row.get("counted")?;
    let name = (!gone).then(|| own_name(&key, name).unwrap_or_default());
    let player = Player::new(handle.filter(|_| !gone), name, key.kind);
    Ok(PageSeat {
        seat,
        key: PlayerKey {
            id: counted.unwrap_or(key.id),
            ..key
        },
        team: row.get("team")?,
        entry: row.get("entry")?,
        shown: MatchSeat::new(player, participant),
    })
}

fn millis(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

/// Which matches to list; all conditions hold.
#[derive(Clone, Copy, Debug, Default)]
pub struct MatchFilter<'a> {
    /// The key of the ruleset.
    pub ruleset: Option<&'a str>,
    /// The map, as the game names it.
    pub map: Option<&'a str>,
    /// The game server, as it names itself.
    pub server: Option<&'a str>,
    /// The number of a person who played.
    pub person: Option<i64>,
    /// The number of another one, and whether it was on the same team.
    pub other: Option<(i64, bool)>,
    /// Whether abandoned ones are listed, too.
    pub abandoned: bool,
    /// Whether Evenkeel has picked the teams.
    pub picked: bool,
    /// What the matches have in common. Such matches are rated, and have scores.
    pub cause: Option<Cause>,
    /// The instant from which on they ended.
    pub since: Option<Timestamp>,
    /// The match before which the list begins.
    pub before: Option<i64>,
}

impl Matches<'_> {
    /// Whether Evenkeel has picked the teams of fewer than 3,000 matches, which are found one by one.
    async fn are_few_picked(self) -> Result<bool, StoreError> {
        let query = scalar(
            "SELECT count(*) FROM (SELECT 1 FROM match_chances WHERE cause = 'picked' LIMIT 3000) AS picked",
        );
        let picked: i64 = query.fetch_one(&self.0.pages).await?;
        Ok(picked < 3_000)
    }

    /// The latest matches that a filter leaves, the last one first: at most `limit`.
    pub async fn filtered_matches(
        self,
        filter: &MatchFilter<'_>,
        limit: usize,
    ) -> Result<MatchList, StoreError> {
        let few_picked = filter.picked && self.are_few_picked().await?;
        let rarer = match (filter.person, filter.other) {
            (Some(person), Some((other, _))) => Some(self.rarer(person, other).await?),
            (person, _) => person,
        };
        let list = filter.list(few_picked, rarer, limit.saturating_add(1));
        let mut lines: Vec<MatchLine> = list.build_tuple().fetch_all(&self.0.pages).await?;
        let has_more = lines.len() > limit;
        lines.truncate(limit);
        let next = lines.last().filter(|_| has_more).map(|last| last.id);
        Ok(MatchList { lines, next })
    }
}

/// A part of a list of matches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchList {
    /// The matches, the last one first.
    pub lines: Vec<MatchLine>,
    /// The match before which the list goes on; `None` at its end.
    pub next: Option<i64>,
}

impl MatchFilter<'_> {
    /// The end of the match, in the table by whose index a list is read in order: that of the ruling for the matches of a
    /// ruleset, on whatever map and server, and that of the performance for those of a person. All are the same instant.
    fn ended(&self) -> &'static str {
        let elsewhere = self.map.is_some() || self.server.is_some();
        match (self.person, self.ruleset) {
            (Some(_), _) => "d.ended_ms",
            (None, Some(_)) if !elsewhere => "r.ended_at",
            _ => "m.ended_at",
        }
    }

    /// The statement that reads the list; `few_picked` is whether Evenkeel has picked the teams of few matches, `rarer` the
    /// person, or of two the one who was in fewer matches.
    pub(in crate::store) fn list(&self, few_picked: bool, rarer: Option<i64>, limit: usize) -> Sql {
        let mut query = match rarer {
            None => Sql::new(lines!(
                "FROM matches m LEFT JOIN rulings r ON r.match_id = m.id ",
                "WHERE m.outcome <> "
            )),
            Some(_) => Sql::new(lines!(
                "FROM performances d JOIN matches m ON m.id = d.match_id LEFT JOIN rulings r ON r.match_id = m.id ",
                "WHERE m.outcome <> "
            )),
        };
        query.push_bind(if self.abandoned { "" } else { "abandoned" });
        let ended = self.ended();
        let texts = [
            (" AND r.ruleset = ", self.ruleset),
            (" AND m.map = ", self.map),
            (" AND m.server = ", self.server),
        ];
        for (condition, text) in texts {
            if let Some(text) = text {
                query.push(condition).push_bind(text.to_owned());
            }
        }
        if self.picked {
            // Among many matches, few are found by their list, and many by looking at the latest matches.
            query.push(" AND kp.match_id IS NOT NULL");
            if few_picked {
                query.push(
                    " AND m.id IN (SELECT match_id FROM match_chances WHERE cause = 'picked')",
                );
            }
        }
        if let Some(cause) = self.cause {
            query
                .push(" AND r.unrated IS NULL AND r.causes > 0 AND r.causes & ")
                .push_bind(i64::from(cause.bit()))
                .push(" <> 0 AND m.gap IS NOT NULL");
        }
        if let Some(since) = self.since {
            query.push(" AND ").push(ended).push(" >= ");
            match self.person {
                Some(_) => query.push_bind(since.0),
                None => query.push_bind(since),
            };
        }
        self.of_person(&mut query, rarer);
        self.go_on(&mut query);
        query
            .push(" ORDER BY ")
            .push(ended)
            .push(" DESC, m.fingerprint DESC LIMIT ")
            .push_bind(limit);
        query
    }

    /// Leaves the matches of a person, with or against another one.
    fn of_person(&self, query: &mut Sql, rarer: Option<i64>) {
        let Some((person, rarer)) = self.person.zip(rarer) else {
            return;
        };
        query.push(" AND d.person = ").push_bind(rarer);
        if let Some((other, together)) = self.other {
            query
                .push(
                    " AND EXISTS (SELECT 1 FROM performances p
                                  JOIN performances q ON q.match_id = p.match_id AND q.person = ",
                )
                .push_bind(other)
                .push(match together {
                    true => " AND q.team = p.team ",
                    false => " AND q.team <> p.team ",
                })
                .push("WHERE p.match_id = d.match_id AND p.person = ")
                .push_bind(person)
                .push(")");
        }
    }

    /// Leaves the matches from the one on that is next to the last one of the page before.
    fn go_on(&self, query: &mut Sql) {
        if let Some(before) = self.before {
            query
                .push(" AND ")
                .push(self.ended())
                .push(match self.person {
                    Some(_) => " <= (SELECT max(ended_ms) FROM performances WHERE match_id = ",
                    None => " <= (SELECT ended_at FROM matches WHERE id = ",
                })
                .push_bind(before)
                .push(")");
            query
                .push(
                    " AND (m.ended_at, m.fingerprint) < ((SELECT ended_at FROM matches WHERE id = ",
                )
                .push_bind(before)
                .push("), (SELECT fingerprint FROM matches WHERE id = ")
                .push_bind(before)
                .push("))");
        }
    }
}

/// A change of the score: milliseconds, team, and points.
pub(super) type PageEvent = (i64, u8, f64);

columns! {
    /// A match in a list, as pages, `/v1` and commands show it.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct MatchLine {
        /// By which pages and operators name the match.
        pub id: i64,
        /// When play began.
        #[serde(serialize_with = "as_text")]
        pub started: Timestamp,
        /// When play ended.
        #[serde(serialize_with = "as_text")]
        pub ended: Timestamp,
        /// Whether its length is not known: `started` and `ended` are then one instant.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        pub untimed: bool,
        /// Name of the map, as the game names it.
        #[serde(serialize_with = "as_plain")]
        pub map: String,
        /// Name of the game server, as it names itself.
        #[serde(serialize_with = "as_plain")]
        pub server: String,
        /// The key of the ruleset; `None` before the match has a ruling.
        pub ruleset: Option<String>,
        /// The final score of each team; `None` where it is not known.
        pub scores: Vec<Option<f64>>,
        /// `won`, `draw`, `undecided` or `abandoned`.
        pub outcome: String,
        /// The team that won, if one did.
        pub winner: Option<u8>,
        /// Number of humans who took part.
        pub humans: i64,
        /// Number of bots that took part.
        pub bots: i64,
        /// What was predicted of its teams while it was played.
        #[serde(skip_serializing_if = "ChanceSummary::is_empty")]
        pub chances: ChanceSummary,
        /// The forecast: the chance of team 0 with everybody who played, each for as long as they did, as predicted before
        /// the match was learned from.
        #[serde(skip_serializing_if = "Option::is_none")]
        pub forecast: Option<f64>,
        /// The code of the reason if the match is not rated.
        pub unrated: Option<String>,
    }
}

impl MatchLine {
    /// The match for those who may not see chances.
    #[must_use]
    pub fn without_numbers(self) -> Self {
        Self {
            chances: ChanceSummary::default(),
            forecast: None,
            ..self
        }
    }

    /// How long it was, in minutes; 0 if that is not known.
    pub fn minutes(&self) -> f64 {
        self.ended.0.saturating_sub(self.started.0) as f64 / 60_000.0
    }
}

/// A stay of a player on a team.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PageStay {
    /// The team, counted from 0.
    pub team: u8,
    /// Milliseconds from the start of play to the start of the stay.
    pub from: i64,
    /// Milliseconds from the start of play to the end of the stay.
    pub to: i64,
}

/// A player of one match, as pages, `/v1` and commands show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MatchSeat {
    /// The player, with the name in this match.
    pub player: Player,
    /// The player's points on the scoreboard.
    pub points: Option<f64>,
    /// Number of kills.
    pub kills: u32,
    /// Number of deaths.
    pub deaths: u32,
    /// How long the player was on teams, in milliseconds.
    pub played: i64,
    /// The stays on teams, in order.
    pub stays: Vec<PageStay>,
    /// Why the player left before the end.
    pub left: Option<&'static str>,
}

impl MatchSeat {
    /// What a match's record says about a player who is shown so.
    pub fn new(player: Player, of: &Participant) -> Self {
        let stay = |stay: &Presence| PageStay {
            team: stay.team,
            from: millis(stay.span.from),
            to: millis(stay.span.to),
        };
        let stays = of.presence.iter().take(PageMatch::MOST_STAYS);
        let stays: Vec<PageStay> = stays.map(stay).collect();
        let lengths = stays.iter().map(|stay| (stay.to - stay.from).max(0));
        Self {
            player,
            points: of.points,
            kills: of.kills,
            deaths: of.deaths,
            played: lengths.sum(),
            stays,
            left: of.left.map(LeaveReason::as_str),
        }
    }
}

/// A player of one match, and what is known besides.
#[derive(Clone, Debug, PartialEq)]
pub struct PageSeat {
    /// The number of the seat in the record.
    pub seat: u32,
    /// The identity that the match counts for; it is not for the page.
    pub key: PlayerKey,
    /// The team that the player was on for longest.
    pub team: Option<u8>,
    /// What the match entered into the player's account.
    pub entry: Option<WeightEntry>,
    /// What is shown.
    pub shown: MatchSeat,
}

/// All that is known of one match.
#[derive(Clone, Debug, PartialEq)]
pub struct PageMatch {
    /// The match as lists show it.
    pub line: MatchLine,
    /// The game type as the game names it.
    pub game_type: String,
    /// The league, region or playlist; empty if there is none.
    pub mode: String,
    /// The mutators as the game names them.
    pub mutators: Vec<String>,
    /// The changes of its teams during play.
    pub changes: Vec<TeamChange>,
    /// The players, at most [`Self::MOST_SEATS`].
    pub seats: Vec<PageSeat>,
    /// Changes of the score as milliseconds, team and points, at most [`Self::MOST_EVENTS`].
    pub events: Vec<PageEvent>,
    /// The last stored BALANCE before the match, as JSON.
    pub balance: Option<String>,
    /// The arm that was drawn for it in an experiment, `a` or `b`.
    pub arm: Option<String>,
}

impl PageMatch {
    /// The most mutators that a page shows.
    pub const MOST_MUTATORS: usize = 32;
    /// The most stays of one player that a page shows.
    pub const MOST_STAYS: usize = 200;
    /// The most players that a page shows.
    pub const MOST_SEATS: usize = 128;
    /// The most changes of the score that a page shows.
    pub const MOST_EVENTS: usize = 4_000;
}

impl Matches<'_> {
    /// How pages show players with these identities and names, in the same order.
    pub async fn present(self, players: &[(PlayerKey, String)]) -> Result<Vec<Player>, StoreError> {
        self.present_in(players, |_| None).await
    }

    /// The same of players of running games, each of the ruleset that the function has for the place in the list.
    pub async fn present_in(
        self,
        players: &[(PlayerKey, String)],
        ruleset_of: impl Fn(usize) -> Option<String>,
    ) -> Result<Vec<Player>, StoreError> {
        let mut tx = self.0.pages.snapshot().await?;
        let own: BTreeSet<&str> = players.iter().map(|(key, _)| key.id.as_str()).collect();
        let merged = "SELECT kind, player, into_player AS value FROM merged_players";
        let merged = values(&mut tx, merged, &own).await?;
        // A merged identity is hidden with the one that it counts as.
        let all: BTreeSet<&str> = own
            .into_iter()
            .chain(merged.values().map(String::as_str))
            .collect();
        let hidden = "SELECT kind, player, player AS value FROM (SELECT * FROM player_settings WHERE hidden) AS h";
        let hidden = values(&mut tx, hidden, &all).await?;
        let handles = "SELECT p.kind, p.player, p.handle AS value FROM persons p";
        let handles = values(&mut tx, handles, &all).await?;
        let mut shown = Vec::with_capacity(players.len());
        let mut unnamed: BTreeMap<Option<String>, Vec<(usize, PlayerKey)>> = BTreeMap::new();
        for (at, (key, name)) in players.iter().enumerate() {
            let counted = PlayerKey {
                kind: key.kind,
                id: merged.get(key).unwrap_or(&key.id).clone(),
            };
            let is_hidden = hidden.contains_key(key) || hidden.contains_key(&counted);
            let gone = is_hidden || is_forgotten(key, name);
            let handle = handles.get(&counted).filter(|_| !gone).cloned();
            let name = (!gone).then(|| own_name(key, name.clone()).unwrap_or_default());
            let player = Player::new(handle, name, key.kind);
            if player.is_nameless() {
                let of_ruleset = unnamed.entry(ruleset_of(at)).or_default();
                of_ruleset.push((at, counted));
            }
            shown.push(player);
        }
        for (ruleset, players) in unnamed {
            let keys = players.iter().map(|(_, key)| key).collect();
            let mut names = nameless(&mut tx, ruleset.as_deref(), &keys).await?;
            for (at, key) in &players {
                if let Some(name) = names.remove(key) {
                    shown[*at].call(name);
                }
            }
        }
        Ok(shown)
    }
}

/// The values that a query has for players with these identities.
async fn values(
    tx: &mut PooledConnection,
    select: &str,
    ids: &BTreeSet<&str>,
) -> Result<BTreeMap<PlayerKey, String>, StoreError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut query = Sql::new(select);
    query.push(" WHERE kind IN ('human', 'bot') AND player IN ");
    query.list(ids.iter().map(|id| (*id).to_owned()));
    let rows = query.build().fetch_all(tx).await?;
    let value = |row: &Row| {
        let key = row.player()?;
        Ok((key, row.get("value")?))
    };
    rows.iter().map(value).collect()
}
