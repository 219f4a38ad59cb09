//! Reads what a player's weight follows from.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use super::{EarlierGames, PlayedMatch, WeightHere, WhyQuestion, WhyRating};
use crate::{
    learning::{Learning, LearningError},
    model::{PlayerKey, Ruleset, Timestamp, weight::StartWeight},
    store::{GameOfPerson, OperatorOverrides, PointsInMatch},
};

/// How many of the latest matches are told.
const LATEST: usize = 20;
/// The most other rulesets.
const EARLIER: usize = 3;

/// What operators have set for a player.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct PlayerSettings {
    pinned: Option<f64>,
    start: Option<StartWeight>,
    /// Number of other identities that count as the player.
    merged: usize,
    /// Whether the weights were derived with the settings of this process.
    is_own: bool,
}

impl Learning {
    /// What a player's weights follow from, those with most matches first. Reads only what is stored.
    pub async fn why(&self, asked: &WhyQuestion<'_>) -> Result<Vec<WhyRating>, LearningError> {
        let rated: u64 = asked.weights.iter().map(|own| u64::from(own.games)).sum();
        let is_whole = asked.games.len() as u64 >= rated;
        let is_asked = |own: &&WeightHere| asked.ruleset.is_none_or(|only| only == own.ruleset);
        let mut weights: Vec<&WeightHere> = asked.weights.iter().filter(is_asked).collect();
        weights.sort_by(|a, b| (b.games, &a.ruleset).cmp(&(a.games, &b.ruleset)));
        weights.truncate(asked.most);
        let ids: Vec<i64> = weights
            .iter()
            .flat_map(|own| latest(asked.games, &own.ruleset).map(|game| game.id))
            .collect();
        let points = self.store.matches().points_in(asked.person, &ids).await?;
        let points: HashMap<i64, PointsInMatch> =
            points.into_iter().map(|one| (one.id, one)).collect();
        let set = self.settings_of(asked.player).await?;
        let history = &self.settings.history;
        let why = |own: &WeightHere| WhyRating {
            system: set.is_own.then(|| history.rating.system.name()),
            pinned: set.pinned,
            start: set.start,
            merged: set.merged,
            seasons: self.seasons_since_first(asked, &own.ruleset),
            season_keeps: history.season_keeps.get(),
            ..of_games(asked, own, is_whole, &points, set.pinned.is_some())
        };
        Ok(weights.into_iter().map(why).collect())
    }

    /// The players whose weights operators have fixed: as the published weights have them, else as they are stored.
    pub async fn pinned(&self) -> Result<Arc<BTreeMap<PlayerKey, f64>>, LearningError> {
        match self.standings().knowledge() {
            Some(known) => Ok(known.pinned.clone()),
            None => Ok(Arc::new(
                self.overrides().await?.pinned.into_iter().collect(),
            )),
        }
    }

    /// What operators have set for a player: as the published weights have it, else as it is stored.
    async fn settings_of(&self, player: &PlayerKey) -> Result<PlayerSettings, LearningError> {
        if let Some(known) = self.standings().knowledge() {
            return Ok(PlayerSettings {
                pinned: known.pinned.get(player).copied(),
                start: known.starts.get(player).copied(),
                merged: known
                    .counts_as
                    .merged()
                    .filter(|(_, into)| *into == player)
                    .count(),
                is_own: self.is_current(),
            });
        }
        let overrides = self.overrides().await?;
        let from = self.store.learned().derived_from().await?;
        let settings = from.as_ref().map(|from| from.settings.split(' ').next());
        Ok(PlayerSettings {
            is_own: settings == Some(Some(self.settings_key.as_str())),
            ..stored_settings(player, &overrides)
        })
    }

    /// How many seasons have begun since the first match of a ruleset that was looked at.
    fn seasons_since_first(&self, asked: &WhyQuestion<'_>, ruleset: &str) -> usize {
        let Some(first) = of_ruleset(asked.games, ruleset).last() else {
            return 0;
        };
        let begun = self.seasons_until(asked.now);
        begun.filter(|start| first.ended < *start).count()
    }

    /// When the seasons have begun that have begun until now.
    pub fn seasons_until(&self, now: Timestamp) -> impl Iterator<Item = Timestamp> {
        let seasons = self.settings.history.seasons.iter().copied();
        seasons.filter(move |start| *start <= now)
    }
}

/// What operators have set for a player, as it is stored.
fn stored_settings(player: &PlayerKey, overrides: &OperatorOverrides) -> PlayerSettings {
    let pinned = overrides.pinned.iter().filter(|(who, _)| who == player);
    let merged = overrides.merged.iter().filter(|(_, into)| into == player);
    PlayerSettings {
        pinned: pinned.map(|(_, weight)| *weight).next(),
        start: start_of(player, overrides),
        merged: merged.count(),
        is_own: false,
    }
}

/// The start weight of a player: of the player's own identity, or of another one that counts for them.
fn start_of(player: &PlayerKey, overrides: &OperatorOverrides) -> Option<StartWeight> {
    let of = |key: &PlayerKey| {
        let mut starts = overrides.starts.iter();
        starts.find(|(who, _)| who == key).map(|(_, start)| *start)
    };
    let merged = overrides.merged.iter();
    let mut merged = merged.filter(|(_, into)| into == player);
    of(player).or_else(|| merged.find_map(|(who, _)| of(who)))
}

/// A player's matches under a ruleset, the last one first.
fn of_ruleset<'a>(
    games: &'a [GameOfPerson],
    ruleset: &str,
) -> impl Iterator<Item = &'a GameOfPerson> {
    games.iter().filter(move |game| game.ruleset == ruleset)
}

fn latest<'a>(games: &'a [GameOfPerson], ruleset: &str) -> impl Iterator<Item = &'a GameOfPerson> {
    of_ruleset(games, ruleset).take(LATEST)
}

/// What the weight and the matches of a player tell.
fn of_games(
    asked: &WhyQuestion<'_>,
    own_weight: &WeightHere,
    is_whole: bool,
    points: &HashMap<i64, PointsInMatch>,
    pinned: bool,
) -> WhyRating {
    let ruleset = &own_weight.ruleset;
    let own: Vec<&GameOfPerson> = of_ruleset(asked.games, ruleset).collect();
    let listed = own.iter().take(LATEST);
    let matches = listed.map(|game| weighed(game, points.get(&game.id), pinned));
    WhyRating {
        matches: matches.collect(),
        first_weight: own
            .last()
            .filter(|_| is_whole)
            .and_then(|first| Some(first.entry?.before)),
        earlier: earlier(asked.games, &own, ruleset),
        ruleset: ruleset.clone(),
        weight: own_weight.weight,
        deviation: own_weight.deviation,
        games: own_weight.games,
        system: None,
        pinned: None,
        start: None,
        merged: 0,
        is_whole,
        seasons: 0,
        season_keeps: 1.0,
    }
}

fn weighed(game: &GameOfPerson, points: Option<&PointsInMatch>, pinned: bool) -> PlayedMatch {
    PlayedMatch {
        points: points.map(|points| points.own),
        points_of_others: points.and_then(|points| points.others),
        ..PlayedMatch::new(game, pinned)
    }
}

/// What was known from other rulesets before the first of a player's own matches. The closest one with fewer mutators
/// counts alone.
fn earlier(games: &[GameOfPerson], own: &[&GameOfPerson], ruleset: &str) -> Vec<EarlierGames> {
    let Some(first) = own.last() else {
        return Vec::new();
    };
    let mut others: BTreeMap<&str, EarlierGames> = BTreeMap::new();
    let here = Ruleset::parse(ruleset);
    let before = games.iter().filter(|game| game.ended < first.ended);
    for game in before.filter(|game| game.ruleset != ruleset) {
        let other = others.entry(&game.ruleset).or_insert_with(|| EarlierGames {
            ruleset: game.ruleset.clone(),
            games: 0,
            weight: game.entry.map(|entry| entry.weight), // the games come last one first
            is_near: Ruleset::parse(&game.ruleset).is_simpler(&here),
        });
        other.games += 1;
    }
    let near = others.values().filter(|other| other.is_near);
    let closest = near.max_by_key(|other| Ruleset::parse(&other.ruleset).mutators().count());
    if let Some(closest) = closest {
        return vec![closest.clone()];
    }
    let mut others: Vec<EarlierGames> = others.into_values().collect();
    others.sort_by_key(|other| std::cmp::Reverse(other.games));
    others.truncate(EARLIER);
    others
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        Kind,
        weight::{WeightCause, WeightEntry},
    };

    fn game(id: i64, ruleset: &str, weight: f64) -> GameOfPerson {
        GameOfPerson {
            id,
            ended: Timestamp(id),
            ruleset: ruleset.into(),
            map: "one".into(),
            team: Some(1),
            result: Some(1.0),
            forecast: Some(0.25),
            entry: Some(WeightEntry {
                before: weight - 2.5,
                weight,
                deviation: 5.0,
                cause: Some(WeightCause::Won),
            }),
            points_for: Some(3.0),
            points_against: Some(1.0),
        }
    }

    fn of(games: &[GameOfPerson], ruleset: &str) -> WhyRating {
        let player = PlayerKey {
            kind: Kind::Human,
            id: "ann".into(),
        };
        let own = WeightHere {
            ruleset: ruleset.into(),
            weight: 60.0,
            deviation: 5.0,
            games: 2,
        };
        let asked = WhyQuestion {
            player: &player,
            person: 1,
            games,
            weights: &[],
            ruleset: None,
            most: 3,
            now: Timestamp(10),
        };
        let points = PointsInMatch {
            id: 4,
            own: 7.0,
            others: Some(9.0),
        };
        of_games(&asked, &own, true, &HashMap::from([(4, points)]), false)
    }

    #[test]
    fn matches_have_the_chance_of_the_own_team_the_change_and_the_points() {
        let games = [
            game(4, "ctf", 60.0),
            game(3, "tdm", 1.0),
            game(2, "ctf", 57.5),
        ];
        let why = of(&games, "ctf");
        let told: Vec<_> = why
            .matches
            .iter()
            .map(|one| {
                (
                    one.id,
                    one.forecast,
                    one.entry.map(|entry| entry.change),
                    one.points,
                    one.points_of_others,
                )
            })
            .collect();
        assert_eq!(
            told,
            [
                (4, Some(0.75), Some(2.5), Some(7.0), Some(9.0)),
                (2, Some(0.75), Some(2.5), None, None)
            ]
        );
        assert!(why.earlier.is_empty());
        assert_eq!(why.first_weight, Some(55.0));
        let many: Vec<_> = (0..50).rev().map(|id| game(id, "ctf", 50.0)).collect();
        assert_eq!(of(&many, "ctf").matches.len(), LATEST);
    }

    #[test]
    fn what_came_before_is_the_closest_or_the_most_played_ruleset() {
        let games = [
            game(9, "tdm", 1.0),
            game(8, "ctf+a+b", 60.0),
            game(7, "tdm", 55.0),
            game(6, "ctf+a", 62.0),
            game(5, "ctf", 63.0),
            game(4, "tdm", 54.0),
            game(3, "ffa", 40.0),
        ];
        let near = of(&games, "ctf+a+b").earlier;
        assert_eq!(near.len(), 1);
        assert_eq!(
            (near[0].ruleset.as_str(), near[0].weight),
            ("ctf+a", Some(62.0))
        );
        let far = of(&games, "ctf").earlier;
        let told: Vec<_> = far
            .iter()
            .map(|one| (one.ruleset.as_str(), one.games, one.weight, one.is_near))
            .collect();
        assert_eq!(
            told,
            [("ffa", 1, Some(40.0), false), ("tdm", 1, Some(54.0), false)]
        );
        assert!(of(&games, "ffa").earlier.is_empty());
        assert!(of(&games, "unknown").matches.is_empty());
    }

    #[test]
    fn a_merged_identity_lends_its_start_weight() {
        let key = |id: &str| PlayerKey {
            kind: Kind::Human,
            id: id.into(),
        };
        let start = |weight| StartWeight {
            weight,
            uncertain: false,
        };
        let mut overrides = OperatorOverrides {
            merged: vec![(key("old"), key("ann"))],
            starts: vec![(key("old"), start(60.0)), (key("bob"), start(70.0))],
            ..OperatorOverrides::default()
        };
        assert_eq!(start_of(&key("ann"), &overrides), Some(start(60.0)));
        overrides.starts.push((key("ann"), start(55.0)));
        assert_eq!(start_of(&key("ann"), &overrides), Some(start(55.0)));
        assert_eq!(start_of(&key("zoe"), &overrides), None);
        assert_eq!(stored_settings(&key("ann"), &overrides).merged, 1);
    }
}
