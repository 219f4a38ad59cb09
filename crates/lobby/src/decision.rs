//! A decision of any kind, in the form in which it is stored; also those of 0.2 that have picked a match, which the
//! file of its `export --operator` has.

use std::fmt;

use evenkeel_model::{MAX_PLAYERS, Naming, WinModel, units::Factor};
use evenkeel_partition::{BotInGame, ChanceModel, Fill, GameView, HumanInGame};
use serde::{Deserialize, Serialize};
use serde_json::{Value, from_value, to_string, to_value};

use crate::{Advantage, AutoBalance, Balance, Decided, Place, Rebalance};

/// A decision of any kind, in the form in which it is stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Decision {
    /// BALANCE: the teams of all humans.
    Balance(Box<Decided<Balance>>),
    /// PLACE: the team of a late arrival.
    Place(Decided<Place>),
    /// ADVANTAGE: the team that needs help.
    Advantage(Decided<Advantage>),
    /// REBALANCE: the fewest moves that make the teams even enough.
    Rebalance(Decided<Rebalance>),
    /// Auto-balance: whether a human who died changes teams.
    AutoBalance(Decided<AutoBalance>),
}

/// Evaluates an expression for the [`Decided`] of any kind of decision.
macro_rules! each {
    ($decision:expr, $decided:ident => $do:expr) => {
        match $decision {
            Decision::Balance($decided) => $do,
            Decision::Place($decided) => $do,
            Decision::Advantage($decided) => $do,
            Decision::Rebalance($decided) => $do,
            Decision::AutoBalance($decided) => $do,
        }
    };
}

impl Decision {
    /// The name of the kind in the database.
    pub fn kind(&self) -> &'static str {
        match self {
            Decision::Balance(_) => "balance",
            Decision::Place(_) => "place",
            Decision::Advantage(_) => "advantage",
            Decision::Rebalance(_) => "rebalance",
            Decision::AutoBalance(_) => "auto-balance",
        }
    }

    /// The seed with which the decision was made.
    pub fn seed(&self) -> u64 {
        each!(self, decided => decided.seed)
    }

    /// Whether a deadline ended the search early, so that a replay may give another answer.
    pub fn cut_short(&self) -> bool {
        matches!(self, Decision::Balance(decided) if decided.answer.cut_short)
    }

    /// The reasons, one per line, with these names.
    pub fn announced(&self, naming: &Naming) -> impl fmt::Display {
        fmt::from_fn(|f| each!(self, decided => write!(f, "{}", decided.announced(naming))))
    }

    /// Makes the decision again; `None` if the parts of the question are inconsistent.
    pub fn again(self, out_of_time: &mut dyn FnMut() -> bool) -> Option<Self> {
        each!(self, decided => decided.again(out_of_time).map(Self::from))
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        each!(self, decided => decided.fmt(f))
    }
}

macro_rules! from_decided {
    ($($question:ident),*) => {
        $(impl From<Decided<$question>> for Decision {
            fn from(decided: Decided<$question>) -> Self {
                Self::$question(decided)
            }
        })*
    };
}

impl From<Decided<Balance>> for Decision {
    fn from(decided: Decided<Balance>) -> Self {
        Self::Balance(Box::new(decided))
    }
}

from_decided!(Place, Advantage, Rebalance, AutoBalance);

/// The players of a BALANCE of 0.2.
#[derive(Deserialize)]
struct OldPlayers {
    humans: Vec<OldHuman>,
    teams: u8,
    bots: Bots,
    #[serde(default)]
    bots_there: Vec<BotsThere>,
    strengths: Option<Strengths>,
}

#[derive(Deserialize)]
struct OldHuman {
    key: String,
    weight: f64,
    pin: Option<u8>,
    current: Option<u8>,
    last: Option<u8>,
    wish: Option<u8>,
    #[serde(default)]
    newcomer: bool,
    #[serde(default)]
    weak_sides: f64,
}

/// The bots that fill up the teams.
#[derive(Deserialize)]
struct Bots {
    fill: Option<bool>,
    weight: f64,
    min: u32,
    max: u32,
    target: u32,
}

/// The bots of a team: their number, and the sum of their weights.
#[derive(Deserialize)]
struct BotsThere {
    count: usize,
    weight: f64,
}

#[derive(Deserialize)]
struct Strengths {
    #[serde(rename = "outlook")]
    win_model: WinModel,
    humans: Vec<f64>,
    bot: f64,
    #[serde(default)]
    bots_there: Vec<f64>,
    #[serde(default, rename = "doubts")]
    deviations: Vec<f64>,
    #[serde(default)]
    party_multiplier: Vec<Factor>,
}

impl From<OldPlayers> for GameView {
    /// Each bot of a team is the mean of the team's.
    fn from(old: OldPlayers) -> Self {
        let known = old.strengths.as_ref();
        let sum = |team: usize| known.and_then(|known| known.bots_there.get(team)).copied();
        let (mut bots, mut strengths) = (Vec::new(), Vec::new());
        for (team, there) in old.bots_there.iter().enumerate() {
            let count = there.count.min(MAX_PLAYERS);
            bots.extend((0..count).map(|bot| BotInGame {
                name: format!("bot {bot} of team {team}"),
                weight: there.weight / count as f64,
                team: team as u8,
                points: 0.0,
            }));
            strengths.extend(std::iter::repeat_n(
                sum(team).unwrap_or(0.0) / count as f64,
                count,
            ));
        }
        let human = |human: OldHuman| HumanInGame {
            pin: human.pin,
            team: human.current,
            last: human.last,
            wish: human.wish,
            newcomer: human.newcomer,
            weak_sides: human.weak_sides,
            ..HumanInGame::new(human.key, human.weight)
        };
        Self {
            teams: old.teams,
            humans: old.humans.into_iter().map(human).collect(),
            bots,
            fill: Fill {
                on: old.bots.fill.unwrap_or(true),
                wish: old.bots.target,
                map_range: (old.bots.min, old.bots.max),
                min_humans: 0,
            },
            next_bot: old.bots.weight,
            scores: vec![0.0; usize::from(old.teams)],
            chance: old.strengths.map(|known| ChanceModel {
                win_model: known.win_model,
                humans: known.humans,
                bots: strengths,
                next_bot: known.bot,
                deviations: known.deviations,
                party_multiplier: known.party_multiplier,
            }),
            ..Self::default()
        }
    }
}

/// A BALANCE of 0.2 as this version stores it; `None` for everything else.
pub fn in_this_form(decision: &str) -> Option<String> {
    let mut value: Value = serde_json::from_str(decision).ok()?;
    let problem = value.pointer_mut("/question/problem")?;
    let old: OldPlayers = from_value(problem.clone()).ok()?;
    problem["view"] = to_value(GameView::from(old)).ok()?;
    let decision: Decision = from_value(value).ok()?;
    to_string(&decision).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        AdvantageSettings, AutoBalanceRules, PlaceSettings, RebalanceSettings, ScoreSpread,
        Situation,
        advantage::{Basis, StrengthSource, TeamState},
        games::{by_chance, view},
    };

    /// One decision of each kind except BALANCE, which has a test of its own.
    fn decisions() -> [Decision; 4] {
        let waiting = by_chance(view(2, &[(50.0, 0), (40.0, 9)]));
        let game = by_chance(view(2, &[(50.0, 0), (40.0, 0), (30.0, 0), (20.0, 1)]));
        let team = TeamState {
            players: 1,
            weight: 50.0,
            score: 0.0,
            strength: 0.0,
        };
        let place = Place {
            view: waiting,
            who: 1,
            settings: PlaceSettings::default(),
            stays: false,
            late: false,
        };
        let advantage = Advantage {
            teams: vec![team, team],
            elapsed: 0,
            left: None,
            scored: false,
            settings: AdvantageSettings::default(),
            basis: Basis {
                known: StrengthSource::Weights,
                spread: ScoreSpread::default(),
                last: Vec::new(),
                ago: 0,
            },
        };
        let rebalance = Rebalance {
            view: game.clone(),
            settings: RebalanceSettings::default(),
        };
        let auto_balance = AutoBalance {
            situation: Situation {
                view: game,
                coming: Vec::new(),
                left: None,
                tournament: false,
                rules: AutoBalanceRules::default(),
            },
            who: 0,
            lasted: 30_000,
            died: Vec::new(),
        };
        [
            Decided::by(place, 1).into(),
            Decided::by(advantage, 1).into(),
            Decided::by(rebalance, 1).into(),
            Decided::by(auto_balance, 1).into(),
        ]
    }

    #[test]
    fn decisions_are_read_as_they_were_stored_and_replayed() {
        for decision in decisions() {
            let stored = serde_json::to_string(&decision).unwrap();
            let read: Decision = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, decision);
            assert_eq!(read.again(&mut || false).as_ref(), Some(&decision));
        }
    }

    #[test]
    fn what_is_no_decision_of_this_version_is_an_error() {
        for json in ["", "{}", "{\"kind\":\"place\"}", "[]"] {
            assert!(serde_json::from_str::<Decision>(json).is_err(), "{json}");
        }
        for decision in decisions() {
            let now = serde_json::to_string(&decision).unwrap();
            for (new, before) in [
                ("\"rejoin_grace_seconds\":300", "\"rejoin_grace\":300000"),
                ("\"usual_seconds\":1200", "\"usual_length\":1200000"),
                ("\"cooldown_seconds\":300", "\"cooldown\":300000"),
                ("\"quiet_end_seconds\":180", "\"quiet_end\":180000"),
                ("\"points_reported\":true,", ""),
                ("\"basis\":{", "\"base\":{"),
                (",\"deviations\":[", ",\"doubts\":["),
                ("\"unit\":", "\"halfway\":"),
                ("\"ask_seconds\":0", "\"asked\":0"),
                ("\"max_difference\":1", "\"max_difference\":null"),
            ] {
                let old = now.replace(new, before);
                let read = serde_json::from_str::<Decision>(&old);
                assert!(old == now || read.is_err(), "{} {before}", decision.kind());
            }
        }
    }

    #[test]
    fn bots_of_a_team_become_bots_with_the_same_sum() {
        let human = json!({"key": "ann", "weight": 60.0, "pin": null, "current": 1, "last": null});
        let old = json!({
            "humans": [human], "teams": 2,
            "bots": {"fill": false, "weight": 0.0, "min": 0, "max": 32, "target": 0},
            "bots_there": [{"count": 2, "weight": 90.0}, {"count": 0, "weight": 0.0}],
        });
        let view = GameView::from(from_value::<OldPlayers>(old).unwrap());
        assert_eq!(
            (view.humans[0].id.as_str(), view.humans[0].team),
            ("ann", Some(1))
        );
        let teams = view.teams_with_bots();
        assert_eq!((teams[0].bots, teams[0].of_bots.weight), (2, 90.0));
        assert_eq!((teams[1].bots, teams[1].humans), (0, 1));
        assert_eq!(in_this_form("{}"), None);
    }
}
