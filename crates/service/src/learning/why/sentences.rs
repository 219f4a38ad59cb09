//! The sentences about a player's weight. A pure function of the facts.

use super::{AccountEntry, PlayedMatch, WhyRating};
use crate::{
    model::{text::counted, weight::WeightCause},
    rating::SystemName,
};

/// The middle of the scale.
const MIDDLE: f64 = 50.0;
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

    /// The weight beside the middle of the scale.
    fn standing(&self) -> String {
        let matches = counted(self.games, "rated match");
        if let Some(pinned) = self.pinned {
            let last = self.latest_weight().filter(|_| self.system.is_some());
            let beneath = last.map_or_else(String::new, |weight| {
                format!("; beneath it, they have brought the weight to {weight:.1}")
            });
            return format!(
                "An operator has fixed the weight at {pinned}: none of the {matches} changes it{beneath}."
            );
        }
        let above = self.weight - MIDDLE;
        let middle = self.system.map_or("50", middle);
        let beside = match above {
            above if above.abs() < 0.05 => format!("that is {middle}"),
            above if above > 0.0 => format!("{above:.1} above {middle}"),
            above => format!("{:.1} below {middle}", -above),
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

    /// The weight after the last match.
    fn latest_weight(&self) -> Option<f64> {
        self.matches.iter().find_map(|one| Some(one.entry?.weight))
    }

    /// The expected results of the latest matches, and the actual ones.
    fn results(&self) -> Option<String> {
        let both = |one: &PlayedMatch| Some((one.forecast?, one.result?));
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
        let draws = match both.iter().any(|(_, won)| *won == 0.5) {
            true => ", a draw as half a victory",
            false => "",
        };
        Some(format!(
            "In the last {}, the player's teams were expected to win {expected:.1} and won {}{draws}{}.{rule}{points}",
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
        let points = |one: &PlayedMatch| one.points_for.zip(one.points_against);
        let known: Vec<(f64, f64)> = self.matches.iter().filter_map(points).collect();
        let scored: f64 = known.iter().map(|(scored, _)| scored).sum();
        let conceded: f64 = known.iter().map(|(_, conceded)| conceded).sum();
        let matches = counted(known.len() as u64, "match");
        format!(
            " In the last {matches} that was {} for the player and {} against.",
            number(scored),
            number(conceded)
        )
    }

    /// How the latest matches have changed the weight, and why some have not. Only if the system is known that has given
    /// these weights.
    fn changes(&self) -> Option<String> {
        let entered = self
            .matches
            .iter()
            .filter_map(|one| Some((one, one.entry?)));
        let entered: Vec<_> = entered.collect();
        let ((_, last), (_, first)) = (entered.first()?, entered.last()?);
        if self.system.is_none() || entered.len() < 2 {
            return None;
        }
        let with = |wanted: fn(f64) -> bool| {
            let changes = entered.iter().map(|(_, entry)| entry.change);
            changes.filter(|by| wanted(*by)).count()
        };
        let size = |(_, entry): &(_, AccountEntry)| entry.change.abs();
        let most = entered.iter().max_by(|a, b| size(a).total_cmp(&size(b)));
        let most = most.filter(|most| size(most) > 0.0);
        let most = most.map_or_else(String::new, |(most, entry)| {
            let day = most.ended.to_string();
            let day = day.get(..10).unwrap_or_default().to_owned();
            format!(
                ", and moved most with match {} on {day}{}, by {}",
                most.id,
                story(most),
                signed(entry.change)
            )
        });
        let which = match self.pinned {
            Some(_) => "Beneath the fixed weight, that of the results",
            None => "The weight",
        };
        Some(format!(
            "{which} was {:.1} before the first of these matches and {:.1} after the last one: it rose with {}, fell with \
             {} and stayed with {}{most}.{}",
            first.weight_before,
            last.weight,
            with(|by| by > 0.0),
            with(|by| by < 0.0),
            with(|by| by == 0.0),
            self.held()
        ))
    }

    /// Which victories and defeats have left the weight as it was.
    fn held(&self) -> String {
        let causes = self.matches.iter().filter_map(|one| one.entry?.cause);
        let causes: Vec<WeightCause> = causes.collect();
        let of = |all: [WeightCause; 3]| causes.iter().filter(|one| all.contains(one)).count();
        let held = |cause: WeightCause| causes.iter().filter(|one| **one == cause).count();
        let won = of([
            WeightCause::Won,
            WeightCause::WonLimited,
            WeightCause::WonHeld,
        ]);
        let lost = of([
            WeightCause::Lost,
            WeightCause::LostLimited,
            WeightCause::LostHeld,
        ]);
        let (won_held, lost_held) = (held(WeightCause::WonHeld), held(WeightCause::LostHeld));
        let mut said = Vec::new();
        if won_held > 0 {
            said.push(format!(
                "{won_held} of {} moved nothing, won by less than expected",
                counted(won as u64, "win")
            ));
        }
        if lost_held > 0 {
            said.push(format!(
                "{lost_held} of {} moved nothing, since they left the strength no lower than the weight",
                counted(lost as u64, "defeat")
            ));
        }
        if said.is_empty() {
            return String::new();
        }
        let usual = match won_held > 0 && self.weight > MIDDLE {
            true => {
                " So it is for strong players: half of their wins move nothing, and a defeat costs them more."
            }
            false => "",
        };
        format!(
            " A victory never lowers it, and a defeat never raises it: {}.{usual}",
            said.join("; ")
        )
    }

    /// The player's points beside those of the others.
    fn points(&self) -> Option<String> {
        let both = |one: &PlayedMatch| Some((one.points?, one.points_of_others?));
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
                let first = self.first_weight;
                let started = first.map_or_else(String::new, |weight| {
                    format!(": the player started at {weight:.1}, as every newcomer did then")
                });
                format!("Nothing comes from elsewhere{started}.")
            }
            (true, false) => {
                "What came from elsewhere before the first match here is not shown: there are too many matches."
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

/// What the middle of the scale stands for.
fn middle(system: SystemName) -> &'static str {
    match system {
        SystemName::Presence | SystemName::Scoreboard | SystemName::WinRate => {
            "the 50 of a newcomer"
        }
        SystemName::Joint
        | SystemName::Elo
        | SystemName::Hive
        | SystemName::HiveHistory
        | SystemName::Glicko2
        | SystemName::TrueSkill
        | SystemName::PlackettLuce
        | SystemName::ThurstoneMosteller
        | SystemName::PlainPoints => "the 50 of the average seat",
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
fn story(one: &PlayedMatch) -> String {
    let what = match one.result {
        Some(result) if result > 0.5 => "won",
        Some(result) if result < 0.5 => "lost",
        Some(_) => "a draw",
        None => return String::new(),
    };
    let at = one.forecast;
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
mod tests;
