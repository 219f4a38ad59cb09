//! What the lines of a log mean for its game and the players, by the game's own rules.

use super::{
    ROUND_LAG,
    clients::{ConnectedClients, NotedLine, SourceClient},
    grammar::{PlayerAction, PlayerTag, SourceEvent},
    setup::{ResultStyle, ServerSetup},
    totals::BothScores,
};
use crate::event::{GameEvent, TEAMS};
use evenkeel_model::other_side;

/// How far apart the beginnings of the log and of its first round may be, in milliseconds, if the
/// game is whole. Dates in the log have whole seconds.
const OPENING: u64 = 2_000;

/// What the log shows of a game server.
#[derive(Debug, Default)]
pub struct SourceServer {
    /// The folder of the game, if the operator states it.
    folder: Option<String>,
    /// The settings of the game.
    pub setup: ServerSetup,
    /// The players who are connected.
    pub clients: ConnectedClients,
    /// The name of the game that the events have shown, for example `tf`.
    pub(crate) shown: Option<&'static str>,
    /// How the log states results.
    pub style: ResultStyle,
    /// The rounds of the game so far.
    pub(super) rounds: SourceRounds,
    /// Whether a match has ended in a game that marks the start of the next one: until then, rounds
    /// do not count.
    waits: bool,
}

/// The rounds of a game, and its scores.
#[derive(Debug, Default)]
pub(super) struct SourceRounds {
    /// Whether the log has the beginning of the game.
    pub begun: bool,
    /// When the game began, in milliseconds since the log began; if it has not begun, when the log did.
    since: Option<u64>,
    /// Whether it began with a line of its own, of which the first round may be a part.
    announced: bool,
    over: bool,
    /// Whether a round is being played, so that the start of another begins the game again.
    running: bool,
    /// When the last round began, in milliseconds since the log began.
    pub(super) began: Option<u64>,
    /// When a round was last won, in milliseconds since the log began.
    won: Option<u64>,
    /// Whether anybody was killed in this round.
    fought: bool,
    /// Whether a round has changed the scores.
    scored: bool,
    /// The scores of the sides as the log stated them last.
    stated: [f64; 2],
    /// The sides whose scores were stated since the last round, apart from its end.
    apart: [bool; 2],
    /// After a restore: the scores that were stated since, until those of both sides are known.
    restoring: Option<BothScores>,
    /// The teams on which somebody has played, and those whose final scores are known.
    played: [bool; TEAMS],
    finals: [bool; TEAMS],
}

impl SourceRounds {
    /// A game that begins now.
    fn begin(now: u64) -> Self {
        Self {
            begun: true,
            since: Some(now),
            running: true,
            ..Self::default()
        }
    }

    /// Somebody plays on this team.
    fn note_team(&mut self, team: u8) {
        if let Some(played) = self.played.get_mut(usize::from(team)) {
            *played = true;
        }
    }

    /// Whether a final score is known of two teams at least.
    fn have_results(&self) -> bool {
        self.over && self.finals.iter().filter(|known| **known).count() > 1
    }

    /// Whether the final scores of all teams are known.
    fn have_all_results(&self) -> bool {
        let mut teams = self.finals.iter().zip(self.played).skip(2);
        self.over && self.finals[..2] == [true; 2] && teams.all(|(known, played)| *known || !played)
    }

    /// Whether the score is one with which a match of 30 rounds, and overtimes of 6, is over.
    fn is_decided(&self) -> bool {
        let [one, two] = self.stated;
        let (most, least) = (one.max(two), one.min(two));
        most >= 16.0 && most - least >= 2.0 && (most - 16.0) % 3.0 == 0.0
            || one == two && one >= 15.0 && (one - 15.0) % 3.0 == 0.0
    }

    /// The sides of Counter-Strike to which a result `a:b` belongs: that of the counter-terrorists first,
    /// as the game writes it, unless only the other order agrees with the scores stated before.
    fn sides_of(&self, scores: [f64; 2]) -> [u8; 2] {
        match self.stated == scores && scores[0] != scores[1] {
            true => [0, 1],
            false => [other_side(0), 0],
        }
    }
}

impl SourceServer {
    /// A server of which no line has been read. `folder` is the game's, for logs that do not state it.
    pub fn of(folder: Option<String>) -> Self {
        Self {
            setup: ServerSetup::of(folder.as_deref().unwrap_or_default().as_bytes()),
            folder,
            // The log may begin with a game.
            rounds: SourceRounds {
                since: Some(0),
                ..SourceRounds::default()
            },
            ..Self::default()
        }
    }

    /// The scores of the sides as the log stated them last.
    pub fn stated(&self) -> [f64; 2] {
        self.rounds.stated
    }

    /// The type of the game, as far as lines have stated it.
    pub fn game_type(&self) -> String {
        self.setup.game_type(self.shown, None)
    }

    /// Appends what ends with a line. Call it, and do what the events mean, before [`interpret`](Self::interpret).
    pub fn pass(&mut self, event: SourceEvent<'_>, events: &mut Vec<GameEvent>) {
        // All scores have been read: anything else closes the game.
        if self.rounds.have_results()
            && !matches!(event, SourceEvent::Final(..) | SourceEvent::Scored(..))
        {
            self.end(events);
        }
        if matches!(
            event,
            SourceEvent::Started(_) | SourceEvent::Closed | SourceEvent::Map(_)
        ) {
            self.end_with_map(true, events);
            events.push(GameEvent::Closed);
        }
    }

    /// Ends a game of Counter-Strike whose map is over. The scores stated apart from a round's end are
    /// the final ones; without them, if the log is `closed` between two rounds, the last ones are. Some
    /// versions begin a round at once when the last one is over; nobody is killed in it.
    pub(super) fn end_with_map(&mut self, closed: bool, events: &mut Vec<GameEvent>) {
        let (ResultStyle::Rounds { has_end }, rounds) = (self.style, &self.rounds) else {
            return;
        };
        let at_once = rounds
            .began
            .zip(rounds.won)
            .is_some_and(|(began, won)| began >= won && began - won <= ROUND_LAG);
        let between = closed && (!rounds.running || (at_once && !rounds.fought));
        // The game writes a line at the end; versions without that line mark the start alone.
        let is_end = between && rounds.is_decided();
        let known = rounds.apart == [true; 2];
        if rounds.won.is_none() || (has_end && !is_end) || !(between || known) {
            return;
        }
        self.over(events);
        for (team, points) in [(1, self.rounds.stated[1]), (0, self.rounds.stated[0])] {
            self.final_score(team, points, events);
        }
    }

    /// Takes over what a line states at this time, in milliseconds since the log began, and appends what it means.
    pub fn interpret(&mut self, event: SourceEvent<'_>, now: u64, events: &mut Vec<GameEvent>) {
        self.note_game(event, events);
        match event {
            SourceEvent::Started(folder) => {
                self.setup = match &self.folder {
                    Some(stated) => ServerSetup::of(stated.as_bytes()),
                    None => ServerSetup::of(folder),
                };
                self.leave_map(SourceRounds {
                    since: Some(now),
                    ..SourceRounds::default()
                });
                events.push(GameEvent::Game);
            }
            SourceEvent::Closed => self.rounds = SourceRounds::default(),
            SourceEvent::Map(name) => {
                self.setup.load(name);
                self.leave_map(SourceRounds::begin(now));
                events.push(GameEvent::Game);
            }
            SourceEvent::Setting(name, value) => self.setup.set(name, value),
            SourceEvent::Player(who, act) => self.act(who, act, now, events),
            SourceEvent::WarmUp => {
                self.rounds = SourceRounds::default();
                events.push(GameEvent::WarmUp);
            }
            SourceEvent::Restart | SourceEvent::MatchBegins | SourceEvent::MatchStart(_) => {
                if let SourceEvent::MatchStart(map) = event {
                    self.setup.name_map(map);
                }
                self.waits = false;
                self.begin(now);
                self.rounds.announced = true;
                let plays = event == SourceEvent::MatchBegins;
                events.push(GameEvent::Restart { plays });
            }
            other => self.round(other, now, events),
        }
    }

    /// Notes which game the log is of, and how it states results.
    fn note_game(&mut self, event: SourceEvent<'_>, events: &mut Vec<GameEvent>) {
        let shown = self.style.shown_by(event);
        let is_new = matches!(event, SourceEvent::Player(who, _) if self.setup.is_news(who.auth));
        if shown.is_none() && !is_new {
            return;
        }
        let before = self.game_type();
        if let Some((game, style)) = shown {
            (self.shown, self.style) = (Some(game), style);
        }
        self.setup.has_new_ids |= is_new;
        events.extend((self.game_type() != before).then_some(GameEvent::Setup));
    }

    /// The log names every player of the next map again.
    fn leave_map(&mut self, rounds: SourceRounds) {
        self.clients = ConnectedClients::default();
        (self.shown, self.style) = (None, ResultStyle::default());
        (self.rounds, self.waits) = (rounds, false);
    }

    /// A game begins with those who are there.
    fn begin(&mut self, now: u64) {
        self.rounds = SourceRounds::begin(now);
        self.clients.reconcile_all();
        let teams = self.clients.iter().filter_map(SourceClient::team);
        teams.for_each(|team| self.rounds.note_team(team));
    }

    /// Forgets the game, whose results have all been read.
    fn end(&mut self, events: &mut Vec<GameEvent>) {
        self.rounds = SourceRounds::default();
        events.push(GameEvent::Ended);
    }

    /// Handles what the log states of rounds.
    fn round(&mut self, event: SourceEvent<'_>, now: u64, events: &mut Vec<GameEvent>) {
        match event {
            SourceEvent::RoundStart => self.round_started(now, events),
            SourceEvent::RoundEnd => {
                (self.rounds.running, self.rounds.won) = (false, Some(now));
                events.push(GameEvent::RoundEnd);
            }
            SourceEvent::RoundLength(millis) => self.round_lasted(millis, now),
            SourceEvent::Reloaded => {
                let running = std::mem::take(&mut self.rounds.running);
                self.rounds.restoring = Some(BothScores::default());
                self.rounds.apart = [false; 2];
                events.push(GameEvent::Reloaded { running });
            }
            SourceEvent::Current(team, total) | SourceEvent::Tally(team, total) => {
                self.total(team, total, now, events);
            }
            SourceEvent::RoundWon(totals) => {
                self.rounds.won = Some(now);
                for (team, total) in (0..).zip(totals) {
                    self.total(team, total, now, events);
                }
            }
            other => self.result(other, events),
        }
    }

    fn round_started(&mut self, now: u64, events: &mut Vec<GameEvent>) {
        self.clients.round_started(now);
        let rounds = &mut self.rounds;
        let is_soon =
            |since: Option<u64>| since.is_some_and(|at| now.saturating_sub(at) <= ROUND_LAG);
        let is_repeated = rounds.begun && rounds.running && is_soon(rounds.began);
        if self.waits || is_repeated {
            return;
        }
        // The round before may have been broken off for a restored one, once rounds count.
        let counts = self.style != ResultStyle::Finals && rounds.scored;
        let is_first = std::mem::take(&mut rounds.announced) && is_soon(rounds.since);
        let goes_on = rounds.begun && !rounds.over && (!rounds.running || counts || is_first);
        if !goes_on {
            self.begin(now);
        }
        let rounds = &mut self.rounds;
        (rounds.running, rounds.began, rounds.restoring) = (true, Some(now), None);
        (rounds.fought, rounds.apart) = (false, [false; 2]);
        events.push(match goes_on {
            true => GameEvent::Round,
            false => GameEvent::Start,
        });
    }

    /// Handles the length of the round that has just ended: the game began with the log, or with its
    /// map, if its first round did.
    fn round_lasted(&mut self, millis: u64, now: u64) {
        let rounds = &mut self.rounds;
        let since = rounds.since.filter(|_| rounds.began.is_none());
        if let Some(since) = since
            && now.saturating_sub(since).abs_diff(millis) <= OPENING
        {
            (rounds.begun, rounds.began) = (true, Some(since));
        }
    }

    /// Handles a score after a round, which after a restore shows which round is played again.
    fn total(&mut self, team: u8, points: f64, now: u64, events: &mut Vec<GameEvent>) {
        let (rounds, side) = (&mut self.rounds, usize::from(team));
        let is_apart = |won: u64| now.saturating_sub(won) > ROUND_LAG;
        if let Some(apart) = rounds.apart.get_mut(side) {
            *apart |= rounds.won.is_some_and(is_apart);
        }
        if let Some(stated) = rounds.stated.get_mut(side) {
            rounds.scored |= std::mem::replace(stated, points) != points;
        }
        let since = rounds.restoring.as_mut();
        if let Some(scores) = since.and_then(|since| since.state(team, points)) {
            (rounds.restoring, rounds.scored) = (None, scores != [0.0; 2]);
            rounds.apart = [false; 2];
            events.push(GameEvent::Restored(scores));
        }
        events.push(GameEvent::Total { team, points });
    }

    /// Handles the end of a game, and final scores.
    fn result(&mut self, event: SourceEvent<'_>, events: &mut Vec<GameEvent>) {
        match event {
            SourceEvent::GameOver => self.over(events),
            SourceEvent::Over { map, scores } => {
                self.setup.name_map(map);
                self.waits = true;
                let was_over = self.rounds.over;
                self.over(events);
                if was_over || !self.rounds.over {
                    return;
                }
                // Deathmatch and arms race have no rounds, and write 0:0.
                if self.rounds.won.is_some() || scores != [0.0; 2] {
                    for (team, score) in self.rounds.sides_of(scores).into_iter().zip(scores) {
                        self.final_score(team, score, events);
                    }
                }
                self.end(events);
            }
            SourceEvent::Final(team, score) => self.final_score(team, score, events),
            SourceEvent::Scored(team, score) => {
                self.over(events);
                self.final_score(team, score, events);
            }
            _ => {}
        }
        if self.rounds.have_all_results() {
            self.end(events); // no further line can add a score
        }
    }

    fn over(&mut self, events: &mut Vec<GameEvent>) {
        if self.rounds.begun && !std::mem::replace(&mut self.rounds.over, true) {
            events.push(GameEvent::Over);
        }
    }

    /// Handles a team's final score. The first one counts, and that of a third or fourth team only if somebody has played
    /// on it.
    fn final_score(&mut self, team: u8, points: f64, events: &mut Vec<GameEvent>) {
        let (rounds, index) = (&mut self.rounds, usize::from(team));
        let counts = rounds.over && (index < 2 || rounds.played.get(index) == Some(&true));
        let known = rounds.finals.get_mut(index).filter(|_| counts);
        if known.is_some_and(|known| !std::mem::replace(known, true)) {
            events.push(GameEvent::Final { team, points });
        }
    }

    /// Handles what a player has done.
    fn act(
        &mut self,
        who: PlayerTag<'_>,
        act: PlayerAction<'_>,
        now: u64,
        events: &mut Vec<GameEvent>,
    ) {
        let mut line = NotedLine {
            now,
            between_rounds: self.rounds.begun && !self.rounds.running,
            events,
        };
        self.clients.note(who, act, &mut line);
        if self.rounds.over {
            return;
        }
        self.note_team(&who);
        match act {
            PlayerAction::Kill { victim, .. } => {
                self.rounds.fought = true;
                self.note_team(&victim);
                self.death(&victim, Some(&who), now, events);
            }
            // With the beginning of play, everybody dies.
            PlayerAction::Die if self.rounds.since.is_some_and(|since| now > since) => {
                self.death(&who, None, now, events);
            }
            PlayerAction::Capture if self.clients.captures(&who, now) => {
                let client = self.clients.get(&who);
                let scored = client.and_then(|client| Some((client.slot, client.team()?)));
                events.extend(scored.map(|(by, team)| GameEvent::Score {
                    team,
                    points: 1.0,
                    by: Some(by),
                }));
            }
            _ => {}
        }
    }

    fn note_team(&mut self, who: &PlayerTag<'_>) {
        if let Some(team) = self.clients.get(who).and_then(SourceClient::team) {
            self.rounds.note_team(team);
        }
    }

    fn death(
        &mut self,
        victim: &PlayerTag<'_>,
        killer: Option<&PlayerTag<'_>>,
        now: u64,
        events: &mut Vec<GameEvent>,
    ) {
        if !self.clients.dies(victim, now) {
            return;
        }
        let seat = |who| {
            self.clients
                .get(who)
                .map(|client| (client.slot, client.team()))
        };
        let Some((victim, team)) = seat(victim) else {
            return;
        };
        let killer = killer.and_then(seat).filter(|(by, _)| *by != victim);
        events.push(GameEvent::Death {
            victim,
            by: killer.map(|(by, _)| by),
            enemy: killer.is_some_and(|(_, other)| other != team),
            moved: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::grammar;

    /// What these lines mean, each at its second; events of players are left out.
    fn events(lines: &[(u64, &str)]) -> Vec<GameEvent> {
        let (mut server, mut events) = (SourceServer::of(None), Vec::new());
        for (at, line) in lines {
            let event = grammar::read(line.as_bytes()).unwrap();
            server.pass(event, &mut events);
            server.interpret(event, at * 1_000, &mut events);
        }
        let is_placed = |event: &GameEvent| matches!(event, GameEvent::Placed { .. });
        events.retain(|event| !is_placed(event) && !matches!(event, GameEvent::Client(_)));
        events
    }

    const MAP: &str = "Loading map \"de_cache\"";
    const MATCH: &str = "World triggered \"Match_Start\" on \"de_cache\"";
    const ROUND: &str = "World triggered \"Round_Start\"";
    const END: &str = "World triggered \"Round_End\"";

    fn won(t: u32, ct: u32) -> String {
        format!("Team \"CT\" triggered \"SFUI_Notice_CTs_Win\" (CT \"{ct}\") (T \"{t}\")")
    }

    fn total(team: u8, points: f64) -> GameEvent {
        GameEvent::Total { team, points }
    }

    #[test]
    fn a_match_of_counter_strike() {
        let (one, two) = (won(0, 1), won(1, 1));
        let over = "Game Over: competitive mg_x de_cache score 1:2 after 2 min";
        let lines = [
            (0, MAP),
            (9, MATCH),
            (10, ROUND),
            (10, ROUND),
            (40, &one),
            (40, END),
            (45, ROUND),
            (60, &two),
            (60, "World triggered \"Match_Reloaded\" on \"de_cache\""),
            (61, "Team \"CT\" scored \"1\" with \"1\" players"),
            (61, "Team \"TERRORIST\" scored \"0\" with \"1\" players"),
            (62, ROUND),
            (90, over),
            // Until the next match starts, rounds do not count.
            (95, ROUND),
            (99, "World triggered \"Restart_Round_(1_second)\""),
            (101, ROUND),
        ];
        let ended = |team, points| GameEvent::Final { team, points };
        let expected = [
            GameEvent::Closed,
            GameEvent::Game,
            GameEvent::Setup,
            GameEvent::Restart { plays: false },
            // The beginning of a match and that of its first round are the same.
            GameEvent::Round,
            total(0, 0.0),
            total(1, 1.0),
            GameEvent::RoundEnd,
            GameEvent::Round,
            total(0, 1.0),
            total(1, 1.0),
            GameEvent::Reloaded { running: true },
            total(1, 1.0),
            GameEvent::Restored([0.0, 1.0]),
            total(0, 0.0),
            GameEvent::Round,
            GameEvent::Over,
            ended(1, 1.0),
            ended(0, 2.0),
            GameEvent::Ended,
            GameEvent::Restart { plays: false },
            GameEvent::Start,
        ];
        assert_eq!(events(&lines), expected);
    }

    #[test]
    fn results_are_read_until_those_of_all_teams_are_known() {
        let who = |team| format!("\"ann<1><[U:1:1]><{team}>\"");
        let score = |team| format!("Team \"{team}\" scored \"1\" with \"1\" players");
        let (red, blue, yellow) = (score("Red"), score("Blue"), score("Yellow"));
        let ended = |joined: &str, lines: [&str; 3]| {
            let joins = format!("{} joined team \"{joined}\"", who("SPECTATOR"));
            let begins = "World triggered \"Match_Begins_Now\"";
            let mut all = vec![
                (0, "Started map \"well\" (CRC \"1\")"),
                (1, begins),
                (2, &joins),
            ];
            all.extend(lines.map(|line| (9, line)));
            let events = events(&all).into_iter();
            events
                .skip_while(|event| *event != GameEvent::Over)
                .skip(1)
                .collect::<Vec<_>>()
        };
        let known = [0, 1, 2].map(|team| GameEvent::Final { team, points: 1.0 });
        let (end, [one, two, three]) = (GameEvent::Ended, known);
        let all = [&red[..], &blue, &yellow];
        assert_eq!(ended("Yellow", all), [one, two, three, end]);
        assert_eq!(ended("Blue", all)[..3], [one, two, end]);
        assert_eq!(ended("Yellow", [&red, &blue, "x"]), [one, two, end]);
    }

    #[test]
    fn whose_result_it_is() {
        let of = |stated, scores| {
            let rounds = SourceRounds {
                stated,
                ..SourceRounds::default()
            };
            rounds.sides_of(scores)
        };
        assert_eq!(of([2.0, 0.0], [2.0, 0.0]), [0, 1]);
        assert_eq!(of([2.0, 0.0], [0.0, 2.0]), [1, 0]);
        assert_eq!(of([2.0, 0.0], [1.0, 2.0]), [1, 0]);
    }
}
