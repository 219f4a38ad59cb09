//! What the log tells → what the daemon is told.

use super::Sidecar;
use crate::{
    ingest::idtech3::{
        grammar::{self, Event},
        setup::GameSetup,
    },
    sidecar::{
        Act,
        lull::Lull,
        people::{People, Person, leave},
        play::{Game, Phase},
    },
};

impl Sidecar {
    /// The next line of the log.
    pub fn line(&mut self, line: &[u8], now: u64, acts: &mut Vec<Act>) {
        let Ok(Some((at, event))) = grammar::read(line, true) else {
            return;
        };
        let restart = matches!(event, Event::InitGame(_));
        if self
            .game
            .as_ref()
            .is_some_and(|game| !restart && game.must_have_begun(at))
            && event != Event::Warmup
        {
            self.start(at, acts);
        }
        if self
            .game
            .as_ref()
            .is_some_and(|game| game.has_results(&self.people, at))
        {
            self.end(at, now, acts);
        }
        self.event(event, at, now, acts);
        if self
            .game
            .as_ref()
            .is_some_and(|game| game.has_results(&self.people, at))
        {
            self.end(at, now, acts);
        }
    }

    fn event(&mut self, event: Event<'_>, at: u64, now: u64, acts: &mut Vec<Act>) {
        match event {
            Event::InitGame(info) => {
                self.finish(at, now, acts);
                self.people = People::default();
                self.begin(info, at, now, acts);
            }
            Event::InitRound(info) => self.round(info, at, now, acts),
            Event::Shutdown => {
                self.finish(at, now, acts);
                self.people.forget_known();
                if let Some(game) = &mut self.game {
                    game.enter(Phase::Ended, at);
                }
            }
            Event::Warmup => {
                if let Some(game) = &mut self.game
                    && matches!(game.phase, Phase::Opening | Phase::Playing)
                {
                    game.enter(Phase::WarmUp, at);
                    (self.warms_up, self.warmed) = (true, true);
                    self.lull = Lull::new(now);
                }
            }
            Event::Exit => {
                if let Some(game) = &mut self.game
                    && game.phase == Phase::Playing
                {
                    game.enter(Phase::Over, at);
                }
            }
            Event::Connect(number) => {
                self.people.client(number).client.begun = false;
                self.settle(number, Some(at), now, acts);
            }
            Event::Begin(number) => {
                self.people.client(number).client.begun = true;
                self.settle(number, Some(at), now, acts);
            }
            Event::Userinfo(number, info) => {
                self.people.client(number).client.userinfo(info);
                self.settle(number, Some(at), now, acts);
            }
            Event::Changed(number, info) => {
                self.people.client(number).changed(info);
                self.settle(number, Some(at), now, acts);
            }
            Event::Disconnect(number) => {
                if let Some(known) = self.people.remove(number)
                    && self.connected
                {
                    acts.push(Act::Say(leave(&known)));
                    self.lull.change(now);
                }
            }
            play => self.play(play, acts),
        }
    }

    /// What tells of a game in play or its results.
    fn play(&mut self, event: Event<'_>, acts: &mut Vec<Act>) {
        let (connected, people) = (self.connected, &self.people);
        let Some(game) = &mut self.game else { return };
        let mut say = |line| {
            if connected {
                acts.push(Act::Say(line));
            }
        };
        match event {
            Event::Kill {
                killer,
                victim,
                team_change,
            } => {
                game.kill(killer, victim, team_change, people, &mut say);
                let died = people.get(victim).and_then(|person| person.known.as_ref());
                if let Some(known) = died.filter(|known| known.joined)
                    && self.settings.auto_balance
                    && game.whole
                    && game.phase == Phase::Playing
                    && !team_change
                {
                    say(format!("DEATH {}", known.id));
                }
            }
            Event::Capture { by, flag } => game.capture(by, flag, people, &mut say),
            Event::TeamScore { team, total } if game.phase == Phase::Playing => {
                game.total(team, total, &mut say);
            }
            Event::Result(totals) => game.result(totals, &mut say),
            Event::Points { client, points } => game.points(client, points, people, &mut say),
            _ => {}
        }
    }

    fn begin(&mut self, info: &[u8], at: u64, now: u64, acts: &mut Vec<Act>) {
        let game = Game::new(GameSetup::read(info), at, self.connected && !self.outdated);
        if self.connected {
            game.announce(&mut |line| acts.push(Act::Say(line)));
        }
        self.game = Some(game);
        self.lull = Lull::new(now);
        self.doubt = None;
    }

    /// A round of Urban Terror. Before an exit it is the same game, whose play only now begins.
    fn round(&mut self, info: &[u8], at: u64, now: u64, acts: &mut Vec<Act>) {
        let same = |phase| !matches!(phase, Phase::Over | Phase::Ended);
        if !self.game.as_ref().is_some_and(|game| same(game.phase)) {
            self.finish(at, now, acts);
            self.people.forget_known();
            self.begin(info, at, now, acts);
            for number in 0..self.people.len() {
                self.settle(number, None, now, acts);
            }
        }
        self.start(at, acts);
    }

    fn start(&mut self, at: u64, acts: &mut Vec<Act>) {
        // What is played right after a warm-up was warmed up for.
        self.warms_up = std::mem::take(&mut self.warmed);
        let connected = self.connected;
        if let Some(game) = &mut self.game {
            game.start(at, &self.people, &mut |line| {
                if connected {
                    acts.push(Act::Say(line));
                }
            });
        }
    }

    /// Whatever game there is goes no further: if it was over, its results are all there will be.
    fn finish(&mut self, at: u64, now: u64, acts: &mut Vec<Act>) {
        if self
            .game
            .as_ref()
            .is_some_and(|game| game.phase == Phase::Over)
        {
            self.end(at, now, acts);
        }
    }

    fn end(&mut self, at: u64, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = &mut self.game else { return };
        game.enter(Phase::Ended, at);
        if self.connected && game.whole {
            acts.push(Act::Say("END".to_owned()));
        } else {
            let text =
                "a game ended that the daemon has not heard all of: ingest its log".to_owned();
            acts.push(Act::Tell(text));
        }
        self.lull = Lull::new(now);
        for number in 0..self.people.len() {
            self.settle(number, None, now, acts);
        }
    }

    /// The daemon hears what is new about a client. `at` is the log's clock, `None` when nothing
    /// happened and everybody is told of.
    pub(super) fn settle(&mut self, number: usize, at: Option<u64>, now: u64, acts: &mut Vec<Act>) {
        let Some(game) = self.game.as_mut().filter(|_| self.connected) else {
            return;
        };
        if matches!(game.phase, Phase::Over) {
            return;
        }
        let late = at.is_some_and(|at| game.is_late(at)) && game.whole && game.rules.teams;
        let stranger = |person: &Person| person.known.is_none();
        let new = self.people.get(number).is_some_and(stranger);
        let human = self
            .people
            .get(number)
            .is_some_and(|person| !person.is_bot());
        let unplaced = self.settings.auto_balance && late && new && human;
        let said = self
            .people
            .tell(number, game.rules.teams, &self.settings, unplaced);
        if said.is_empty() {
            return;
        }
        acts.extend(said.into_iter().map(Act::Say));
        let known = self
            .people
            .get(number)
            .and_then(|person| person.known.as_ref());
        if let Some(known) = known.filter(|_| new) {
            let first = game.met.insert(known.id.clone());
            match (
                unplaced,
                first,
                self.people.get(number).and_then(Person::team),
            ) {
                (true, true, _) => acts.push(Act::Say(format!("PLACE {}", known.id))),
                // They were here before and are back where they chose to be.
                (true, false, Some(team)) => {
                    acts.push(Act::Say(format!("MOVE {} {team}", known.id)))
                }
                _ => {}
            }
        }
        self.lull.change(now);
    }
}
