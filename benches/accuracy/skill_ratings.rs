//! The systems for teams of the crate `skillratings`, with its defaults: TrueSkill and Weng–Lin.

use skillratings::{
    Outcomes,
    trueskill::{self, TrueSkillConfig, TrueSkillRating, trueskill_two_teams},
    weng_lin::{self, WengLinConfig, WengLinRating, weng_lin_two_teams},
};

use crate::peers::{Game, Peer};

/// The crate's TrueSkill.
#[derive(Default)]
pub struct TrueSkill {
    ratings: Vec<TrueSkillRating>,
}

/// The crate's Weng–Lin.
#[derive(Default)]
pub struct WengLin {
    ratings: Vec<WengLinRating>,
}

impl Peer for TrueSkill {
    fn chance(&self, game: &Game) -> f64 {
        let [one, other] = teams(&self.ratings, game);
        trueskill::expected_score_two_teams(&one, &other, &TrueSkillConfig::new()).0
    }

    fn learn(&mut self, game: &Game) {
        let [one, other] = teams(&self.ratings, game);
        let config = TrueSkillConfig::new();
        let (one, other) = trueskill_two_teams(&one, &other, &outcome(game), &config);
        put(&mut self.ratings, game, [one, other]);
    }
}

impl Peer for WengLin {
    fn chance(&self, game: &Game) -> f64 {
        let [one, other] = teams(&self.ratings, game);
        weng_lin::expected_score_two_teams(&one, &other, &WengLinConfig::new()).0
    }

    fn learn(&mut self, game: &Game) {
        let [one, other] = teams(&self.ratings, game);
        let config = WengLinConfig::new();
        let (one, other) = weng_lin_two_teams(&one, &other, &outcome(game), &config);
        put(&mut self.ratings, game, [one, other]);
    }
}

fn outcome(game: &Game) -> Outcomes {
    match game.result {
        1.0 => Outcomes::WIN,
        0.0 => Outcomes::LOSS,
        _ => Outcomes::DRAW,
    }
}

/// The ratings of the teams' players.
fn teams<R: Copy + Default>(ratings: &[R], game: &Game) -> [Vec<R>; 2] {
    let rating = |player: usize| ratings.get(player).copied().unwrap_or_default();
    [0, 1].map(|team| game.present(team).into_iter().map(rating).collect())
}

/// Replaces the ratings of the teams' players.
fn put<R: Copy + Default>(ratings: &mut Vec<R>, game: &Game, new: [Vec<R>; 2]) {
    for (team, new) in new.into_iter().enumerate() {
        for (player, rating) in game.present(team).into_iter().zip(new) {
            ratings.resize(ratings.len().max(player + 1), R::default());
            ratings[player] = rating;
        }
    }
}
