//! Decisions of 0.2, in the form of this version: the file of its `export --operator` has those that have picked a match.

use serde::Deserialize;
use serde_json::{Value, from_value, to_string, to_value};

use super::Decision;
use evenkeel_model::{MAX_PLAYERS, Outlook, units::Factor};
use evenkeel_partition::{BotInGame, ChanceModel, Fill, GameView, HumanInGame};

/// The players of a BALANCE of 0.2.
#[derive(Deserialize)]
struct Players {
    humans: Vec<Human>,
    teams: u8,
    bots: Bots,
    #[serde(default)]
    bots_there: Vec<BotsThere>,
    strengths: Option<Strengths>,
}

#[derive(Deserialize)]
struct Human {
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
    outlook: Outlook,
    humans: Vec<f64>,
    bot: f64,
    #[serde(default)]
    bots_there: Vec<f64>,
    #[serde(default)]
    doubts: Vec<f64>,
    #[serde(default)]
    party_multiplier: Vec<Factor>,
}

impl From<Players> for GameView {
    /// Each bot of a team is the mean of the team's.
    fn from(old: Players) -> Self {
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
        let human = |human: Human| HumanInGame {
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
                outlook: known.outlook,
                humans: known.humans,
                bots: strengths,
                next_bot: known.bot,
                doubts: known.doubts,
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
    let old: Players = from_value(problem.clone()).ok()?;
    problem["view"] = to_value(GameView::from(old)).ok()?;
    let decision: Decision = from_value(value).ok()?;
    to_string(&decision).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bots_of_a_team_become_bots_with_the_same_sum() {
        let human = json!({"key": "ann", "weight": 60.0, "pin": null, "current": 1, "last": null});
        let old = json!({
            "humans": [human], "teams": 2,
            "bots": {"fill": false, "weight": 0.0, "min": 0, "max": 32, "target": 0},
            "bots_there": [{"count": 2, "weight": 90.0}, {"count": 0, "weight": 0.0}],
        });
        let view = GameView::from(from_value::<Players>(old).unwrap());
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
