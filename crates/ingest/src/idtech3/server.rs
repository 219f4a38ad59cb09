//! What the lines of a log mean for its game and the clients, by the game's own rules.

use super::{
    clients::{ClientSlots, IdTech3Client},
    grammar::IdTech3Event,
    setup::GameSetup,
};
use crate::event::GameEvent;

/// What the log shows of a game server.
#[derive(Debug, Default)]
pub struct IdTech3Server {
    /// The settings of the game, once a line has stated them.
    pub setup: Option<GameSetup>,
    /// The clients who are connected.
    pub clients: ClientSlots,
}

impl IdTech3Server {
    /// Takes over what a line states, and appends what it means.
    pub fn interpret(&mut self, event: IdTech3Event<'_>, events: &mut Vec<GameEvent>) {
        events.push(match event {
            IdTech3Event::InitGame(info) => {
                self.setup = Some(GameSetup::read(info));
                self.clients = ClientSlots::default();
                GameEvent::Game
            }
            IdTech3Event::InitRound(info) => {
                self.setup = Some(GameSetup::read(info));
                GameEvent::Round
            }
            IdTech3Event::Warmup => GameEvent::WarmUp,
            IdTech3Event::Exit => GameEvent::Over,
            IdTech3Event::Shutdown => GameEvent::Closed,
            IdTech3Event::Connect(number) => self.client(number, |client| client.begun = false),
            IdTech3Event::Begin(number) => self.client(number, |client| client.begun = true),
            IdTech3Event::Userinfo(number, info) => {
                self.client(number, |client| client.userinfo(info))
            }
            IdTech3Event::Changed(number, info) => {
                self.client(number, |client| client.changed(info))
            }
            IdTech3Event::Disconnect(number) => {
                self.clients.remove(number);
                GameEvent::Left(number)
            }
            IdTech3Event::Kill {
                killer,
                victim,
                team_change,
            } => return self.kill(killer, victim, team_change, events),
            IdTech3Event::Capture { by, flag } => {
                let team = match flag {
                    // Red's flag is that which blue captures.
                    1 | 2 => Some(u8::from(flag == 1)),
                    _ => by.and_then(|by| self.team_of(by)),
                };
                let Some(team) = team else { return };
                score(team, 1.0, by)
            }
            IdTech3Event::RoundWon(team) => score(team, 1.0, None),
            IdTech3Event::TeamScore { team, total } => match team {
                // 0 is "free", 3 "spectators".
                1 | 2 => GameEvent::Total {
                    team: u8::from(team == 2),
                    points: total as f64,
                },
                _ => return,
            },
            IdTech3Event::Result(scores) => {
                let [red, blue] = scores.map(|score| Some(score as f64));
                GameEvent::Result([red, blue, None, None])
            }
            IdTech3Event::Points { client, points } => {
                let points = points as f64;
                GameEvent::Points { client, points }
            }
            IdTech3Event::ServerTime(_) | IdTech3Event::Say(_) | IdTech3Event::Other => return,
        });
    }

    fn team_of(&self, number: usize) -> Option<u8> {
        self.clients.get(number)?.team()
    }

    fn client(&mut self, number: usize, change: impl FnOnce(&mut IdTech3Client)) -> GameEvent {
        change(self.clients.client(number));
        GameEvent::Client(number)
    }

    /// Evaluates a kill. `killer` is `None` for the world, and `moved` marks the death by which the game carries out a
    /// change of teams.
    ///
    /// In team deathmatch an enemy's death gains the killer's team a point; a team mate's death
    /// costs it one. A death by suicide or by the world costs the victim's team a point, unless it
    /// was a change of teams.
    fn kill(&self, killer: Option<usize>, victim: usize, moved: bool, events: &mut Vec<GameEvent>) {
        let setup = self.setup.as_ref();
        let by = killer.filter(|&killer| killer != victim);
        let teams = setup.is_some_and(|setup| setup.teams);
        let enemy = by.is_some_and(|killer| !teams || self.team_of(killer) != self.team_of(victim));
        events.push(GameEvent::Death {
            victim,
            by,
            enemy,
            moved,
        });
        let scores = setup.is_some_and(|setup| setup.scored_by_kills) && (by.is_some() || !moved);
        let by = by.unwrap_or(victim);
        let team = self.team_of(by).filter(|_| scores);
        events.extend(team.map(|team| score(team, if enemy { 1.0 } else { -1.0 }, Some(by))));
    }
}

fn score(team: u8, points: f64, by: Option<usize>) -> GameEvent {
    GameEvent::Score { team, points, by }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A server with clients 0 and 1 on red, 2 on blue, and 3, who watches.
    fn server(game_type: i64) -> IdTech3Server {
        let mut server = IdTech3Server::default();
        let info = format!("\\g_gametype\\{game_type}");
        server.interpret(IdTech3Event::InitGame(info.as_bytes()), &mut Vec::new());
        for (number, info) in [b"t\\1", b"t\\1", b"t\\2", b"t\\3"].into_iter().enumerate() {
            server.interpret(IdTech3Event::Changed(number, info), &mut Vec::new());
            server.interpret(IdTech3Event::Begin(number), &mut Vec::new());
        }
        server
    }

    /// Whether a kill is that of an enemy, and the team's points for it, with who has caused them.
    fn kill(
        game_type: i64,
        killer: Option<usize>,
        victim: usize,
        team_change: bool,
    ) -> (bool, Option<(u8, f64, usize)>) {
        let (mut server, mut events) = (server(game_type), Vec::new());
        let kill = IdTech3Event::Kill {
            killer,
            victim,
            team_change,
        };
        server.interpret(kill, &mut events);
        match events[..] {
            [GameEvent::Death { enemy, .. }] => (enemy, None),
            [
                GameEvent::Death { enemy, .. },
                GameEvent::Score { team, points, by },
            ] => (enemy, Some((team, points, by.unwrap()))),
            ref other => panic!("{other:?}"),
        }
    }

    #[test]
    fn kills_score_in_team_deathmatch() {
        for (killer, victim, team_change, enemy, points) in [
            (Some(0), 2, false, true, Some((0, 1.0, 0))),
            (Some(0), 1, false, false, Some((0, -1.0, 0))),
            (Some(2), 2, false, false, Some((1, -1.0, 2))),
            (None, 2, false, false, Some((1, -1.0, 2))),
            (Some(2), 2, true, false, None),
            (Some(3), 2, false, true, None),
        ] {
            assert_eq!(kill(3, killer, victim, team_change), (enemy, points));
        }
    }

    #[test]
    fn kills_score_for_players_alone_elsewhere() {
        assert_eq!(kill(4, Some(0), 2, false), (true, None));
        assert_eq!(kill(4, Some(0), 1, false), (false, None));
        assert_eq!(kill(0, Some(0), 1, false), (true, None));
    }

    #[test]
    fn captures_rounds_and_totals() {
        let mut events = Vec::new();
        for event in [
            IdTech3Event::Capture {
                by: Some(5),
                flag: 2,
            },
            IdTech3Event::Capture { by: None, flag: 1 },
            IdTech3Event::Capture {
                by: Some(2),
                flag: -1,
            },
            IdTech3Event::Capture {
                by: Some(3),
                flag: -1,
            },
            IdTech3Event::RoundWon(1),
        ] {
            server(4).interpret(event, &mut events);
        }
        let expected = [(0, Some(5)), (1, None), (1, Some(2)), (1, None)]
            .map(|(team, by)| score(team, 1.0, by));
        assert_eq!(events, expected);
        events.clear();
        for team in [0, 2, 3, i64::MAX] {
            let total = 7;
            server(4).interpret(IdTech3Event::TeamScore { team, total }, &mut events);
        }
        let points = 7.0;
        assert_eq!(events, [GameEvent::Total { team: 1, points }]);
    }
}
