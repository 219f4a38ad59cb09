//! Converts match records to games as rating systems see them, each compared with what the games of its mode are usually
//! like: how long they last, and how many points they have.

use std::{
    collections::{HashMap, VecDeque},
    hash::Hash,
};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{
    People, Played, Settings, Unrated,
    ruling::{self, RatingBasis},
    seats::{arrivals, departures, missed, own_seats, party_number, points, ranks, with_missed},
    visits::{Visit, Visits},
};
use crate::{Player, RatedGame, Seat, game::Tally, player_map::Shared};
use evenkeel_model::{
    Kind, MatchRecord, Outcome, Participant, PlayerKey, Rulebook, Ruleset, record::Presence,
    win_model::LineupPlayer,
};

/// Numbers keys from 0 without gaps, in the order of their first appearance. The map is used only
/// for look-ups, so its random order affects nothing.
#[derive(Debug)]
struct KeyNumbers<K>(Shared<HashMap<K, u32>>);

impl<K> Clone for KeyNumbers<K> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<K> Default for KeyNumbers<K> {
    fn default() -> Self {
        Self(Shared::new(HashMap::new()))
    }
}

/// Serialised as a list in the order of the numbers, so that the same numbers always give the same
/// bytes.
impl<K: Serialize> Serialize for KeyNumbers<K> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut listed: Vec<(&K, u32)> = self.0.iter().map(|(key, n)| (key, *n)).collect();
        listed.sort_unstable_by_key(|(_, number)| *number);
        serializer.collect_seq(listed.into_iter().map(|(key, _)| key))
    }
}

impl<'de, K: Deserialize<'de> + Eq + Hash> Deserialize<'de> for KeyNumbers<K> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let listed = Vec::<K>::deserialize(deserializer)?;
        Ok(Self(Shared::new(listed.into_iter().zip(0..).collect())))
    }
}

impl<K: Eq + Hash + Clone> KeyNumbers<K> {
    fn of(&mut self, key: &K) -> u32 {
        if let Some(number) = self.0.get(key) {
            return *number;
        }
        let next = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.edit().insert(key.clone(), next);
        next
    }
}

/// A rated match, converted for a rating system.
pub(super) struct Digested {
    pub game: RatedGame,
    pub played: Vec<Played>,
}

/// Whether a match is rated for a participant, and what was looked up to know it.
#[derive(Debug, Default)]
struct RatedFor {
    learns: bool,
    /// The number of the player, if it was looked up and there is one.
    player: Option<Player>,
    /// The visit of a human, if the match has a place.
    visit: Option<Visit>,
}

/// Converts match records to games for rating systems.
#[derive(Clone, Debug)]
pub(super) struct Digest {
    rulebook: Shared<Rulebook>,
    settings: Shared<Settings>,
    known: DigestState,
}

/// What a [`Digest`] has learned from the matches so far: the players, maps and rulesets that have
/// dense numbers, and how long games last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct DigestState {
    people: People,
    maps: KeyNumbers<String>,
    rulesets: KeyNumbers<Ruleset>,
    /// The modes of each ruleset, by its number.
    modes: KeyNumbers<(u32, String)>,
    /// What the games of a mode are usually like, by its number.
    usual: Vec<Shared<TypicalGame>>,
    /// Where humans were lately.
    visits: Visits,
}

const MILLIS_A_DAY: f64 = 86_400_000.0;
/// The least extent of a game. With 0, a rating system would divide by zero.
const LEAST_EXTENT: f64 = 0.01;

impl Digest {
    pub(super) fn new(rulebook: &Rulebook, settings: &Settings) -> Self {
        Self {
            rulebook: Shared::new(rulebook.clone()),
            settings: Shared::new(settings.clone()),
            known: DigestState::default(),
        }
    }

    /// The part of the state that a checkpoint stores.
    pub(super) fn known(&self) -> &DigestState {
        &self.known
    }

    /// Continues from the state in a checkpoint.
    pub(super) fn resume(&mut self, known: DigestState) {
        self.known = known;
    }

    /// The ruleset of a match, and the match as a game, or the reason why it is not rated.
    pub(super) fn digest(&mut self, record: &MatchRecord) -> (Ruleset, Result<Digested, Unrated>) {
        let rulebook = &self.rulebook;
        let ruleset = rulebook.ruleset_of_mode(&record.game_type, &record.mode, &record.mutators);
        let basis = ruling::judge(record, &self.rulebook, &self.settings.rules);
        let digested = basis.and_then(|basis| {
            let rated = self.rated(record, basis)?;
            let digested = self.game(record, &ruleset, basis, &rated);
            self.note_visits(record, rated);
            Ok(digested)
        });
        (ruleset, digested)
    }

    /// Whether the match is rated for each participant. A human who was in another match of the same client at the same
    /// time is rated in the first one only.
    fn rated(&self, record: &MatchRecord, basis: RatingBasis) -> Result<Vec<RatedFor>, Unrated> {
        let place = record.place().filter(|_| basis.humans);
        let mut is_elsewhere = false;
        let mut rated = Vec::with_capacity(record.participants.len());
        for participant in &record.participants {
            let learns = basis.humans || participant.key.kind == Kind::Bot;
            let mut own = RatedFor {
                learns: learns && participant.key.nobody().is_none(),
                ..RatedFor::default()
            };
            if let Some(place) = place.filter(|_| own.learns) {
                own.visit = Visit::of(record, participant, place);
            }
            if let Some(visit) = &own.visit {
                own.player = self.number(&participant.key);
                let is_known = |player| self.known.visits.contradict(player, visit);
                if own.player.is_some_and(is_known) {
                    (own.learns, is_elsewhere) = (false, true);
                }
            }
            rated.push(own);
        }
        let mut seats = record.participants.iter().zip(&rated);
        let is_human = |(one, rated): (&Participant, &RatedFor)| {
            rated.learns && one.key.kind == Kind::Human && ruling::has_played(one)
        };
        match is_elsewhere && !seats.any(is_human) {
            true => Err(Unrated::TwoPlaces),
            false => Ok(rated),
        }
    }

    /// Notes where the humans were for whom a match is rated.
    fn note_visits(&mut self, record: &MatchRecord, rated: Vec<RatedFor>) {
        let seats = record.participants.iter().zip(rated);
        for (participant, own) in seats.filter(|(_, own)| own.learns) {
            if let Some(visit) = own.visit
                && let Some(player) = own.player.or_else(|| self.number(&participant.key))
            {
                self.known.visits.add(player, visit);
            }
        }
    }

    /// A game that has not been played, in which each player is present from start to end. Players
    /// without a match get numbers that no other player has.
    pub(super) fn lineup(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> RatedGame {
        let mut strangers = (0..u32::MAX).rev();
        let mut seats = Vec::new();
        for (team, players) in (0..).zip(teams) {
            for player in players {
                let known = self.number(&player.key).map(|known| known.0);
                let number = known.or_else(|| strangers.next()).unwrap_or(u32::MAX);
                seats.push(Seat {
                    party: party_number(player.party),
                    command: f64::from(u8::from(player.commands)),
                    ..Seat::new(Player(number), team)
                });
            }
        }
        let mut game = RatedGame::new(seats);
        game.sides = self.settings.sides;
        game.ruleset = self
            .known
            .rulesets
            .0
            .get(ruleset)
            .copied()
            .unwrap_or(u32::MAX);
        game.map = self.known.maps.0.get(map).copied().unwrap_or(u32::MAX);
        game.no_map = map.is_empty();
        game
    }

    /// The number of a player; `None` without a match.
    pub(super) fn number(&self, key: &PlayerKey) -> Option<Player> {
        self.known.people.number(key.kind, &key.id)
    }

    /// All players with a rated match.
    pub(super) fn people(&self) -> &People {
        &self.known.people
    }

    /// The number of a record's mode, and the record beside the usual games of that mode.
    fn compare(&mut self, record: &MatchRecord, ruleset: u32) -> (u32, Compared) {
        let mode = self.known.modes.of(&(ruleset, record.mode.clone()));
        let index = mode as usize;
        if index >= self.known.usual.len() {
            self.known.usual.resize_with(index + 1, Shared::default);
        }
        (mode, self.known.usual[index].edit().compare(record))
    }

    fn game(
        &mut self,
        record: &MatchRecord,
        ruleset: &Ruleset,
        basis: RatingBasis,
        rated: &[RatedFor],
    ) -> Digested {
        let number = self.known.rulesets.of(ruleset);
        let (mode, compared) = self.compare(record, number);
        let usual = compared.millis;
        let points = points(record, basis.scoring);
        let captures = captures(record);
        let (mut seats, mut tallies, mut played) = (Vec::new(), Vec::new(), Vec::new());
        for (index, participant) in record.participants.iter().enumerate() {
            if !ruling::has_played(participant) {
                continue;
            }
            let player = self.known.people.meet(&participant.key, &participant.name);
            let learns = rated[index].learns;
            let (scored, conceded) = (points[index].scored, points[index].conceded);
            played.push(Played {
                participant: index,
                scored,
                conceded,
                counts: learns,
                entry: None, // the fold knows it once it has learned
            });
            tallies.push(Tally {
                scored,
                conceded,
                points: participant.points.or(kills(record, participant)),
                kills: participant.kills.into(),
                deaths: participant.deaths.into(),
                captures: captures[index],
                minutes: participant.millis() as f64 / 60_000.0,
                won: has_won(record, participant),
                learns,
                ..Tally::new(player)
            });
            let team = |stay: &Presence| match record.has_teams() {
                true => u16::from(stay.team),
                false => u16::try_from(seats.len()).unwrap_or(u16::MAX),
            };
            let own = own_seats(participant, record.millis(), usual, team);
            let missed = missed(record, participant, record.millis(), usual);
            seats.extend(own.into_iter().map(|seat| Seat {
                player,
                learns,
                ..with_missed(seat, missed)
            }));
        }
        let mut game = RatedGame::new(seats);
        game.places = places(record, &tallies);
        game.scores = telling_scores(record, &game.places);
        game.winner_alone = is_winner_alone(record, &game);
        game.tallies = tallies;
        game.ruleset = number;
        (game.mode, game.extent) = (mode, compared.extent);
        game.map = self.known.maps.of(&record.map);
        game.no_map = record.map.is_empty();
        game.sides = self.settings.sides && record.has_teams();
        game.day = record.end.0 as f64 / MILLIS_A_DAY;
        game.departures = departures(record, &game, usual);
        game.arrivals = arrivals(record, &game, usual);
        Digested { game, played }
    }
}

/// Kills as points; `None` in a game in which there were no kills and no deaths.
fn kills(record: &MatchRecord, participant: &Participant) -> Option<f64> {
    let any = |p: &Participant| p.kills > 0 || p.deaths > 0;
    let counted = record.participants.iter().any(any);
    counted.then_some(participant.kills.into())
}

/// How often each participant scored for a team.
fn captures(record: &MatchRecord) -> Vec<f64> {
    let mut captures = vec![0.0; record.participants.len()];
    for event in record.events.iter().filter(|e| e.points > 0.0) {
        if let Some(author) = event.by {
            captures[author as usize] += 1.0;
        }
    }
    captures
}

/// Whether the team has won that a participant was on for longest.
fn has_won(record: &MatchRecord, participant: &Participant) -> bool {
    let team = participant.main_team().filter(|_| record.has_teams());
    team.is_some_and(|team| record.outcome == Outcome::Won(team))
}

/// Each team's place, 0 for the first; empty where the outcome is unknown.
fn places(record: &MatchRecord, tallies: &[Tally]) -> Vec<u16> {
    if !record.has_teams() {
        let points: Option<Vec<f64>> = tallies.iter().map(|t| t.points).collect();
        return points.map_or(Vec::new(), |points| ranks(&points));
    }
    match record.outcome {
        Outcome::Won(winner) => {
            let behind = ranks(&record.scores).into_iter().map(|rank| rank + 1);
            let mut places: Vec<u16> = behind.collect();
            places[usize::from(winner)] = 0;
            places
        }
        // With two teams a draw is a tie, whatever the scores are.
        Outcome::Draw if record.scores.len() == 2 => vec![0, 0],
        Outcome::Draw => ranks(&record.scores),
        Outcome::Undecided | Outcome::Abandoned => Vec::new(),
    }
}

/// Whether of three teams or more only the winner is known: no score tells the others apart.
fn is_winner_alone(record: &MatchRecord, game: &RatedGame) -> bool {
    let mut others = game.places.iter().filter(|place| **place > 0);
    let second = others.next();
    record.has_teams()
        && matches!(record.outcome, Outcome::Won(_))
        && game.places.len() > 2
        && game.scores.is_empty()
        && others.all(|place| Some(place) == second)
}

/// The scores if they agree with the places, otherwise an empty list. If they disagree, for example
/// because a mission failed whatever the kills were, the differences of scores mean nothing either.
fn telling_scores(record: &MatchRecord, places: &[u16]) -> Vec<f64> {
    let scores = &record.scores;
    let any = scores.iter().any(|score| *score != 0.0);
    let order = |i: usize, j: usize| {
        let by_score = scores[j].partial_cmp(&scores[i]);
        by_score == Some(places[i].cmp(&places[j]))
    };
    let pairs = || (0..scores.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let telling = any && places.len() == scores.len() && pairs().all(|(i, j)| order(i, j));
    if telling { scores.clone() } else { Vec::new() }
}

/// The lengths and the points of the last games of a mode.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct TypicalGame {
    millis: Recent,
    points: Recent,
}

/// One game beside the usual ones.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Compared {
    /// The usual length in milliseconds, from the games before this one.
    millis: u64,
    /// How much of a usual game this one was, see [`RatedGame::extent`].
    extent: f64,
}

impl TypicalGame {
    /// Compares a game with the games before it, then adds it to them. The first game is a usual one, and so is each
    /// whose length is not known.
    fn compare(&mut self, record: &MatchRecord) -> Compared {
        let millis = record.millis() as f64;
        let points: f64 = record.scores.iter().map(|score| score.abs()).sum();
        let usual = self.millis.median().unwrap_or(millis);
        let usual_points = self.points.median().unwrap_or(points);
        let by_time = if usual > 0.0 { millis / usual } else { 1.0 };
        let by_points = if usual_points > 0.0 {
            points / usual_points
        } else {
            0.0
        };
        self.points.add(points);
        if record.untimed {
            return Compared {
                millis: record.millis(),
                extent: 1.0,
            };
        }
        self.millis.add(millis);
        Compared {
            millis: usual as u64,
            extent: by_time.max(by_points).clamp(LEAST_EXTENT, 1.0),
        }
    }
}

/// The last values of a number.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct Recent(VecDeque<f64>);

impl Recent {
    /// The number of values kept: enough for a stable median, and few enough to follow a changed limit.
    const KEPT: usize = 101;

    fn add(&mut self, value: f64) {
        self.0.push_front(value);
        self.0.truncate(Self::KEPT);
    }

    fn median(&self) -> Option<f64> {
        let mut sorted: Vec<f64> = self.0.iter().copied().collect();
        let middle = sorted.len().checked_sub(1)? / 2;
        Some(*sorted.select_nth_unstable_by(middle, f64::total_cmp).1)
    }
}

#[cfg(test)]
mod tests {
    use evenkeel_model::Timestamp;

    use super::*;

    #[test]
    fn the_median_follows() {
        let mut recent = Recent::default();
        assert_eq!(recent.median(), None);
        for value in [5.0, 1.0, 9.0, 7.0] {
            recent.add(value);
        }
        assert_eq!(recent.median(), Some(5.0));
        for _ in 0..Recent::KEPT {
            recent.add(2.0);
        }
        assert_eq!(recent.median(), Some(2.0));
    }

    fn record(millis: i64, scores: [f64; 2]) -> MatchRecord {
        MatchRecord {
            server: String::new(),
            start: Timestamp(0),
            end: Timestamp(millis),
            clock: None,
            untimed: false,
            client: String::new(),
            unscored: false,
            too_many_new: None,
            logged_as: None,
            map: String::new(),
            game_type: "ctf".into(),
            mode: String::new(),
            mutators: vec![],
            scores: scores.to_vec(),
            outcome: Outcome::Undecided,
            participants: vec![],
            events: vec![],
        }
    }

    #[test]
    fn a_game_is_as_large_as_its_time_or_its_points() {
        let mut usual = TypicalGame::default();
        let mut extent = |millis, scores| usual.compare(&record(millis, scores)).extent;
        for _ in 0..5 {
            assert_eq!(extent(600_000, [5.0, 3.0]), 1.0);
        }
        assert_eq!(extent(600_000, [0.0, 0.0]), 1.0, "as long as usual");
        assert_eq!(extent(1_200_000, [5.0, 3.0]), 1.0, "longer");
        assert_eq!(extent(60_000, [1.0, 0.0]), 0.125, "one of eight captures");
        assert_eq!(extent(60_000, [5.0, 0.0]), 0.625, "five of eight");
        assert_eq!(extent(0, [0.0, 0.0]), LEAST_EXTENT);
    }
}
