//! A game that a caller describes: the commands that a game server would send of it, and the players whom it names.
//!
//! The players whom a request names: by their identities, or by the public handles of the pages.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::ApiProblem;
use crate::{
    lobby::{Command, Update},
    model::{
        Kind, PlayerKey, Ruleset,
        access::Holder,
        ident::Ident,
        team_names::{Naming, TeamNames},
        units::{MaxDifference, PositiveShare},
    },
    protocol::{Code, Refusal},
    server::{Caller, Service},
    session::{AskerClass, CoreTurn, Session, SessionError, StatedByAsker, TurnAsker, WantedTeams},
};

/// The most players of a question, which is the most that a roster may have.
pub(crate) const MOST_PLAYERS: usize = 128;
/// The longest name of a ruleset, a map or a party, in bytes.
pub(super) const NAME: usize = 255;

/// Who asks about a game.
#[derive(Clone, Copy, Debug)]
pub struct Asker<'a> {
    pub(crate) service: &'a Service,
    /// The caller of `/v1`; `None` for a command on this machine.
    pub(crate) caller: Option<&'a Caller>,
    /// Whether the asker may know players who are hidden.
    pub(crate) sees_hidden: bool,
    /// Whether the asker may see weights and chances.
    pub(crate) sees_numbers: bool,
}

impl<'a> Asker<'a> {
    /// A command on this machine, which sees everything.
    pub fn of_command(service: &'a Service) -> Self {
        Self {
            service,
            caller: None,
            sees_hidden: true,
            sees_numbers: true,
        }
    }

    /// The client that asks, under whose name decisions are kept.
    pub(super) fn client(self) -> Option<&'a str> {
        self.caller?.name()
    }

    /// Waits for a turn to choose teams.
    ///
    /// # Errors
    /// Fails if too many others ask.
    async fn turn(self) -> Result<CoreTurn, ApiProblem> {
        let is_visitor = self.caller.is_some_and(|caller| caller.name().is_none());
        let class = match is_visitor {
            true => AskerClass::Visitor,
            false => AskerClass::Program,
        };
        let holder = self.caller.map_or(Holder::ThisMachine, Caller::holder);
        let asker = TurnAsker::new(class, holder, 0);
        Ok(self.service.sessions().turn(asker).await?)
    }
}

/// The body of a question about teams.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedGame {
    ruleset: String,
    #[serde(default = "two")]
    pub(super) teams: u8,
    pub(super) players: Vec<AskedPlayer>,
    map: Option<String>,
    #[serde(default)]
    bots: bool,
    target: Option<u32>,
    min: Option<u32>,
    max: Option<u32>,
    max_share: Option<PositiveShare>,
    max_difference: Option<MaxDifference>,
    /// The seed of the pick; drawn without one.
    pub seed: Option<u64>,
    #[serde(default)]
    /// Whether the decision is stored.
    pub keep: bool,
    /// The rank up to which teams may be picked; only for `/v1/teams`.
    pub(super) top: Option<usize>,
    /// The score and the time that is left; not for `/v1/teams`.
    #[serde(default)]
    scores: Vec<f64>,
    left: Option<u32>,
    /// How people read the place of each player's weight, in the order of the players; empty for programs.
    #[serde(skip)]
    lines: Vec<String>,
    /// What people call the players, in their order; empty for programs, which call them by their ids.
    #[serde(skip)]
    called: Vec<String>,
    /// What people call the teams; by their numbers for programs.
    #[serde(skip)]
    team_names: TeamNames,
    /// Which teams are wanted; only for the page of teams.
    #[serde(skip)]
    pub(crate) wanted: Option<WantedTeams>,
}

/// A player of a question.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedPlayer {
    pub(super) id: String,
    weight: Option<f64>,
    party: Option<String>,
    #[serde(default)]
    avoid: Vec<String>,
    pin: Option<u8>,
    wish: Option<u8>,
    pub(super) team: Option<u8>,
    last: Option<u8>,
}

/// A game, and the identities of its players.
type BegunGame = (Session, Vec<String>);

fn two() -> u8 {
    2
}

/// The largest score.
const MOST_POINTS: f64 = 1e9;
/// The largest seed, so that no language loses digits of it.
pub(crate) const LARGEST_SEED: u64 = (1 << 53) - 1;

impl AskedGame {
    /// States weights of the players, in their order, and how people read the place of each.
    pub(crate) fn state_weights(&mut self, weights: impl Iterator<Item = Option<(f64, String)>>) {
        for (player, weight) in self.players.iter_mut().zip(weights) {
            let (weight, line) = weight.unzip();
            player.weight = weight;
            self.lines.push(line.unwrap_or_default());
        }
    }

    /// States what people call the players, in their order, and the teams.
    pub(crate) fn call_by(&mut self, called: Vec<String>, team_names: TeamNames) {
        self.called = called;
        self.team_names = team_names;
    }

    /// Whether play has begun in it.
    fn is_in_play(&self) -> bool {
        !self.scores.is_empty() || self.left.is_some()
    }

    /// Refuses what belongs to the other questions.
    pub(super) fn refuse_play(&self) -> Result<(), ApiProblem> {
        match self.is_in_play() {
            true => Err(ApiProblem::bad("scores and left are not for this question")),
            false => Ok(()),
        }
    }

    /// Refuses what only `/v1/teams` has.
    pub(super) fn refuse_top(&self) -> Result<(), ApiProblem> {
        match self.top {
            Some(_) => Err(ApiProblem::bad("top is not for this question")),
            None => Ok(()),
        }
    }

    /// Plays the game up to the question, once the asker has a turn. Returns the identity of each player, too.
    pub(super) async fn begin(&self, asker: Asker<'_>) -> Result<BegunGame, ApiProblem> {
        self.check()?;
        let known = Identities::of(asker.service, &self.names()).await?;
        let ids: Vec<String> = self.players.iter().map(|one| known.get(&one.id)).collect();
        let mut seen = BTreeSet::new();
        for (at, (id, player)) in ids.iter().zip(&self.players).enumerate() {
            if !seen.insert(id) {
                let why = format!("players[{at}].id: {} is there twice", shown(&player.id));
                return Err(ApiProblem::bad(why));
            }
        }
        let place = |at: usize| format!("players[{at}].id");
        let named = ids.iter().cloned().zip((0..).map(place));
        let named: Vec<(String, String)> = named.collect();
        Identities::check_apart(asker.service, &named).await?;
        let hidden = hidden_from(asker, &ids).await?;
        let sessions = asker.service.sessions().clone();
        let turn = asker.turn().await?;
        let mut session = Session::aside(sessions, self.stated(&ids, hidden), turn);
        self.play(&mut session, &ids, &known)?;
        let weighed = session.weigh_stated();
        weighed.map_err(|error| match error {
            SessionError::Stated(error) => {
                ApiProblem::bad(error.to_string()).at(&self.weight_of(error.at()))
            }
            error => error.into(),
        })?;
        Ok((session, ids))
    }

    /// All players that it names.
    fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for player in &self.players {
            names.push(player.id.as_str());
            names.extend(player.avoid.iter().map(String::as_str));
        }
        names
    }

    fn check(&self) -> Result<(), ApiProblem> {
        if self.players.len() > MOST_PLAYERS {
            let (code, text) = (Code::RosterFull, "the roster is full".to_owned());
            return Err(Refusal { code, text }.into());
        }
        if self.players.is_empty() {
            return Err(ApiProblem::bad("players: there is nobody"));
        }
        if self.seed.is_some_and(|seed| seed > LARGEST_SEED) {
            return Err(ApiProblem::bad(format!(
                "seed: must be 0 to {LARGEST_SEED}"
            )));
        }
        if self.scores.len() > usize::from(self.teams) {
            return Err(ApiProblem::bad("scores: there are more scores than teams"));
        }
        if self.scores.iter().any(|score| score.abs() > MOST_POINTS) {
            return Err(ApiProblem::bad("scores: impossible"));
        }
        check_name("ruleset", &self.ruleset)?;
        if let Some(map) = &self.map {
            check_name("map", map)?;
        }
        for (at, player) in self.players.iter().enumerate() {
            check_name(&format!("players[{at}].id"), &player.id)?;
            if let Some(party) = &player.party {
                check_name(&format!("players[{at}].party"), party)?;
            }
        }
        Ok(())
    }

    /// The place of a player's weight, for errors.
    fn weight_of(&self, at: usize) -> String {
        let called = self.lines.get(at).cloned();
        called.unwrap_or_else(|| format!("players[{at}].weight"))
    }

    /// The weights and limits that the caller states. Players who are hidden from the caller count as unknown.
    fn stated(&self, ids: &[String], hidden: Vec<String>) -> StatedByAsker {
        let weights = self.players.iter().zip(ids);
        let weights = weights.filter_map(|(one, id)| Some((id.clone(), one.weight?)));
        StatedByAsker {
            weights: weights.collect(),
            hidden: hidden.into_iter().collect(),
            max_share: self.max_share,
            max_difference: self.max_difference,
            wanted: self.wanted,
            naming: self.naming(ids),
        }
    }

    /// What the reasons call the players with these identities, and the teams.
    fn naming(&self, ids: &[String]) -> Naming {
        let called = |at: usize, player: &AskedPlayer| {
            let name = self.called.get(at).unwrap_or(&player.id);
            name.clone()
        };
        let players = self.players.iter().enumerate();
        let names = players.map(|(at, player)| called(at, player));
        Naming::new(
            ids.iter().cloned().zip(names).collect(),
            self.team_names.clone(),
        )
    }

    fn play(
        &self,
        session: &mut Session,
        ids: &[String],
        known: &Identities,
    ) -> Result<(), ApiProblem> {
        let ruleset = Ruleset::parse(&self.ruleset);
        session.declare_bots(self.bots)?;
        session.apply(&Command::Teams { teams: self.teams })?;
        if let Some(players) = self.target {
            session.apply(&Command::MinPlayers { players })?;
        }
        let game = session.new_game(&Ident::from_text(ruleset.game_type()));
        if self.players.iter().any(|player| player.last.is_some()) {
            session.apply(&game)?;
            for (player, id) in self.players.iter().zip(ids) {
                let (id, team) = (Ident::from_text(id), player.last);
                let update = Update {
                    team,
                    ..Update::default()
                };
                session.apply(&Command::Join { id, update })?;
            }
        }
        session.apply(&game)?;
        for name in ruleset.mutators() {
            let name = name.to_owned();
            session.apply(&Command::Mutator { name })?;
        }
        let range = match (self.min, self.max) {
            (None, None) => None,
            (min, max) => Some((min.or(max).unwrap_or(0), max.or(min).unwrap_or(0))),
        };
        if range.is_some_and(|(min, max)| min > max) {
            return Err(ApiProblem::bad("min: must not be above max"));
        }
        if self.map.is_some() || range.is_some() {
            let (name, players) = (self.map.clone().unwrap_or_default(), range);
            session.apply(&Command::Map { name, players })?;
        }
        for (at, (player, id)) in self.players.iter().zip(ids).enumerate() {
            let update = Update {
                name: None,
                party: player.party.clone(),
                team: player.team,
                pin: player.pin.map(Some),
                avoid: (!player.avoid.is_empty())
                    .then(|| player.avoid.iter().map(|id| known.get(id)).collect()),
                wish: player.wish.map(Some),
            };
            let id = Ident::from_text(id);
            let joined = session.apply(&Command::Join { id, update });
            joined.map_err(|error| ApiProblem::from(error).at(&format!("players[{at}]")))?;
        }
        self.play_on(session)
    }

    /// Begins play, and reports the score and the time that is left.
    fn play_on(&self, session: &mut Session) -> Result<(), ApiProblem> {
        if !self.is_in_play() {
            return Ok(());
        }
        session.apply(&Command::Start)?;
        for (team, &points) in (0..).zip(&self.scores) {
            let by = None;
            session.apply(&Command::Score { team, points, by })?;
        }
        if let Some(seconds) = self.left {
            let left = u64::from(seconds) * 1_000;
            session.apply(&Command::Clock { left })?;
        }
        Ok(())
    }
}

/// Refuses a name that is empty, too long, or contains what no name contains.
pub(super) fn check_name(place: &str, text: &str) -> Result<(), ApiProblem> {
    let why = match text {
        text if text.trim().is_empty() => "must not be empty".to_owned(),
        text if text.len() > NAME => format!("must have at most {NAME} bytes"),
        text if text.chars().any(char::is_control) => {
            "must not contain control characters".to_owned()
        }
        _ => return Ok(()),
    };
    Err(ApiProblem::bad(format!("{place}: {why}")))
}

/// A text of a caller in an error, shortened.
pub(super) fn shown(text: &str) -> String {
    let start: String = text.chars().take(60).collect();
    start.replace(|c: char| c.is_control(), "?")
}

/// The number of characters of a handle, which are hexadecimal digits.
const HANDLE: usize = 20;

fn may_be_handle(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    text.len() == HANDLE && text.bytes().all(is_digit)
}

/// The identities of those players whom a request names by their handles.
#[derive(Debug, Default)]
pub(super) struct Identities(BTreeMap<String, String>);

impl Identities {
    /// Looks up those of these texts that may be handles.
    pub(super) async fn of(service: &Service, texts: &[&str]) -> Result<Self, ApiProblem> {
        let mut known = Self::default();
        for text in texts {
            if !may_be_handle(text) || known.0.contains_key(*text) {
                continue;
            }
            let found = service.learning().person(text, Some(Kind::Human)).await?;
            if let Some(person) = found {
                known.0.insert((*text).to_owned(), person.key.id);
            }
        }
        Ok(known)
    }

    /// The identity of a player whom the request names like this.
    pub(super) fn get(&self, text: &str) -> String {
        self.0.get(text).map_or(text, String::as_str).to_owned()
    }

    /// Refuses two of these humans who are one player, because a link or a merge says so: each is an identity and the
    /// place where the caller has named it.
    pub(super) async fn check_apart(
        service: &Service,
        named: &[(String, String)],
    ) -> Result<(), ApiProblem> {
        let ids: Vec<String> = named.iter().map(|(id, _)| id.clone()).collect();
        let store = service.store();
        let counted = store.corrections().count_as(&ids).await?;
        let mut seen = BTreeMap::new();
        for (id, place) in named {
            let player = counted.get(id).unwrap_or(id);
            if let Some(first) = seen.insert(player, place) {
                let why = format!("{place}: is the same player as {first}");
                return Err(ApiProblem::bad(why));
            }
        }
        Ok(())
    }
}

/// Those of these humans of whom the asker may know nothing.
async fn hidden_from(asker: Asker<'_>, ids: &[String]) -> Result<Vec<String>, ApiProblem> {
    if asker.sees_hidden {
        return Ok(Vec::new());
    }
    let key = |id: &String| PlayerKey {
        kind: Kind::Human,
        id: id.clone(),
    };
    let named: Vec<_> = ids.iter().map(|id| (key(id), id.clone())).collect();
    let shown = asker.service.store().matches().present(&named).await?;
    let hidden = ids.iter().zip(shown).filter(|(_, one)| one.name.is_none());
    Ok(hidden.map(|(id, _)| id.clone()).collect())
}
