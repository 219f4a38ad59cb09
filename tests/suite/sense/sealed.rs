//! When wishes for a side count: those of the first seconds of a game, late ones, and those of late arrivals.

use super::{
    daemon, placed, played,
    sides::{balance, joins},
    unknowns, why,
};

#[tokio::test]
async fn wishes_of_the_first_seconds_count_together_whatever_their_order() {
    let (daemon, clock) = daemon("lobby.wish_seconds = 30", &[90, 70, 50, 40, 30, 10]).await;
    let ids = ["w90", "w70", "w50", "w40", "w30", "w10"];
    let wishes = [
        "JOIN w90 wish=0\n",
        "JOIN w70 wish=0\n",
        "JOIN w10 wish=1\n",
    ];
    for seed in 0..6 {
        let mut teams = Vec::new();
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let mut client = daemon.client().await;
            let game = format!("GAME ctf\nMINPLAYERS 0\n{}", joins(&ids, ""));
            client.tell(&game).await;
            for at in order {
                clock.pass(9_000);
                client.tell(wishes[at]).await;
            }
            teams.push(balance(&mut client, seed, &ids).await);
        }
        assert_eq!(teams[0], teams[1]);
        assert_eq!(teams[0], teams[2]);
    }
}

#[tokio::test]
async fn a_late_wish_counts_for_the_next_game() {
    let (daemon, clock) = daemon("lobby.wish_seconds = 30", &[]).await;
    let mut client = daemon.client().await;
    let game = format!(
        "GAME ctf\nMINPLAYERS 0\n{}",
        joins(&["a", "b", "c", "d"], "")
    );
    let mut elsewhere = 0;
    for seed in 0..12 {
        client.tell(&game).await;
        // BALANCE does not wait, and what is wished for after it counts as long as the time runs.
        balance(&mut client, seed, &["a"]).await;
        clock.pass(30_000);
        client.tell("JOIN b wish=1\n").await;
        clock.pass(1);
        client.tell("JOIN a wish=1\n").await;
        let teams = balance(&mut client, seed, &["a", "b"]).await;
        assert_eq!(teams[1], 1, "just in time: {teams:?}");
        elsewhere += usize::from(teams[0] == 0);
        let why = why(&mut client).await;
        let says = |line: &String| line.contains("the wish of a came late");
        assert!(why.iter().any(says), "{why:?}");
        played(&mut client).await;
        client.tell(&game).await;
        assert_eq!(balance(&mut client, seed, &["a"]).await, [1], "{seed}");
        // It is used up then.
        played(&mut client).await;
        client
            .tell(&format!("{game}JOIN d wish=1\nJOIN b wish=1\n"))
            .await;
        let third = balance(&mut client, seed, &["a", "b", "d"]).await;
        assert_eq!(third, [0, 1, 1]);
        played(&mut client).await;
    }
    assert!(
        elsewhere > 0,
        "it did not count for the game in which it came"
    );
}

// PLACE.

#[tokio::test]
async fn an_arrival_comes_to_the_side_that_they_want_if_that_is_as_even() {
    let (daemon, _clock) = daemon("", &[]).await;
    let mut client = daemon.client().await;
    for (sizes, wish, team) in [
        ([2, 2], 0, 0),
        ([2, 2], 1, 1),
        ([3, 4], 1, 0),
        ([4, 3], 0, 1),
    ] {
        for _ in 0..4 {
            let game = format!("GAME ctf\nMINPLAYERS 0\n{}START\n", unknowns(&sizes));
            client.tell(&format!("{game}JOIN late wish={wish}\n")).await;
            assert_eq!(placed(&mut client, "late").await, team, "{sizes:?}");
            let why = why(&mut client).await;
            let words = match team == wish {
                true => "the team that they wished for",
                false => "wish not granted",
            };
            assert!(why.iter().any(|line| line.contains(words)), "{why:?}");
        }
    }
}
