//! Restricted queues, boosters, and what friends add, as an organiser configures them.

use std::sync::atomic::AtomicBool;

use super::situations::queue;
use crate::{
    Effort, KnownAttributes, OneCore, PlanInput, Queue, Ticket, TicketSpec, plan, pool::Pool,
};
use evenkeel_model::{Company, Crowding, Link, WinModel};

const RANKED: &str = include_str!("../../../../config/queues/ranked.toml");

fn shipped(name: &str) -> Queue {
    let table: toml::Table = RANKED.parse().unwrap();
    Queue::new(name, table["queue"][name].clone().try_into().unwrap()).unwrap()
}

/// A ticket of players of whom these numbers are known, and who state these attributes.
fn ticket(queue: &Queue, id: &str, stated: &str, players: &[&[(&str, f64)]]) -> Ticket {
    let seats = (0..players.len()).map(|at| format!(r#"{{"id":"{id}.{at}"{stated}}}"#));
    let seats: Vec<String> = seats.collect();
    let json = format!(r#"{{"ticket":"{id}","players":[{}]}}"#, seats.join(","));
    let spec: TicketSpec = serde_json::from_str(&json).unwrap();
    let mut players = players.iter();
    let mut known = |_: &str| KnownAttributes {
        numbers: players
            .next()
            .into_iter()
            .flat_map(|numbers| numbers.iter())
            .map(|(name, number)| ((*name).to_owned(), *number))
            .collect(),
        ..KnownAttributes::default()
    };
    queue.ticket(&spec, &mut known).unwrap()
}

fn left(queue: &Queue, tickets: &[Ticket]) -> Vec<(usize, String)> {
    let plan = plan(
        queue,
        tickets,
        1,
        Effort::default(),
        &OneCore,
        &AtomicBool::new(false),
    );
    let left = plan.left.into_iter();
    left.map(|left| (left.ticket, left.reason)).collect()
}

#[test]
fn a_player_who_lacks_games_is_refused_with_what_is_missing() {
    let ranked = shipped("ranked");
    let refused = |players: &[&[(&str, f64)]]| {
        let ticket = ticket(&ranked, "t", "", players);
        ranked.admit(&ticket).map_err(|error| error.to_string())
    };
    assert!(ranked.is_restricted());
    let known: &[(&str, f64)] = &[("@games", 20.0), ("@known_since", 7.0)];
    assert_eq!(refused(&[known]), Ok(()));
    assert_eq!(
        refused(&[known, &[("@games", 3.0)]]),
        Err("experience: t.1 needs at least 20 games, has 3".to_owned())
    );
    assert_eq!(
        refused(&[&[("@games", 20.0), ("@known_since", 6.999)]]),
        Err("a week: t.0 needs at least 7 days since the first match, has 6.99".to_owned())
    );
    let newcomers = shipped("newcomers");
    let old = ticket(&newcomers, "t", "", &[known]);
    assert_eq!(
        newcomers.admit(&old).unwrap_err().to_string(),
        "newcomers: t.0 needs at most 19 games, has 20"
    );
    let new = ticket(&newcomers, "t", "", &[&[]]);
    assert_eq!(newcomers.admit(&new), Ok(()));
    assert!(!queue("teams = 2\nsize = 5\nruleset = 'x'").is_restricted());
}

#[test]
fn what_is_known_of_players_has_two_places_in_sentences() {
    let text = "teams = 2\nsize = 1\nruleset = 'x'\n\
                [[rule]]\nname = 'alike'\nrule = 'spread'\nof = '@behaviour'\nat_most = 1\nhard = true\n";
    let queue = queue(text);
    let tickets = [
        ticket(&queue, "t", "", &[&[("@behaviour", -24.0 / 7.0)]]),
        ticket(&queue, "u", "", &[&[("@behaviour", 0.1 + 0.2)]]),
    ];
    let why = PlanInput::new(&queue, &tickets).why(0, &[1], &AtomicBool::new(false));
    let lines = why.unwrap().lines().join("\n");
    let digits = lines.split(|c: char| !c.is_ascii_digit());
    assert!(digits.clone().all(|digits| digits.len() < 3), "{lines}");
    assert!(lines.contains("from -4.43 to -2.43"), "{lines}");
}

#[test]
fn only_those_whom_the_rules_allow_are_matched() {
    let newcomers = shipped("newcomers");
    let mut tickets: Vec<Ticket> = (0..6)
        .map(|at| {
            ticket(
                &newcomers,
                &format!("n{at}"),
                "",
                &[&[("@games", f64::from(at))]],
            )
        })
        .collect();
    tickets.push(ticket(&newcomers, "old", "", &[&[("@games", 20.0)]]));
    assert_eq!(
        left(&newcomers, &tickets),
        [(
            6,
            "newcomers: the ticket itself cannot meet it: players must have at most 19 games, not 20"
                .to_owned()
        )]
    );
}

#[test]
fn those_who_spoil_games_meet_each_other() {
    let text = "teams = 2\nsize = 2\nruleset = 'x'\nrule = [\
        { name = 'alike behaviour', rule = 'spread', of = '@behaviour', at_most = 15, hard = true }]";
    let queue = queue(text);
    let behaviour = [-40.0, 0.0, -2.0, -35.0, 0.0, -48.0, 3.0, -44.0];
    let tickets: Vec<Ticket> = behaviour
        .iter()
        .enumerate()
        .map(|(at, points)| ticket(&queue, &format!("t{at}"), "", &[&[("@behaviour", *points)]]))
        .collect();
    let plan = plan(
        &queue,
        &tickets,
        1,
        Effort::default(),
        &OneCore,
        &AtomicBool::new(false),
    );
    assert_eq!((plan.matches.len(), plan.left.len()), (2, 0), "{plan:?}");
    for found in &plan.matches {
        let mut players = found.teams.iter().flatten().copied();
        let spoils = |at: usize| behaviour[at] < -30.0;
        let first = players.next().map(spoils);
        assert!(players.all(|at| Some(spoils(at)) == first), "{found:?}");
    }
}

#[test]
fn a_booster_lifts_a_player_into_a_higher_division_and_teams_count_the_true_weight() {
    let text = "teams = 2\nsize = 2\nruleset = 'x'\nattributes = { boost = 'int 0..2 = 0' }\nrule = [\
        { name = 'divisions', rule = 'spread', of = '@division + boost', at_most = 0, hard = true }]";
    let queue = queue(text);
    let player = |id: &str, boost: u32, division: f64, weight: f64| {
        let known: &[(&str, f64)] = &[("@division", division), ("@weight", weight)];
        ticket(&queue, id, &format!(r#","boost":{boost}"#), &[known])
    };
    let gold = || {
        vec![
            player("a", 0, 2.0, 80.0),
            player("b", 0, 2.0, 70.0),
            player("c", 0, 2.0, 60.0),
        ]
    };
    let mut without = gold();
    without.push(player("d", 0, 1.0, 50.0));
    assert_eq!(left(&queue, &without).len(), 4);
    let mut with = gold();
    with.push(player("d", 1, 1.0, 50.0));
    let plan = plan(
        &queue,
        &with,
        1,
        Effort::default(),
        &OneCore,
        &AtomicBool::new(false),
    );
    // 80 + 50 against 70 + 60: the booster adds no weight.
    let mut teams = plan.matches[0].teams.clone();
    teams.iter_mut().for_each(|team| team.sort_unstable());
    teams.sort_unstable();
    assert_eq!(teams, [[0, 3], [1, 2]]);
    let five = "teams = 2\nsize = 2\nruleset = 'x'\neven_by = 'a + a + a + a + a'\nattributes = { a = 'num' }";
    let error = Queue::new("x", toml::from_str(five).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "even_by must add up at most 4 attributes"
    );
    let words =
        "teams = 2\nsize = 2\nruleset = 'x'\neven_by = '@weight + a'\nattributes = { a = 'id' }";
    let error = Queue::new("x", toml::from_str(words).unwrap()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "even_by must add up attributes with numbers, not a"
    );
}

/// A rating system that has learned what each friend adds.
fn win_model(per_friend: f64) -> WinModel {
    WinModel {
        link: Link::Normal,
        per_strength: 0.8,
        players: 6.0,
        crowding: Crowding::Root,
        per_head: 0.0,
        per_log_size: 0.0,
        side: 0.0,
        unit: 1.0,
        deviation: 0.0,
        company: Company {
            per_friend,
            learned: 1.0,
        },
    }
}

/// The teams, with sorted tickets, of four single players and a pair (ticket 4), where each friend adds so
/// much.
fn with_friends(per_friend: f64) -> Vec<Vec<usize>> {
    let queue = queue("teams = 2\nsize = 3\nruleset = 'x'");
    let mut tickets: Vec<Ticket> = [0.6, 0.45, 0.7, -0.1]
        .iter()
        .enumerate()
        .map(|(at, strength)| {
            ticket(
                &queue,
                &format!("s{at}"),
                "",
                &[&[("@strength", *strength)]],
            )
        })
        .collect();
    let pair: &[&[(&str, f64)]] = &[&[("@strength", 0.2)], &[("@strength", 0.3)]];
    tickets.push(ticket(&queue, "pair", "", pair));
    let input = PlanInput {
        win_model: Some(win_model(per_friend)),
        ..PlanInput::new(&queue, &tickets)
    };
    let plan = input.plan(&OneCore, &AtomicBool::new(false));
    let mut teams = plan.matches[0].teams.clone();
    teams.iter_mut().for_each(|team| team.sort_unstable());
    teams.sort_unstable();
    teams
}

#[test]
fn the_final_split_counts_what_friends_add() {
    // Without a surplus the pair is worth .5, and .6 joins it: 1.1 against 1.05.
    assert_eq!(with_friends(0.0), [vec![0, 4], vec![1, 2, 3]]);
    // With .6 for each friend it is worth 1.7, and the weakest player joins it: 1.6 against 1.75.
    assert_eq!(with_friends(0.6), [vec![0, 1, 2], vec![3, 4]]);
}

#[test]
fn the_predicted_chance_counts_what_friends_add() {
    let text = "teams = 2\nsize = 2\nruleset = 'x'\nrule = [\
        { name = 'even', rule = 'chance', at_most = 0.05, hard = true }]";
    let queue = queue(text);
    let alike: &[(&str, f64)] = &[("@strength", 0.2)];
    let tickets = [
        ticket(&queue, "pair", "", &[alike, alike]),
        ticket(&queue, "a", "", &[alike]),
        ticket(&queue, "b", "", &[alike]),
    ];
    let chances = |per_friend| {
        let pool = Pool::new(&queue, &tickets, Some(win_model(per_friend)));
        let single = |ticket: u32| pool.people.size(ticket) == 1;
        let (singles, pair): (Vec<u32>, Vec<u32>) = (0..3).partition(|ticket| single(*ticket));
        let rule = &queue.rules()[0].rule;
        let teams = [pair, singles];
        let evaluated = pool.prepared[0].evaluate(&teams, 0.05);
        let sentence = rule.sentence(&pool.people, &teams, evaluated);
        (evaluated.violation > 0.0, sentence)
    };
    let (violated, sentence) = chances(0.0);
    assert!(
        !violated && sentence.contains("0.500 | 0.500"),
        "{sentence}"
    );
    let (violated, sentence) = chances(0.3);
    assert!(
        violated && sentence.starts_with("chances by team: 0.7"),
        "{sentence}"
    );
}
