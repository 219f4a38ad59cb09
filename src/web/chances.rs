//! The chances of a match in words, which are the same on every page.

use super::words;
use crate::model::{TeamChances, TeamNames};

/// The teams that BALANCE, before START, or a queue has chosen.
pub(super) const AS_PICKED: &str = text!(chances.as_picked);
/// The teams at START.
pub(super) const AS_STARTED: &str = text!(chances.as_started);
/// What was predicted with everybody who played.
pub(super) const FORECAST: &str = text!(chances.forecast);
/// What a forecast is.
pub(super) const OF_FORECAST: &str = text!(chances.the_forecast_is_the_chance_with);
/// Of which matches a share of wins is.
pub(super) const OF_DECIDED: &str = text!(chances.of_the_matches_that_a_team_won);
/// What the other chances are.
pub(super) const OF_CHANCES: &str = text!(chances.the_chances_are_those_that_were);
/// The chance of a team with the score of a running game.
pub(super) fn with_score(chance: f64, names: &TeamNames) -> String {
    let (team, chance) = of_forecast(chance);
    let (team, chance) = (names.name(team.into()), words::chance(chance));
    format!(
        text!(chances.with_the_score_has_a_chance_of_to),
        team = team,
        chance = chance
    )
}

/// What was predicted of the teams at a moment of a match; `has` is the verb.
pub(super) fn sentence(moment: &str, teams: &TeamChances, has: &str, names: &TeamNames) -> String {
    let sizes = match teams.sizes() {
        sizes if sizes.is_empty() => sizes,
        sizes => format!(" ({sizes})"),
    };
    match teams.favourite() {
        Some((team, chance)) => {
            let (team, chance) = (names.name(team.into()), words::chance(chance));
            format!(
                text!(chances.a_chance_of_to_win),
                moment = moment,
                sizes = sizes,
                team = team,
                has = has,
                chance = chance
            )
        }
        None => format!(
            text!(chances.no_chance_was_predicted),
            moment = moment,
            sizes = sizes
        ),
    }
}

/// A team and its chance, as in `team 1, 55 %`.
pub(super) fn favourite((team, chance): (u8, f64), names: &TeamNames) -> String {
    format!("{}, {}", names.name(team.into()), words::chance(chance))
}

/// The favourite of a forecast between two teams, which is the chance of team 0.
pub(super) fn of_forecast(forecast: f64) -> (u8, f64) {
    match forecast >= 0.5 {
        true => (0, forecast),
        false => (1, 1.0 - forecast),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chance_is_told_with_the_sizes_of_the_teams() {
        let teams = |win: &[f64], humans: &[u32]| TeamChances {
            win: win.to_vec(),
            humans: humans.to_vec(),
            bots: vec![0; humans.len()],
        };
        let said = |win: &[f64], humans: &[u32]| {
            sentence(
                AS_STARTED,
                &teams(win, humans),
                "had",
                &TeamNames::default(),
            )
        };
        assert_eq!(
            said(&[0.45, 0.55], &[7, 6]),
            "As started (7 v 6), team 1 had a chance of 55 % to win."
        );
        assert_eq!(
            said(&[0.5, 0.5], &[]),
            "As started, team 0 had a chance of 50 % to win."
        );
        assert_eq!(
            said(&[], &[7, 6]),
            "As started (7 v 6), no chance was predicted."
        );
        let none = TeamNames::default();
        assert_eq!(favourite(of_forecast(0.25), &none), "team 1, 75 %");
        assert_eq!(favourite(of_forecast(0.5), &none), "team 0, 50 %");
        let named = TeamNames::try_from(vec!["Red".to_owned(), "Blue".to_owned()]).unwrap();
        assert_eq!(favourite(of_forecast(0.25), &named), "Blue, 75 %");
        assert_eq!(
            with_score(0.75, &named),
            "With the score, Red has a chance of 75 % to win."
        );
    }
}
