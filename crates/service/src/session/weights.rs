//! The weights of one game: as its lobby sees them, as the asker of a question states them, and as the session
//! answers PLAYER and BOT.
//!
//! A session keeps the weights of its game as of its last question, so that the next question takes no lock and
//! allocates nothing.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::{Session, SessionError};
use crate::{
    learning::{DisplayedRank, Standings, View},
    lobby::{BotWeight, LobbyError, Weights, advantage::ScoreSpread},
    model::{
        Kind, PlayerKey, Ruleset, Timestamp, WinModel,
        ident::Ident,
        win_model::{LineupPlayer, Link, TeamLoad},
    },
    partition::stated::{Decider, ListedWeight},
    rating::history::LineupReading,
};

/// The weights in one game; unknown players have the defaults.
pub(super) struct GameWeights {
    pub(super) standings: Arc<Standings>,
    pub(super) view: Arc<View>,
    pub(super) ruleset: Ruleset,
    pub(super) map: String,
    /// The weights that an operator has stated for an unknown human and for the mean bot.
    pub(super) defaults: (Option<f64>, Option<f64>),
    /// The weights that the asker has stated, which count instead of those that are known.
    pub(super) stated: Arc<StatedWeights>,
    /// The last reading, with its lineup: an answer needs that of the same teams several times.
    pub(super) last: RefCell<Option<(Lineup, LineupReading)>>,
}

/// How far apart the final scores of a ruleset's matches are.
pub fn score_spread(standings: &Standings, ruleset: &Ruleset) -> ScoreSpread {
    let spread = standings.spread(ruleset);
    ScoreSpread {
        matches: spread.matches,
        square: spread.square(),
    }
}

/// The players of each team.
type Lineup = Vec<Vec<LineupPlayer>>;

impl Weights for GameWeights {
    fn human(&self, id: &str) -> f64 {
        let stated = self.stated.instead(id, self.view.unknown(self.defaults.0));
        let known = stated.or_else(|| self.view.expected(Kind::Human, id));
        known.unwrap_or_else(|| self.view.unknown(self.defaults.0))
    }

    /// Where amounts decide, nobody is a newcomer: unknown humans count as the mean.
    fn knows(&self, id: &str) -> bool {
        self.are_amounts() || self.listed(id) != ListedWeight::Unknown
    }

    fn are_amounts(&self) -> bool {
        self.stated.unknown.is_some()
    }

    fn human_strength(&self, id: &str) -> f64 {
        if let Some(stated) = self.stated.instead(id, self.view.unknown(self.defaults.0)) {
            return self.standings.strength_at(&self.ruleset, stated);
        }
        let known = self.view.strength(Kind::Human, id);
        known.unwrap_or_else(|| self.view.unknown_strength(self.defaults.0))
    }

    fn human_deviation(&self, id: &str) -> Option<f64> {
        self.view
            .strength_deviation(Kind::Human, id)
            .filter(|deviation| *deviation > 0.0 && !self.stated.is_instead(id))
    }

    fn command_strength(&self, id: &str, teams: &[Vec<LineupPlayer>]) -> f64 {
        let (kind, id) = (Kind::Human, id.to_owned());
        let key = PlayerKey { kind, id };
        self.standings.command_strength(&self.ruleset, teams, &key)
    }

    fn mean_bot_strength(&self) -> f64 {
        match self.view.mean_bot() {
            Some(_) => self.view.mean_bot_strength(),
            None => self.view.unknown_strength(self.defaults.1),
        }
    }

    /// Beside amounts, every bot is unknown.
    fn bot(&self, name: &str) -> Option<BotWeight> {
        if self.are_amounts() {
            return None;
        }
        let weight = self.view.expected(Kind::Bot, name)?;
        let in_mean = self.view.is_in_mean(name);
        let strength = self.view.strength(Kind::Bot, name)?;
        Some(BotWeight {
            weight,
            strength,
            in_mean,
        })
    }

    fn mean_bot(&self) -> (f64, usize) {
        if let Some(unknown) = self.stated.unknown {
            return (unknown, 0);
        }
        let unknown = || (self.view.unknown(self.defaults.1), 0);
        self.view.mean_bot().unwrap_or_else(unknown)
    }

    fn typical_bots(&self) -> Vec<&str> {
        self.view.typical_bots()
    }

    fn win_model(&self, teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
        if self.are_amounts() {
            return None;
        }
        let win_model = self.reading(teams)?.win_model;
        let deviation = self.deviation(&win_model, teams)?;
        Some(WinModel {
            deviation,
            ..win_model
        })
        .filter(WinModel::is_sound)
    }

    fn spread(&self) -> ScoreSpread {
        score_spread(&self.standings, &self.ruleset)
    }

    /// The rating system's prediction for exactly this lineup. What decisions count differently
    /// from the rating system is added to the edge.
    fn chance(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Option<f64> {
        if self.are_amounts() {
            return None;
        }
        match self.edge(teams, strengths) {
            Some(edge) => Some(edge.link.chance(edge.predicted + edge.more)),
            None => self.standings.chance(&self.ruleset, &self.map, teams),
        }
    }

    fn chances(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Vec<f64> {
        if self.are_amounts() {
            return Vec::new();
        }
        if teams.len() == 2 {
            let chance = self.chance(teams, strengths);
            return chance.map_or(Vec::new(), |chance| vec![chance, 1.0 - chance]);
        }
        let predicted = self.standings.chances(&self.ruleset, &self.map, teams);
        match predicted.unwrap_or_default() {
            // Where a team is empty, the rating system has no chance for it.
            chances if chances.len() != teams.len() || strengths.len() != teams.len() => chances,
            chances => self.with_more(chances, teams, strengths),
        }
    }
}

/// The edge of the first of two teams.
struct Edge {
    link: Link,
    /// As the rating system predicts it.
    predicted: f64,
    /// What decisions add: what parties and pinned weights are worth, and that of equally strong players the larger
    /// team is ahead.
    more: f64,
}

impl GameWeights {
    /// What is known of a human's weight.
    pub(super) fn listed(&self, id: &str) -> ListedWeight {
        let learned = || {
            let hidden = self.stated.hidden.contains(id);
            !hidden && self.view.expected(Kind::Human, id).is_some()
        };
        match self.stated.weights.get(id) {
            Some(weight) => ListedWeight::Stated(*weight),
            None if learned() => ListedWeight::Learned,
            None => ListedWeight::Unknown,
        }
    }

    /// The edge of the first of two teams that both have players; `None` if nothing predicts one.
    fn edge(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Option<Edge> {
        let (&[counted, against], [one, other]) = (strengths, teams) else {
            return None;
        };
        if one.is_empty() || other.is_empty() {
            return None;
        }
        let reading = self.reading(teams)?;
        let win_model = Some(reading.win_model).filter(WinModel::is_sound)?;
        let load = |team: &[LineupPlayer], strength| TeamLoad {
            heads: team.len(),
            strength,
        };
        let stronger = (counted - reading.strengths[0]) - (against - reading.strengths[1]);
        let heads = win_model.heads(load(one, counted), load(other, against));
        let learned = win_model.learned_heads(one.len(), other.len());
        Some(Edge {
            link: win_model.link,
            predicted: reading.edge,
            more: win_model.per_strength_at(one.len() + other.len()) * stronger + (heads - learned),
        })
    }

    /// The chances of more than two teams, each the mean of those against the others, with what decisions add to each
    /// of these. O(teams²) readings.
    fn with_more(
        &self,
        mut chances: Vec<f64>,
        teams: &[Vec<LineupPlayer>],
        strengths: &[f64],
    ) -> Vec<f64> {
        let pairs = (0..teams.len()).flat_map(|a| (0..a).map(move |b| [b, a]));
        let count = pairs.clone().count().max(1) as f64;
        for pair in pairs {
            let both = pair.map(|team| teams[team].clone());
            let Some(edge) = self.edge(&both, &pair.map(|team| strengths[team])) else {
                continue;
            };
            let predicted = edge.link.chance(edge.predicted);
            let more = (edge.link.chance(edge.predicted + edge.more) - predicted) / count;
            chances[pair[0]] = (chances[pair[0]] + more).max(0.0);
            chances[pair[1]] = (chances[pair[1]] - more).max(0.0);
        }
        chances
    }

    fn reading(&self, teams: &[Vec<LineupPlayer>]) -> Option<LineupReading> {
        if let Some((lineup, reading)) = &*self.last.borrow()
            && lineup == teams
        {
            return Some(*reading);
        }
        let reading = self.standings.reading(&self.ruleset, &self.map, teams)?;
        self.last.replace(Some((teams.to_vec(), reading)));
        Some(reading)
    }

    /// The largest standard deviation of the edge between two of these teams. Players whose weight
    /// is pinned add nothing to it. `win_model` is that of all teams. O(teams²) readings.
    fn deviation(&self, win_model: &WinModel, teams: &[Vec<LineupPlayer>]) -> Option<f64> {
        let stated = |key: &PlayerKey| key.kind == Kind::Human && self.stated.is_instead(&key.id);
        let pinned = |LineupPlayer { key, .. }: &LineupPlayer| {
            stated(key) || self.view.is_pinned(key.kind, &key.id)
        };
        let all = || teams.iter().flatten();
        if teams.len() == 2 && !all().any(pinned) {
            return Some(win_model.deviation);
        }
        if all().all(pinned) {
            return Some(0.0);
        }
        // A rating system does not predict a game against a team without players.
        let open: Vec<Vec<LineupPlayer>> = teams
            .iter()
            .map(|team| {
                let open = team.iter().filter(|player| !pinned(player)).cloned();
                let open: Vec<_> = open.collect();
                if open.is_empty() { team.clone() } else { open }
            })
            .collect();
        let pairs = (0..open.len()).flat_map(|a| (0..a).map(move |b| [b, a]));
        let deviations = pairs.map(|pair| {
            let between = self
                .reading(&pair.map(|team| open[team].clone()))?
                .win_model;
            // The same uncertainty of the strengths, in the unit of the whole lineup's edge.
            Some(between.deviation * win_model.per_strength / between.per_strength)
        });
        deviations
            .into_iter()
            .try_fold(0.0, |most, deviation| Some(deviation?.max(most)))
    }
}

impl Session {
    /// A human's division in this game, as it is displayed now.
    ///
    /// # Errors
    /// Fails if there is no game, or if no divisions are configured.
    pub fn rank(&mut self, id: &Ident) -> Result<DisplayedRank, SessionError> {
        let standings = self.sessions.ready_standings()?;
        let now = self.sessions.clock.now();
        let ruleset = self.ruleset()?.clone();
        let learning = &self.sessions.learning;
        if standings.view(&ruleset).awaits_rank(id.text()) {
            return Err(SessionError::NotReady);
        }
        let rank = learning.displayed_rank(&standings, &ruleset, id.text(), now);
        rank.ok_or(SessionError::NotAllowed("no divisions are configured"))
    }

    /// The mean weight and the number of the known bots; the configured default and 0 if there are
    /// none.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn mean_bot(&mut self) -> Result<(f64, usize), SessionError> {
        let (_, default) = self.state.rules.settings.balance.stated_defaults();
        let standings = self.sessions.ready_standings()?;
        self.show_bots()?;
        let view = standings.view(self.ruleset()?);
        if view.awaits_bots() {
            return Err(SessionError::NotReady);
        }
        let unknown = || (view.unknown(default), 0);
        Ok(view.mean_bot().unwrap_or_else(unknown))
    }

    /// The ruleset of the session's game. If there is no game, the server's parked game is resumed
    /// first.
    pub(super) fn ruleset(&mut self) -> Result<&Ruleset, LobbyError> {
        self.lobby();
        self.state.ruleset(self.sessions.rulebook())
    }

    /// The weights in this game; fails while the weights of one of its players are being derived.
    pub(super) fn weights(&mut self) -> Result<GameWeights, SessionError> {
        let weights = self.present_weights()?;
        self.sessions.ready_standings()?;
        let (view, roster) = (&weights.view, &self.state.lobby.game()?.roster);
        let stated = &weights.stated;
        let awaits = |kind, id: &Ident| {
            view.awaits_expected(kind, id.text()) && !stated.is_instead(id.text())
        };
        let mut humans = roster.humans().iter();
        let mut bots = roster.bots().iter();
        let lacks = view.awaits_bots()
            || humans.any(|human| awaits(Kind::Human, &human.id))
            || bots.any(|bot| awaits(Kind::Bot, &bot.name));
        match lacks {
            true => Err(SessionError::NotReady),
            false => Ok(weights),
        }
    }

    /// The weights in this game. Players whose weights are being derived have those of unknown ones.
    pub(super) fn present_weights(&mut self) -> Result<GameWeights, LobbyError> {
        let ruleset = self.ruleset()?.clone();
        let standings = self.sessions.standings();
        let game = self.state.lobby.game()?;
        let balance = &self.state.rules.settings.balance;
        Ok(GameWeights {
            view: standings.view(&ruleset),
            standings,
            ruleset,
            map: game.map.clone().unwrap_or_default(),
            defaults: balance.stated_defaults(),
            stated: match &self.aside {
                Some(aside) => aside.stated.clone(),
                None => Arc::default(),
            },
            last: RefCell::default(),
        })
    }
}

/// The weights that the asker of one question states. A session of a game has none.
#[derive(Clone, Debug, Default)]
pub(super) struct StatedWeights {
    /// The stated weights of humans, by identity.
    pub(super) weights: BTreeMap<String, f64>,
    /// The humans of whom the asker must not learn anything: they count as if nobody knew them.
    pub(super) hidden: BTreeSet<String>,
    /// What a human without a stated weight counts if the sums of the stated ones decide.
    pub(super) unknown: Option<f64>,
}

impl StatedWeights {
    /// The weight that counts for this human instead of what was learned; `None` if that counts.
    pub(super) fn instead(&self, id: &str, default: f64) -> Option<f64> {
        let hidden = || self.hidden.contains(id).then_some(default);
        let stated = self.weights.get(id).copied();
        stated.or(self.unknown).or_else(hidden)
    }

    /// Whether this human does not count with what was learned.
    pub(super) fn is_instead(&self, id: &str) -> bool {
        self.instead(id, 0.0).is_some()
    }
}

impl Session {
    /// Finds out what the weights mean that the asker of one question has stated. To be called once all players have
    /// joined.
    ///
    /// # Errors
    /// Fails if there is no game, if a weight is being derived that it needs, or if a stated weight cannot count.
    pub fn weigh_stated(&mut self) -> Result<(), SessionError> {
        let weights = self.weights()?;
        if weights.stated.weights.is_empty() {
            return Ok(());
        }
        let humans = self.state.lobby.game()?.roster.humans().iter();
        let listed = humans.map(|human| weights.listed(human.id.text()));
        let unknown = match Decider::of(&listed.collect::<Vec<_>>())? {
            Decider::Sums { unknown } => Some(unknown),
            Decider::Learned => None,
        };
        if let Some(aside) = &mut self.aside {
            Arc::make_mut(&mut aside.stated).unknown = unknown;
        }
        Ok(())
    }
}

/// The weights of one game, and how long they are those that are published.
#[derive(Debug)]
pub struct CachedWeights {
    view: Arc<View>,
    /// The edition of the standings that they are of.
    edition: u64,
    /// The date on which the next season begins.
    until: Option<Timestamp>,
    /// The default weight of the mean bot.
    default_bot: f64,
}

impl CachedWeights {
    /// Fails while the weight of this player is being derived from the stored matches.
    fn is_ready_for(&self, kind: Kind, id: &str) -> Result<(), SessionError> {
        match self.view.awaits(kind, id) {
            true => Err(SessionError::NotReady),
            false => Ok(()),
        }
    }

    /// A human's weight; `None` for a human without games.
    pub fn human(&self, id: &str) -> Option<f64> {
        self.view.human(id)
    }

    /// A bot's weight; the mean for an unknown bot.
    pub fn bot(&self, name: &str) -> f64 {
        let mean = || {
            self.view
                .mean_bot()
                .map_or(self.default_bot, |(mean, _)| mean)
        };
        self.view.expected(Kind::Bot, name).unwrap_or_else(mean)
    }
}

impl Session {
    /// The weights with which a question about this game's players can be answered at once, with the same
    /// weights as by [`player`](Self::player) and [`bot`](Self::bot). `None` if the journal has to be written
    /// first, if a question about `kind` would change the session, if other weights have been published
    /// since the last question, or if those of this player are being derived; the next question fetches them.
    pub fn cached_weights(&self, kind: Kind, id: &str) -> Option<&CachedWeights> {
        let weights = self.state.cached_weights.as_ref()?;
        let lobby = &self.state.lobby;
        let is_ready = !self.owes_end
            && self.state.journal.is_finalised()
            && self.sessions.learning.edition() == weights.edition
            && lobby.game().is_ok()
            && (kind == Kind::Human || lobby.bot_use().shown)
            && !weights.view.awaits(kind, id)
            && weights
                .until
                .is_none_or(|date| self.sessions.clock.now() < date);
        is_ready.then_some(weights)
    }

    /// A human's weight in this game; `None` without games of its ruleset, or of its game type with
    /// fewer mutators.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn player(&mut self, id: &Ident) -> Result<Option<f64>, SessionError> {
        let weights = self.cache_weights()?;
        weights.is_ready_for(Kind::Human, id.text())?;
        Ok(weights.human(id.text()))
    }

    /// A bot's weight in this game; the mean for an unknown bot.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn bot(&mut self, name: &Ident) -> Result<f64, SessionError> {
        self.sessions.ready_standings()?;
        self.show_bots()?;
        let weights = self.cache_weights()?;
        weights.is_ready_for(Kind::Bot, name.text())?;
        Ok(weights.bot(name.text()))
    }

    /// Fetches the published weights of this game, and keeps them for the next question.
    fn cache_weights(&mut self) -> Result<&CachedWeights, SessionError> {
        // Read before the standings: at worst, the weights count as older than they are.
        let edition = self.sessions.learning.edition();
        let standings = self.sessions.ready_standings()?;
        let (_, default_bot) = self.state.rules.settings.balance.stated_defaults();
        let view = standings.view(self.ruleset()?);
        let default_bot = view.unknown(default_bot);
        let weights = CachedWeights {
            view,
            edition,
            until: standings.next_season(),
            default_bot,
        };
        Ok(self.state.cached_weights.insert(weights))
    }
}
