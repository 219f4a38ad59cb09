//! Wishes for a side, as the people in a game would see them granted or refused. Each test reads like a sentence of what
//! was asked for.

use crate::{
    common::Client,
    sense::{daemon, played, several, unknowns, why},
};

/// The team of each of these players after BALANCE with this seed.
pub(super) async fn balance(client: &mut Client, seed: usize, ids: &[&str]) -> Vec<u8> {
    let lines = several(client, &format!("BALANCE seed={seed}\n")).await;
    let team = |id: &&str| {
        let ends = format!(" {id}");
        let line = lines.iter().find(|line| line.ends_with(&ends));
        let team = line.and_then(|line| line.split(' ').nth(1)?.parse().ok());
        team.unwrap_or_else(|| panic!("{id}: {lines:?}"))
    };
    ids.iter().map(team).collect()
}

/// JOIN lines for these ids, each with this option.
pub(super) fn joins(ids: &[&str], option: &str) -> String {
    let line = |id: &&str| format!("JOIN {id} {option}\n");
    ids.iter().map(line).collect()
}

/// The lines of EXPLAIN about wishes that were not granted.
async fn refused(client: &mut Client) -> Vec<String> {
    let lines = why(client).await.into_iter();
    lines
        .filter(|line| line.contains("wish not granted"))
        .collect()
}

#[tokio::test]
async fn a_wish_that_costs_nothing_is_always_granted() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "c", "d", "e", "f"];
    for seed in 0..20 {
        let wishes = "JOIN a wish=1\nJOIN b wish=0\nJOIN f wish=1\n";
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}{wishes}", joins(&ids, ""));
        client.tell(&game).await;
        let teams = balance(&mut client, seed, &["a", "b", "f"]).await;
        assert_eq!(teams, [1, 0, 1], "{seed}");
        assert!(refused(&mut client).await.is_empty());
    }
}

#[tokio::test]
async fn who_did_not_wish_goes_where_there_is_room_and_the_teams_still_vary() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "c", "d", "e", "f"];
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..20 {
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}JOIN a wish=0\n", joins(&ids, ""));
        client.tell(&game).await;
        seen.insert(balance(&mut client, seed, &ids).await);
        played(&mut client).await;
    }
    assert!(seen.iter().all(|teams| teams[0] == 0));
    assert!(seen.len() > 5, "{seen:?}");
}

#[tokio::test]
async fn five_of_seven_who_want_one_side_do_not_make_it_five_against_two() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let (many, few) = (["a", "b", "c", "d", "e"], ["x", "y"]);
    for seed in 0..8 {
        let game = format!(
            "GAME ctf\nMINPLAYERS 0\n{}{}",
            joins(&many, "wish=0"),
            joins(&few, "")
        );
        client.tell(&game).await;
        let teams = balance(&mut client, seed, &many).await;
        let granted = teams.iter().filter(|team| **team == 0).count();
        assert_eq!(granted, 4, "the side of four is theirs: {teams:?}");
        assert_eq!(balance(&mut client, seed, &few).await, [1, 1]);
        let refused = refused(&mut client).await;
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains("no room"), "{refused:?}");
    }
}

#[tokio::test]
async fn if_everybody_wants_one_side_half_of_them_are_there() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let mut on_it = [0; 8];
    for seed in 0..30 {
        client
            .tell(&format!(
                "GAME ctf\nMINPLAYERS 0\n{}",
                joins(&ids, "wish=1")
            ))
            .await;
        let teams = balance(&mut client, seed, &ids).await;
        assert_eq!(teams.iter().filter(|team| **team == 1).count(), 4);
        for (count, team) in on_it.iter_mut().zip(&teams) {
            *count += usize::from(*team);
        }
        assert_eq!(refused(&mut client).await.len(), 4);
        played(&mut client).await;
    }
    assert!(
        on_it.iter().all(|count| (5..26).contains(count)),
        "{on_it:?}"
    );
}

#[tokio::test]
async fn a_giant_who_wants_to_join_the_other_giant_does_not_and_the_reasons_say_what_it_would_cost()
{
    let (daemon, _clock) = daemon("", &[95, 94, 20, 21]).await;
    let mut client = daemon.client().await;
    let ids = ["w95", "w94", "w20", "w21"];
    for seed in 0..8 {
        let game = format!(
            "GAME ctf\nMINPLAYERS 0\n{}JOIN w95 wish=0\nJOIN w94 wish=0\n",
            joins(&ids, "")
        );
        client.tell(&game).await;
        let teams = balance(&mut client, seed, &ids).await;
        assert_ne!(teams[0], teams[1], "{teams:?}");
        let refused = refused(&mut client).await;
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(
            refused[0].contains("ratio 0.216931") && refused[0].contains("instead of ratio 1.0"),
            "{refused:?}"
        );
    }
    // Alone, the giant's wish costs nothing: the sides are exchanged.
    let game = format!(
        "GAME ctf\nMINPLAYERS 0\n{}JOIN w95 wish=1\n",
        joins(&ids, "")
    );
    client.tell(&game).await;
    assert_eq!(balance(&mut client, 1, &["w95"]).await, [1]);
}

#[tokio::test]
async fn friends_stay_together_and_go_where_one_of_them_wants_to() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "x", "y", "z", "u"];
    for seed in 0..8 {
        let party = "JOIN a party=p wish=1\nJOIN b party=p\n";
        let game = format!("GAME ctf\nMINPLAYERS 0\n{}{party}", joins(&ids, ""));
        client.tell(&game).await;
        let teams = balance(&mut client, seed, &["a", "b"]).await;
        assert_eq!(teams, [1, 1]);
        // Friends who want opposite sides are friends first.
        client.tell("JOIN b wish=0\n").await;
        let teams = balance(&mut client, seed + 1, &["a", "b"]).await;
        assert_eq!(teams[0], teams[1], "{teams:?}");
        let refused = refused(&mut client).await;
        assert_eq!(refused.len(), 1, "{refused:?}");
        assert!(refused[0].contains("party"), "{refused:?}");
    }
}

#[tokio::test]
async fn who_must_be_on_a_team_is_there_whatever_they_wish_for() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN a pin=0 wish=1\nJOIN b\nJOIN c\nJOIN d\n")
        .await;
    assert_eq!(balance(&mut client, 1, &["a"]).await, [0]);
    let refused = refused(&mut client).await;
    assert!(refused[0].contains("pinned"), "{refused:?}");
}

#[tokio::test]
async fn a_flag_carrier_is_not_moved_for_a_wish_and_nobody_else_is() {
    let (daemon, clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let game = format!("GAME ctf\nMINPLAYERS 0\n{}START\n", unknowns(&[3, 3]));
    client.tell(&game).await;
    client
        .tell("JOIN t0n0 wish=1\nPROTECT t0n0\nJOIN t1n1 wish=0\n")
        .await;
    clock.pass(60_000);
    let advice = several(&mut client, "REBALANCE\n").await;
    assert_eq!(advice.len(), 1, "{advice:?}");
    client.tell("DEATH t1n1\n").await;
}

#[tokio::test]
async fn on_the_first_evening_newcomers_get_the_side_that_they_want() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    // With the bots that fill up the teams, too.
    for level in ["", "MINPLAYERS 0\n"] {
        for seed in 0..6 {
            let game = format!("GAME ctf\n{level}JOIN a wish=1\nJOIN b\nJOIN c wish=1\nJOIN d\n");
            client.tell(&game).await;
            let teams = balance(&mut client, seed, &["a", "b", "c", "d"]).await;
            assert_eq!(teams, [1, 0, 1, 0]);
        }
    }
}

#[tokio::test]
async fn a_wish_for_a_team_that_does_not_exist_is_an_error_and_changes_nothing() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    client
        .tell("GAME ctf\nMINPLAYERS 0\nJOIN a wish=1\nJOIN b\n")
        .await;
    assert_eq!(
        client.ask("JOIN a wish=2\n").await,
        "ERROR bad-argument there is no team 2"
    );
    let word = client.ask("JOIN a wish=red\n").await;
    assert!(word.starts_with("ERROR bad-argument"), "{word}");
    assert_eq!(balance(&mut client, 1, &["a"]).await, [1]);
    // A wish never keeps the number of teams from changing.
    client.tell("TEAMS 3\nJOIN b wish=2\nTEAMS 2\n").await;
    assert_eq!(balance(&mut client, 1, &["a"]).await, [1]);
}

#[tokio::test]
async fn a_wish_can_be_changed_and_taken_back() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "c", "d"];
    client
        .tell(&format!(
            "GAME ctf\nMINPLAYERS 0\n{}JOIN a wish=0\n",
            joins(&ids, "")
        ))
        .await;
    assert_eq!(balance(&mut client, 1, &["a"]).await, [0]);
    client.tell("JOIN a wish=1\n").await;
    let moved = balance(&mut client, 2, &ids).await;
    assert_eq!(moved[0], 1, "{moved:?}");
    client.tell("JOIN a wish=\n").await;
    assert_eq!(
        balance(&mut client, 3, &ids).await,
        moved,
        "nobody moves for nothing"
    );
}

#[tokio::test]
async fn of_three_teams_everybody_gets_the_one_they_want() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    let ids = ["a", "b", "c", "d", "e", "f"];
    for seed in 0..6 {
        let wishes = "JOIN a wish=2\nJOIN b wish=0\nJOIN c wish=2\nJOIN d wish=2\n";
        let game = format!(
            "GAME ctf\nTEAMS 3\nMINPLAYERS 0\n{}{wishes}",
            joins(&ids, "")
        );
        client.tell(&game).await;
        let teams = balance(&mut client, seed, &["a", "b", "c", "d"]).await;
        assert_eq!(teams[1], 0);
        let on_two = [0, 2, 3].iter().filter(|who| teams[**who] == 2).count();
        assert_eq!(on_two, 2, "{teams:?}");
    }
}
