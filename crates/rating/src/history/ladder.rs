//! The divisions of the players of one ruleset.
//!
//! A player's division changes only with the player's own matches: after each, the weight is
//! compared with the borders. So a player who looks again next day sees the same division, whatever
//! others have done. The borders are computed again each time the number of matches has grown by a
//! sixteenth, in O(players).

use serde::{Deserialize, Serialize};

use crate::{
    Player, PlayerMap,
    divisions::{Borders, Settings},
};
use evenkeel_model::Rank;

/// The borders are computed again when the number of matches has grown by this fraction: one
/// sixteenth.
const GROWTH: u64 = 16;

/// The divisions of the players of one ruleset. Like ratings, they are a function of the matches.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Ladder {
    borders: Option<Borders>,
    /// Number of rated matches.
    matches: u64,
    /// The number of matches at which the borders are computed next.
    due: u64,
    held: PlayerMap<u8>,
}

/// The numbers that decide on a player's division.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeasuredPlayer {
    pub player: Player,
    pub weight: f64,
    pub deviation: f64,
    pub games: u32,
}

impl MeasuredPlayer {
    fn is_calibrated(&self, settings: &Settings) -> bool {
        settings.is_calibrated(self.games, self.deviation)
    }
}

impl Ladder {
    /// Gives the players of a match their divisions. `playing` are these players and `all` all players
    /// of the ruleset, with their weights after the match.
    pub fn learn(
        &mut self,
        settings: &Settings,
        playing: impl Iterator<Item = MeasuredPlayer>,
        all: impl FnOnce() -> Vec<MeasuredPlayer>,
    ) {
        self.matches += 1;
        if self.matches >= self.due {
            self.due = self.matches + 1 + self.matches / GROWTH;
            let calibrated = all().into_iter().filter(|p| p.is_calibrated(settings));
            self.borders = Some(Borders::of(settings, calibrated.map(|p| p.weight)));
        }
        let Some(borders) = &self.borders else {
            return;
        };
        for measured in playing {
            let held = self.held.get(measured.player).copied();
            if held.is_some() || measured.is_calibrated(settings) {
                let division = borders.division_of(measured.weight, held);
                self.held.set(measured.player, division);
            }
        }
    }

    /// The rank of a player with this weight; `None` while the player is calibrating.
    pub fn rank(&self, player: Player, weight: f64) -> Option<Rank> {
        let held = self.held.get(player)?;
        Some(self.borders.as_ref()?.rank(*held, weight))
    }

    /// Of each division, the weights at which its progress is 0 and 1.
    pub fn spans(&self) -> Vec<(f64, f64)> {
        self.borders.as_ref().map_or(Vec::new(), Borders::spans)
    }

    /// The rank that this weight has for a player without a division.
    pub fn rank_of_weight(&self, weight: f64) -> Option<Rank> {
        let borders = self.borders.as_ref()?;
        Some(borders.rank(borders.division_of(weight, None), weight))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::divisions::DivisionName;

    fn settings() -> Settings {
        let names = ["Bronze", "Silver", "Gold"].map(|name| name.to_owned().try_into());
        Settings {
            names: names
                .into_iter()
                .map(Result::<DivisionName, _>::unwrap)
                .collect(),
            ..Settings::default()
        }
    }

    fn measured(player: u32, weight: f64, games: u32) -> MeasuredPlayer {
        MeasuredPlayer {
            player: Player(player),
            weight,
            deviation: 5.0,
            games,
        }
    }

    #[test]
    fn a_division_comes_with_the_tenth_match_and_changes_with_one_s_own_matches_only() {
        let (settings, mut ladder) = (settings(), Ladder::default());
        let town: Vec<_> = (0..100)
            .map(|i| measured(i, 30.0 + 0.4 * f64::from(i), 20))
            .collect();
        let newcomer = measured(200, 60.0, 9);
        let mut play = |who: MeasuredPlayer| {
            ladder.learn(&settings, [who].into_iter(), || town.clone());
            ladder.rank(who.player, who.weight)
        };
        assert_eq!(play(newcomer), None, "calibrating");
        let rank = play(measured(200, 60.0, 10)).unwrap();
        assert_eq!(rank.division, 2);
        for _ in 0..200 {
            play(measured(7, 45.0, 30));
        }
        let rank = |weight| ladder.rank(Player(200), weight).unwrap();
        assert_eq!(rank(60.0).division, 2);
        assert_eq!(rank(40.0).division, 2, "until the next match");
        assert_eq!(rank(40.0).progress, 0.0);
        ladder.learn(&settings, [measured(200, 40.0, 11)].into_iter(), || {
            town.clone()
        });
        assert_eq!(ladder.rank(Player(200), 40.0).unwrap().division, 0);
    }

    #[test]
    fn borders_are_set_again_ever_less_often() {
        let (settings, mut ladder) = (settings(), Ladder::default());
        let mut set = 0;
        for _ in 0..10_000 {
            ladder.learn(&settings, std::iter::empty(), || {
                set += 1;
                Vec::new()
            });
        }
        assert!((50..200).contains(&set), "{set}");
        assert!(ladder.rank_of_weight(50.0).is_some());
        assert!(ladder.rank(Player(0), 50.0).is_none());
    }
}
