//! The columns of the state: which effect each number stands for, and the row of a match.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{
    Player, RatedGame, Seat,
    game::{Arrival, Comparison},
    player_map::PlayerMap,
    system::Effects,
};

/// The effect that one column of the state stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Column {
    /// A player's strength, commanding not included.
    Skill(Player),
    /// A player's strength as a commander, added to their strength as a player.
    Command(Player),
    /// The effect of being new, the same for all players.
    Newness,
    /// The effect per unit of a player's [experience](Columns::experience); it is the same for all players.
    Experience,
    /// The effect per unit of a player's [record](Columns::record) of points in earlier matches; it is
    /// the same for all players.
    Record,
    /// The effect of having one player more than the other team throughout the game.
    Size,
    /// The effect of a team e times as large as the other; it is added to that of
    /// [`Size`](Self::Size).
    LogSize,
    /// The effect of each team mate from the same party.
    Party,
    /// The effect of side 0 under a ruleset.
    Side(u32),
    /// The effect of side 0 of a map under a ruleset, added to the side's.
    SideMap(u32, u32),
}

/// The row of one match: which columns take part, and their factors.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MatchRow {
    /// Numbers of existing columns, each once, with their factors.
    pub known: Vec<(usize, f64)>,
    /// Columns that have no number yet, with their factors.
    pub new: Vec<(Column, f64)>,
}

impl MatchRow {
    /// Multiplies all factors by `x`.
    fn times(&mut self, x: f64) {
        self.known.iter_mut().for_each(|(_, factor)| *factor *= x);
        self.new.iter_mut().for_each(|(_, factor)| *factor *= x);
    }
}

/// The numbers of the columns, and each player's record of games.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Columns {
    skill: PlayerMap<u32>,
    command: PlayerMap<u32>,
    shared: BTreeMap<Column, usize>,
    /// The column that each number stands for.
    pub list: Vec<Column>,
    games: PlayerMap<ColumnCareer>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct ColumnCareer {
    games: u32,
    last: u64,
    day: f64,
    newness: f64,
    experience: f64,
    /// Whether the player was known from other rulesets before the first match of this one.
    met: bool,
    /// Sum over matches of ln(points / points of an average player in the same time), in which older
    /// matches count less.
    record: f64,
    /// The sum of these matches' factors; a match from start to end begins with a factor of 1.
    seen: f64,
}

impl Default for ColumnCareer {
    fn default() -> Self {
        Self {
            games: 0,
            last: 0,
            day: f64::INFINITY,
            newness: 1.0,
            experience: 0.0,
            met: false,
            record: 0.0,
            seen: 0.0,
        }
    }
}

/// Points that are added to those of every player in each match, so that the record of a short stay
/// is near 0.
const FEW_POINTS: f64 = 2.0;
/// Matches with average points that a newcomer's record starts with.
const FEW_MATCHES: f64 = 0.25;
/// The number of games after which a record counts half as much as a newcomer's. By then results show
/// the strength of a player, and a player who makes points that do not win keeps no gain from them.
const ESTABLISHED: f64 = 110.0;
/// The factor on all earlier matches of a record when another is added. The last eight matches
/// count most, so that a change of a player is noticed within about eight matches.
const FADING: f64 = 0.88;

/// The smallest size of a team in a comparison of sizes, so that none is 0.
const LEAST_SIZE: f64 = 0.1;

impl Columns {
    /// The number of a column; `None` if it has none yet.
    pub(crate) fn number(&self, column: Column) -> Option<usize> {
        match column {
            Column::Skill(player) => self.skill.get(player).map(|number| *number as usize),
            Column::Command(player) => self.command.get(player).map(|number| *number as usize),
            shared => self.shared.get(&shared).copied(),
        }
    }

    /// Gives a new column the next number.
    pub(crate) fn add(&mut self, column: Column) {
        let number = self.list.len();
        self.list.push(column);
        self.seed(column, number);
    }

    fn seed(&mut self, column: Column, number: usize) {
        let small = u32::try_from(number).unwrap_or(u32::MAX);
        match column {
            Column::Skill(player) => self.skill.set(player, small),
            Column::Command(player) => self.command.set(player, small),
            shared => {
                self.shared.insert(shared, number);
            }
        }
    }

    /// Keeps the columns with these numbers (ascending), and renumbers them in order.
    pub(crate) fn keep(&mut self, kept: &[usize]) {
        let list: Vec<Column> = kept.iter().map(|&number| self.list[number]).collect();
        self.skill = PlayerMap::default();
        self.command = PlayerMap::default();
        self.shared.clear();
        for (number, &column) in list.iter().enumerate() {
            self.seed(column, number);
        }
        self.list = list;
    }

    /// The number of the game that a player last played in; 0 for a newcomer.
    pub(crate) fn last_game(&self, player: Player) -> u64 {
        self.games.get(player).map_or(0, |c| c.last)
    }

    /// Notes that a player is known from other rulesets. Their first match here does not make them less new: it
    /// moves their strength from there in the direction of its result, whatever being new is worth.
    pub(crate) fn meet(&mut self, player: Player) {
        self.games.enter(player, ColumnCareer::default).met = true;
    }

    /// Counts a game for each player in it.
    pub(crate) fn count(&mut self, game: &RatedGame, number: u64) {
        for seat in game.seats() {
            let career = self.games.enter(seat.player, ColumnCareer::default);
            if career.last < number || career.games == 0 {
                career.games += 1;
                career.last = number;
                career.day = game.day;
                let counted = career.games - u32::from(career.met);
                career.newness = 1.0 / (1.0 + f64::from(counted));
                career.experience = libm::log(1.0 + f64::from(counted));
            }
        }
        self.note_points(game);
    }

    /// Adds a game to the records of its players: the points of each, compared with those of an
    /// average player in the same time.
    fn note_points(&mut self, game: &RatedGame) {
        let told = || {
            game.tallies
                .iter()
                .filter_map(|t| Some((t, t.points?.max(0.0))))
        };
        let minutes: f64 = told().map(|(t, _)| t.minutes).sum();
        let points: f64 = told().map(|(_, points)| points).sum();
        if !(minutes > 0.0 && points > 0.0) {
            return;
        }
        let longest = told().map(|(t, _)| t.minutes).fold(0.0, f64::max);
        for (tally, own) in told().filter(|(t, _)| t.learns) {
            let average = points * tally.minutes / minutes;
            let weight = tally.minutes / longest;
            let beside = libm::log((own + FEW_POINTS) / (average + FEW_POINTS));
            let career = self.games.enter(tally.player, ColumnCareer::default);
            career.record = FADING * career.record + weight * beside;
            career.seen = FADING * career.seen + weight;
        }
    }

    /// The record of a player's points in earlier matches, -1 to 1; 0 for a newcomer, and if matches
    /// have no points.
    ///
    /// It is the hyperbolic tangent of the mean of ln(points / points of an average player), so that no
    /// number of points raises it without end, and it falls towards 0 with the number of games.
    pub(crate) fn record(&self, player: Player) -> f64 {
        let of = |career: &ColumnCareer| {
            let mean = career.record / (career.seen + FEW_MATCHES);
            libm::tanh(mean) * ESTABLISHED / (ESTABLISHED + f64::from(career.games))
        };
        self.games.get(player).map_or(0.0, of)
    }

    /// Days since a player's last game; 0 for a newcomer.
    pub(crate) fn absence(&self, player: Player, day: f64) -> f64 {
        let away = |career: &ColumnCareer| (day - career.day).max(0.0);
        self.games.get(player).map_or(0.0, away)
    }

    /// The factor on the effect of being new: 1 in the first game, a half in the second, a third in the next.
    pub(crate) fn newness(&self, player: Player) -> f64 {
        self.games.get(player).map_or(1.0, |c| c.newness)
    }

    /// The logarithm of one more than the number of games that a player has played: 0 for a newcomer. It goes on
    /// growing after the effect of being new is gone.
    pub(crate) fn experience(&self, player: Player) -> f64 {
        self.games.get(player).map_or(0.0, |c| c.experience)
    }

    /// A player's factors on the effects of earlier matches.
    pub(crate) fn factors(&self, player: Player) -> Effects {
        [
            self.newness(player),
            self.experience(player),
            self.record(player),
        ]
    }

    /// The row of team `a` against team `b`.
    ///
    /// The factors of players are divided by √(n/2), where n is the sum of the players' shares: the
    /// noise of a match grows with every player in it, as in TrueSkill (nβ²), and the state is in
    /// units in which the noise of a match is 1. Sides and the number of players are effects on the
    /// match as a whole, so their factors are not divided.
    ///
    /// All factors are multiplied by the root of the game's [extent](RatedGame::extent): the score is a
    /// Brownian motion, whose drift grows with time, and whose noise grows with the root of time.
    pub(crate) fn row(&self, game: &RatedGame, a: usize, b: usize) -> MatchRow {
        let mut row = MatchRow::default();
        row.known
            .reserve(game.team(a).len() + game.team(b).len() + 8);
        let (one, other) = (
            without_arrivals(game.team(a), &game.arrivals),
            without_arrivals(game.team(b), &game.arrivals),
        );
        let both = [(one.as_slice(), 1.0), (other.as_slice(), -1.0)];
        let shares = |team: &[Seat]| team.iter().map(|s| s.share).sum::<f64>();
        let unit = unit(shares(both[0].0) + shares(both[1].0));
        let (mut newness, mut experience, mut record, mut party) = (0.0, 0.0, 0.0, 0.0);
        for (team, sign) in both {
            for seat in team {
                let x = sign * unit * seat.share;
                let command = sign * unit * seat.command;
                self.enter(&mut row, Column::Skill(seat.player), x, sign < 0.0);
                self.enter(&mut row, Column::Command(seat.player), command, sign < 0.0);
                newness += x * self.newness(seat.player);
                experience += x * self.experience(seat.player);
                record += x * self.record(seat.player);
            }
            party += sign * unit * company(team);
        }
        let mut shared = |column, x| self.enter(&mut row, column, x, false);
        shared(Column::Newness, newness);
        shared(Column::Experience, experience);
        shared(Column::Record, record);
        let [one, other] = [size(both[0].0), size(both[1].0)];
        let log_size = libm::log(one.max(LEAST_SIZE) / other.max(LEAST_SIZE));
        shared(Column::LogSize, log_size);
        shared(Column::Size, one - other);
        shared(Column::Party, party);
        if game.sides && game.teams() == 2 {
            let side = if a < b { 1.0 } else { -1.0 };
            shared(Column::Side(game.ruleset), side);
            if !game.no_map {
                shared(Column::SideMap(game.ruleset, game.map), side);
            }
        }
        row.times(libm::sqrt(game.extent));
        row
    }

    /// The row of a comparison: the mean of the rows of its pairs of teams. The mean of several performances has less
    /// noise than each, so the row is multiplied until its noise is 1 again.
    pub(crate) fn compared(&self, game: &RatedGame, comparison: &Comparison) -> MatchRow {
        let [one, other] = &comparison.sides;
        if let ([a], [b]) = (one.as_slice(), other.as_slice()) {
            return self.row(game, *a, *b);
        }
        let mut mean = MatchRow::default();
        for (a, b) in one.iter().flat_map(|a| other.iter().map(move |b| (*a, *b))) {
            let row = self.row(game, a, b);
            mean.known.extend(row.known);
            mean.new.extend(row.new);
        }
        sum_up(&mut mean.known);
        sum_up(&mut mean.new);
        mean.times(precision(comparison) / (one.len() * other.len()) as f64);
        mean
    }

    /// Adds an entry to a row. With `again`, the row may have an entry for the same column, because
    /// a player was on both teams; the factors are then added.
    fn enter(&self, row: &mut MatchRow, column: Column, x: f64, again: bool) {
        if x == 0.0 {
            return;
        }
        match self.number(column) {
            Some(number) => add_up(&mut row.known, number, x, again),
            None => add_up(&mut row.new, column, x, again),
        }
    }
}

fn add_up<K: PartialEq>(list: &mut Vec<(K, f64)>, key: K, x: f64, again: bool) {
    let mut old = list.iter_mut();
    let old = if again {
        old.find(|(k, _)| *k == key)
    } else {
        None
    };
    match old {
        Some((_, sum)) => *sum += x,
        None => list.push((key, x)),
    }
}

/// Adds up the entries of each key.
fn sum_up<K: Ord + Copy>(entries: &mut Vec<(K, f64)>) {
    entries.sort_by_key(|(key, _)| *key);
    entries.dedup_by(|next, sum| {
        let same = next.0 == sum.0;
        if same {
            sum.1 += next.1;
        }
        same
    });
}

/// How many times less noise the difference of the means of two sides has than that of two teams: √2 / √(1/m + 1/n) for m
/// teams against n.
pub(super) fn precision(comparison: &Comparison) -> f64 {
    let noise = comparison.sides.iter().map(|side| 1.0 / side.len() as f64);
    libm::sqrt(2.0 / noise.sum::<f64>())
}

/// The factor of one player's strength in a match of `shares` players.
pub(crate) fn unit(shares: f64) -> f64 {
    libm::sqrt(2.0 / shares.max(1e-3)) // an empty game must not divide by zero
}

/// How many players of a team were there at the same time, as the mean over the game. Who comes for
/// somebody who has left early does not make the team larger: the game counts as if the other had
/// stayed.
fn size(team: &[Seat]) -> f64 {
    let all: f64 = team.iter().map(|seat| seat.share).sum();
    let missed: f64 = team.iter().map(|seat| seat.missed).sum();
    let came: f64 = (team.iter())
        .filter(|seat| seat.missed == 0.0 && seat.share < 1.0 - ROUNDING)
        .map(|seat| seat.share)
        .sum();
    let size = all - missed.min(came);
    // Shares of a whole game add up to whole numbers, but for rounding.
    if (size - libm::round(size)).abs() < ROUNDING {
        libm::round(size)
    } else {
        size
    }
}

/// By how much rounding changes a share, at most.
const ROUNDING: f64 = 1e-9;

/// Sum over a team of each player's other party members in it: 2 for a pair, 6 for three.
fn company(team: &[Seat]) -> f64 {
    team.iter().map(|s| s.friends(team) as f64).sum()
}

/// The seats of a team without those of the arrivals, who learn from a stretch of their own instead.
fn without_arrivals(team: &[Seat], arrivals: &[Arrival]) -> Vec<Seat> {
    let came = |seat: &Seat| arrivals.iter().any(|arrival| arrival.player == seat.player);
    team.iter().copied().filter(|seat| !came(seat)).collect()
}
