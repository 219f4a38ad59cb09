//! The log's events and the daemon's answers → what to do.

use super::{
    Act, Settings,
    answers::{Answer, Answers},
    commands::{Orders, PresentBot, SpareBot},
    lull::{Choice, Lull, Step},
    people::{People, Person, leave},
    play::{Game, Phase},
    words::word,
};
use crate::ingest::idtech3::{
    grammar::{self, Event},
    rules::Rules,
};

/// How long a move in play may take until the daemon is told that it did not happen, in milliseconds.
const DOUBT: u64 = 5_000;
/// A client says something at least so often, in milliseconds, so that its connection is not idle.
const SILENCE: u64 = 60_000;

/// See the room. `now` is the caller's clock in milliseconds, which never runs backwards.
pub struct Sidecar {
    settings: Settings,
    connected: bool,
    answers: Answers,
    people: People,
    game: Option<Game>,
    lull: Lull,
    /// Whether games here begin with a warm-up, in which teams are chosen; otherwise they are after the
    /// game before.
    warms_up: bool,
    /// Whether the last game announced was a warm-up.
    warmed: bool,
    /// Whether this daemon knows nothing of the course of games: one of an older version.
    outdated: bool,
    /// Since when the daemon may believe somebody on a team they are not on.
    doubt: Option<u64>,
    spoke: u64,
}

impl Sidecar {
    /// Nothing is known yet.
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            connected: false,
            answers: Answers::default(),
            people: People::default(),
            game: None,
            lull: Lull::default(),
            warms_up: false,
            warmed: false,
            outdated: false,
            doubt: None,
            spoke: 0,
        }
    }

    /// There is a connection to the daemon, which knows nothing of the game yet.
    pub fn connected(&mut self, now: u64, acts: &mut Vec<Act>) {
        self.connected = true;
        self.outdated = false;
        self.spoke = now;
        self.answers = Answers::default();
        self.lull = Lull::new(now);
        self.people.forget_known();
        let mut hello = format!("HELLO {}", word(&self.settings.server));
        if let Some(token) = &self.settings.token {
            hello += &format!(" {}", word(token));
        }
        acts.push(Act::Say(hello));
        if self.settings.bots_as_players {
            // Bots are players here; there are no others to come.
            acts.push(Act::Say("MINPLAYERS 0".to_owned()));
        }
        if let Some(game) = &mut self.game {
            game.whole &= matches!(game.phase, Phase::Opening | Phase::WarmUp);
            game.announce(&mut |line| acts.push(Act::Say(line)));
            for number in 0..self.people.len() {
                self.settle(number, None, now, acts);
            }
        }
    }

    /// The connection is gone.
    pub fn disconnected(&mut self) {
        self.connected = false;
        self.people.forget_known();
        if let Some(game) = &mut self.game {
            game.whole &= matches!(game.phase, Phase::Opening | Phase::WarmUp);
        }
    }

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
        let game = Game::new(Rules::read(info), at, self.connected && !self.outdated);
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
    fn settle(&mut self, number: usize, at: Option<u64>, now: u64, acts: &mut Vec<Act>) {
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

    /// A line from the daemon.
    pub fn reply(&mut self, line: &str, now: u64, acts: &mut Vec<Act>) {
        match self.answers.line(line) {
            Some(Answer::Balance { ratio, teams, bots }) => {
                for (id, team) in &teams {
                    let mut known = self.people.known_mut();
                    if let Some(known) = known.find(|known| known.joined && known.id == *id) {
                        known.team = Some(*team);
                    }
                }
                let teams = teams.into_iter().collect();
                let bots = (!self.settings.bots_as_players).then_some(bots);
                self.choose(Choice { ratio, teams, bots }, now, acts);
            }
            Some(Answer::Rebalance { ratio, moves }) => {
                let known = self.people.known().filter(|(_, _, known)| known.joined);
                let mut teams: std::collections::BTreeMap<String, u8> = known
                    .filter_map(|(_, person, known)| Some((known.id.clone(), person.team()?)))
                    .collect();
                teams.extend(moves);
                let bots = None;
                self.choose(Choice { ratio, teams, bots }, now, acts);
            }
            Some(Answer::Bots(counts)) => {
                if let Some(choice) = self.lull.choice_mut()
                    && !self.settings.bots_as_players
                {
                    choice.bots = Some(counts);
                }
            }
            Some(Answer::Side { id, team }) => self.side(&id, team, now, acts),
            Some(Answer::End(what)) => acts.push(Act::Tell(format!("the game is over: {what}"))),
            Some(Answer::Refused(why)) => self.refused(&why, acts),
            Some(Answer::Other) | None => {}
        }
    }

    fn refused(&mut self, why: &str, acts: &mut Vec<Act>) {
        if !why.starts_with("unknown-command") {
            acts.push(Act::Tell(format!("the daemon refuses: {}", plain(why))));
        } else if !std::mem::replace(&mut self.outdated, true) {
            let text = "this daemon does not follow games: it has to learn from their logs";
            acts.push(Act::Tell(text.to_owned()));
            if let Some(game) = &mut self.game {
                game.whole = false;
            }
        }
    }

    fn choose(&mut self, choice: Choice, now: u64, acts: &mut Vec<Act>) {
        if self.is_lull() {
            self.lull.choose(choice);
            self.tick(now, acts);
        } else {
            let text = "play has begun before teams were chosen; nobody is moved".to_owned();
            acts.push(Act::Tell(text));
        }
    }

    /// Somebody belongs on this team, now that play is on.
    fn side(&mut self, id: &str, team: u8, now: u64, acts: &mut Vec<Act>) {
        let found = self
            .people
            .known()
            .find(|(_, _, known)| known.joined && known.id == id);
        let Some((number, person, _)) = found else {
            return;
        };
        let mut orders = Orders::default();
        if person.team() != Some(team) && self.settings.auto_balance {
            order(&mut orders, number, person, team);
        }
        if let Some(known) = self.people.client(number).known.as_mut() {
            known.team = Some(team);
        }
        self.doubt = Some(now);
        if !orders.is_empty() {
            let mut commands = orders.commands(self.settings.admin);
            commands.insert(0, "say Evenkeel: one player changes teams".to_owned());
            acts.push(Act::Console(commands));
        }
    }

    /// Time has passed.
    pub fn tick(&mut self, now: u64, acts: &mut Vec<Act>) {
        if !self.connected {
            return;
        }
        if self
            .doubt
            .is_some_and(|since| now >= since.saturating_add(DOUBT))
        {
            self.doubt = None;
            self.tell_truth(acts);
        }
        if self.is_lull() {
            self.think(now, acts);
        }
        if acts.iter().any(|act| matches!(act, Act::Say(_))) {
            self.spoke = now;
        } else if now >= self.spoke.saturating_add(SILENCE) {
            self.spoke = now;
            acts.push(Act::Say("PING".to_owned()));
        }
    }

    /// Whether teams may be chosen: nobody plays, and what comes next is a game in teams.
    fn is_lull(&self) -> bool {
        self.game.as_ref().is_some_and(|game| {
            let now = match game.phase {
                Phase::WarmUp => true,
                Phase::Ended => !self.warms_up,
                Phase::Opening | Phase::Playing | Phase::Over => false,
            };
            now && game.rules.teams
        })
    }

    fn think(&mut self, now: u64, acts: &mut Vec<Act>) {
        let joined = self.people.known().filter(|(_, _, known)| known.joined);
        let mut present: Vec<String> = joined.map(|(_, _, known)| known.id.clone()).collect();
        present.sort();
        match self.lull.step(&present, self.settings.settle, now) {
            Step::Wait => {}
            Step::Ask { first } => {
                if first {
                    acts.push(Act::Say("BALANCE".to_owned()));
                } else {
                    self.tell_truth(acts);
                    acts.push(Act::Say("REBALANCE".to_owned()));
                    acts.push(Act::Say("BOTS".to_owned()));
                }
                self.lull.ask(present);
            }
            Step::Compare => self.compare(now, acts),
        }
    }

    /// Orders the moves that are still to be made.
    fn compare(&mut self, now: u64, acts: &mut Vec<Act>) {
        let Some(choice) = self.lull.choice() else {
            return;
        };
        let ratio = choice.ratio;
        let orders = self.orders(choice);
        if orders.is_empty() {
            self.lull.arrive();
            if !std::mem::replace(&mut self.lull.told, true) {
                acts.push(Act::Tell(format!(
                    "the teams are as chosen, ratio {ratio:.3}"
                )));
            }
        } else if self.lull.is_patient(now) {
            // They may be on their way.
        } else if self.lull.order(self.settings.attempts, now) {
            let count = orders.count();
            let players = if count == 1 { "player" } else { "players" };
            let mut commands = orders.commands(self.settings.admin);
            commands.insert(
                0,
                format!("say Evenkeel: {count} {players} to even teams, ratio {ratio:.2}"),
            );
            acts.push(Act::Console(commands));
            // What was ordered shows in the log, which tells when to look again.
            self.lull.told = false;
        } else if !std::mem::replace(&mut self.lull.told, true) {
            let text = format!("{} moves were ordered and did not happen", orders.count());
            acts.push(Act::Tell(text));
        }
    }

    fn orders(&self, choice: &Choice) -> Orders {
        let mut orders = Orders::default();
        let mut bots = Vec::new();
        for (number, person, known) in self.people.known() {
            if !known.joined {
                bots.extend(present_bot(number, person));
            } else if let Some(&team) = choice.teams.get(&known.id)
                && person.team() != Some(team)
            {
                order(&mut orders, number, person, team);
            }
        }
        if let Some(counts) = &choice.bots {
            orders.seat_bots(bots, counts, &self.settings.spare_bots);
        }
        orders
    }

    /// The daemon hears on which teams everybody really is.
    fn tell_truth(&mut self, acts: &mut Vec<Act>) {
        let Some(game) = &self.game else { return };
        for number in 0..self.people.len() {
            if self
                .people
                .get(number)
                .is_some_and(|person| person.known.is_some())
            {
                let said = self
                    .people
                    .tell(number, game.rules.teams, &self.settings, false);
                acts.extend(said.into_iter().map(Act::Say));
            }
        }
    }
}

/// One person goes to a team: a human is moved, a bot goes and comes back.
fn order(orders: &mut Orders, number: usize, person: &Person, team: u8) {
    if !person.is_bot() {
        orders.force.push((number, team));
    } else if let Some(bot) = present_bot(number, person) {
        orders.reseat(bot, team);
    }
}

fn present_bot(number: usize, person: &Person) -> Option<PresentBot> {
    Some(PresentBot {
        number,
        team: person.team()?,
        again: SpareBot::new(&person.client.name(), person.skill()),
    })
}

/// Without what could drive a terminal.
fn plain(text: &str) -> String {
    text.chars()
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}
