//! Teams picked by the daemon itself: a session in process, with a database of its own.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    sync::Arc,
    time::{Duration, Instant},
};

use evenkeel::{
    config::Config,
    lobby::{Command, Update},
    model::{
        MatchRecord, Timestamp,
        ident::Ident,
        units::{Amount, ChoiceExponent},
    },
    partition::settings::Objective,
    rating::SystemName,
    server::Service,
    session::{HandClock, Session},
    store,
};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::lobbies::{History, Lobby};

/// By what BALANCE picks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Way {
    Ratio,
    Chance,
}

/// What is tried besides the default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Trial {
    /// `[balance.factors] uncertain`, if it is not the default.
    pub uncertain: Option<f64>,
    /// The probability of each player to wish for a side.
    pub wishes: f64,
    /// The rating system.
    pub system: SystemName,
    /// Whether BALANCE always picks its best split, instead of varying among nearly as good ones.
    pub best: bool,
}

/// What the daemon answers for one lobby.
pub struct Picked {
    /// The teams of each seed, by player of the lobby.
    pub teams: Vec<Vec<u8>>,
    /// The daemon's own chance of team 0 for each seed.
    pub chances: Vec<Option<f64>>,
    /// The teams that REBALANCE wants, beginning with those as played, if it wants any moves.
    pub rebalanced: Option<Vec<u8>>,
    /// The mean time from BALANCE to its answer, in microseconds.
    pub micros: f64,
}

/// The number of seeds with which each lobby is picked.
pub const SEEDS: u64 = 30;

/// The team for which a player wishes in the lobby of match `at`: none with probability `1 - share`. A player's wishes
/// in different lobbies are drawn anew.
pub fn wish(id: &str, at: usize, share: f64) -> Option<u8> {
    let mut hasher = DefaultHasher::new();
    (id, at).hash(&mut hasher);
    let mut draw = ChaCha8Rng::seed_from_u64(hasher.finish());
    draw.random_bool(share).then(|| draw.random_range(0..2))
}

/// Picks teams for all lobbies, which are in order.
pub async fn pick_all(way: Way, history: &History, lobbies: &[Lobby], trial: Trial) -> Vec<Picked> {
    let mut picked = Vec::new();
    let mut daemon: Option<Learner> = None;
    for lobby in lobbies {
        let fits = daemon.as_ref().is_some_and(|d| d.first == lobby.first);
        if !fits && let Some(old) = daemon.take() {
            old.service.close().await;
        }
        let mut ready = match daemon.take() {
            Some(ready) => ready,
            None => Learner::open(way, lobby.first, trial).await,
        };
        ready
            .learn(&history.matches[ready.next..lobby.at], lobby.at)
            .await;
        picked.push(ready.pick(&history.matches[lobby.at], lobby).await);
        daemon = Some(ready);
    }
    if let Some(old) = daemon {
        old.service.close().await;
    }
    picked
}

/// A daemon in process that has learned from the matches `first..next`.
struct Learner {
    service: Arc<Service>,
    session: Session,
    first: usize,
    next: usize,
    trial: Trial,
    _folder: tempfile::TempDir,
}

impl Learner {
    async fn open(way: Way, first: usize, trial: Trial) -> Self {
        let folder = tempfile::TempDir::with_prefix("evenkeel-").expect("a folder");
        let mut config = Config::load("", []).expect("the default configuration");
        config.lobby.bots = false;
        config.balance.partition.objective = match way {
            Way::Ratio => Objective::Ratio,
            Way::Chance => Objective::Chance,
        };
        config.rating.rating.system = trial.system.into();
        if trial.best {
            config.balance.partition.power = ChoiceExponent::of(f64::INFINITY);
        }
        if let Some(cost) = trial.uncertain {
            let factors = &mut config.balance.partition.factors;
            factors.uncertain = Amount::try_from(cost).expect("a possible cost");
        }
        let path = folder.path().join("even.db");
        let store = store::open(&path, true, Duration::from_secs(5)).await;
        let mut settings = config.service();
        settings.session.keep_decisions = 0;
        let clock = Arc::new(HandClock::new(Timestamp(1_767_225_600_000)));
        let service = Service::open_with_clock(store.expect("a database"), settings, clock);
        let service = Arc::new(service.expect("a service"));
        let session = service.open_session();
        Self {
            service,
            session,
            first,
            next: first,
            trial,
            _folder: folder,
        }
    }

    async fn learn(&mut self, matches: &[MatchRecord], next: usize) {
        for record in matches {
            self.service
                .store()
                .matches()
                .record(record)
                .await
                .expect("recorded");
        }
        self.service.learning().refresh().await.expect("learned");
        self.next = next;
    }

    /// Begins a game like this match with the players of the lobby, on their teams or on none.
    fn begin(&mut self, record: &MatchRecord, lobby: &Lobby, placed: bool) {
        // In the same session, a GAME with the same players would be the same game once more.
        self.session = self.service.open_session();
        let game = self.session.new_game(&Ident::from_text(&record.game_type));
        self.apply(game);
        for name in &record.mutators {
            let name = name.clone();
            self.apply(Command::Mutator { name });
        }
        let (name, players) = (record.map.clone(), None);
        self.apply(Command::Map { name, players });
        for (at, (id, team)) in lobby.players.iter().enumerate() {
            let party = lobby.parties.iter().position(|party| party.contains(&at));
            let team = placed.then_some(*team as u8);
            let wish = wish(id, lobby.at, self.trial.wishes).filter(|_| !placed);
            self.apply(Command::Join {
                id: Ident::from_text(id),
                update: Update {
                    team,
                    party: party.map(|number| format!("party {number}")),
                    wish: wish.map(Some),
                    ..Update::default()
                },
            });
        }
    }

    fn apply(&mut self, command: Command) {
        self.session.apply(&command).expect("a legal command");
    }

    #[allow(clippy::disallowed_methods, reason = "the time of BALANCE is measured")]
    async fn pick(&mut self, record: &MatchRecord, lobby: &Lobby) -> Picked {
        let (mut teams, mut chances) = (Vec::new(), Vec::new());
        let mut spent = Duration::ZERO;
        for seed in 1..=SEEDS {
            self.begin(record, lobby, false);
            let asked = Instant::now();
            let balanced = self.session.balance(None, Some(seed)).await.expect("teams");
            spent += asked.elapsed();
            teams.push(balanced.humans.iter().map(|(_, team)| *team).collect());
            chances.push(balanced.chance);
        }
        self.begin(record, lobby, true);
        let advice = self.session.rebalance(Some(1)).expect("advice");
        let mut moved: Vec<u8> = lobby.players.iter().map(|(_, team)| *team as u8).collect();
        for step in &advice.steps {
            let who = lobby
                .players
                .iter()
                .position(|(id, _)| *id == step.id.text());
            moved[who.expect("somebody of the lobby")] = step.to;
        }
        Picked {
            teams,
            chances,
            rebalanced: (!advice.steps.is_empty()).then_some(moved),
            micros: spent.as_secs_f64() * 1e6 / SEEDS as f64,
        }
    }
}
