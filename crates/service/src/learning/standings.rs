//! The published state: the weights of each ruleset, and predicted chances, of the teams that are and of those with one
//! player on the other side or two exchanged.

use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

use parking_lot::Mutex;

use super::{gaps::Gaps, knowledge::Knowledge, view::View};

use crate::{
    model::{
        MatchRecord, PlayerKey, Ruleset, Timestamp, WinModel,
        merge::CountsAs,
        win_model::{LineupPlayer, SAME_CHANCE},
    },
    rating::history::{BalanceStatistics, Fold, LineupReading, Spread},
};

/// The number of rulesets whose views are cached. It is limited because peers can invent rulesets.
const KEPT: usize = 256;

/// The published state of knowledge. Immutable: newer standings replace it.
#[derive(Default)]
pub struct Standings {
    knowledge: Option<Arc<Knowledge>>,
    /// The same in the season of the latest match.
    of_boards: Option<Arc<Knowledge>>,
    /// `None` once all stored matches are folded.
    gaps: Option<Gaps>,
    views: Mutex<BTreeMap<String, Arc<View>>>,
}

impl std::fmt::Debug for Standings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Standings").finish_non_exhaustive()
    }
}

impl Standings {
    pub(super) fn new(knowledge: Knowledge, gaps: Option<Gaps>) -> Self {
        let knowledge = Some(Arc::new(knowledge));
        Self {
            of_boards: knowledge.clone(),
            knowledge,
            gaps,
            views: Mutex::default(),
        }
    }

    /// What was learned; `None` before anything was.
    pub(super) fn knowledge(&self) -> Option<&Knowledge> {
        self.knowledge.as_deref()
    }

    /// What leaderboards show: what was learned up to the latest match, in its season.
    pub(super) fn knowledge_of_boards(&self) -> Option<Arc<Knowledge>> {
        self.of_boards.clone()
    }

    /// How even the rated matches were; `None` while they are counted again, because the weights of the database are served
    /// until then.
    pub fn balance(&self) -> Option<BalanceStatistics> {
        match &self.knowledge {
            None => Some(BalanceStatistics::default()), // without any match
            Some(known) => known.stored.is_none().then(|| known.balance.clone()),
        }
    }

    /// What these weights lack; `None` once all stored matches are folded.
    pub(super) fn gaps(&self) -> Option<&Gaps> {
        self.gaps.as_ref()
    }

    /// The match in the form from which weights are learned, with merged identities replaced.
    pub fn merged<'a>(&self, record: &'a MatchRecord) -> Cow<'a, MatchRecord> {
        let merges = self.knowledge.as_deref().map(|known| &known.counts_as);
        let counts_as_another = |merges: &&Arc<CountsAs>| {
            let mut players = record.participants.iter();
            players.any(|one| *merges.of(&one.key) != one.key)
        };
        match merges.filter(counts_as_another) {
            Some(merges) => {
                let mut merged = record.clone();
                merged.merge_players(merges);
                Cow::Owned(merged)
            }
            None => Cow::Borrowed(record),
        }
    }

    /// The identity that this one counts as: itself, or the one that an operator has merged it into.
    pub fn counted_as<'a>(&'a self, key: &'a PlayerKey) -> Cow<'a, PlayerKey> {
        match self.knowledge.as_deref() {
            Some(known) => known.counts_as.of(key),
            None => Cow::Borrowed(key),
        }
    }

    /// Whether this identity, in the form under which it counts, has played: in a rated match, or in one that these weights
    /// lack.
    pub fn knows(&self, key: &PlayerKey) -> bool {
        let lacks = |gaps: &Gaps| gaps.has(key.kind, &key.id);
        let known = self.knowledge.as_deref();
        known.is_some_and(|known| known.knows(key)) || self.gaps.as_ref().is_some_and(lacks)
    }

    /// Whether a match of this ruleset was rated. While nothing is known, all may be.
    pub fn knows_ruleset(&self, ruleset: &Ruleset) -> bool {
        let known = self.knowledge.as_deref();
        known.is_some_and(|known| known.knows_ruleset(ruleset, self.gaps.is_some()))
    }

    /// When the last match ended that was learned from; `None` if there is none, or if it is not known.
    pub fn last_end(&self) -> Option<Timestamp> {
        let folds = self.knowledge.as_deref()?.folds.values();
        folds.filter_map(Fold::last_end).max()
    }

    /// The teams with merged identities replaced.
    fn counted<'a>(&self, teams: &'a [Vec<LineupPlayer>]) -> Cow<'a, [Vec<LineupPlayer>]> {
        let merges = self.knowledge.as_deref().map(|known| &known.counts_as);
        let counts_as_another = |merges: &&Arc<CountsAs>| {
            let mut players = teams.iter().flatten();
            players.any(|one| *merges.of(&one.key) != one.key)
        };
        let Some(merges) = merges.filter(counts_as_another) else {
            return Cow::Borrowed(teams);
        };
        let mut teams = teams.to_vec();
        for player in teams.iter_mut().flatten() {
            player.key = merges.of(&player.key).into_owned();
        }
        Cow::Owned(teams)
    }

    /// The date on which the next season begins, if one is configured.
    pub fn next_season(&self) -> Option<Timestamp> {
        self.knowledge.as_deref().and_then(Knowledge::next_season)
    }

    /// Whether a season has begun by `now` that these weights are not of yet.
    pub(super) fn season_is_due(&self, now: Timestamp) -> bool {
        self.next_season().is_some_and(|next| next <= now)
    }

    /// The weights with the seasons up to `now` begun.
    pub(super) fn in_season(&self, now: Timestamp) -> Self {
        let later = self.knowledge.as_deref().map(|known| known.in_season(now));
        let later = later.map(|later| Self::new(later, self.gaps.clone()));
        Self {
            of_boards: self.of_boards.clone(),
            ..later.unwrap_or_default()
        }
    }

    /// The weights that apply to games of a ruleset.
    pub fn view(&self, ruleset: &Ruleset) -> Arc<View> {
        let Some(knowledge) = &self.knowledge else {
            return Arc::default();
        };
        let key = ruleset.to_string();
        let mut views = self.views.lock();
        if let Some(view) = views.get(&key) {
            return view.clone();
        }
        if views.len() >= KEPT {
            views.clear();
        }
        let view = View::new(knowledge.clone(), ruleset.clone(), self.gaps.clone());
        let view = Arc::new(view);
        views.insert(key, view.clone());
        view
    }

    /// The chance that the first team wins, as predicted by the rating system; `None` before the
    /// first rated match.
    pub fn chance(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<LineupPlayer>]) -> Option<f64> {
        self.chances(ruleset, map, teams)?.first().copied()
    }

    /// The rating system's prediction for a lineup of two teams, with its inputs; `None` if nothing
    /// has been learned at all.
    pub fn reading(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> Option<LineupReading> {
        let teams = self.counted(teams);
        self.learned(ruleset)?.reading(ruleset, map, &teams)
    }

    /// The strength that a player adds by commanding in this lineup; 0 if nothing has been learned of it.
    pub fn command_strength(
        &self,
        ruleset: &Ruleset,
        teams: &[Vec<LineupPlayer>],
        key: &PlayerKey,
    ) -> f64 {
        let fold = self.learned(ruleset);
        let key = self.counted_as(key);
        let teams = self.counted(teams);
        let strength = fold.and_then(|fold| fold.command_strength(ruleset, &teams, &key));
        strength.unwrap_or(0.0)
    }

    /// The strength that has this weight, minus a newcomer's; 0 if nothing has been learned at all.
    pub fn strength_at(&self, ruleset: &Ruleset, weight: f64) -> f64 {
        let fold = self.learned(ruleset);
        let strength = fold.and_then(|fold| fold.strength_at(ruleset, weight));
        strength.unwrap_or(0.0)
    }

    /// How far apart the final scores of a ruleset's matches are; the default before any match.
    pub fn spread(&self, ruleset: &Ruleset) -> Spread {
        let spread = self.learned(ruleset).and_then(|fold| fold.spread(ruleset));
        spread.unwrap_or_default()
    }

    /// The fold that serves a ruleset, if it has learned anything.
    fn learned(&self, ruleset: &Ruleset) -> Option<&Fold> {
        let fold = self.knowledge.as_deref()?.fold(ruleset)?;
        fold.rulesets().next()?; // without a rated match, all chances would be 50 %
        Some(fold)
    }

    /// Each team's chance to win, summing to 1, as predicted by the rating system; `None` before
    /// the first rated match.
    pub fn chances(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> Option<Vec<f64>> {
        let teams = self.counted(teams);
        Some(self.learned(ruleset)?.chances(ruleset, map, &teams))
    }
}

/// The most players for whom this is computed.
const MOST: usize = 32;
/// The weight of a player without earlier matches.
const NEWCOMER: f64 = 50.0;

/// A player on one of two teams.
#[derive(Clone, Debug)]
pub struct SwapSeat {
    /// The player.
    pub key: PlayerKey,
    /// The team, 0 or 1.
    pub team: u8,
    /// The weight before the match; `None` for a newcomer.
    pub before: Option<f64>,
}

/// What would have been expected of other teams of the same players.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Swaps {
    /// For each seat that has a team, the forecast for the other team if the player alone had been on it.
    pub other_side: Vec<Option<f64>>,
    /// The exchange of two players that would have made the teams most even; `None` if none would have made them more
    /// even than they were.
    pub fairest: Option<PlayerExchange>,
}

/// Two players who change places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerExchange {
    /// The seat on team 0 and the seat on team 1.
    pub seats: [usize; 2],
    /// The forecast for team 0 after it.
    pub chance: f64,
}

/// What would have been expected of other teams in a match between two. Strengths are those of the weights before the
/// match, and without any change `forecast` is the chance of team 0; how much a strength or a side of the map counts, the
/// rating system knows as of today. Nothing if there are too many players, or no weights.
pub fn swaps(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[Option<SwapSeat>],
    forecast: Option<f64>,
) -> Swaps {
    let (all, seats) = (seats, seats.iter().flatten().collect::<Vec<_>>());
    if seats.len() > MOST || seats.len() < 2 {
        return Swaps::default();
    }
    let edge = |moved| edge(standings, ruleset, map, &seats, moved);
    let Some((win_model, played)) = edge(None) else {
        return Swaps::default();
    };
    let link = win_model.link;
    let shift = forecast.map_or(0.0, |forecast| link.edge(forecast) - played);
    let mut places = 0..;
    let mut other_side = |seat: &SwapSeat| {
        // Without an opponent there is nothing to predict.
        let chance = edge(places.next()).map_or(0.5, |(_, edge)| link.chance(edge + shift));
        if seat.team == 0 { 1.0 - chance } else { chance }
    };
    let swapped = all.iter().map(|seat| seat.as_ref().map(&mut other_side));
    let other_side = swapped.collect();
    let strength =
        |seat: &SwapSeat| standings.strength_at(ruleset, seat.before.unwrap_or(NEWCOMER));
    let strengths = all
        .iter()
        .map(|seat| seat.as_ref().map(|seat| (seat.team, strength(seat))));
    let fairest = fairest(&win_model, played + shift, &strengths.collect::<Vec<_>>());
    Swaps {
        other_side,
        fairest,
    }
}

/// The exchange of two players that makes the edge of team 0 smallest; each seat has its team and strength. `None` if
/// none makes it smaller than `edge`, beyond what anybody would notice. O(players²).
fn fairest(win_model: &WinModel, edge: f64, seats: &[Option<(u8, f64)>]) -> Option<PlayerExchange> {
    let of = |team: u8| {
        let seats = seats.iter().enumerate();
        seats.filter_map(move |(at, seat)| {
            seat.filter(|(own, _)| (*own != 0) == (team != 0))
                .map(|(_, strength)| (at, strength))
        })
    };
    // The stronger one takes the strength away from one team and brings it to the other.
    let each = 2.0 * win_model.per_strength_at(seats.iter().flatten().count());
    let exchanges = of(0).flat_map(|one| of(1).map(move |other| (one, other)));
    let after =
        exchanges.map(|((one, own), (other, theirs))| ([one, other], edge + each * (theirs - own)));
    let (seats, best) = after.min_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()))?;
    let chance = win_model.link.chance(best);
    let gained = (win_model.link.chance(edge) - 0.5).abs() - (chance - 0.5).abs();
    (gained > SAME_CHANCE / 2.0).then_some(PlayerExchange { seats, chance })
}

/// The edge of team 0 by the weights before the match, with the player `moved` on the other team. `None` if
/// a team is empty, or nothing has been learned.
fn edge(
    standings: &Standings,
    ruleset: &Ruleset,
    map: &str,
    seats: &[&SwapSeat],
    moved: Option<usize>,
) -> Option<(WinModel, f64)> {
    let mut teams = vec![Vec::new(), Vec::new()];
    let mut strengths = [0.0; 2];
    for (at, seat) in seats.iter().enumerate() {
        let team = usize::from((seat.team != 0) != (Some(at) == moved));
        teams[team].push(LineupPlayer::from(seat.key.clone()));
        strengths[team] += standings.strength_at(ruleset, seat.before.unwrap_or(NEWCOMER));
    }
    if teams.iter().any(Vec::is_empty) {
        return None;
    }
    let reading = standings.reading(ruleset, map, &teams)?;
    let [one, other] = reading.strengths;
    let later = (strengths[0] - one) - (strengths[1] - other);
    let win_model = reading.win_model;
    let edge = reading.edge + win_model.per_strength_at(seats.len()) * later;
    (win_model.is_sound() && edge.is_finite()).then_some((win_model, edge))
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::model::win_model::{Crowding, Link};

    /// A win model in which a unit of strength counts 0.5 among eight players.
    fn win_model() -> WinModel {
        WinModel::of_strengths(Link::Normal, 0.5, 8.0, Crowding::None, 1.0)
    }

    #[test]
    fn the_fairest_exchange_leaves_the_smallest_edge() {
        let seats = [(0, 2.0), (0, 1.0), (1, 0.0), (1, 0.4)].map(Some);
        // Team 0 is stronger by 2.6, and leads by an edge of 1.3. Exchanging 1.0 and 0.0 would leave 0.3, 1.0 and 0.4
        // would leave 0.7, 2.0 and 0.0 would leave −0.7, and 2.0 and 0.4 would leave −0.3.
        let found = fairest(&win_model(), 1.3, &seats).unwrap();
        assert!(found.seats == [1, 2] || found.seats == [0, 3], "{found:?}");
        assert!((found.chance - 0.5).abs() < 0.119, "{found:?}");
        let unequal = [(0, 2.0), (0, 1.1), (1, 0.0), (1, 0.4)].map(Some);
        let found = fairest(&win_model(), 1.5, &unequal).unwrap();
        assert_eq!(found.seats, [0, 3]);
        assert!((found.chance - Link::Normal.chance(1.5 - 1.6)).abs() < 1e-12);
    }

    #[test]
    fn even_teams_have_no_fairer_exchange() {
        let seats = [(0, 1.0), (0, 0.0), (1, 0.0), (1, 1.0)].map(Some);
        assert_eq!(fairest(&win_model(), 0.0, &seats), None);
        assert_eq!(
            fairest(&win_model(), 0.8, &[Some((0, 1.0)), None]),
            None,
            "nobody to exchange"
        );
    }
}
