//! `POST /v1/teams`, `/v1/teams/place` and `/v1/teams/rebalance`: BALANCE, PLACE and REBALANCE of a game that the
//! caller describes. The answers leave out what a caller without a token must not see.

use axum::response::Response;
use serde::Serialize;

use super::{
    ApiProblem, Call,
    call::{answer, places},
    game::{AskedGame, AskedPlayer, Asker},
};
use crate::{
    lobby::{
        Decided, Decision,
        balance::{Balance, Balanced},
    },
    model::{
        access::Right,
        ident::Ident,
        text::{amount, counted},
    },
    pages::Reasons,
    partition::pick::Candidate,
    protocol::request::Charge,
    session::{CountedWeight, Session, draw_seed},
    words,
};

/// A question whose game has begun.
struct TeamsQuestion<'a> {
    asker: Asker<'a>,
    game: &'a AskedGame,
    session: Session,
    /// The identity of each player.
    ids: Vec<String>,
    seed: u64,
    /// How many bytes of reasons the answer still has room for.
    room: usize,
}

/// The reasons of one answer, in bytes: those of 128 players with the longest names, and some more, fit. An answer that
/// places many players, each with the reasons of a whole game, is not longer.
const REASONS: usize = 256 * 1_024;

/// The line in the place of reasons for which an answer has no room.
fn left_out(lines: usize) -> String {
    format!(
        "{} left out: the answer has no room",
        counted(lines, "line")
    )
}

impl<'a> TeamsQuestion<'a> {
    async fn begin(asker: Asker<'a>, game: &'a AskedGame) -> Result<Self, ApiProblem> {
        let (session, ids) = game.begin(asker).await?;
        let seed = game.seed.unwrap_or_else(draw_seed);
        Ok(Self {
            asker,
            game,
            session,
            ids,
            seed,
            room: REASONS,
        })
    }

    /// The name under which the caller knows the player with this identity.
    fn name(&self, id: &str) -> &'a str {
        let at = self.ids.iter().position(|own| own == id);
        let player = at.and_then(|at| self.game.players.get(at));
        player.map_or("", |player| player.id.as_str())
    }

    /// How teams were picked, if that was the last decision.
    fn balance(&self) -> Option<&Decided<Balance>> {
        match self.session.decided()? {
            Decision::Balance(decided) => Some(decided),
            _ => None,
        }
    }

    /// Why it was decided so, as far as the answer has room. Players have the names under which the caller knows them.
    fn why(&mut self) -> Result<Vec<String>, ApiProblem> {
        let lines = self.session.explain()?;
        let mut kept = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            match self.room.checked_sub(line.len()) {
                Some(room) => self.room = room,
                None => {
                    kept.push(left_out(lines.len() - at));
                    break;
                }
            }
            kept.push(line.clone());
        }
        Ok(kept)
    }

    /// The arm of an experiment about the ruleset. Teams that nobody keeps have none: else somebody would pick until the
    /// arm is welcome.
    async fn arm(&mut self) -> Option<Option<String>> {
        if let (true, Some(client)) = (self.game.keep, self.asker.client()) {
            let ids = self.ids.clone();
            self.session.enter_arm_of(client, &ids).await;
        }
        let is_in_it = self.session.is_in_experiment();
        is_in_it.then(|| self.session.arm().map(str::to_owned))
    }

    /// Stores the last decision if the caller wants it.
    async fn keep(&mut self) -> Result<Option<Option<i64>>, ApiProblem> {
        match (self.game.keep, self.asker.client()) {
            (true, Some(client)) => Ok(Some(self.session.keep(client).await?)),
            _ => Ok(None),
        }
    }
}

/// `POST /v1/teams`
pub(super) async fn pick(call: Call) -> Result<Response, ApiProblem> {
    answer(&picked(&call, &call.json()?).await?)
}

/// The teams of a game, for a caller who may ask for them.
pub(crate) async fn picked<'a>(
    call: &'a Call,
    game: &'a AskedGame,
) -> Result<TeamsAnswer<'a>, ApiProblem> {
    let is_open = call.allows_visitors() && !call.is_client() && !game.keep;
    if !is_open {
        call.client(&[Right::Ask])?;
    }
    call.count(Charge::Decision, 1)?;
    picked_for(call.asker(), game).await
}

/// The teams of a game, for whoever asks.
pub async fn picked_for<'a>(
    asker: Asker<'a>,
    game: &'a AskedGame,
) -> Result<TeamsAnswer<'a>, ApiProblem> {
    game.refuse_play()?;
    let mut asking = TeamsQuestion::begin(asker, game).await?;
    let arm = asking.arm().await;
    let balanced = asking.session.balance(game.top, Some(asking.seed)).await?;
    let ids: Vec<&str> = asking.ids.iter().map(String::as_str).collect();
    let weights = asking.session.counted(&ids)?;
    let numbers = asker.sees_numbers;
    let why = asking.why()?;
    let teams = teams(&asking, &balanced, weights, numbers);
    let closest = alternative(&asking, numbers);
    let sums = sums(&asking).filter(|_| numbers).unwrap_or_default();
    let weighed = game.wanted.and_then(|_| weighed(&asking));
    asking.session.end_turn();
    let decision = asking.keep().await?;
    Ok(TeamsAnswer {
        weighed,
        sums,
        teams,
        ratio: numbers.then(|| places(balanced.ratio, 6)),
        seed: asking.seed,
        decision,
        arm,
        why: numbers.then_some(why),
        closest_alternative: closest,
    })
}

/// The sums of stated weights, if these decided.
fn sums(asking: &TeamsQuestion<'_>) -> Option<Vec<f64>> {
    Some(asking.balance()?.answer.solution()?.stated_sums().to_vec())
}

fn weighed(asking: &TeamsQuestion<'_>) -> Option<(Reasons, usize)> {
    let decided = asking.balance()?;
    let candidates = decided.answer.solution()?.candidates.len();
    Some((Reasons::of(decided)?, candidates))
}

fn teams<'a>(
    asking: &TeamsQuestion<'a>,
    balanced: &Balanced,
    weights: Vec<CountedWeight>,
    numbers: bool,
) -> Vec<TeamAnswer<'a>> {
    let chances = asking.session.picked().map(|picked| picked.win);
    let chances = chances.unwrap_or_default();
    let team = |(at, bots): (usize, &u32)| TeamAnswer {
        players: Vec::new(),
        bots: *bots,
        chance: numbers.then(|| chances.get(at).map(|chance| places(*chance, 6))),
    };
    let mut teams: Vec<TeamAnswer<'a>> = balanced.bots.iter().enumerate().map(team).collect();
    let players = asking.game.players.iter().zip(weights);
    for ((player, weight), (_, team)) in players.zip(&balanced.humans) {
        let player = TeamPlayer {
            id: &player.id,
            weight: numbers.then(|| weight.into()),
        };
        if let Some(team) = teams.get_mut(usize::from(*team)) {
            team.players.push(player);
        }
    }
    teams
}

/// The best teams besides those that were picked.
fn alternative<'a>(asking: &TeamsQuestion<'a>, numbers: bool) -> Option<Alternative<'a>> {
    let solution = asking.balance()?.answer.solution()?;
    let Candidate {
        team_of, figures, ..
    } = solution.runner_up()?;
    let mut teams = vec![Vec::new(); usize::from(asking.game.teams)];
    for (player, team) in asking.game.players.iter().zip(team_of) {
        teams.get_mut(usize::from(*team))?.push(player.id.as_str());
    }
    Some(Alternative {
        teams,
        ratio: numbers.then(|| places(figures.ratio, 6)),
        chance: numbers.then(|| figures.chance.map(|chance| places(chance, 6))),
    })
}

/// `POST /v1/teams/place`
pub(super) async fn place(call: Call) -> Result<Response, ApiProblem> {
    call.client(&[Right::Ask])?;
    let game: AskedGame = call.json()?;
    game.refuse_top()?;
    let is_late = |player: &&AskedPlayer| player.team.is_none();
    let late = game.players.iter().filter(is_late).count();
    if late == 0 {
        return Err(ApiProblem::bad("players: everybody has a team already"));
    }
    call.count(Charge::Decision, late)?;
    let mut asking = TeamsQuestion::begin(call.asker(), &game).await?;
    let mut placed = Vec::with_capacity(late);
    for (player, id) in game.players.iter().zip(asking.ids.clone()) {
        if player.team.is_some() {
            continue;
        }
        let one = asking
            .session
            .place(&Ident::from_text(&id), Some(asking.seed))?;
        placed.push(PlacedPlayer {
            id: &player.id,
            team: one.team,
            ratio: places(one.ratio, 6),
            why: asking.why()?,
            decision: asking.keep().await?,
        });
    }
    let seed = asking.seed;
    answer(&Placed { placed, seed })
}

/// `POST /v1/teams/rebalance`
pub(super) async fn rebalance(call: Call) -> Result<Response, ApiProblem> {
    call.client(&[Right::Ask])?;
    let game: AskedGame = call.json()?;
    game.refuse_top()?;
    call.count(Charge::Decision, 1)?;
    let mut asking = TeamsQuestion::begin(call.asker(), &game).await?;
    let advice = asking.session.rebalance(Some(asking.seed))?;
    let moves = advice.steps.iter().map(|step| AdvisedMove {
        id: asking.name(step.id.text()).to_owned(),
        from: step.from,
        to: step.to,
    });
    let moves = moves.collect();
    let why = asking.why()?;
    asking.session.end_turn();
    let decision = asking.keep().await?;
    answer(&RebalanceAnswer {
        before: places(advice.before, 6),
        after: places(advice.after, 6),
        moves,
        seed: asking.seed,
        why,
        decision,
    })
}

/// The answer to `/v1/teams`.
#[derive(Debug, Serialize)]
pub struct TeamsAnswer<'a> {
    /// The teams, in the order of their numbers.
    pub teams: Vec<TeamAnswer<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// How even they are: the stronger team's sum over the weaker one's.
    pub ratio: Option<f64>,
    /// The seed with which they can be picked again.
    pub seed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) decision: Option<Option<i64>>,
    /// The arm of an experiment, `a` or `b`, if there is one about the ruleset; null without `keep`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) arm: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Why these, line by line.
    pub why: Option<Vec<String>>,
    pub(crate) closest_alternative: Option<Alternative<'a>>,
    /// The sums of stated weights, if these decided and numbers are shown; for people.
    #[serde(skip)]
    pub(crate) sums: Vec<f64>,
    /// What was weighed up, and from how many teams these were picked; for people.
    #[serde(skip)]
    pub(crate) weighed: Option<(Reasons, usize)>,
}

/// One team of an answer.
#[derive(Debug, Serialize)]
pub struct TeamAnswer<'a> {
    /// Its humans.
    pub players: Vec<TeamPlayer<'a>>,
    pub(crate) bots: u32,
    /// `None` without a prediction; left out where numbers are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chance: Option<Option<f64>>,
}

/// A human of a team.
#[derive(Debug, Serialize)]
pub struct TeamPlayer<'a> {
    /// The identity, as it was asked about.
    pub id: &'a str,
    /// The weight; `None` where numbers are not shown.
    #[serde(flatten)]
    pub weight: Option<StatedWeight>,
}

impl TeamPlayer<'_> {
    /// The weight for people, if it is shown and anything is known of the player.
    pub(crate) fn shown_weight(&self) -> Option<String> {
        let weight = self.weight.as_ref().filter(|weight| weight.known)?;
        Some(match weight.stated {
            true => amount(weight.weight),
            false => words::tenths(weight.weight),
        })
    }
}

/// The weight with which a player counts.
#[derive(Debug, Serialize)]
pub struct StatedWeight {
    /// The weight: 0 to 100, or an amount on the scale of the asker.
    pub weight: f64,
    pub(crate) deviation: Option<f64>,
    pub(crate) known: bool,
    /// Whether it is stated, on whatever scale.
    #[serde(skip)]
    stated: bool,
}

impl From<CountedWeight> for StatedWeight {
    fn from(counted: CountedWeight) -> Self {
        Self {
            weight: match counted.stated {
                true => counted.weight, // as the caller has stated it, on whatever scale
                false => places(counted.weight, 3),
            },
            deviation: counted.deviation.map(|deviation| places(deviation, 3)),
            known: counted.known,
            stated: counted.stated,
        }
    }
}

/// The teams that were as good, or nearly.
#[derive(Debug, Serialize)]
pub(crate) struct Alternative<'a> {
    pub(crate) teams: Vec<Vec<&'a str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ratio: Option<f64>,
    /// The chance of team 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) chance: Option<Option<f64>>,
}

/// The answer to `/v1/teams/place`.
#[derive(Debug, Serialize)]
pub(super) struct Placed<'a> {
    pub(super) placed: Vec<PlacedPlayer<'a>>,
    pub(super) seed: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct PlacedPlayer<'a> {
    pub(super) id: &'a str,
    pub(super) team: u8,
    pub(super) ratio: f64,
    pub(super) why: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Option<i64>>,
}

/// The answer to `/v1/teams/rebalance`.
#[derive(Debug, Serialize)]
pub(super) struct RebalanceAnswer {
    pub(super) before: f64,
    pub(super) after: f64,
    pub(super) moves: Vec<AdvisedMove>,
    pub(super) seed: u64,
    pub(super) why: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) decision: Option<Option<i64>>,
}

#[derive(Debug, Serialize)]
pub(super) struct AdvisedMove {
    pub(super) id: String,
    pub(super) from: Option<u8>,
    pub(super) to: u8,
}
