use proptest::prelude::*;

use super::*;
use crate::{
    Command, LobbySettings, Update,
    journal::{Entry, EntryBuffer, JournalSnapshot, JournaledGame},
    recorder::RecordFrame,
    roster::Human,
    settings::RosterSettings,
    weights::tests::{WeightTable, ctf},
};
use evenkeel_model::{in_game::Verdict, record::LeaveReason, units::Seconds};

fn ident(text: &str) -> Ident {
    Ident::from_text(text)
}

fn settings() -> LobbySettings {
    let mut settings = LobbySettings::default();
    settings.roster = RosterSettings {
        bots: false,
        ..settings.roster
    };
    settings.rebalance.ask_seconds = Seconds::of(60);
    settings
}

fn join(lobby: &mut Lobby, id: &str, team: u8, party: Option<&str>) {
    let update = Update {
        team: Some(team),
        party: party.map(str::to_owned),
        ..Update::default()
    };
    let id = ident(id);
    lobby.change(Command::Join { id, update }).unwrap();
}

/// A game in play of humans a, b, c, … on these teams, all as strong.
fn game(teams: &[u8]) -> (Lobby, WeightTable) {
    let mut lobby = Lobby::new(settings());
    lobby.change(ctf()).unwrap();
    for (id, &team) in ('a'..).zip(teams) {
        join(&mut lobby, &id.to_string(), team, None);
    }
    lobby.start().unwrap();
    (lobby, WeightTable::new(&[], &[]))
}

/// REBALANCE, and the offer of its moves.
fn ask(lobby: &mut Lobby, weights: &WeightTable) -> Vec<OfferEvent> {
    let decided = lobby.rebalance(weights, 1).unwrap();
    lobby.ask(decided.answer.moves, 1, weights).unwrap()
}

/// Whoever moves, in short, and whether all of them have volunteered.
fn moved(events: &[OfferEvent]) -> (Vec<(String, u8)>, bool) {
    let [
        OfferEvent::Moved {
            moves,
            volunteered,
            why,
        },
    ] = events
    else {
        panic!("{events:?}")
    };
    assert!(why.contains("with these moves"), "{why}");
    let step = |step: &Move| (step.id.text().to_owned(), step.to);
    (moves.iter().map(step).collect(), *volunteered)
}

fn named(lobby: &Lobby) -> Ident {
    lobby.offer().unwrap().moves[0].id.clone()
}

/// A human of team 0 who was not named.
fn other(lobby: &Lobby) -> Ident {
    let named = named(lobby);
    let humans = lobby.game().unwrap().roster.humans().iter();
    let mut others = humans.filter(|human| human.team == Some(0) && human.id != named);
    others.next().unwrap().id.clone()
}

#[test]
fn nobody_moves_before_the_time_is_over_and_then_who_was_named() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    let events = ask(&mut lobby, &weights);
    let [OfferEvent::Open(moves, 60_000)] = &events[..] else {
        panic!("{events:?}")
    };
    assert_eq!((moves.len(), moves[0].from, moves[0].to), (1, Some(0), 1));
    let step = (moves[0].id.text().to_owned(), 1);
    assert_eq!(lobby.at(59_999).end_offer_if_due(&weights), []);
    let events = lobby.at(60_000).end_offer_if_due(&weights);
    assert_eq!(moved(&events), (vec![step], false));
    assert_eq!(lobby.offer(), None);
    assert_eq!(lobby.at(90_000).end_offer_if_due(&weights), [], "once");
}

#[test]
fn a_volunteer_of_the_same_strength_is_taken_at_once() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    ask(&mut lobby, &weights);
    let volunteer = other(&lobby);
    let (answer, events) = lobby.at(1_000).volunteer(&volunteer, &weights).unwrap();
    assert_eq!(answer, SwitchAnswer::Taken);
    assert_eq!(
        moved(&events),
        (vec![(volunteer.text().to_owned(), 1)], true)
    );
    assert_eq!(lobby.offer(), None);
    // The change is no change of their own.
    lobby.move_to(&volunteer, 1).unwrap();
    assert_eq!(lobby.memory.of(volunteer.text()).moved_at, Some(1_000));
}

/// Four friends against nobody: two of them go, whichever want to.
#[test]
fn of_a_party_that_is_split_each_can_volunteer_alone() {
    let (mut lobby, weights) = game(&[]);
    for id in ["a", "b", "c", "d"] {
        join(&mut lobby, id, 0, Some("p"));
    }
    ask(&mut lobby, &weights);
    let named: Vec<Ident> = (lobby.offer().unwrap().moves.iter())
        .map(|step| step.id.clone())
        .collect();
    assert_eq!(named.len(), 2);
    let others = ["a", "b", "c", "d"].map(ident);
    let others = others.into_iter().filter(|id| !named.contains(id));
    let others: Vec<Ident> = others.collect();
    let (answer, events) = lobby.volunteer(&others[0], &weights).unwrap();
    assert_eq!((answer, events), (SwitchAnswer::Waits, Vec::new()));
    let (answer, events) = lobby.volunteer(&others[1], &weights).unwrap();
    assert_eq!(answer, SwitchAnswer::Taken);
    let (mut went, all) = moved(&events);
    went.sort();
    let expected = others.iter().map(|id| (id.text().to_owned(), 1));
    assert_eq!((went, all), (expected.collect(), true));
}

#[test]
fn who_was_named_may_go_at_once() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    ask(&mut lobby, &weights);
    let id = named(&lobby);
    let (answer, events) = lobby.volunteer(&id, &weights).unwrap();
    assert_eq!((answer, moved(&events).1), (SwitchAnswer::Taken, true));
}

#[test]
fn volunteers_who_do_not_help_stay() {
    let (mut lobby, _) = game(&[0, 0, 0, 1, 1, 1]);
    let table = WeightTable::new(
        &[
            ("a", 90.0),
            ("b", 60.0),
            ("c", 30.0),
            ("d", 40.0),
            ("e", 20.0),
            ("f", 10.0),
        ],
        &[],
    );
    ask(&mut lobby, &table);
    let offered = lobby.offer().unwrap().moves.clone();
    assert_eq!(offered.len(), 2, "a swap: {offered:?}");
    // c (30) for b or a: 150 to 100 would remain as it is, or worse.
    let (answer, events) = lobby.volunteer(&ident("c"), &table).unwrap();
    assert_eq!((answer, &events[..]), (SwitchAnswer::LessEven, &[][..]));
    assert_eq!(
        lobby.volunteer(&ident("x"), &table).unwrap_err(),
        LobbyError::UnknownPlayer
    );
    // One of a swap waits for the other.
    let first = offered[0].id.clone();
    let (answer, events) = lobby.volunteer(&first, &table).unwrap();
    assert_eq!((answer, &events[..]), (SwitchAnswer::Waits, &[][..]));
    let (answer, events) = lobby.volunteer(&offered[1].id.clone(), &table).unwrap();
    assert_eq!((answer, moved(&events).1), (SwitchAnswer::Taken, true));
}

#[test]
fn a_party_goes_as_one_and_only_if_all_of_it_want_to() {
    let mut lobby = Lobby::new(settings());
    lobby.change(ctf()).unwrap();
    for (id, party) in [
        ("a", Some("x")),
        ("b", Some("x")),
        ("c", None),
        ("d", None),
        ("e", None),
        ("f", None),
    ] {
        join(&mut lobby, id, 0, party);
    }
    join(&mut lobby, "g", 1, None);
    join(&mut lobby, "h", 1, None);
    let weights = WeightTable::new(&[], &[]);
    ask(&mut lobby, &weights);
    let offer = lobby.offer().unwrap().clone();
    assert_eq!(offer.moves.len(), 2, "{offer:?}");
    let (answer, events) = lobby.volunteer(&ident("a"), &weights).unwrap();
    assert_eq!((answer, &events[..]), (SwitchAnswer::Waits, &[][..]));
    let (answer, events) = lobby.volunteer(&ident("b"), &weights).unwrap();
    assert_eq!(answer, SwitchAnswer::Taken, "{events:?}");
    let (mut moves, volunteered) = moved(&events);
    moves.sort();
    assert_eq!(moves, [("a".to_owned(), 1), ("b".to_owned(), 1)]);
    assert!(volunteered);
}

#[test]
fn whoever_must_stay_stays() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    assert_eq!(
        lobby.volunteer(&ident("a"), &weights).unwrap().0,
        SwitchAnswer::NoOffer
    );
    ask(&mut lobby, &weights);
    assert_eq!(
        lobby.volunteer(&ident("e"), &weights).unwrap().0,
        SwitchAnswer::WrongTeam
    );
    let id = other(&lobby);
    lobby.protect(&id, None).unwrap();
    assert_eq!(
        lobby.volunteer(&id, &weights).unwrap().0,
        SwitchAnswer::Held
    );
    // The flag carrier was named: somebody else is, and has the time to read it.
    let id = named(&lobby);
    lobby.protect(&id, None).unwrap();
    let events = lobby.at(60_000).end_offer_if_due(&weights);
    let [
        OfferEvent::Withdrawn(gone, Withdrawal::Changed),
        OfferEvent::Open(new, 20_000),
    ] = &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(gone[0].id, id);
    assert_ne!(new[0].id, id);
    let events = lobby.at(80_000).end_offer_if_due(&weights);
    assert_eq!(moved(&events).0[0].0, new[0].id.text());
}

#[test]
fn an_offer_is_withdrawn_when_the_teams_become_even() {
    for leaves in [true, false] {
        let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
        ask(&mut lobby, &weights);
        match leaves {
            true => ["a", "b"]
                .iter()
                .for_each(|id| lobby.leave(&ident(id), LeaveReason::Left).unwrap()),
            false => lobby.move_to(&ident("a"), 1).unwrap(),
        }
        let events = lobby.review_offer(&weights);
        assert!(
            matches!(&events[..], [OfferEvent::Withdrawn(_, Withdrawal::Even)]),
            "{events:?}"
        );
    }
}

#[test]
fn an_offer_ends_with_the_game_and_with_other_teams() {
    type Ending = fn(&mut Lobby);
    let endings: [Ending; 3] = [
        |lobby| lobby.change(ctf()).unwrap(),
        |lobby| {
            drop(
                lobby
                    .at(9_000)
                    .end(Verdict::Draw, &RecordFrame::default())
                    .unwrap(),
            )
        },
        |lobby| {
            lobby
                .change(Command::Assign {
                    team_of: vec![0, 1, 0, 1, 0, 1],
                })
                .unwrap()
        },
    ];
    for ending in endings {
        let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
        ask(&mut lobby, &weights);
        ending(&mut lobby);
        assert_eq!(lobby.offer(), None);
    }
}

#[test]
fn rebalance_twice_is_one_offer() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    let first = ask(&mut lobby, &weights);
    let again = ask(lobby.at(10_000), &weights);
    let (OfferEvent::Open(first, 60_000), OfferEvent::Open(second, 50_000)) =
        (&first[0], &again[0])
    else {
        panic!("{first:?} {again:?}")
    };
    assert_eq!(first, second);
}

/// The journal has all commands of the offer, so that a killed daemon goes on with it.
#[test]
fn the_journal_has_the_offer_and_its_volunteers() {
    let (mut lobby, weights) = game(&[0, 0, 0, 0, 1, 1]);
    lobby.keep_trail();
    let mut buffer = EntryBuffer::default();
    let snapshot = JournalSnapshot {
        server: None,
        number: 7,
        date: Default::default(),
        epoch: Default::default(),
        end: None,
        reasons: Default::default(),
        lobby: std::borrow::Cow::Owned(lobby.clone()),
        held: None,
    };
    buffer
        .push(0, &Entry::Snapshot(Box::new(snapshot)))
        .unwrap();
    let mut bytes = crate::journal::HEADER.to_vec();
    bytes.extend_from_slice(buffer.frame().unwrap().unwrap());
    buffer.clear();
    ask(&mut lobby, &weights);
    lobby.at(5_000).volunteer(&ident("e"), &weights).unwrap();
    lobby.drain_trail(|at, command| {
        let entry = Entry::Command(std::borrow::Cow::Owned(command));
        buffer.push(at, &entry).unwrap();
    });
    bytes.extend_from_slice(buffer.frame().unwrap().unwrap());
    let mut game = JournaledGame::read(&bytes, &settings()).unwrap();
    assert_eq!(game.lobby.offer(), lobby.offer());
    assert_eq!(game.lobby.offer().unwrap().volunteers, [ident("e")]);
    assert_eq!(
        game.lobby.at(60_000).end_offer_if_due(&weights),
        lobby.at(60_000).end_offer_if_due(&weights)
    );
}

#[derive(Clone, Debug)]
enum Step {
    Join(u8, u8, Option<u8>),
    Leave(u8),
    Move(u8, u8),
    Protect(u8, Option<u64>),
    Ask,
    Switch(u8),
    Balance(u8),
    Game,
    Start,
    End,
    Wait,
}

fn steps() -> impl Strategy<Value = Vec<(u64, Step)>> {
    let who = || 0u8..10;
    let step = prop_oneof![
        6 => (who(), 0u8..2, proptest::option::of(0u8..2)).prop_map(|(who, team, party)| Step::Join(who, team, party)),
        2 => who().prop_map(Step::Leave),
        3 => (who(), 0u8..2).prop_map(|(who, team)| Step::Move(who, team)),
        1 => (who(), proptest::option::of(0u64..60_000)).prop_map(|(who, ms)| Step::Protect(who, ms)),
        5 => Just(Step::Ask),
        5 => who().prop_map(Step::Switch),
        1 => any::<u8>().prop_map(Step::Balance),
        1 => Just(Step::Game),
        1 => Just(Step::Start),
        1 => Just(Step::End),
        3 => Just(Step::Wait),
    ];
    proptest::collection::vec((0u64..20_000, step), 0..80)
}

/// Carries out a step. Returns what has happened to offers; BALANCE, GAME and END withdraw without an event.
fn take(lobby: &mut Lobby, step: &Step, weights: &WeightTable) -> Vec<OfferEvent> {
    let id = |who: u8| ident(&format!("p{who}"));
    let carry_out = |lobby: &mut Lobby, command: Command| {
        let _ = lobby.change(command);
        lobby.review_offer(weights)
    };
    match step {
        Step::Join(who, team, party) => {
            let update = Update {
                team: Some(*team),
                party: party.map(|party| party.to_string()),
                ..Update::default()
            };
            carry_out(
                lobby,
                Command::Join {
                    id: id(*who),
                    update,
                },
            )
        }
        Step::Leave(who) => carry_out(
            lobby,
            Command::Leave {
                id: id(*who),
                reason: LeaveReason::Left,
            },
        ),
        Step::Move(who, team) => carry_out(
            lobby,
            Command::Move {
                id: id(*who),
                team: *team,
            },
        ),
        Step::Protect(who, millis) => {
            let _ = lobby.protect(&id(*who), *millis);
            Vec::new()
        }
        Step::Ask => match lobby.rebalance(weights, 1) {
            Ok(decided) => lobby.ask(decided.answer.moves, 1, weights).unwrap(),
            Err(_) => Vec::new(),
        },
        Step::Switch(who) => match lobby.volunteer(&id(*who), weights) {
            Ok((answer, events)) => {
                assert_eq!(
                    answer == SwitchAnswer::Taken,
                    events.iter().any(|event| event.moves(&id(*who)))
                );
                events
            }
            Err(_) => Vec::new(),
        },
        Step::Balance(bits) => {
            let count = lobby.game().map_or(0, |game| game.roster.humans().len());
            let team_of = (0..count).map(|at| bits >> (at % 8) & 1).collect();
            let _ = lobby.change(Command::Assign { team_of });
            Vec::new()
        }
        Step::Game => {
            let _ = lobby.change(ctf());
            Vec::new()
        }
        Step::Start => {
            let _ = lobby.change(Command::Start);
            Vec::new()
        }
        Step::End => {
            let _ = lobby.end(Verdict::Draw, &RecordFrame::default());
            Vec::new()
        }
        Step::Wait => lobby.end_offer_if_due(weights),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn an_offer_ends_exactly_once_by_volunteers_by_those_named_or_withdrawn(
        steps in steps(),
        weights in proptest::collection::vec(10.0..90.0, 10),
    ) {
        let humans = weights.iter().enumerate().map(|(n, weight)| (format!("p{n}"), *weight));
        let table = WeightTable { humans: humans.collect(), ..WeightTable::new(&[], &[]) };
        let mut lobby = Lobby::new(settings());
        lobby.change(ctf()).unwrap();
        let (mut open, mut now): (Option<Vec<Move>>, u64) = (None, 0);
        for (pause, step) in &steps {
            now += pause;
            let events = take(lobby.at(now), step, &table);
            for event in events {
                match event {
                    OfferEvent::Open(moves, left) => {
                        prop_assert!(left <= 60_000 && !moves.is_empty());
                        let goes_on = open.as_ref().is_none_or(|open| *open == moves);
                        prop_assert!(goes_on, "an offer is replaced only after it was withdrawn");
                        open = Some(moves);
                    }
                    OfferEvent::Withdrawn(moves, _) => prop_assert_eq!(open.take(), Some(moves)),
                    OfferEvent::Moved { moves, .. } => {
                        let offered = open.take();
                        prop_assert!(offered.is_some(), "it has not ended before");
                        let offered = offered.unwrap();
                        for step in &moves {
                            let human = lobby.game().unwrap().roster.find(&step.id).unwrap().clone();
                            prop_assert_eq!(human.team, step.from);
                            prop_assert!(human.protected_until <= now);
                            // A party on one team moves as one, unless it was offered that only some of it do; who has
                            // just joined it is of it.
                            let all = lobby.game().unwrap().roster.humans().iter();
                            let mates = all.filter(|mate| mate.party.is_some() && mate.party == human.party);
                            let mates: Vec<&Human> = mates.filter(|mate| mate.team == step.from).collect();
                            let go = |moves: &[Move]| mates.iter().filter(|mate| moves.iter().any(|step| step.id == mate.id)).count();
                            let torn = !mates.is_empty() && (1..mates.len()).contains(&go(&offered));
                            prop_assert!(torn || mates.len() == go(&moves));
                        }
                    }
                }
            }
            let ended_by_command = matches!(step, Step::Game | Step::End | Step::Balance(_));
            if ended_by_command && lobby.offer().is_none() {
                open = None;
            }
            prop_assert_eq!(open.as_ref(), lobby.offer().map(|offer| &offer.moves));
        }
        // Whatever has happened, an offer ends if nothing happens any more.
        for _ in 0..3 {
            let until = lobby.offer().map_or(0, |offer| offer.until);
            lobby.at(until).end_offer_if_due(&table);
        }
        prop_assert_eq!(lobby.offer(), None);
    }
}
