//! The chat as an engine uses it.

use super::{PATIENCE, *};
use evenkeel_model::ident::Ident;

/// A chat with a clock that the test sets, and two humans, a bot and a spectator.
struct Play {
    chat: Chat,
    players: Vec<ChatPlayer>,
    can_balance: bool,
    now: u64,
}

impl Play {
    fn new(vote: Option<u8>) -> Self {
        let player = |number, id: &str, team, human| ChatPlayer {
            number,
            id: id.to_owned(),
            name: id.to_lowercase(),
            team,
            human,
        };
        let settings = ChatSettings { on: true, vote };
        Self {
            chat: Chat::new(settings, &["red", "blue"]),
            players: vec![
                player(0, "ANN", Some(0), true),
                player(1, "BOB", Some(1), true),
                player(2, "BOT", Some(1), false),
                player(3, "EVE", None, true),
            ],
            can_balance: true,
            now: 10_000,
        }
    }

    fn tick(&mut self) -> (bool, Vec<Act>) {
        let mut acts = Vec::new();
        let game = ChatGame {
            players: &self.players,
            can_balance: self.can_balance,
        };
        (self.chat.tick(&game, self.now, &mut acts), acts)
    }

    fn reply(&mut self, reply: Reply) -> Vec<Act> {
        let mut acts = Vec::new();
        self.chat.reply(&reply, &mut acts);
        acts
    }

    /// Writes a line, and lets time pass. Returns the requests.
    fn hear(&mut self, number: usize, text: &str) -> Vec<Act> {
        self.now += 2_000;
        self.chat.hear(number, command(text), self.now);
        self.tick().1
    }

    fn lines(&mut self) -> Vec<String> {
        let lines = self.chat.take_lines().into_iter();
        let shown = |line: ChatLine| match line.to {
            Some(number) => format!("{number}: {}", line.text),
            None => line.text,
        };
        lines.map(shown).collect()
    }
}

fn command(text: &str) -> ChatCommand {
    ChatCommand::parse(text.as_bytes()).unwrap()
}

fn rank(id: &str) -> Reply {
    Reply::Rank {
        id: Ident::from_text(id),
        division: Some(("Gold".to_owned(), 0.5)),
        games: 7,
        weight: None,
    }
}

#[test]
fn commands_are_whole_lines() {
    for (text, command) in [
        ("!teams", Some(ChatCommand::Teams)),
        (" !WHY ", Some(ChatCommand::Why)),
        ("!rank me", None),
        ("teams", None),
        ("", None),
        ("!teams\u{0}", None),
    ] {
        assert_eq!(ChatCommand::parse(text.as_bytes()), command, "{text:?}");
    }
}

#[test]
fn a_question_waits_for_the_one_before() {
    let mut play = Play::new(None);
    let expected = [Request::Rank(Ident::from_text("ANN")), Request::Ping];
    assert_eq!(play.hear(0, "!rank"), expected.map(Act::Send));
    assert!(play.hear(3, "!rank").is_empty());
    assert!(play.reply(rank("ANN")).is_empty());
    assert_eq!(
        play.lines(),
        ["0: your division is Gold, 50 of 100 to the next, 7 rated games"]
    );
    assert!(play.tick().1.is_empty(), "PONG is missing");
    play.reply(Reply::Pong);
    let (_, acts) = play.tick();
    assert_eq!(acts[0], Act::Send(Request::Rank(Ident::from_text("EVE"))));
    play.now += PATIENCE;
    play.tick().1.clear();
    assert_eq!(play.lines(), ["3: there are no ranks on this server"]);
}

#[test]
fn ranks_that_the_daemon_refuses_are_not_asked_for_again() {
    let mut play = Play::new(None);
    assert_eq!(play.hear(0, "!rank").len(), 2);
    play.reply(Reply::Pong);
    assert_eq!(play.lines(), ["0: there are no ranks on this server"]);
    assert!(play.hear(1, "!rank").is_empty());
    assert_eq!(play.lines(), ["1: there are no ranks on this server"]);
}

#[test]
fn the_reasons_for_a_decision_outlast_the_game() {
    let mut play = Play::new(None);
    play.hear(0, "!why");
    assert_eq!(play.lines(), ["0: nothing has been decided yet"]);
    let place = Reply::Place(Ident::from_text("ANN"), 0, 0.75);
    assert_eq!(play.reply(place), [Act::Send(Request::Explain)]);
    let reason = "ANN to team 0 (more even): ratio 0.75".to_owned();
    assert!(play.reply(Reply::Explain(vec![reason])).is_empty());
    play.chat.game_began(play.now);
    play.hear(0, "!why");
    assert_eq!(play.lines(), ["0: ann to red (more even): ratio 0.75"]);
    play.hear(0, "!teams");
    assert_eq!(
        play.lines()[2],
        "0: ratio 0.75 when teams were last chosen, 1.00 is even"
    );
}

#[test]
fn a_flood_is_bounded() {
    let mut play = Play::new(Some(50));
    for round in 0..1_000 {
        play.now += 10;
        for number in 0..64 {
            let text = ["!teams", "!why", "!rank", "!balance"][(round + number) % 4];
            play.chat.hear(number, command(text), play.now);
        }
        play.tick().1.clear();
        assert!(play.chat.waiting.len() <= MAX_WAITING);
        assert!(play.chat.lines.len() <= MAX_LINES + 4);
    }
    assert_eq!(play.lines().len(), LINES);
}

#[test]
fn who_leaves_gets_no_answer_meant_for_another() {
    let mut play = Play::new(None);
    play.hear(0, "!rank");
    play.hear(1, "!teams");
    play.chat.left(0);
    play.chat.left(1);
    assert!(play.reply(rank("ANN")).is_empty());
    play.tick().1.clear();
    assert!(play.lines().is_empty());
}

#[test]
fn a_vote_needs_the_humans_on_teams() {
    let mut play = Play::new(Some(50));
    play.hear(3, "!balance");
    assert_eq!(play.lines(), ["3: only players on a team can vote"]);
    play.hear(0, "!balance");
    let began =
        "Evenkeel: vote to balance the teams again: 1 of 2 agree, write !balance to agree, too";
    assert_eq!(play.lines(), [began]);
    play.now += 2_000;
    play.chat.hear(1, ChatCommand::Balance, play.now);
    assert!(play.tick().0);
    assert_eq!(play.lines(), ["Evenkeel: the vote has passed"]);
    play.hear(1, "!balance");
    assert_eq!(play.lines(), ["1: the next vote can begin in 58 s"]);
    play.can_balance = false;
    play.hear(1, "!balance");
    assert_eq!(play.lines(), ["1: there is no game to balance now"]);
}

#[test]
fn a_vote_can_fail_and_can_be_off() {
    let mut play = Play::new(Some(50));
    play.hear(0, "!balance");
    play.lines();
    play.now += 30_000;
    assert!(!play.tick().0);
    assert_eq!(
        play.lines(),
        ["Evenkeel: the vote has failed, 1 of 2 agreed"]
    );
    let mut play = Play::new(None);
    play.hear(0, "!balance");
    assert_eq!(play.lines(), ["0: players cannot vote on this server"]);
    play.chat.settings.on = false;
    play.hear(0, "!teams");
    assert!(play.lines().is_empty());
}
