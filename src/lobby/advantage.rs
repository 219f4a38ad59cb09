//! ADVANTAGE: how much help the weaker team needs for an even game.
//!
//! # The formula
//!
//! Only teams with players count. With `W` a team's weight (every human and every bot present, by
//! its own weight), `o` its side's odds and `P` its score, lifted so that none is negative:
//!
//! ```text
//! prior  q = W·o / Σ W·o                        what the weights promise
//! seen   s = (P + 1) / Σ (P + 1)                what the scores say
//! trust  τ = c^1.5,  c = elapsed / (elapsed + left);  0 while no score has been told
//! share  b = q^(1−τ) · s^τ
//! factor f = max b / min b, for the team of min b
//! ```
//!
//! `q` is the UT2004 page's ratio of sums; a side's odds multiply it as they do in the NS2 page's
//! logistic model, where they are a term F that is added to the log-odds. `s` is Laplace's rule of
//! succession, so that the first point of a game isn't infinitely telling. The two are pooled
//! geometrically (logarithmic opinion pool, Genest and Zidek 1986), since factors multiply: swapping
//! the teams gives the reciprocal. That trust moves from the prior to the score as time runs out is
//! H. Stern's model of scores as a Brownian motion (1994).
//!
//! `f` is 1 below the dead band and at most the cap; what is answered approaches it no faster than
//! the slew limit allows, both measured in ln f.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Question;

/// What an admin decides about helping the weaker team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AdvantageSettings {
    /// The largest factor, at least 1.
    pub max: f64,
    /// Below this factor none is due, at least 1.
    pub dead_band: f64,
    /// By how much the factor may change in a minute, itself a factor above 1.
    pub slew: f64,
    /// The power of completion that is trusted to the score, above 0.
    pub trust: f64,
    /// How long a game takes where CLOCK tells nothing, in milliseconds; 0 never trusts its score.
    pub usual_length: u64,
}

impl Default for AdvantageSettings {
    /// Beyond 1.5, helping is felt as cheating. Below 1.05, one player's shooting hours, it isn't
    /// felt at all, nor is a twentieth more a minute: the cap is reached in eight. Completion^1.5
    /// trusts a third of what is seen at half-time; a start, to be fitted to stored decisions. 20
    /// minutes are the usual time limit of a round.
    fn default() -> Self {
        Self {
            max: 1.5,
            dead_band: 1.05,
            slew: 1.05,
            trust: 1.5,
            usual_length: 20 * 60_000,
        }
    }
}

/// The question of ADVANTAGE. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Advantage {
    /// Each team.
    pub teams: Vec<TeamState>,
    /// Play so far; 0 before START.
    pub elapsed: u64,
    /// Play left, if CLOCK told.
    pub left: Option<u64>,
    /// Whether any score has been told: without, 0 to 0 may only mean that nobody tells.
    pub scored: bool,
    /// The help that was answered last in this game, and how long ago that was.
    pub last: Option<(Help, u64)>,
    /// How.
    pub settings: AdvantageSettings,
}

/// One team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TeamState {
    /// Humans and bots on it.
    pub players: usize,
    /// What they weigh.
    pub weight: f64,
    /// The odds that its side wins between even teams; 1 where unknown.
    pub odds: f64,
    /// Its score.
    pub score: f64,
}

/// Help for a team.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Help {
    /// Which.
    pub team: u8,
    /// What to multiply its strength by, in whatever way the game can; above 1.
    pub factor: f64,
}

/// How much help is due, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assistance {
    /// The answer; `None` when no help is due.
    pub help: Option<Help>,
    /// What it is on its way to.
    pub target: Option<Help>,
    /// Each team's share by the weights; 0 for one without players.
    pub prior: Vec<f64>,
    /// Each team's share by the scores.
    pub seen: Vec<f64>,
    /// How far the scores are trusted, 0 to 1.
    pub trust: f64,
    /// Strongest over weakest, before cap and dead band.
    pub factor: f64,
}

impl Question for Advantage {
    type Answer = Assistance;

    fn answer(&self, _seed: u64) -> Assistance {
        let prior = self.shares(|team| team.weight.max(0.0) * team.odds.max(0.0));
        let lowest = self.teams.iter().map(|team| team.score).fold(0.0, f64::min);
        let seen = self.shares(|team| team.score - lowest + 1.0);
        let trust = self.trust();
        let logs = self.playing().map(|team| {
            let pooled = (1.0 - trust) * log(prior[team]) + trust * log(seen[team]);
            (team as u8, pooled)
        });
        let logs: Vec<(u8, f64)> = logs.collect();
        let weakest = logs
            .iter()
            .copied()
            .reduce(|a, b| if b.1 < a.1 { b } else { a });
        let most = logs
            .iter()
            .map(|(_, log)| *log)
            .fold(f64::NEG_INFINITY, f64::max);
        let (team, gap) = weakest.map_or((0, 0.0), |(team, least)| (team, most - least));
        let target = self.target(team, gap);
        Assistance {
            help: self.slewed(target),
            target,
            prior,
            seen,
            trust,
            factor: libm::exp(gap),
        }
    }

    fn explain(&self, answer: &Assistance, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tell = |help: Option<Help>| match help {
            Some(Help { team, factor }) => format!("{factor:.3} for team {team}"),
            None => "none".to_owned(),
        };
        writeln!(
            f,
            "advantage {}; due {}, from {:.6} before cap and dead band",
            tell(answer.help),
            tell(answer.target),
            answer.factor
        )?;
        writeln!(f, "the scores are trusted by {:.6}", answer.trust)?;
        for (index, team) in self.teams.iter().enumerate() {
            writeln!(
                f,
                "team {index}: {} players weigh {:.3}, side's odds {:.3}, share {:.6}; score {}, share {:.6}",
                team.players,
                team.weight,
                team.odds,
                answer.prior[index],
                team.score,
                answer.seen[index]
            )?;
        }
        if let Some((help, ago)) = self.last {
            writeln!(
                f,
                "{} s ago it was {}",
                ago / 1_000,
                tell(Some(help).filter(|help| help.factor > 1.0))
            )?;
        }
        Ok(())
    }
}

impl Advantage {
    fn playing(&self) -> impl Iterator<Item = usize> {
        (0..self.teams.len()).filter(|&team| self.teams[team].players > 0)
    }

    /// Each playing team's share of the sum of `value`; equal shares when that is 0.
    fn shares(&self, value: impl Fn(&TeamState) -> f64) -> Vec<f64> {
        let sum: f64 = self.playing().map(|team| value(&self.teams[team])).sum();
        let equal = 1.0 / self.playing().count().max(1) as f64;
        let share = |team: &TeamState| match team.players {
            0 => 0.0,
            _ if sum > 0.0 => value(team) / sum,
            _ => equal,
        };
        self.teams.iter().map(share).collect()
    }

    fn trust(&self) -> f64 {
        let length = match self.left {
            Some(left) => self.elapsed.saturating_add(left),
            None => self.settings.usual_length,
        };
        if !self.scored || self.elapsed == 0 || length == 0 {
            return 0.0;
        }
        let completion = (self.elapsed as f64 / length as f64).min(1.0);
        libm::pow(completion, self.settings.trust)
    }

    /// What is due for a gap of `gap` in ln f.
    fn target(&self, team: u8, gap: f64) -> Option<Help> {
        let factor = libm::exp(gap).min(self.settings.max);
        (factor > 1.0 && factor >= self.settings.dead_band).then_some(Help { team, factor })
    }

    /// As far towards `target` as the slew limit lets go from the last answer. The first answer of
    /// a game goes all the way: there is nothing to jump from.
    fn slewed(&self, target: Option<Help>) -> Option<Help> {
        let Some((last, ago)) = self.last else {
            return target;
        };
        let step = log(self.settings.slew.max(1.0)) * (ago as f64 / 60_000.0);
        let from = log(last.factor);
        let to = target.map_or(0.0, |target| log(target.factor));
        match target {
            Some(target) if target.team == last.team => {
                help(last.team, from + (to - from).clamp(-step, step))
            }
            // Help for one team ends before another's begins.
            _ if step < from => help(last.team, from - step),
            Some(target) => help(target.team, to.min(step - from)),
            None => None,
        }
    }
}

/// Help of ln f = `log`, unless it is written 1.000.
fn help(team: u8, log: f64) -> Option<Help> {
    let factor = libm::exp(log);
    (factor >= 1.0005).then_some(Help { team, factor })
}

/// ln, of nothing less than a share that is as good as none.
fn log(share: f64) -> f64 {
    libm::log(share.max(1e-9))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn team(weight: f64, score: f64) -> TeamState {
        TeamState {
            players: 3,
            weight,
            odds: 1.0,
            score,
        }
    }

    fn question(teams: &[TeamState]) -> Advantage {
        Advantage {
            teams: teams.to_vec(),
            elapsed: 0,
            left: None,
            scored: true,
            last: None,
            settings: AdvantageSettings::default(),
        }
    }

    fn factor(question: &Advantage) -> (u8, f64) {
        let help = question.answer(0).help.unwrap();
        (help.team, (help.factor * 1e9).round() / 1e9)
    }

    #[test]
    fn at_first_it_is_the_ratio_of_the_weights() {
        assert_eq!(
            factor(&question(&[team(100.0, 0.0), team(110.0, 0.0)])),
            (0, 1.1)
        );
        assert_eq!(
            factor(&question(&[team(120.0, 5.0), team(100.0, 0.0)])),
            (1, 1.2)
        );
        let three = [team(100.0, 0.0), team(80.0, 0.0), team(90.0, 0.0)];
        assert_eq!(factor(&question(&three)), (1, 1.25));
    }

    #[test]
    fn it_is_capped_and_has_a_dead_band() {
        assert_eq!(
            factor(&question(&[team(300.0, 0.0), team(100.0, 0.0)])),
            (1, 1.5)
        );
        assert_eq!(
            factor(&question(&[team(300.0, 0.0), team(0.0, 0.0)])),
            (1, 1.5)
        );
        let close = question(&[team(104.0, 0.0), team(100.0, 0.0)]).answer(0);
        assert_eq!((close.help, close.target), (None, None));
        assert!((close.factor - 1.04).abs() < 1e-12);
    }

    #[test]
    fn a_team_without_players_takes_no_part() {
        let nobody = TeamState {
            players: 0,
            ..team(0.0, 0.0)
        };
        assert_eq!(question(&[team(50.0, 0.0), nobody]).answer(0).help, None);
        assert_eq!(question(&[nobody, nobody]).answer(0).help, None);
        let two = question(&[team(120.0, 0.0), nobody, team(100.0, 0.0)]);
        assert_eq!(factor(&two), (2, 1.2));
        let weightless = question(&[team(0.0, 0.0), team(0.0, 0.0)]);
        assert_eq!(weightless.answer(0).help, None);
    }

    #[test]
    fn the_sides_own_odds_count() {
        let mut red = team(100.0, 0.0);
        red.odds = 0.55 / 0.45;
        assert_eq!(
            factor(&question(&[red, team(100.0, 0.0)])),
            (1, (0.55f64 / 0.45 * 1e9).round() / 1e9)
        );
    }

    #[test]
    fn trust_moves_from_the_weights_to_the_score() {
        // The weights favour team 0 by 1.2; it is losing 1 to 3, which says 2 for team 1.
        let mut game = question(&[team(120.0, 1.0), team(100.0, 3.0)]);
        assert_eq!(factor(&game), (1, 1.2));
        game.left = Some(600_000);
        game.elapsed = 600_000;
        let half = game.answer(0);
        assert!((half.trust - 0.353_553_390_593).abs() < 1e-9);
        // ln f = (1 − τ)·ln 1.2 − τ·ln 2 = −0.1272…: now team 0 needs the help.
        let expected = (0.353_553_390_593 * 2f64.ln() - 0.646_446_609_407 * 1.2f64.ln()).exp();
        let help = half.help.unwrap();
        assert_eq!(help.team, 0);
        assert!((help.factor - expected).abs() < 1e-9, "{help:?}");
        game.left = Some(0);
        assert_eq!(factor(&game), (0, 1.5), "2, but for the cap");
        // Scores may be negative.
        game.teams = vec![team(100.0, -2.0), team(100.0, 1.0)];
        assert_eq!(game.answer(0).seen, [0.2, 0.8]);
    }

    #[test]
    fn without_a_clock_the_usual_length_counts() {
        let mut game = question(&[team(100.0, 1.0), team(100.0, 3.0)]);
        game.elapsed = game.settings.usual_length;
        assert_eq!(game.answer(0).trust, 1.0);
        game.elapsed *= 7;
        assert_eq!(game.answer(0).trust, 1.0);
        game.scored = false;
        assert_eq!(game.answer(0).trust, 0.0, "0 to 0 because nobody tells");
        game.scored = true;
        game.settings.usual_length = 0;
        assert_eq!(game.answer(0).trust, 0.0);
    }

    #[test]
    fn one_teams_help_ends_before_the_others_begins() {
        let mut game = question(&[team(100.0, 0.0), team(130.0, 0.0)]);
        let last = Help {
            team: 1,
            factor: 1.1,
        };
        game.last = Some((last, 60_000));
        assert_eq!(factor(&game), (1, (1.1f64 / 1.05 * 1e9).round() / 1e9));
        game.last = Some((last, 180_000));
        assert_eq!(
            factor(&game),
            (0, (1.05f64.powi(3) / 1.1 * 1e9).round() / 1e9)
        );
        game.last = Some((last, 3_600_000));
        assert_eq!(factor(&game), (0, 1.3));
    }

    proptest! {
        #[test]
        fn it_stays_in_bounds_and_never_jumps(
            teams in proptest::collection::vec((0usize..3, 0.0..500.0, 0.2..5.0, -20.0..50.0), 2..=8),
            (elapsed, left, scored) in (0u64..4_000_000, proptest::option::of(0u64..4_000_000), any::<bool>()),
            last in proptest::option::of((0u8..2, 1.0..1.5, 0u64..600_000)),
        ) {
            let state = |(players, weight, odds, score)| TeamState { players, weight, odds, score };
            let mut game = question(&teams.into_iter().map(state).collect::<Vec<_>>());
            (game.elapsed, game.left, game.scored) = (elapsed, left, scored);
            game.last = last.map(|(team, factor, ago)| (Help { team, factor }, ago));
            let answer = game.answer(0);
            for help in answer.help.into_iter().chain(answer.target) {
                prop_assert!(usize::from(help.team) < game.teams.len());
                prop_assert!(help.factor > 1.0 && help.factor <= 1.5 + 1e-9, "{:?}", help);
            }
            if let Some((last, ago)) = game.last {
                // As a place on the line from help for the last team to help for any other.
                let place = |help: Option<Help>| help.map_or(0.0, |help| {
                    if help.team == last.team { help.factor.ln() } else { -help.factor.ln() }
                });
                let step = (place(answer.help) - place(Some(last))).abs();
                // Help below 1.0005 is none, which is half a thousandth more.
                prop_assert!(step <= 1.05f64.ln() * ago as f64 / 60_000.0 + 0.0005);
            }
        }
    }
}
