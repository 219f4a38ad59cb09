//! The state of one session's game, and the commands that describe the game itself, and the players' wishes for a side.
//!
//! With `[lobby] wish_seconds`, the wishes of the first seconds after GAME count together, so that nobody gains by being
//! the first or the last to state one. Later ones count for the next game. BALANCE does not wait.
//!
//! A GAME may come again: a server restarts its map after the warm-up, and what BALANCE has decided before holds.
//! GAME alone does not tell whether it is the same game once more, because the map and the players follow it. So the
//! game before is kept until the first BALANCE or START, which asks [`Lobby::goes_on`].

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_model::{
    ident::{Ident, are_mostly_the_same},
    in_game::Move,
    match_chances::TeamChances,
    record::MAX_TEAMS,
};
use evenkeel_partition::sums::Fill;
use serde::{Deserialize, Serialize};

use crate::{
    LobbyError, LobbySettings, NewGame,
    balance::LastBalance,
    command::{BalanceWatch, Offer, TimedCommand},
    memory::{PlayerHistories, ScoreRun, Win},
    recorder::{Finished, GameRecorder, RecordFrame},
    roster::{BotPlan, BotUse, Human, Roster, with_unplaced},
};

/// The most mutators of a game: a bound on hostile input.
pub(super) const MAX_MUTATORS: usize = 256;

/// The most game types of which a session's scores are remembered.
const MAX_SCORED: usize = 256;

/// One session's game, and what the session remembers between games.
///
/// Only [`apply`](Self::apply) changes it; decisions apply commands of their own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Lobby {
    #[serde(skip)]
    pub(super) settings: LobbySettings,
    /// The commands that decisions have applied; `None` until [`keep_trail`](Self::keep_trail) is
    /// called.
    #[serde(skip)]
    pub(super) trail: Option<Vec<TimedCommand>>,
    /// The current time in milliseconds of the session.
    pub(super) now: u64,
    pub(super) teams: u8,
    min_players: Option<u32>,
    bot_use: BotUse,
    /// The canonical names of the game types for which this session has sent SCORE, in play or
    /// before.
    scored: BTreeSet<String>,
    pub(super) game: Option<RunningGame>,
    /// The game before this one, until it is known whether this one is the same once more.
    pub(super) before: Option<Box<GameBefore>>,
    /// The last team of each human, by id, in the game before this one.
    pub(super) last_teams: BTreeMap<String, u8>,
    pub(super) memory: PlayerHistories,
    /// The last matches in a row that a team has won, the latest first.
    pub(super) wins: Vec<Win>,
}

/// The state from one GAME to the next.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunningGame {
    /// The game type, as the game server named it.
    pub game_type: String,
    /// The canonical name of the game type, without a mode.
    pub(super) canonical_type: String,
    /// The mutators, as the game server named them, each once.
    pub mutators: Vec<String>,
    /// Whether the game is played in teams.
    pub has_teams: bool,
    /// Whether the players choose their teams themselves, in which case auto-balance moves no one.
    pub tournament: bool,
    /// The map, once MAP has named it.
    pub map: Option<String>,
    /// The humans and bots in the game.
    pub roster: Roster,
    pub(super) map_range: Option<(u32, u32)>,
    pub(super) recorder: GameRecorder,
    pub(super) watch: BalanceWatch,
    /// How much stronger its score made each team in the last answer to ADVANTAGE, and when that
    /// answer was given.
    pub(super) by_score: Option<(Vec<f64>, u64)>,
    /// The last BALANCE, and the teams that it chose.
    pub(super) balanced: Option<LastBalance>,
    /// Moves that REBALANCE advised and that have not been made yet.
    pub(super) advised: Vec<Move>,
    /// The millisecond of the session at which it began.
    pub(super) began: u64,
    /// The moves that players are asked for.
    pub(super) offer: Option<Offer>,
    /// Who has scored last, and how often in a row.
    pub(super) run: ScoreRun,
    /// The humans who have died since auto-balance may move somebody: it waits for none of them.
    pub(super) died: Vec<Ident>,
    /// Whether it is that of a hosted match.
    pub(super) hosted: bool,
    /// Whether it has come again, and neither BALANCE nor START has followed yet.
    pub(super) again: bool,
}

/// A game that ended by GAME, and that may go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct GameBefore {
    pub(super) game: RunningGame,
    /// The number of teams then.
    pub(super) teams: u8,
    /// The millisecond of the session at which it ended.
    pub(super) until: u64,
    /// What the session remembered while it was played, of the games before it.
    pub(super) last_teams: BTreeMap<String, u8>,
    pub(super) memory: PlayerHistories,
}

impl RunningGame {
    /// Notes the balance of the teams. When they are balanced, or unbalanced in another direction, nobody has died yet.
    pub(super) fn note_watch(&mut self, watch: BalanceWatch) {
        let since = |watch: &BalanceWatch| watch.imbalance.map(|(_, since)| since);
        if since(&watch) != since(&self.watch) {
            self.died.clear();
        }
        self.watch = watch;
    }

    /// The humans on the weaker side of the map, if BALANCE has found that one is weaker.
    fn on_weaker_side(&self) -> Vec<&str> {
        let weaker = self.balanced.as_ref().and_then(LastBalance::weaker_side);
        let humans = self.roster.humans().iter();
        let on_it = humans.filter(|human| weaker.is_some() && human.team == weaker);
        on_it.map(|human| human.id.text()).collect()
    }
}

impl Lobby {
    /// A lobby without a game, for two teams.
    pub fn new(settings: LobbySettings) -> Self {
        Self {
            settings,
            trail: None,
            now: 0,
            teams: 2,
            min_players: None,
            bot_use: BotUse::default(),
            scored: BTreeSet::new(),
            game: None,
            before: None,
            last_teams: BTreeMap::new(),
            memory: PlayerHistories::default(),
            wins: Vec::new(),
        }
    }

    /// Sets the time of the following commands, in milliseconds of the session. Time never goes
    /// back.
    pub fn at(&mut self, now: u64) -> &mut Self {
        self.now = self.now.max(now);
        self
    }

    /// Begins a new game and discards the mutators, map and roster of the last one. The session's
    /// TEAMS and MINPLAYERS remain, and so do the humans' last teams, so that the same teams are
    /// not chosen again and again. An unfinished game is lost: get its record from
    /// [`abandoned`](Self::abandoned) first.
    pub(super) fn begin(&mut self, new: &NewGame) {
        if let Some(game) = &self.game {
            let placed = game.roster.humans().iter();
            let placed = placed.filter_map(|human| Some((human.id.text().to_owned(), human.team?)));
            self.last_teams = placed.collect();
        }
        let weaker = self
            .game
            .as_ref()
            .map_or(Vec::new(), RunningGame::on_weaker_side);
        self.memory.next_game(weaker.into_iter());
        self.game = Some(RunningGame {
            game_type: new.game_type.clone(),
            canonical_type: new.canonical_type.clone(),
            mutators: Vec::new(),
            has_teams: new.has_teams,
            tournament: new.tournament,
            map: None,
            roster: Roster::new(self.settings.roster.max_roster.as_usize()),
            map_range: None,
            recorder: GameRecorder::default(),
            watch: BalanceWatch::default(),
            by_score: None,
            balanced: None,
            advised: Vec::new(),
            began: self.now,
            offer: None,
            run: ScoreRun::default(),
            died: Vec::new(),
            hosted: false,
            again: false,
        });
    }

    /// The running game.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn game(&self) -> Result<&RunningGame, LobbyError> {
        self.game.as_ref().ok_or(LobbyError::NoGame)
    }

    /// The team that a human was on in the last game of this session, if it still exists.
    pub(crate) fn last_team(&self, id: &Ident) -> Option<u8> {
        let team = self.last_teams.get(id.text()).copied();
        team.filter(|&team| team < self.teams)
    }

    /// Number of teams, 2 to 8.
    pub fn teams(&self) -> u8 {
        self.teams
    }

    pub(super) fn set_teams(&mut self, teams: u8) -> Result<(), LobbyError> {
        if !(2..=MAX_TEAMS).contains(&usize::from(teams)) {
            return Err(LobbyError::BadTeams(teams));
        }
        if let Some(game) = &mut self.game {
            let highest = game.roster.highest_team();
            match highest.is_some_and(|team| team >= teams) {
                true if game.recorder.is_over() => game.give_up_teams(teams, self.now),
                true => return Err(LobbyError::TeamInUse),
                false => {}
            }
        }
        self.teams = teams;
        Ok(())
    }

    pub(super) fn set_min_players(&mut self, players: u32) {
        self.min_players = Some(players);
    }

    pub(super) fn add_mutator(&mut self, name: &str) -> Result<(), LobbyError> {
        let Some(game) = &mut self.game else {
            return Ok(());
        };
        if game.mutators.iter().any(|known| known == name) {
            return Ok(());
        }
        if game.mutators.len() == MAX_MUTATORS {
            return Err(LobbyError::TooManyMutators);
        }
        game.mutators.push(name.to_owned());
        Ok(())
    }

    pub(super) fn set_map(
        &mut self,
        name: &str,
        players: Option<(u32, u32)>,
    ) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        game.map = Some(name.to_owned());
        game.map_range = players;
        Ok(())
    }

    /// Whether this session has sent SCORE for the running game's type, in this game or an earlier
    /// one.
    pub(super) fn reports_scores(&self) -> bool {
        let game = self.game.as_ref();
        game.is_some_and(|game| self.scored.contains(&game.canonical_type))
    }

    pub(super) fn note_scores(&mut self) {
        let Some(game) = &self.game else { return };
        if self.scored.len() < MAX_SCORED {
            self.scored.insert(game.canonical_type.clone());
        }
    }

    pub(super) fn game_mut(&mut self) -> Result<&mut RunningGame, LobbyError> {
        self.game.as_mut().ok_or(LobbyError::NoGame)
    }
}

pub(super) fn exists(team: u8, teams: u8) -> Result<(), LobbyError> {
    if team < teams {
        Ok(())
    } else {
        Err(LobbyError::NoSuchTeam(team))
    }
}

impl Lobby {
    /// The number of players that the game should have, and of bots on each team.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn bots(&self) -> Result<BotPlan, LobbyError> {
        let game = self.game()?;
        let fill = self.fill()?;
        let most = self.settings.roster.max_roster.as_usize();
        let humans = game.roster.humans().len();
        if !game.has_teams {
            return Ok(BotPlan::for_all(&fill, humans).at_most(most, &[humans]));
        }
        let (sizes, unplaced) = (game.roster.sizes(self.teams), game.roster.unplaced());
        let plan = BotPlan::for_teams(&fill, &sizes, unplaced);
        Ok(plan.at_most(most, &with_unplaced(sizes, unplaced)))
    }

    /// Whether this session acts on bots. This outlasts a game.
    pub fn bot_use(&self) -> BotUse {
        self.bot_use
    }

    pub(crate) fn declare_bots(&mut self, acts: bool) {
        self.bot_use.declared = Some(acts);
    }

    pub(crate) fn show_bots(&mut self) {
        self.bot_use.shown = true;
    }

    /// What the number of bots depends on, besides the humans, for decisions about teams. Bots are
    /// expected to come or go only if the session acts on bots; otherwise the bots are taken as
    /// they are.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub(crate) fn expected_fill(&self) -> Result<Fill, LobbyError> {
        let fill = self.fill()?;
        Ok(Fill {
            on: fill.on && self.bot_use.expects(),
            ..fill
        })
    }

    /// What the number of bots depends on, besides the humans. [`Display`](std::fmt::Display)
    /// explains it in one line.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn fill(&self) -> Result<Fill, LobbyError> {
        Ok(Fill {
            on: self.settings.roster.bots && self.bot_use.declared != Some(false),
            wish: self.wish(),
            map_range: self.map_range()?,
            min_humans: self.settings.roster.min_humans.get(),
        })
    }

    /// The number of players that the session wants, bots included, whatever the map recommends.
    pub fn wish(&self) -> u32 {
        self.min_players
            .unwrap_or(self.settings.roster.min_players.get())
    }

    /// The fewest and the most players that the map recommends, or the configured range.
    ///
    /// # Errors
    /// Fails if there is no game.
    pub fn map_range(&self) -> Result<(u32, u32), LobbyError> {
        Ok(self
            .game()?
            .map_range
            .unwrap_or_else(|| self.settings.roster.map_range()))
    }
}

impl Lobby {
    /// Notes the wish that JOIN states. A human who is `new` in the game has the wish that came late in the last game.
    pub(crate) fn note_wish(
        &mut self,
        id: &Ident,
        stated: Option<Option<u8>>,
        new: bool,
    ) -> Result<(), LobbyError> {
        let kept = self.memory.of(id.text()).wish.filter(|_| new);
        let late = self.is_late_to_wish()?;
        if let Some(wish) = stated.filter(|_| late) {
            self.memory.entry(id.text()).next_wish = wish;
        }
        let human = self.game_mut()?.roster.human_mut(id)?;
        match stated.filter(|_| !late) {
            Some(wish) => human.wish = wish,
            None => human.wish = kept.or(human.wish),
        }
        Ok(())
    }

    /// Whether wishes count for the next game now.
    fn is_late_to_wish(&self) -> Result<bool, LobbyError> {
        let open = self.settings.roster.wish_seconds.millis();
        let passed = self.now.saturating_sub(self.game()?.began);
        Ok(open > 0 && passed > open)
    }

    /// Whether everybody is on the team that BALANCE chose, and one of them because they wished for it. Such teams may be
    /// less even than others, which is no reason to move anybody.
    pub(crate) fn stands_by_wishes(&self) -> bool {
        let Some(game) = &self.game else { return false };
        let humans = game.roster.humans();
        let last = game.balanced.as_ref();
        let satisfied = |human: &Human| human.team.is_some() && self.wish_of(human) == human.team;
        let teams = humans.iter().map(|human| (human.id.text(), human.team));
        humans.iter().any(satisfied) && last.is_some_and(|last| last.holds(teams))
    }

    /// The team for which a human wishes, if it exists.
    pub(crate) fn wish_of(&self, human: &Human) -> Option<u8> {
        human.wish.filter(|&team| team < self.teams)
    }

    /// The humans in the game whose wish came late.
    pub(crate) fn late_wishes(&self) -> Result<Vec<String>, LobbyError> {
        let ids = self.game()?.roster.humans().iter();
        let ids = ids.map(|human| human.id.text());
        let late = ids.filter(|id| self.memory.of(id).next_wish.is_some());
        Ok(late.map(str::to_owned).collect())
    }
}

/// The line about somebody whose wish came late.
pub(crate) fn late_wish(who: &str) -> String {
    format!("the wish of {who} came late, and counts for the next game")
}

impl Lobby {
    /// Whether BALANCE has decided on teams with which no play has ended, and the game is not that of a hosted match:
    /// the next GAME may mean the same game again.
    pub fn is_decided(&self) -> bool {
        let game = self.game.as_ref().filter(|game| !game.hosted);
        game.is_some_and(|game| game.decided().is_some())
    }

    /// Keeps the game, because the next command is GAME and may mean the same game again.
    pub(super) fn hold(&mut self) {
        self.before = self.held();
    }

    /// Keeps the game that another connection of the same server has left, or the one that it kept. Call it before this
    /// session's first game.
    pub fn take_over(&mut self, left: &mut Self) {
        self.before = left.before.take().or_else(|| left.held());
        left.game = None;
    }

    fn held(&self) -> Option<Box<GameBefore>> {
        let game = self.game.clone()?;
        Some(Box::new(GameBefore {
            game,
            teams: self.teams,
            until: self.now,
            last_teams: self.last_teams.clone(),
            memory: self.memory.clone(),
        }))
    }

    /// Whether the game is the one that is kept, once more: of the same type, on the same map if both maps are known,
    /// and at least half of the humans of each are in the other. `None` if none is kept.
    pub fn goes_on(&self) -> Option<bool> {
        let before = self.before.as_ref()?;
        let Some(game) = &self.game else {
            return Some(false);
        };
        let old = &before.game;
        let maps = old.map.as_ref().zip(game.map.as_ref());
        let same = old.has_teams == game.has_teams
            && before.teams == self.teams
            && old.game_type.eq_ignore_ascii_case(&game.game_type)
            && maps.is_none_or(|(one, other)| one.eq_ignore_ascii_case(other));
        Some(same && are_mostly_the_same(&old.people(), &game.people()))
    }

    /// The game that is kept goes on in this one: what was decided stands, and there was no game before this one.
    pub(super) fn go_on(&mut self) {
        let (Some(before), Some(game)) = (self.before.take(), &mut self.game) else {
            return;
        };
        let before = *before;
        if let Some(picked) = before.game.decided() {
            game.recorder.chances.pick(picked);
        }
        (game.balanced, game.again) = (before.game.balanced, true);
        game.began = before.game.began;
        self.last_teams = before.last_teams;
        self.memory.undo_game(&before.memory);
    }

    /// BALANCE was answered.
    pub(super) fn note_balanced(&mut self, last: &LastBalance) -> Result<(), LobbyError> {
        let game = self.game_mut()?;
        (game.balanced, game.again) = (Some(last.clone()), false);
        Ok(())
    }

    /// Whether everybody for whom the last BALANCE of the game has chosen a team is on it, or on none.
    pub fn stands_as_picked(&self) -> bool {
        let Some(game) = &self.game else { return true };
        let Some(last) = &game.balanced else {
            return true;
        };
        let as_picked = |human: &Human| {
            let (own, picked) = (human.team, last.team(human.id.text()));
            own.is_none() || picked.is_none() || own == picked
        };
        game.roster.humans().iter().all(as_picked)
    }

    /// The record of the game that is kept, if it was in play: it is abandoned.
    pub fn abandoned_before(&self, frame: &RecordFrame) -> Option<Finished> {
        let before = self.before.as_ref()?;
        before.game.abandoned(frame, before.teams, before.until)
    }
}

impl RunningGame {
    /// What was predicted of the teams that BALANCE has picked, until they have played to the end.
    fn decided(&self) -> Option<&TeamChances> {
        self.recorder.picked()
    }

    /// Play begins with the teams of BALANCE if the game has come again without another BALANCE: who has stayed, and is on
    /// no team yet, is on the chosen one.
    pub(super) fn stand(&mut self, teams: u8) {
        let Some(last) = self.balanced.as_ref().filter(|_| self.again) else {
            return;
        };
        for human in self.roster.unplaced_mut() {
            let team = last.team(human.id.text());
            human.team = team.filter(|team| *team < teams);
        }
    }

    /// The humans of the roster, for whom BALANCE decides; once all have left, those for whom it has decided.
    fn people(&self) -> BTreeSet<&str> {
        let humans = self.roster.humans().iter().map(|human| human.id.text());
        let decided = self
            .balanced
            .iter()
            .filter(|_| self.roster.humans().is_empty());
        humans
            .chain(decided.flat_map(LastBalance::humans))
            .collect()
    }
}

#[cfg(test)]
mod tests;
