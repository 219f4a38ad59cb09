//! The fold: learns from matches in order, and gives weights per ruleset.

use std::{borrow::Cow, collections::BTreeMap, io};

use evenkeel_model::{
    Causes, Fingerprint, Kind, LineupPlayer, MatchRecord, NEWCOMER, PlayerKey, Rank, Rulebook,
    Ruleset, StartWeight, Timestamp,
};

use super::{
    Digest, Level, Levels, LineupReading, People, Played, RatingPool, Ruling, Season, Settings,
    Spread, Starts, Suspect, Weight, digest::Digested, levels::LearnedGame,
};
use crate::{self as rating, Player, RatedGame, Shared, divisions};

/// The match is not later than the last one folded: fold all matches again, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the match is not later than the last one folded")]
pub struct Late;

/// Bytes that are not the state of a [`Fold`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a stored state of this version: {0}")]
pub struct BadState(#[from] postcard::Error);

/// The state after the matches folded so far. See the [module](super) for its guarantees.
#[derive(Clone)]
pub struct Fold {
    digest: Digest,
    levels: Levels,
    season: Season,
    divisions: Shared<divisions::Settings>,
    starts: Starts,
    last: Option<(Timestamp, Fingerprint)>,
}

impl Fold {
    /// A fold without any matches. Takes the settings of this room, or those of the rating systems
    /// alone.
    pub fn new(rulebook: &Rulebook, settings: impl Into<Settings>) -> Self {
        let settings = settings.into();
        Self {
            digest: Digest::new(rulebook, &settings),
            levels: Levels::new(settings.rating),
            season: Season::new(&settings),
            divisions: Shared::new(settings.divisions),
            starts: Starts::default(),
            last: None,
        }
    }

    /// Lets players start at the weights that an operator expects. Without this, all start at 50. It has an
    /// influence only on players who have no match yet.
    #[must_use]
    pub fn with_starts(mut self, starts: BTreeMap<PlayerKey, StartWeight>) -> Self {
        self.starts = Starts::new(starts);
        self
    }

    /// Folds one more match, which must pass [`MatchRecord::check`].
    ///
    /// An unrated match takes its place in the order and changes no weight.
    ///
    /// # Errors
    /// [`Late`] if the match is not later than the last one in (end time, fingerprint) order; the
    /// state does not change then.
    pub fn push(&mut self, record: &MatchRecord, print: Fingerprint) -> Result<Ruling, Late> {
        let place = Some((record.end, print));
        if place <= self.last {
            return Err(Late);
        }
        self.last = place;
        self.begin_seasons(record.end);
        let (ruleset, digested) = self.digest.digest(record);
        let mut learned = LearnedGame::default();
        let mut causes = None;
        let rated = digested.map(|Digested { game, mut played }| {
            causes = self.causes(record, &ruleset, &game, &played);
            let starts = self.starts.among(self.digest.people());
            learned = self.levels.learn(&ruleset, &game, record.end, starts);
            if self.divisions.is_on() {
                let people = self.digest.people();
                self.levels.divide(&ruleset, &self.divisions, &game, people);
            }
            for own in &mut played {
                let player = self
                    .digest
                    .number(&record.participants[own.participant].key);
                let entry = learned
                    .entries
                    .iter()
                    .find(|(entered, _)| Some(*entered) == player);
                own.entry = entry.map(|(_, entry)| *entry);
            }
            played
        });
        Ok(Ruling {
            ruleset,
            rated,
            chance: learned.chance,
            causes,
        })
    }

    /// What may have made a game one-sided, before it is learned from; `None` without teams.
    fn causes(
        &self,
        record: &MatchRecord,
        ruleset: &Ruleset,
        game: &RatedGame,
        played: &[Played],
    ) -> Option<Causes> {
        let own = self.levels.pool(ruleset, Level::Ruleset);
        let games = |player| own.map_or(0, |own| own.games(player));
        let has_newcomer = || game.tallies.iter().any(|one| games(one.player) < NEWCOMER);
        let rated = played.iter().map(|own| own.participant);
        record
            .has_teams()
            .then(|| Causes::of(record, rated, has_newcomer()))
    }

    pub(super) fn people(&self) -> &People {
        self.digest.people()
    }

    pub(super) fn levels(&self) -> &Levels {
        &self.levels
    }

    /// When the next season begins; `None` if no more are configured.
    pub fn next_season(&self) -> Option<Timestamp> {
        self.season.next()
    }

    /// Begins the seasons up to `now`, as a match that ended then would. Only for a copy that answers
    /// questions and folds no more: a match from before the season may still come.
    pub fn begin_seasons(&mut self, now: Timestamp) {
        for keep in self.season.begun_by(now) {
            self.levels.new_season(keep);
        }
    }

    /// Writes the whole state, to the bit. Only the same version of the program can
    /// [`restore`](Self::restore) it.
    ///
    /// # Errors
    /// Fails if `to` does.
    pub fn save(&self, to: impl io::Write) -> Result<(), BadState> {
        let state = (self.digest.known(), self.levels.pools(), self.last);
        postcard::to_io(&state, to)?;
        Ok(())
    }

    /// Continues from a state that [`save`](Self::save) wrote under the same rulebook and settings;
    /// the caller compares those.
    ///
    /// # Errors
    /// Fails if the bytes are not a saved state. Memory use is proportional to their number.
    pub fn restore(
        rulebook: &Rulebook,
        settings: impl Into<Settings>,
        state: &[u8],
    ) -> Result<Self, BadState> {
        let (read, rest) = postcard::take_from_bytes(state)?;
        if !rest.is_empty() {
            return Err(postcard::Error::DeserializeBadEncoding.into());
        }
        let (known, pools, last): (_, _, Option<(Timestamp, Fingerprint)>) = read;
        let mut fold = Self::new(rulebook, settings);
        fold.digest.resume(known);
        fold.levels.resume(pools);
        if let Some((end, _)) = last {
            fold.season.begun_by(end); // applied before the checkpoint already
        }
        fold.last = last;
        Ok(fold)
    }

    /// All rulesets that have a rated match.
    pub fn rulesets(&self) -> impl Iterator<Item = &Ruleset> {
        self.levels.rulesets().map(|(ruleset, _)| ruleset)
    }

    /// The weights of all rulesets, ordered by ruleset and then by player (humans before bots).
    pub fn weights(&self) -> impl Iterator<Item = Weight<'_>> {
        let rulesets = self.levels.rulesets();
        rulesets.flat_map(|(ruleset, own)| own.weights(ruleset, self.digest.people()))
    }

    /// The weights of one player, ordered by ruleset.
    pub fn weights_of<'a>(&'a self, kind: Kind, id: &str) -> impl Iterator<Item = Weight<'a>> {
        let people = self.digest.people();
        let number = people.number(kind, id);
        let known = number.and_then(|player| Some((player, people.get(player)?)));
        let weights = known.map(move |(player, person)| {
            let rulesets = self.levels.rulesets();
            rulesets.filter_map(move |(ruleset, own)| own.weight(ruleset, person, player))
        });
        weights.into_iter().flatten()
    }

    /// The weights for one ruleset at one [`Level`], ordered by player. For
    /// [`FewerMutators`](Level::FewerMutators) these are the weights of the closest such ruleset.
    /// Empty if the level has no rated match.
    pub fn weights_on<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        level: Level,
    ) -> impl Iterator<Item = Weight<'a>> {
        let pool = self.levels.pool(ruleset, level).into_iter();
        pool.flat_map(move |s| s.weights(ruleset, self.digest.people()))
    }

    /// A player's weight for a ruleset, which is the prior of a player without games of it, and the level from which
    /// it comes: the ruleset itself, else the closest one of the same game type with fewer
    /// mutators, else the game type, else all games. What comes from the last two counts in part, and the first match
    /// under the ruleset moves the weight from there. O(1) in the number of players.
    pub fn best_weight<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        kind: Kind,
        id: &str,
    ) -> Option<(Weight<'a>, Level)> {
        let people = self.digest.people();
        let player = people.number(kind, id)?;
        let person = people.get(player)?;
        let own = self.levels.pool(ruleset, Level::Ruleset);
        if let Some(weight) = own.and_then(|own| own.weight(ruleset, person, player)) {
            return Some((weight, Level::Ruleset));
        }
        let pools = self.levels.farthest_first(ruleset).into_iter().rev();
        let mut known =
            pools.filter_map(|(level, pool)| Some((pool.weight(ruleset, person, player)?, level)));
        let (mut weight, level) = known.next()?;
        let starts = self.starts.among(people);
        if let Some(own) = self.levels.own(ruleset, [player].into_iter(), starts) {
            own.convert(player, &mut weight, starts);
        }
        Some((weight, level))
    }

    /// The number of identities that have one.
    pub fn players(&self) -> usize {
        self.digest.people().len()
    }

    /// [`best_weight`](Self::best_weight) of all bots that have one, ordered by name.
    pub fn best_weights_of_bots<'a>(&'a self, ruleset: &'a Ruleset) -> Vec<(Weight<'a>, Level)> {
        let people = self.digest.people();
        let bots = people.bots().iter().filter_map(|bot| people.get(*bot));
        let mut bots: Vec<&PlayerKey> = bots.map(|bot| &bot.key).collect();
        bots.sort_unstable();
        let bots = bots.into_iter();
        bots.filter_map(|key| self.best_weight(ruleset, key.kind, &key.id))
            .collect()
    }

    /// Each team's predicted chance to win, summing to 1; with two teams, the chance given that
    /// they do not tie. The rating system of the ruleset predicts it, with the priors of players who are new to
    /// it, newcomers' strengths for unknown players, and the sides of the map if it is known. Even chances before
    /// any rated match.
    pub fn chances(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<LineupPlayer>]) -> Vec<f64> {
        let game = self.digest.lineup(ruleset, map, teams);
        match self.own(ruleset, &game) {
            Some(pool) => rating::chances(pool.system.as_ref(), &game),
            None => vec![1.0 / teams.len().max(1) as f64; teams.len()],
        }
    }

    /// The rating pool of a ruleset for a lineup.
    fn own(&self, ruleset: &Ruleset, game: &RatedGame) -> Option<Cow<'_, RatingPool>> {
        let starts = self.starts.among(self.digest.people());
        self.levels.for_game(ruleset, game, starts)
    }

    /// The prediction for a lineup, with its inputs, by the rating system of the ruleset. `None` before any game.
    pub fn reading(
        &self,
        ruleset: &Ruleset,
        map: &str,
        teams: &[Vec<LineupPlayer>],
    ) -> Option<LineupReading> {
        let game = self.digest.lineup(ruleset, map, teams);
        Some(self.own(ruleset, &game)?.reading(&game))
    }

    /// The strength that a player adds by commanding in this lineup, in the unit of [`Weight::strength`].
    /// `None` before any game.
    pub fn command_strength(
        &self,
        ruleset: &Ruleset,
        teams: &[Vec<LineupPlayer>],
        key: &PlayerKey,
    ) -> Option<f64> {
        let player = self.digest.number(key)?;
        let game = self.digest.lineup(ruleset, "", teams);
        Some(self.own(ruleset, &game)?.system.command(player, &game))
    }

    /// How far apart the final scores of the ruleset's matches are. `None` before any game of the
    /// ruleset.
    pub fn spread(&self, ruleset: &Ruleset) -> Option<Spread> {
        let own = self.levels.pool(ruleset, Level::Ruleset);
        let own = own.or_else(|| self.levels.pool(ruleset, Level::FewerMutators));
        Some(own?.spread())
    }

    /// The strength that has this weight under a ruleset, minus a newcomer's. `None` before any
    /// game.
    pub fn strength_at(&self, ruleset: &Ruleset, weight: f64) -> Option<f64> {
        Some(self.levels.best(ruleset)?.strength_at(weight))
    }

    /// The points of a strength above a newcomer's under a ruleset, on the scale of weights but without its ends. `None`
    /// before any game.
    pub fn points_of(&self, ruleset: &Ruleset, strength: f64) -> Option<f64> {
        Some(self.levels.best(ruleset)?.points_of(strength))
    }

    /// The weight of somebody of whom nothing is known, under a ruleset: 50 before any game.
    pub fn unknown_weight(&self, ruleset: &Ruleset) -> f64 {
        let best = self.levels.best(ruleset);
        best.map_or(50.0, RatingPool::unknown_weight)
    }

    /// The rank that a weight has under a ruleset, or under the closest one with fewer mutators. `None` without
    /// divisions, and before any game.
    pub fn rank_of_weight(&self, ruleset: &Ruleset, weight: f64) -> Option<Rank> {
        let own = self.levels.pool(ruleset, Level::Ruleset);
        let own = own.or_else(|| self.levels.pool(ruleset, Level::FewerMutators));
        own?.rank_of_weight(weight)
    }

    /// The humans who play far above a newcomer with few matches under a ruleset, the most striking first.
    pub fn suspects(&self, ruleset: &Ruleset) -> Vec<Suspect> {
        let own = self.levels.pool(ruleset, Level::Ruleset);
        own.map_or(Vec::new(), |own| {
            own.suspects(ruleset, self.digest.people())
        })
    }

    /// Warnings for the operator on the rating of a ruleset, one sentence each.
    pub fn warnings(&self, ruleset: &Ruleset) -> Vec<String> {
        let pool = self.levels.best(ruleset);
        pool.map_or(Vec::new(), |pool| pool.warnings())
    }
}

impl Fold {
    /// The rulesets with a rated match since an earlier state of this fold; after a season, all.
    pub fn rated_since<'a>(&'a self, before: &'a Self) -> impl Iterator<Item = &'a Ruleset> {
        self.levels().learned_since(before.levels())
    }

    /// At least the players of a ruleset whose weights differ from those of an earlier state of this fold. O(players of the
    /// matches between); after a season, O(players).
    pub fn weighed_since<'a>(
        &'a self,
        before: &Self,
        ruleset: &Ruleset,
    ) -> impl Iterator<Item = &'a PlayerKey> {
        let pool = |fold: &'a Self| fold.levels().pool(ruleset, Level::Ruleset);
        let old = before.levels().pool(ruleset, Level::Ruleset);
        let players = match (pool(self), old) {
            (Some(own), Some(old)) => own.played_since(old),
            (own, _) => own.into_iter().flat_map(RatingPool::players).collect(),
        };
        self.keys_of(players)
    }

    /// At least the players who are new, or have another name than in an earlier state of this fold.
    pub fn renamed_since<'a>(&'a self, before: &Self) -> impl Iterator<Item = &'a PlayerKey> {
        self.keys_of(self.people().unlike(before.people()))
    }

    fn keys_of(&self, players: Vec<Player>) -> impl Iterator<Item = &PlayerKey> {
        let people = players.into_iter();
        people.filter_map(|player| Some(&self.people().get(player)?.key))
    }

    /// The latest name of a player; `None` for somebody who has not played.
    pub fn name_of(&self, kind: Kind, id: &str) -> Option<&str> {
        let people = self.people();
        Some(people.get(people.number(kind, id)?)?.name())
    }

    /// The weight of a player with a rated game of the ruleset itself.
    pub fn weight_of<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        kind: Kind,
        id: &str,
    ) -> Option<Weight<'a>> {
        let people = self.people();
        let player = people.number(kind, id)?;
        let own = self.levels().pool(ruleset, Level::Ruleset)?;
        own.weight(ruleset, people.get(player)?, player)
    }

    /// Of each division of a ruleset, the weights at which its progress is 0 and 1; none before anybody has one.
    pub fn spans(&self, ruleset: &Ruleset) -> Vec<(f64, f64)> {
        let own = self.levels().pool(ruleset, Level::Ruleset);
        own.map_or(Vec::new(), |own| own.ladder().spans())
    }

    /// The number of players of a ruleset, those without a rated game included.
    pub fn players_of(&self, ruleset: &Ruleset) -> usize {
        let own = self.levels().pool(ruleset, Level::Ruleset);
        own.map_or(0, |own| own.players().count())
    }
}

#[cfg(test)]
mod tests;
