//! The fold: matches in order → weights per ruleset.

use super::{Digest, Level, Levels, Ruling, Season, Settings, Spread, digest::Digested};
use crate::{
    domain::{Fingerprint, MatchRecord, Outlook, PlayerKey, Rulebook, Ruleset, Timestamp},
    rating,
};

/// A match that ended before one already folded (or that very one): fold all again, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the match is not later than the last one folded")]
pub struct Late;

/// Bytes that are not the state of a [`Fold`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a stored state of this version: {0}")]
pub struct BadState(#[from] postcard::Error);

/// What is known of one player under one ruleset.
#[derive(Clone, Debug, PartialEq)]
pub struct Weight<'a> {
    /// The ruleset.
    pub ruleset: &'a Ruleset,
    /// Human or bot, and who.
    pub key: &'a PlayerKey,
    /// The last name they were seen under.
    pub name: &'a str,
    /// Above 0 and below 100, 50 for an average newcomer, on a scale that no other player's games
    /// move. `presence` and `scoreboard` have scales of their own, which include 0 and 100.
    pub weight: f64,
    /// How sure it is, in units of the weight: half the difference between the weights one standard
    /// deviation above and below. 0 in systems that keep none.
    pub deviation: f64,
    /// The strength that the weight is of, above a newcomer's, in the rating system's unit. Sums of it
    /// are teams' strengths.
    pub strength: f64,
    /// Rated games they were in.
    pub games: u32,
    /// The end of the last game they were in.
    pub last_seen: Timestamp,
}

/// A lineup of two teams, as the rating system of a ruleset reads it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// How strengths make a chance in games like this.
    pub outlook: Outlook,
    /// The edge of the first team, whose chance is what the system predicts.
    pub edge: f64,
    /// What each team's strengths add up to, in the unit of [`Weight::strength`].
    pub strengths: [f64; 2],
}

/// Matches folded so far. See the [module](super) for its promises.
#[derive(Clone)]
pub struct Fold {
    digest: Digest,
    levels: Levels,
    season: Season,
    last: Option<(Timestamp, Fingerprint)>,
}

impl Fold {
    /// Nothing folded yet. Takes the settings of this room, or those of a rating system alone.
    pub fn new(rulebook: &Rulebook, settings: impl Into<Settings>) -> Self {
        let settings = settings.into();
        Self {
            digest: Digest::new(rulebook, &settings),
            levels: Levels::new(settings.rating),
            season: Season::new(&settings),
            last: None,
        }
    }

    /// Folds one more match, which has passed [`MatchRecord::check`].
    ///
    /// Unrated matches take part in the order, and in nothing else.
    ///
    /// # Errors
    /// [`Late`] when it is not later than the last one in (end, fingerprint) order; nothing has
    /// changed then.
    pub fn push(&mut self, record: &MatchRecord, print: Fingerprint) -> Result<Ruling, Late> {
        let place = Some((record.end, print));
        if place <= self.last {
            return Err(Late);
        }
        self.last = place;
        for keep in self.season.begun_by(record.end) {
            self.levels.new_season(keep);
        }
        let (ruleset, digested) = self.digest.digest(record);
        let rated = digested.map(|Digested { game, played }| {
            self.levels.learn(&ruleset, &game, record.end);
            played
        });
        Ok(Ruling { ruleset, rated })
    }

    /// The whole state, to the bit, for [`restore`](Self::restore) by the same version of the program.
    ///
    /// # Errors
    /// None is known; the encoder's signature has one.
    pub fn save(&self) -> Result<Vec<u8>, BadState> {
        let state = (self.digest.known(), self.levels.standings(), self.last);
        Ok(postcard::to_stdvec(&state)?)
    }

    /// Continues where [`save`](Self::save) was called, under the same rulebook and settings: the
    /// caller compares those.
    ///
    /// # Errors
    /// The bytes are no such state. Reading them takes memory in proportion to their number.
    pub fn restore(
        rulebook: &Rulebook,
        settings: impl Into<Settings>,
        state: &[u8],
    ) -> Result<Self, BadState> {
        let (read, rest) = postcard::take_from_bytes(state)?;
        if !rest.is_empty() {
            return Err(postcard::Error::DeserializeBadEncoding.into());
        }
        let (known, standings, last): (_, _, Option<(Timestamp, Fingerprint)>) = read;
        let mut fold = Self::new(rulebook, settings);
        fold.digest.resume(known);
        fold.levels.resume(standings);
        if let Some((end, _)) = last {
            fold.season.begun_by(end); // they have begun before the checkpoint
        }
        fold.last = last;
        Ok(fold)
    }

    /// Every ruleset with a rated match.
    pub fn rulesets(&self) -> impl Iterator<Item = &Ruleset> {
        self.levels.rulesets().map(|(ruleset, _)| ruleset)
    }

    /// The weights of every ruleset, by ruleset and then by player (humans before bots).
    pub fn weights(&self) -> impl Iterator<Item = Weight<'_>> {
        let rulesets = self.levels.rulesets();
        rulesets.flat_map(|(ruleset, own)| own.weights(ruleset, self.digest.people()))
    }

    /// The weights of one ruleset by games on one level, by player: on
    /// [`FewerMutators`](Level::FewerMutators) those of the closest such ruleset. Empty where none was
    /// played.
    pub fn weights_on<'a>(
        &'a self,
        ruleset: &'a Ruleset,
        level: Level,
    ) -> impl Iterator<Item = Weight<'a>> {
        let standing = self.levels.standing(ruleset, level).into_iter();
        standing.flat_map(move |s| s.weights(ruleset, self.digest.people()))
    }

    /// The best that is known of everyone for a ruleset, by player, with the level it comes from: their
    /// weight under the ruleset itself, under one of the same game type with fewer mutators, under the
    /// game type, or in all games.
    pub fn best_weights<'a>(&'a self, ruleset: &'a Ruleset) -> Vec<(Weight<'a>, Level)> {
        let mut best = std::collections::BTreeMap::new();
        for (level, standing) in self.levels.farthest_first(ruleset) {
            for weight in standing.weights(ruleset, self.digest.people()) {
                best.insert(weight.key, (weight, level)); // the closer overwrites the farther
            }
        }
        best.into_values().collect()
    }

    /// Each team's chance to win (for two, given that one does), summing to 1, by the rating system
    /// itself and the best it knows: with strangers as newcomers, and the map's sides where the map
    /// is known. Even chances before any game.
    pub fn chances(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<PlayerKey>]) -> Vec<f64> {
        let game = self.digest.lineup(ruleset, map, teams);
        match self.levels.best(ruleset) {
            Some(standing) => rating::chances(standing.system.as_ref(), &game),
            None => vec![1.0 / teams.len().max(1) as f64; teams.len()],
        }
    }

    /// How the rating system reads a lineup, by the best it knows of the ruleset. `None` before any game.
    pub fn reading(&self, ruleset: &Ruleset, map: &str, teams: &[Vec<PlayerKey>]) -> Option<Reading> {
        let game = self.digest.lineup(ruleset, map, teams);
        Some(self.levels.best(ruleset)?.reading(&game))
    }

    /// How far apart the scores of such games end, by the best that is known of the ruleset itself. `None` before
    /// any game of it.
    pub fn spread(&self, ruleset: &Ruleset) -> Option<Spread> {
        let own = self.levels.standing(ruleset, Level::Ruleset);
        let own = own.or_else(|| self.levels.standing(ruleset, Level::FewerMutators));
        Some(own?.spread())
    }

    /// The strength above a newcomer's that has this weight under a ruleset. `None` before any game.
    pub fn strength_at(&self, ruleset: &Ruleset, weight: f64) -> Option<f64> {
        Some(self.levels.best(ruleset)?.strength_at(weight))
    }

    /// What an operator should know about the rating of a ruleset, a sentence each.
    pub fn remarks(&self, ruleset: &Ruleset) -> Vec<String> {
        let standing = self.levels.best(ruleset);
        standing.map_or(Vec::new(), |standing| standing.remarks())
    }
}

#[cfg(test)]
mod tests;
