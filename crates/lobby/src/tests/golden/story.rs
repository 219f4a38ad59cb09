//! A lobby that follows from a number: its settings, its players, and what happens in it.

use std::fmt;

use crate::games::win_model;
use crate::{
    AutoBalanceRules, Command, Lobby, LobbySettings, PlaceSettings, RebalanceSettings,
    RosterSettings, Update,
    weights::tests::{WeightTable, ctf},
};
use evenkeel_model::{
    Ident, LeaveReason, Stream, StreamPurpose, seeded_hash,
    units::{Count, Factor, MaxDifference, PositiveShare, UpToADay},
};
use evenkeel_partition::{self as partition, GameView, Objective, SizeLimits};

/// How often BALANCE may look at the clock: it counts, so that the same search ends at the same place on any machine.
const LOOKS: usize = 300;

/// The kinds of decisions, in the order in which a lobby has them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Balance,
    Place,
    Rebalance,
    Deaths,
}

/// A decision that was made.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) kind: Kind,
    /// The game when it was made.
    pub(super) before: GameView,
    /// The teams of all humans since.
    pub(super) teams: String,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let before: String = self
            .before
            .humans
            .iter()
            .map(|human| digit(human.team))
            .collect();
        write!(f, "{:?} {before} to {}", self.kind, self.teams)
    }
}

pub(super) struct Story {
    number: u64,
    lobby: Lobby,
    weights: WeightTable,
    random: Stream,
    settings: partition::Settings,
    limit: MaxDifference,
    /// How many decisions were made.
    decided: usize,
    /// How many late arrivals come, and how many humans have ever come.
    arrivals: usize,
    came: usize,
    /// The milliseconds of the session.
    now: u64,
    /// The digest of all lines so far.
    pub(super) lines: u64,
}

impl Story {
    pub(super) fn of(number: u64) -> Self {
        let mut random = Stream::new(number, StreamPurpose::Arrivals);
        let teams = [2, 2, 2, 3, 4][random.index(5)];
        let humans = match random.index(20) {
            0 => 41 + random.index(60),
            1 | 2 => 25 + random.index(16),
            3..8 => 13 + random.index(12),
            _ => 2 + random.index(11),
        };
        let by_chance = random.index(5) < 3;
        let parties = random.index(2) == 0;
        let limit = MaxDifference::of(1 + u32::from(random.index(10) == 0));
        let objective = match by_chance {
            true => Objective::Chance,
            false => Objective::Ratio,
        };
        let party_multiplier = match random.index(2) {
            0 => Vec::new(),
            _ => vec![Factor::of(1.2), Factor::of(1.3)],
        };
        let mut weights = WeightTable::default();
        if random.index(4) > 0 {
            let mut win_model = win_model();
            win_model.side *= random.index(2) as f64;
            weights.win_model = Some(win_model);
        }
        let mut story = Self {
            number,
            lobby: Lobby::new(LobbySettings {
                objective,
                party_multiplier: party_multiplier.clone(),
                ..settings(&mut random, limit, humans)
            }),
            weights,
            settings: partition::Settings {
                objective,
                party_multiplier,
                ..partition::Settings::default()
            },
            limit,
            decided: 0,
            arrivals: 1 + random.index(4),
            came: 0,
            now: 0,
            lines: number,
            random,
        };
        story.apply(ctf());
        story.apply(Command::Teams { teams });
        story.begin(humans, parties);
        story
    }

    /// The players come, some of them on teams.
    fn begin(&mut self, humans: usize, parties: bool) {
        if self.random.index(2) == 0 {
            let acts = self.random.index(2) == 0;
            self.apply(Command::DeclareBots { acts });
        }
        let placed = self.random.index(3) == 0;
        (0..humans).for_each(|_| self.join(placed, parties));
        let bots = match self.random.index(2) {
            0 => 0,
            _ => self.random.index(8),
        };
        for bot in 0..bots {
            let name = format!("b{bot}");
            self.weights
                .bots
                .insert(name.clone(), 100.0 * self.random.unit());
            let team = self.team();
            let name = Ident::from_text(&name);
            self.apply(Command::BotJoin { name, team });
        }
        self.weights.bots.insert("another".to_owned(), 33.0);
    }

    /// Another human comes.
    fn join(&mut self, placed: bool, parties: bool) {
        let random = &mut self.random;
        let id = format!("h{}", self.came);
        self.came += 1;
        if random.index(10) > 0 {
            let weight =
                (20.0 + 60.0 * random.unit() + 40.0 * random.unit() * random.unit()).min(100.0);
            self.weights.humans.insert(id.clone(), weight);
        }
        let one_in = |random: &mut Stream, many: usize| random.index(many) == 0;
        let groups = 1 + self.came / 4;
        let party = (parties && random.index(5) < 2).then(|| format!("p{}", random.index(groups)));
        let avoid = one_in(random, 12).then(|| vec![format!("h{}", random.index(self.came))]);
        let (pinned, wishes, on_team) = (
            one_in(random, 15),
            one_in(random, 6),
            placed && random.index(6) > 0,
        );
        let update = Update {
            name: None,
            party,
            team: on_team.then(|| self.team()),
            pin: pinned.then(|| Some(self.team())),
            avoid,
            wish: wishes.then(|| Some(self.team())),
        };
        self.apply(Command::Join {
            id: Ident::from_text(&id),
            update,
        });
    }

    fn team(&mut self) -> u8 {
        self.random.index(usize::from(self.lobby.teams())) as u8
    }

    fn apply(&mut self, command: Command) {
        self.now += 100;
        self.lobby.apply(&command, self.now).unwrap();
    }

    /// By how many humans teams may differ.
    pub(super) fn limit(&self) -> usize {
        self.limit.get().unwrap()
    }

    /// The ids of the humans, in the order in which they came.
    fn humans(&self) -> Vec<Ident> {
        let humans = self.lobby.game().unwrap().roster.humans().iter();
        humans.map(|human| human.id.clone()).collect()
    }

    /// The teams of all humans.
    fn teams(&self) -> String {
        let humans = self.lobby.game().unwrap().roster.humans().iter();
        humans.map(|human| digit(human.team)).collect()
    }

    /// Puts the humans on these teams.
    pub(super) fn put(&mut self, teams: &str) {
        for (id, team) in self.humans().iter().zip(teams.chars()) {
            if let Some(team) = team.to_digit(10) {
                self.lobby.put_on_team(id, team as u8).unwrap();
            }
        }
        self.lobby.watch(&self.weights);
    }

    fn note(&mut self, lines: &str) {
        self.lines = seeded_hash(self.lines, lines.bytes());
    }

    /// The next decision, after what happens before it; `None` after the last one.
    pub(super) fn next(&mut self) -> Option<Outcome> {
        let kind = match self.decided {
            0 => Kind::Balance,
            at if at <= self.arrivals => Kind::Place,
            at if at == self.arrivals + 1 => Kind::Rebalance,
            at if at == self.arrivals + 2 => Kind::Deaths,
            at if at == self.arrivals + 3 => Kind::Balance,
            _ => return None,
        };
        self.prepare(kind);
        let before = self.lobby.view_by_objective(&self.weights).unwrap();
        match kind {
            Kind::Balance => self.balance(),
            Kind::Place => self.place(),
            Kind::Rebalance => self.rebalance(),
            Kind::Deaths => self.deaths(),
        }
        self.decided += 1;
        Some(Outcome {
            kind,
            before,
            teams: self.teams(),
        })
    }

    /// What happens before a decision.
    fn prepare(&mut self, kind: Kind) {
        match kind {
            Kind::Balance => {}
            Kind::Place => {
                if self.decided == 1 {
                    self.apply(Command::Start);
                    self.leave(8);
                }
                self.join(false, true);
                if self.random.index(3) == 0 {
                    self.join(false, true);
                }
            }
            Kind::Rebalance => {
                self.leave(5);
                self.change_teams();
                let (team, points) = (self.team(), self.random.index(5) as f64);
                self.apply(Command::Score {
                    team,
                    points,
                    by: None,
                });
                self.lobby.watch(&self.weights);
                let advantage = self.lobby.advantage(&self.weights).unwrap();
                self.note(&advantage.to_string());
            }
            Kind::Deaths => {
                self.leave(5);
                self.change_teams();
                if self.random.index(2) == 0 {
                    for id in self.humans() {
                        let points = self.random.index(30) as f64;
                        self.apply(Command::Points { id, points });
                    }
                }
                self.lobby.watch(&self.weights);
                self.now += 400_000; // nobody was moved recently
                let elsewhere = self
                    .humans()
                    .into_iter()
                    .find(|_| self.random.index(20) == 0);
                if let Some(id) = elsewhere {
                    self.apply(Command::Protect { id, millis: None });
                }
            }
        }
        self.lobby.watch(&self.weights);
    }

    /// One in so many leaves, but two stay.
    fn leave(&mut self, one_in: usize) {
        for id in self.humans() {
            if self.random.index(one_in) == 0 && self.humans().len() > 2 {
                let reason = LeaveReason::Left;
                self.apply(Command::Leave { id, reason });
            }
        }
    }

    /// Up to three humans go to another team.
    fn change_teams(&mut self) {
        for _ in 0..self.random.index(4) {
            let humans = self.humans();
            let id = humans[self.random.index(humans.len())].clone();
            let team = self.team();
            self.apply(Command::Move { id, team });
        }
    }

    fn balance(&mut self) {
        let limits = SizeLimits {
            max_team_share: PositiveShare::of(18.0 / 32.0),
            max_difference: self.limit,
        };
        let question = self
            .lobby
            .balance(&self.weights, limits, self.settings.clone())
            .unwrap();
        let mut looks = 0;
        let mut out_of_time = || {
            looks += 1;
            looks > LOOKS
        };
        let decided = question.decide(self.number, &mut out_of_time).unwrap();
        let announced = self.lobby.follow(&decided, &self.weights).unwrap();
        let chance = announced.chance.map(|chance| format!("{chance:.6}"));
        self.note(&format!(
            "{decided}{:.6} {chance:?} {:?}",
            announced.ratio, announced.bots
        ));
    }

    /// The last who has come is placed.
    fn place(&mut self) {
        let id = self.humans().pop().unwrap();
        let decided = self.lobby.place(&id, &self.weights, self.number).unwrap();
        self.note(&decided.to_string());
    }

    /// REBALANCE advises, and everybody obeys.
    fn rebalance(&mut self) {
        let decided = self.lobby.rebalance(&self.weights, self.number).unwrap();
        self.note(&decided.to_string());
        for step in decided.answer.steps() {
            let (id, team) = (step.id.clone(), step.to);
            self.apply(Command::Move { id, team });
        }
        self.lobby.watch(&self.weights);
    }

    /// Everybody dies, one after the other.
    fn deaths(&mut self) {
        for id in self.humans() {
            self.now += 1_000;
            self.lobby.at(self.now);
            let decided = self.lobby.died(&id, &self.weights).unwrap().unwrap();
            self.note(&decided.to_string());
        }
    }
}

fn digit(team: Option<u8>) -> char {
    team.map_or('.', |team| char::from(b'0' + team))
}

/// The settings of a lobby in which teams may differ by so many humans.
fn settings(random: &mut Stream, limit: MaxDifference, humans: usize) -> LobbySettings {
    let rules = match random.index(2) {
        0 => AutoBalanceRules::sectors_edge(),
        _ => AutoBalanceRules::players_proposal(),
    };
    let wanted = match random.index(3) {
        0 => 0,
        1 => 6,
        _ => humans.min(30) + 2,
    };
    LobbySettings {
        roster: RosterSettings {
            min_players: Count::try_from(wanted as u64).unwrap(),
            ..RosterSettings::default()
        },
        place: PlaceSettings {
            max_difference: limit,
            ..PlaceSettings::default()
        },
        rebalance: RebalanceSettings {
            newest_first: random.index(10) == 0,
            spare_top: random.index(10) == 0,
            max_difference: limit,
            ..RebalanceSettings::default()
        },
        auto_balance: AutoBalanceRules {
            delay_seconds: const { UpToADay::of(0) },
            ..rules
        },
        ..LobbySettings::default()
    }
}
