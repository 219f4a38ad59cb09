//! Tests that no explanation disagrees with its reply, in random games.

mod golden;

use proptest::prelude::*;

use super::{
    AutoBalanceRules, Balance, Balanced, BotWeight, Command, Decided, Decision, Fate, Lobby,
    LobbySettings, RosterSettings, Update, Weights,
    weights::tests::{WeightTable, ctf},
};
use crate::games::win_model;
use evenkeel_model::{
    Ident, LineupPlayer, TeamLoad, WinModel, chance_of_weaker,
    units::{Count, Factor, MaxDifference, PositiveShare, UpToADay},
};
use evenkeel_partition::{self as partition, Objective, SizeLimits};

/// Weights of a rating system that predicts these very teams otherwise than its win model does.
struct Exactly(WeightTable);

impl Weights for Exactly {
    fn human(&self, id: &str) -> f64 {
        self.0.human(id)
    }

    fn bot(&self, name: &str) -> Option<BotWeight> {
        self.0.bot(name)
    }

    fn mean_bot(&self) -> (f64, usize) {
        self.0.mean_bot()
    }

    fn human_strength(&self, id: &str) -> f64 {
        self.0.human_strength(id)
    }

    fn mean_bot_strength(&self) -> f64 {
        self.0.mean_bot_strength()
    }

    fn win_model(&self, teams: &[Vec<LineupPlayer>]) -> Option<WinModel> {
        self.0.win_model(teams)
    }

    fn chances(&self, teams: &[Vec<LineupPlayer>], strengths: &[f64]) -> Vec<f64> {
        let Some(win_model) = self.0.win_model else {
            return Vec::new();
        };
        let load = |(team, &strength): (&Vec<LineupPlayer>, &f64)| TeamLoad {
            heads: team.len(),
            strength,
        };
        let loads: Vec<TeamLoad> = teams.iter().zip(strengths).map(load).collect();
        match loads[..] {
            [one, other] => {
                let edge = 0.95 * win_model.edge_of_first(one, other) + 0.01;
                let chance = win_model.link.chance(edge);
                vec![chance, 1.0 - chance]
            }
            _ => vec![1.0 / loads.len() as f64; loads.len()],
        }
    }
}

/// A human of a random game.
#[derive(Clone, Debug)]
struct Guest {
    weight: f64,
    team: Option<u8>,
    party: Option<u8>,
    pin: Option<u8>,
    avoids: Option<usize>,
    wish: Option<u8>,
}

/// A random game.
#[derive(Clone, Debug)]
struct Game {
    teams: u8,
    guests: Vec<Guest>,
    bots: Vec<(f64, u8)>,
    min_players: u32,
    acts: Option<bool>,
    learned: bool,
    objective: Objective,
    proposal: bool,
    seed: u64,
}

prop_compose! {
    fn guest()(
        weight in 0.0..100.0,
        team in prop::option::weighted(0.7, 0u8..4),
        party in prop::option::weighted(0.3, 0u8..3),
        pin in prop::option::weighted(0.1, 0u8..4),
        avoids in prop::option::weighted(0.1, 0usize..9),
        wish in prop::option::weighted(0.2, 0u8..4),
    ) -> Guest {
        Guest { weight, team, party, pin, avoids, wish }
    }
}

prop_compose! {
    fn games()(
        teams in prop_oneof![3 => Just(2u8), 1 => 3u8..=4],
        guests in prop::collection::vec(guest(), 1..10),
        friends: bool,
        bots in prop::collection::vec((0.0..100.0, 0u8..4), 0..5),
        min_players in 0u32..12,
        acts: Option<bool>,
        learned in prop::bool::weighted(0.7),
        by_chance in prop::bool::weighted(0.7),
        proposal: bool,
        seed in 0u64..1_000,
    ) -> Game {
        let mut guests = guests;
        for guest in &mut guests {
            guest.team = guest.team.filter(|team| *team < teams);
            guest.pin = guest.pin.filter(|team| *team < teams);
            guest.party = guest.party.filter(|_| friends);
            guest.wish = guest.wish.filter(|team| *team < teams);
        }
        let bots = bots.into_iter().filter(|bot| bot.1 < teams).collect();
        let objective = if by_chance { Objective::Chance } else { Objective::Ratio };
        Game { teams, guests, bots, min_players, acts, learned, objective, proposal, seed }
    }
}

fn id(guest: usize) -> Ident {
    Ident::from_text(&format!("h{guest}"))
}

impl Game {
    fn weights(&self) -> Exactly {
        let mut table = WeightTable::default();
        for (at, guest) in self.guests.iter().enumerate() {
            table.humans.insert(format!("h{at}"), guest.weight);
        }
        for (at, (weight, _)) in self.bots.iter().enumerate() {
            table.bots.insert(format!("b{at}"), *weight);
        }
        table.bots.insert("another".to_owned(), 33.0);
        table.win_model = self.learned.then(win_model);
        Exactly(table)
    }

    fn lobby(&self) -> Lobby {
        let rules = match self.proposal {
            true => AutoBalanceRules::players_proposal(),
            false => AutoBalanceRules::sectors_edge(),
        };
        let mut lobby = Lobby::new(LobbySettings {
            roster: RosterSettings {
                min_players: Count::try_from(u64::from(self.min_players)).unwrap(),
                ..RosterSettings::default()
            },
            party_multiplier: vec![Factor::of(1.2)],
            objective: self.objective,
            auto_balance: AutoBalanceRules {
                delay_seconds: const { UpToADay::of(0) },
                ..rules
            },
            ..LobbySettings::default()
        });
        let teams = self.teams;
        let mut commands = vec![ctf(), Command::Teams { teams }];
        commands.extend(self.acts.map(|acts| Command::DeclareBots { acts }));
        commands.extend(self.guests.iter().enumerate().map(|(at, guest)| {
            let avoid = guest.avoids.map(|other| vec![format!("h{other}")]);
            let update = Update {
                name: None,
                party: guest.party.map(|party| format!("p{party}")),
                team: guest.team,
                pin: guest.pin.map(Some),
                avoid,
                wish: guest.wish.map(Some),
            };
            let id = id(at);
            Command::Join { id, update }
        }));
        commands.extend(self.bots.iter().enumerate().map(|(at, &(_, team))| {
            let name = Ident::from_text(&format!("b{at}"));
            Command::BotJoin { name, team }
        }));
        for command in &commands {
            lobby.apply(command, 0).unwrap();
        }
        lobby
    }

    fn has_friends(&self) -> bool {
        self.guests.iter().any(|guest| guest.party.is_some())
    }

    /// BALANCE as a session does it, and the answer before the game was known.
    fn balance(&self, lobby: &mut Lobby, weights: &Exactly) -> Balancing {
        let limits = SizeLimits {
            max_team_share: PositiveShare::of(18.0 / 32.0),
            max_difference: MaxDifference::of(1),
        };
        let settings = partition::Settings {
            objective: self.objective,
            party_multiplier: vec![Factor::of(1.2)],
            ..partition::Settings::default()
        };
        let question = lobby.balance(weights, limits, settings).unwrap();
        let decided = question.decide(self.seed, &mut || false).unwrap();
        let found = (decided.answer.ratio, decided.answer.chance);
        let balanced = lobby.follow(&decided, weights).unwrap();
        (decided, found, balanced)
    }
}

/// BALANCE, the ratio and the chance that were found before the lobby followed it, and the reply.
type Balancing = (Decided<Balance>, (f64, Option<f64>), Balanced);

/// The number that follows these words in a line.
fn after(line: &str, words: &str) -> f64 {
    let rest = line.split(words).nth(1);
    let rest = rest.unwrap_or_else(|| panic!("{words}: {line}"));
    let number = rest.trim_start().split([' ', ',', ';']).next();
    let number = number.and_then(|number| number.parse().ok());
    number.unwrap_or_else(|| panic!("{words}: {line}"))
}

/// Whether a number in a text, which has six places, is this one.
fn announced(text: f64, number: f64) -> bool {
    (text - number).abs() <= 0.500_001e-6
}

/// How BALANCE describes the teams of this reply.
fn figures(decided: &Decided<Balance>, teams: u8, reply: &Balanced) -> String {
    let chance = reply.chance.filter(|_| teams == 2);
    match (decided.question.settings.objective, chance) {
        (Objective::Chance, Some(chance)) => {
            format!(
                "chance of team 0 to win {chance:.6}, ratio {:.6}",
                reply.ratio
            )
        }
        _ => format!("ratio {:.6}", reply.ratio),
    }
}

/// What EXPLAIN says of the teams that BALANCE has picked.
fn check_balance(game: &Game, (decided, found, reply): &Balancing) -> Result<(), TestCaseError> {
    let why = decided.to_string();
    let lines: Vec<&str> = why.lines().collect();
    let figures = figures(decided, game.teams, reply);
    let by_chance = decided.question.settings.objective == Objective::Chance;
    let told_chance = figures.starts_with("chance");
    prop_assert!(
        !by_chance
            || told_chance
            || lines[0].starts_with("gap ")
            || lines[0].starts_with("chance of the weakest team against the strongest "),
        "{}",
        why
    );
    match told_chance || !by_chance {
        true => prop_assert!(lines[0].starts_with(&figures), "{} {}", figures, why),
        false => prop_assert!(lines[0].ends_with(&figures), "{} {}", figures, why),
    }
    let picked = lines.iter().find(|line| line.starts_with("picked: "));
    prop_assert!(
        picked.unwrap().contains(&format!("{figures}, cost")),
        "{} {}",
        figures,
        why
    );
    prop_assert!(picked.unwrap().contains("probability of this pick"));
    if told_chance {
        let weaker = after(lines[1], "chance of the weaker team");
        let chance = reply.chance.unwrap();
        prop_assert!(
            announced(weaker, chance.min(1.0 - chance)),
            "{} {}",
            chance,
            why
        );
        prop_assert!(after(lines[1], "at most") + 1e-6 >= weaker, "{}", why);
    }
    if !by_chance {
        prop_assert!(after(lines[0], "at most") + 1e-6 >= reply.ratio, "{}", why);
    }
    let stay = decided
        .answer
        .team_of
        .iter()
        .zip(&decided.question.problem.view.humans);
    let stay = stay.map(|(team, human)| human.team == Some(*team));
    let current = lines
        .iter()
        .find(|line| line.starts_with("current teams: "));
    if let (Some(line), true) = (current, stay.into_iter().all(|stays| stays)) {
        prop_assert!(line.ends_with(&figures), "{} {}", figures, why);
    }
    // What is found is the reply, also where the rating system predicts these teams otherwise: no number is changed
    // after the choice.
    let (ratio, chance) = found;
    prop_assert!((ratio - reply.ratio).abs() < 1e-9, "{} {}", ratio, why);
    prop_assert!(
        chance.is_none() || *chance == reply.chance,
        "{:?} {}",
        chance,
        why
    );
    let stored = serde_json::to_string(&Decision::from(decided.clone())).unwrap();
    let read: Decision = serde_json::from_str(&stored).unwrap();
    let again = read.again(&mut || false);
    prop_assert_eq!(again.unwrap().to_string(), why, "replayed");
    Ok(())
}

/// The game as it stands: the evenness if chances decide, and the ratio, once bots have come and gone.
fn after_bot_fill(lobby: &Lobby, weights: &Exactly) -> (Option<f64>, f64) {
    let view = lobby.view_by_objective(weights).unwrap();
    let teams = view.sums();
    let chance = teams.by_chance().then(|| teams.evenness_after_bot_fill());
    (chance, teams.ratio_after_bot_fill())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn balance_is_explained_as_it_is_replied(game in games()) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        for _ in 0..2 {
            let balance = game.balance(&mut lobby, &weights);
            check_balance(&game, &balance)?;
            prop_assert!(announced(after_bot_fill(&lobby, &weights).1, balance.2.ratio));
        }
    }

    #[test]
    fn with_somebody_on_another_team_the_ratio_is_that_of_the_game_with_them_there(game in games()) {
        prop_assume!(!game.has_friends());
        let (mut lobby, weights) = (game.lobby(), game.weights());
        let (decided, ..) = game.balance(&mut lobby, &weights);
        let why = decided.to_string();
        for line in why.lines().filter(|line| line.contains(" instead: ")) {
            let words: Vec<&str> = line.split(' ').collect();
            let (who, team) = (Ident::from_text(words[1]), words[4].parse().unwrap());
            let mut other = lobby.clone();
            other.apply(&Command::Move { id: who, team }, 1).unwrap();
            prop_assert!(announced(after(line, "ratio"), after_bot_fill(&other, &weights).1), "{}", why);
        }
    }

    #[test]
    fn place_is_explained_as_it_is_replied(game in games()) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        let waiting = game.guests.iter().position(|guest| guest.team.is_none());
        let who = waiting.unwrap_or(0);
        let decided = lobby.place(&id(who), &weights, game.seed).unwrap();
        let why = decided.to_string();
        let first = why.lines().next().unwrap();
        prop_assert!(first.starts_with(&format!("h{who} to team {} (", decided.answer.team)), "{}", why);
        prop_assert!(first.ends_with(&format!("ratio {:.6}", decided.answer.ratio)), "{}", why);
        let by_chance = game.learned && game.objective == Objective::Chance;
        prop_assert_eq!(first.contains("): chance of the weaker team "), by_chance, "{}", why);
        let others = decided.answer.others;
        if others == 0 && !game.has_friends() {
            let (evenness, ratio) = after_bot_fill(&lobby, &weights);
            prop_assert!((decided.answer.ratio - ratio).abs() < 1e-9, "{} {}", ratio, why);
            if let Some(evenness) = evenness {
                prop_assert!(announced(after(first, "weaker team"), chance_of_weaker(evenness)), "{}", why);
            }
        }
    }

    #[test]
    fn rebalance_is_explained_as_it_is_replied(game in games()) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        let view = lobby.view_by_objective(&weights).unwrap();
        let now = view.sums();
        let decided = lobby.rebalance(&weights, game.seed).unwrap();
        let (why, advice) = (decided.to_string(), &decided.answer);
        let lines: Vec<&str> = why.lines().collect();
        let line = lines[usize::from(now.by_chance())];
        prop_assert!(announced(after(line, "ratio"), advice.before), "{}", why);
        prop_assert!(announced(after(line, "now,"), advice.after), "{}", why);
        prop_assert!(announced(advice.before, now.ratio_now()));
        if now.by_chance() {
            let before = chance_of_weaker(now.evenness_now());
            prop_assert!(announced(after(lines[0], "weaker team"), before), "{}", why);
            let enough = after(lines[0], "even enough from");
            let as_it_is = lines.iter().find(|line| line.starts_with("best plan of 0 moves"));
            let as_it_is = after(as_it_is.unwrap(), "weaker team");
            prop_assert!(as_it_is < enough || advice.moves.is_empty(), "{}", why);
        }
        let steps: Vec<_> = advice.steps().cloned().collect();
        for step in &steps {
            let said = lines.iter().filter(|line| line.ends_with(&step.to_string()));
            prop_assert_eq!(said.count(), 1, "{} {}", step, why);
        }
        for step in steps {
            let (id, team) = (step.id, step.to);
            lobby.apply(&Command::Move { id, team }, 1).unwrap();
        }
        if !game.has_friends() {
            let (evenness, ratio) = after_bot_fill(&lobby, &weights);
            prop_assert!(announced(advice.after, ratio), "{} {}", ratio, why);
            if let Some(evenness) = evenness {
                prop_assert!(announced(after(lines[0], "now,"), chance_of_weaker(evenness)), "{}", why);
            }
        }
    }

    #[test]
    fn rebalance_asks_for_no_move_right_after_balance(game in games()) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        // With bots on more than two teams, BALANCE compares only the splits exactly that are best without them.
        prop_assume!(game.teams == 2 || game.bots.is_empty());
        let (balanced, ..) = game.balance(&mut lobby, &weights);
        // REBALANCE does not count what friends add whom a move brings together again.
        let team = |at: usize| balanced.answer.team_of[at];
        let torn = |&(one, other): &(usize, usize)| {
            let party = |at: usize| game.guests[at].party;
            party(one).is_some() && party(one) == party(other) && team(one) != team(other)
        };
        let pairs = (0..game.guests.len()).flat_map(|one| (0..one).map(move |other| (one, other)));
        prop_assume!(!pairs.into_iter().any(|pair| torn(&pair)));
        let advice = lobby.rebalance(&weights, game.seed).unwrap();
        prop_assert!(advice.answer.steps().next().is_none(), "{}{}", balanced, advice);
    }

    #[test]
    fn advantage_is_explained_as_it_is_replied(game in games()) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        let decided = lobby.advantage(&weights).unwrap();
        let why = decided.to_string();
        let now = match decided.answer.help {
            Some(help) => format!("help now: factor {:.3} for team {};", help.factor, help.team),
            None => "help now: none;".to_owned(),
        };
        prop_assert!(why.starts_with(&now), "{} {}", now, why);
    }

    #[test]
    fn a_death_is_explained_as_it_is_answered(game in games(), who: prop::sample::Index) {
        let (mut lobby, weights) = (game.lobby(), game.weights());
        lobby.apply(&Command::Start, 0).unwrap();
        lobby.watch(&weights);
        let who = who.index(game.guests.len());
        let teams = lobby.view_by_objective(&weights).unwrap().sums();
        let decided = lobby.died(&id(who), &weights).unwrap().unwrap();
        let why = decided.to_string();
        let lines: Vec<&str> = why.lines().collect();
        match &decided.answer.fate {
            Fate::Moves(step) => {
                prop_assert_eq!(lines[0], format!("move {step}"));
                let roster = &lobby.game().unwrap().roster;
                prop_assert_eq!(roster.find(&step.id).unwrap().team, Some(step.to));
            }
            Fate::Stays(stay) => prop_assert_eq!(lines[0], format!("h{who} stays: {stay}")),
        }
        if lines[1].contains("chances ") {
            let (more, less) = (after(lines[1], "chances"), after(lines[1], " to "));
            prop_assert!((more + less - 1.0).abs() < 1e-9 && teams.by_chance(), "{}", why);
        }
        if lines[0].ends_with("moving others brings the teams closer together") {
            // Then somebody's death moves them.
            let moves = |other: usize| {
                let mut lobby = game.lobby();
                lobby.apply(&Command::Start, 0).unwrap();
                lobby.watch(&weights);
                let decided = lobby.died(&id(other), &weights).unwrap();
                decided.is_some_and(|decided| matches!(decided.answer.fate, Fate::Moves(_)))
            };
            prop_assert!((0..game.guests.len()).any(moves), "{}", why);
        }
    }
}
