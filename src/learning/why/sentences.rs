//! The sentences about a player's weight. A pure function of the facts.

use super::{WeighedMatch, WhyRating};
use crate::{domain::counted, rating::SystemName};

/// The weight of a newcomer.
const NEWCOMER: f64 = 50.0;
/// Results that differ by less than this many victories are as they were expected.
const AS_EXPECTED: f64 = 0.5;

impl WhyRating {
    /// Why the weight is what it is, in about five sentences for people.
    pub fn sentences(&self) -> Vec<String> {
        let said = [
            Some(self.standing()),
            self.results(),
            self.changes(),
            self.points(),
            Some(self.elsewhere()),
            self.shared(),
        ];
        said.into_iter().flatten().collect()
    }

    /// The weight beside a newcomer's.
    fn standing(&self) -> String {
        let matches = counted(self.games, "rated match");
        if let Some(pinned) = self.pinned {
            let last = self.matches.iter().find_map(|one| one.weight);
            let learned = match (last.filter(|_| self.is_by_one_system()), self.games) {
                (Some(weight), _) => {
                    format!("; after the last match, the matches alone gave {weight:.1}")
                }
                (None, _) => String::new(),
            };
            return format!(
                "An operator has fixed the weight at {pinned}: none of the {matches} changes it{learned}."
            );
        }
        let above = self.weight - NEWCOMER;
        let beside = match above {
            above if above.abs() < 0.05 => "that of a newcomer, 50".to_owned(),
            above if above > 0.0 => format!("{above:.1} above the 50 of a newcomer"),
            above => format!("{:.1} below the 50 of a newcomer", -above),
        };
        let doubt = match self.deviation {
            doubt if doubt > above.abs() => {
                ". That is less than the uncertainty (±): more matches will tell"
            }
            _ => "",
        };
        let deviation = match self.deviation > 0.0 {
            true => format!(" ± {:.1}", self.deviation),
            false => String::new(),
        };
        format!(
            "The weight is {:.1}{deviation} after {matches}: {beside}{doubt}.",
            self.weight
        )
    }

    /// Whether the stored predictions and weights after matches are by the rating system that gives the weight.
    fn is_by_one_system(&self) -> bool {
        self.system.is_some() && self.system == self.predicted_by
    }

    /// The expected results of the latest matches, and the actual ones.
    fn results(&self) -> Option<String> {
        let both = |one: &WeighedMatch| Some((one.expected?, one.result?));
        let both: Vec<(f64, f64)> = self.matches.iter().filter_map(both).collect();
        let rule = self.system.map_or("", rule);
        let points = self.team_points();
        if both.is_empty() {
            let results = self.matches.iter().filter_map(|one| one.result);
            let results: Vec<f64> = results.collect();
            if results.is_empty() {
                return Some(format!("{rule}{points}").trim().to_owned())
                    .filter(|said| !said.is_empty());
            }
            return Some(format!(
                "The player's teams won {} of the last {}, for which nothing was predicted.{rule}{points}",
                number(results.iter().sum()),
                counted(results.len() as u64, "match"),
            ));
        }
        let expected: f64 = both.iter().map(|(expected, _)| expected).sum();
        let won: f64 = both.iter().map(|(_, won)| won).sum();
        let by = match (self.is_by_one_system(), self.predicted_by) {
            (false, Some(system)) => format!(" (by the system {system})"),
            _ => String::new(),
        };
        let draws = match both.iter().any(|(_, won)| *won == 0.5) {
            true => ", a draw as half a victory",
            false => "",
        };
        Some(format!(
            "In the last {}, the player's teams were expected to win {expected:.1}{by} and won {}{draws}{}.{rule}{points}",
            counted(both.len() as u64, "match"),
            number(won),
            self.speaks_for(won - expected),
        ))
    }

    /// What it means that the player's teams have won `more` matches more than expected.
    fn speaks_for(&self, more: f64) -> String {
        let counts = self.system.is_some_and(goes_by_results);
        let (count, what) = match more {
            more if more.abs() < AS_EXPECTED => return ": about as many as expected".to_owned(),
            more if more > 0.0 => (format!("{more:.1} more"), "higher"),
            more => (format!("{:.1} fewer", -more), "lower"),
        };
        let speaks = match counts {
            true => format!(", which speaks for a {what} weight"),
            false => String::new(),
        };
        format!(": {count} than expected{speaks}")
    }

    /// What the teams scored and conceded, where the weight is made of that.
    fn team_points(&self) -> String {
        if self.system != Some(SystemName::Presence) || self.matches.is_empty() {
            return String::new();
        }
        let sum = |part: fn(&WeighedMatch) -> f64| -> f64 { self.matches.iter().map(part).sum() };
        let (scored, conceded) = (sum(|one| one.points_for), sum(|one| one.points_against));
        let matches = counted(self.matches.len() as u64, "match");
        format!(
            " In the last {matches} that was {} for the player and {} against.",
            number(scored),
            number(conceded)
        )
    }

    /// How the latest matches have changed the weight. Only if one rating system has given all these weights.
    fn changes(&self) -> Option<String> {
        let known = self.matches.iter().filter_map(|one| one.weight);
        let weights: Vec<f64> = known.collect();
        let (last, first) = (weights.first()?, weights.last()?);
        if !self.is_by_one_system() || weights.len() < 2 {
            return None;
        }
        let changes = self
            .matches
            .iter()
            .filter_map(|one| Some((one.change?, one)));
        let changes: Vec<(f64, &WeighedMatch)> = changes.collect();
        let with = |wanted: fn(f64) -> bool| changes.iter().filter(|(by, _)| wanted(*by)).count();
        let most = changes
            .iter()
            .max_by(|a, b| a.0.abs().total_cmp(&b.0.abs()));
        let most = most.map_or_else(String::new, |(by, most)| {
            let day = most.ended.to_string();
            let day = day.get(..10).unwrap_or_default().to_owned();
            format!(
                ": it rose with {} and fell with {}, most with match {} on {day}{}, by {}",
                with(|by| by > 0.0),
                with(|by| by < 0.0),
                most.id,
                story(most),
                signed(*by)
            )
        });
        Some(format!(
            "The weight was {first:.1} after the first of these matches and {last:.1} after the last one{most}."
        ))
    }

    /// The player's points beside those of the others.
    fn points(&self) -> Option<String> {
        let both = |one: &WeighedMatch| Some((one.points?, one.points_of_others?));
        let both: Vec<(f64, f64)> = self.matches.iter().filter_map(both).collect();
        if both.is_empty() {
            return None;
        }
        let mean =
            |part: fn(&(f64, f64)) -> f64| both.iter().map(part).sum::<f64>() / both.len() as f64;
        let use_of_points = self.system.map_or("", use_of_points);
        Some(format!(
            "The player made {:.1} points a match, the others in the same matches {:.1} on average.{use_of_points}",
            mean(|(own, _)| *own),
            mean(|(_, others)| *others),
        ))
    }

    /// What the weight contains that matches under this ruleset have not shown.
    fn elsewhere(&self) -> String {
        let mut parts = Vec::new();
        if let Some(start) = self.start {
            let guess = if start.uncertain { ", as a guess" } else { "" };
            parts.push(format!(
                "an operator let the player start at {}{guess}",
                start.weight
            ));
        }
        let told: Vec<String> = self
            .earlier
            .iter()
            .map(|other| {
                let at = other
                    .weight
                    .map_or_else(String::new, |weight| format!(" (weight {weight:.1})"));
                let matches = counted(other.games as u64, "match");
                format!("{matches} under {}{at}", other.ruleset)
            })
            .collect();
        match self.earlier.first() {
            Some(other) if other.is_near => parts.push(format!(
                "what {} had shown was taken over as it was, since the rules are nearly the same",
                told.join(", ")
            )),
            Some(_) => parts.push(format!(
                "a part of what {} had shown was taken over",
                told.join(", ")
            )),
            None => {}
        }
        match (parts.is_empty(), self.is_whole) {
            (false, _) => format!("Before the first match here, {}.", parts.join(", and ")),
            (true, true) => {
                "Nothing comes from elsewhere: the player started at 50, as every newcomer.".to_owned()
            }
            (true, false) => {
                "What came from elsewhere before the first match here is not known any more: the oldest matches are \
                 archived, or there are too many."
                    .to_owned()
            }
        }
    }

    /// Seasons, and identities that count as the player.
    fn shared(&self) -> Option<String> {
        let mut said = Vec::new();
        if self.seasons > 0 {
            let have = if self.seasons == 1 { "has" } else { "have" };
            said.push(format!(
                "Since then {} {have} begun, and each left {:.0} % of the distance from 50.",
                counted(self.seasons as u64, "season"),
                100.0 * self.season_keeps
            ));
        }
        if self.merged > 0 {
            let (other, counts) = match self.merged {
                1 => ("1 other identity".to_owned(), "counts"),
                more => (format!("{more} other identities"), "count"),
            };
            said.push(format!(
                "{other} {counts} as this player, with all matches."
            ));
        }
        (!said.is_empty()).then(|| said.join(" "))
    }
}

/// Whether a rating system compares who won with what was expected, and nothing else about a match.
fn goes_by_results(system: SystemName) -> bool {
    match system {
        SystemName::Elo
        | SystemName::Hive
        | SystemName::HiveHistory
        | SystemName::Glicko2
        | SystemName::TrueSkill
        | SystemName::PlackettLuce
        | SystemName::ThurstoneMosteller => true,
        // Who has won says little beside by how much.
        SystemName::Joint
        | SystemName::Presence
        | SystemName::Scoreboard
        | SystemName::WinRate
        | SystemName::PlainPoints => false,
    }
}

/// What a rating system learns from, where it is not the results beside the expected ones alone.
fn rule(system: SystemName) -> &'static str {
    match system {
        SystemName::Joint => {
            " Where scores are known, it counts by how much a match is won or lost."
        }
        SystemName::Presence => {
            " The weight goes by the points that the team makes and concedes while the player is on it, whatever was \
             expected."
        }
        SystemName::Scoreboard => " The weight goes by the place on the scoreboard, whoever wins.",
        SystemName::WinRate => " The weight is the share of matches won, whatever was expected.",
        SystemName::PlainPoints => {
            " Each victory raises the weight and each defeat lowers it by the same, whatever was expected."
        }
        SystemName::Elo
        | SystemName::Hive
        | SystemName::HiveHistory
        | SystemName::Glicko2
        | SystemName::TrueSkill
        | SystemName::PlackettLuce
        | SystemName::ThurstoneMosteller => "",
    }
}

/// What a player's points on the scoreboard are to a rating system.
fn use_of_points(system: SystemName) -> &'static str {
    match system {
        SystemName::Joint => {
            " For the weight, they count only as far as they have shown who wins, and less with each match."
        }
        SystemName::Elo => {
            " The best of the winners gain most by a match, and the worst of the losers lose most."
        }
        SystemName::Scoreboard => " The weight is made of the places in that order.",
        SystemName::Presence
        | SystemName::Hive
        | SystemName::HiveHistory
        | SystemName::Glicko2
        | SystemName::TrueSkill
        | SystemName::PlackettLuce
        | SystemName::ThurstoneMosteller
        | SystemName::WinRate
        | SystemName::PlainPoints => " For the weight, these points do not count.",
    }
}

/// The result of a match and its chance, such as `, lost at a chance of 80 %`.
fn story(one: &WeighedMatch) -> String {
    let what = match one.result {
        Some(result) if result > 0.5 => "won",
        Some(result) if result < 0.5 => "lost",
        Some(_) => "a draw",
        None => return String::new(),
    };
    let at = one.expected;
    let at = at.map(|chance| format!(" at a chance of {:.0} %", 100.0 * chance));
    format!(" ({what}{})", at.unwrap_or_default())
}

/// A number of victories or points, with a decimal if it has one.
fn number(count: f64) -> String {
    let tenths = (10.0 * count).round() / 10.0;
    tenths.to_string()
}

fn signed(change: f64) -> String {
    match format!("{change:+.1}") {
        zero if zero == "-0.0" => "+0.0".to_owned(),
        text => text.replace('-', "−"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        domain::{StartWeight, Timestamp},
        learning::EarlierGames,
    };

    /// A match with this chance, result and change of the weight to `weight`.
    fn one(id: i64, expected: f64, result: f64, weight: f64, change: f64) -> WeighedMatch {
        WeighedMatch {
            id,
            ended: Timestamp(id * 86_400_000),
            expected: Some(expected),
            result: Some(result),
            weight: Some(weight),
            change: Some(change),
            points_for: 1.0,
            points_against: 3.0,
            points: Some(10.0),
            points_of_others: Some(12.0),
        }
    }

    /// Bob, who loses what he should win.
    fn bob(system: SystemName) -> WhyRating {
        WhyRating {
            ruleset: "ctf".into(),
            weight: 41.2,
            deviation: 3.1,
            games: 34,
            system: Some(system),
            predicted_by: Some(system),
            pinned: None,
            start: None,
            merged: 0,
            earlier: Vec::new(),
            is_whole: true,
            seasons: 0,
            season_keeps: 0.8,
            matches: vec![
                one(9, 0.75, 0.0, 41.2, -1.4),
                one(8, 0.5, 1.0, 42.6, 0.9),
                one(7, 0.75, 0.0, 41.7, -0.8),
                one(6, 0.75, 0.5, 42.5, -0.3),
            ],
        }
    }

    #[test]
    fn five_sentences_say_why_bob_is_rated_low() {
        let said = bob(SystemName::Joint).sentences();
        let by_hand = [
            "The weight is 41.2 ± 3.1 after 34 rated matches: 8.8 below the 50 of a newcomer.",
            "In the last 4 matches, the player's teams were expected to win 2.8 and won 1.5, a draw as half a victory: \
             1.2 fewer than expected. Where scores are known, it counts by how much a match is won or lost.",
            "The weight was 42.5 after the first of these matches and 41.2 after the last one: it rose with 1 and fell \
             with 3, most with match 9 on 1970-01-10 (lost at a chance of 75 %), by −1.4.",
            "The player made 10.0 points a match, the others in the same matches 12.0 on average. For the weight, they \
             count only as far as they have shown who wins, and less with each match.",
            "Nothing comes from elsewhere: the player started at 50, as every newcomer.",
        ];
        assert_eq!(said, by_hand);
    }

    #[test]
    fn what_counts_is_said_for_each_system() {
        for system in SystemName::ALL {
            let text = bob(system).sentences().join(" ");
            assert_eq!(
                text.contains("speaks for"),
                goes_by_results(system),
                "{system}"
            );
        }
        let text = |system| bob(system).sentences().join(" ");
        assert!(text(SystemName::Presence).contains("4 for the player and 12 against"));
        assert!(text(SystemName::Scoreboard).contains("whoever wins"));
        assert!(text(SystemName::WinRate).contains("share of matches won"));
        assert!(
            text(SystemName::Elo).contains("fewer than expected, which speaks for a lower weight.")
        );
        assert!(text(SystemName::Elo).contains("best of the winners"));
        assert!(text(SystemName::Glicko2).contains("these points do not count"));
    }

    #[test]
    fn of_weights_of_an_unknown_system_only_the_results_are_told() {
        let unknown = WhyRating {
            system: None,
            predicted_by: None,
            ..bob(SystemName::Joint)
        };
        let said = unknown.sentences();
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[1].ends_with("1.2 fewer than expected."), "{}", said[1]);
        assert!(said[2].ends_with("on average."), "{}", said[2]);
        let other = WhyRating {
            system: Some(SystemName::Hive),
            ..bob(SystemName::Joint)
        };
        let said = other.sentences();
        assert!(
            said[1].contains("win 2.8 (by the system joint) and won"),
            "{}",
            said[1]
        );
        assert!(!said.join(" ").contains("it rose with"), "{said:?}");
    }

    #[test]
    fn a_fixed_weight_is_said_first() {
        let fixed = WhyRating {
            pinned: Some(40.0),
            weight: 40.0,
            deviation: 0.0,
            ..bob(SystemName::Joint)
        };
        assert_eq!(
            fixed.sentences()[0],
            "An operator has fixed the weight at 40: none of the 34 rated matches changes it; after the last match, \
             the matches alone gave 41.2."
        );
    }

    #[test]
    fn few_matches_are_said_to_tell_little() {
        let new = WhyRating {
            weight: 53.0,
            deviation: 9.0,
            games: 1,
            matches: vec![one(1, 0.5, 1.0, 53.0, 0.0)],
            ..bob(SystemName::Joint)
        };
        let said = new.sentences();
        assert_eq!(
            said[0],
            "The weight is 53.0 ± 9.0 after 1 rated match: 3.0 above the 50 of a newcomer. That is less than the \
             uncertainty (±): more matches will tell."
        );
        assert!(said[1].contains("In the last 1 match, "), "{}", said[1]);
        let exact = WhyRating {
            weight: 50.0,
            deviation: 0.0,
            ..new
        };
        assert_eq!(
            exact.sentences()[0],
            "The weight is 50.0 after 1 rated match: that of a newcomer, 50."
        );
    }

    #[test]
    fn what_came_from_elsewhere_is_named() {
        let earlier = |ruleset: &str, is_near| EarlierGames {
            ruleset: ruleset.into(),
            games: 12,
            weight: Some(61.0),
            is_near,
        };
        let of = |start, earlier, is_whole| {
            let why = WhyRating {
                start,
                earlier,
                is_whole,
                ..bob(SystemName::Joint)
            };
            why.elsewhere()
        };
        let start = StartWeight {
            weight: 62.0,
            uncertain: true,
        };
        assert_eq!(
            of(Some(start), vec![earlier("tdm", false)], true),
            "Before the first match here, an operator let the player start at 62, as a guess, and a part of what 12 \
             matches under tdm (weight 61.0) had shown was taken over."
        );
        assert!(of(None, vec![earlier("ctf", true)], true).contains("taken over as it was"));
        assert!(of(None, Vec::new(), false).contains("is not known any more"));
        let shared = WhyRating {
            seasons: 2,
            merged: 1,
            ..bob(SystemName::Joint)
        };
        assert_eq!(
            shared.sentences()[5],
            "Since then 2 seasons have begun, and each left 80 % of the distance from 50. 1 other identity counts as \
             this player, with all matches."
        );
    }

    #[test]
    fn games_without_predictions_or_teams_have_what_is_known() {
        let without = |result| {
            let mut why = bob(SystemName::Hive);
            for one in &mut why.matches {
                (one.expected, one.result, one.points) = (None, result, None);
            }
            why.sentences()
        };
        assert_eq!(
            without(Some(1.0))[1],
            "The player's teams won 4 of the last 4 matches, for which nothing was predicted."
        );
        assert!(
            without(None)[1].starts_with("The weight was"),
            "no result at all"
        );
    }
}
