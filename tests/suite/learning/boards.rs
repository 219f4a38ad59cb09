//! Leaderboards: in the order of the view for operators, without those whom pages do not show.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use evenkeel::{
    learning::{BoardLine, BoardQuery, BoardSize, Learning},
    model::{
        Kind::{self, Bot, Human},
        PlayerKey, Timestamp,
        weight::Standing,
    },
    server::Service,
};

use crate::common::{self, backends::rows, draw::Draw, game, service};

const METALS: &str = "rating.min_seconds = 0\n[divisions]\nnames = ['Low', 'High']\n";
const DAY: i64 = 24 * 60;

fn key(kind: Kind, id: &str) -> PlayerKey {
    let id = id.to_owned();
    PlayerKey { kind, id }
}

/// 300 matches in two rulesets, of which the first ones are long ago. Most players have a place at the end.
async fn play(service: &Service) {
    let mut draw = Draw(5);
    let mut players: Vec<(Kind, String)> = (0..20).map(|n| (Human, format!("p{n:02}"))).collect();
    players.extend((0..4).map(|n| (Bot, format!("bot {n}"))));
    for number in 0..300 {
        draw.shuffle(&mut players);
        // Some play only at first, and others only lately.
        let is_there = |(kind, id): &&(Kind, String)| match number {
            _ if *kind == Bot => true,
            ..40 => id.as_str() < "p15",
            40..270 => ("p03".."p19").contains(&id.as_str()),
            _ => id.as_str() > "p02",
        };
        let four = players.iter().filter(is_there).take(4);
        let four: Vec<(Kind, &str)> = four.map(|(kind, id)| (*kind, id.as_str())).collect();
        let minute = 20 * number + if number < 40 { 0 } else { 90 * DAY };
        let scores = [[3.0, 1.0], [1.0, 3.0]][draw.below(2)];
        let mut record = game(minute, &four[..2], &four[2..], scores);
        if number % 3 == 0 {
            record.game_type = "tdm".into();
        }
        for one in &mut record.participants {
            one.name = format!("^1{}", one.name.to_uppercase());
        }
        service.store().matches().record(&record).await.unwrap();
    }
}

async fn correct(service: &Service) {
    let store = service.store();
    for id in ["p04", "p09", "p16"] {
        store
            .corrections()
            .set_hidden(&key(Human, id), true)
            .await
            .unwrap();
    }
    store
        .corrections()
        .set_hidden(&key(Bot, "bot 1"), true)
        .await
        .unwrap();
    let (one, other) = (key(Human, "p05"), key(Human, "p06"));
    store
        .corrections()
        .merge_player(&one, &other)
        .await
        .unwrap();
    for (id, weight) in [("p07", 71.0), ("p08", 20.0), ("p10", 71.0)] {
        let player = key(Human, id);
        store
            .corrections()
            .pin_weight(&player, Some(weight))
            .await
            .unwrap();
    }
    store
        .corrections()
        .forget_player(&key(Human, "p11"), Timestamp(0))
        .await
        .unwrap();
    service.learning().refresh().await.unwrap();
}

async fn board(learning: &Learning, query: BoardQuery<'_>) -> (Vec<BoardLine>, BoardSize) {
    let (rows, size, _) = learning.board(query).await.unwrap();
    (rows, size)
}

fn all(ruleset: &str, kind: Kind) -> BoardQuery<'_> {
    BoardQuery {
        ruleset,
        kind,
        search: "",
        away: true,
        skip: 0,
        limit: 1_000,
    }
}

/// Player, standing, division and place.
type Line = (String, String, Option<String>, Option<i64>);

/// What the view has, without those who are hidden or were forgotten, who leave no gap in its places.
async fn of_view(database: &Path, ruleset: &str, kind: Kind) -> Vec<Line> {
    let view = "SELECT player, standing, division, ruleset, kind, place FROM leaderboard";
    type Row = (String, String, Option<String>, String, String, Option<i64>);
    let found: Vec<Row> = rows(database, view).await;
    let found = found
        .into_iter()
        .filter(|row| row.3 == ruleset && row.4 == kind.as_str());
    let hidden = ["p04", "p09", "p16", "bot 1"];
    let shown = found.filter(|row| !hidden.contains(&&*row.0) && !row.0.starts_with("forgotten-"));
    let line = |(player, standing, division, _, _, place): Row| (player, standing, division, place);
    shown.map(line).collect()
}

fn lines(board: &[BoardLine]) -> Vec<Line> {
    let standing = |row: &BoardLine| match row.standing {
        Standing::Placed => "placed",
        Standing::Placing => "placing",
        Standing::Away => "away",
    };
    let line = |row: &BoardLine| {
        let standing = standing(row).to_owned();
        (
            row.key.id.clone(),
            standing,
            row.division.clone(),
            row.place,
        )
    };
    board.iter().map(line).collect()
}

#[tokio::test]
async fn a_board_has_the_order_of_the_view_without_those_who_are_not_shown() {
    let config = common::config(METALS);
    let (service, folder) = service(&config).await;
    play(&service).await;
    correct(&service).await;
    let (learning, database) = (service.learning(), folder.path().join("test.db"));
    let mut boards = BTreeMap::new();
    for (ruleset, kind) in [("ctf", Human), ("ctf", Bot), ("tdm", Human), ("tdm", Bot)] {
        let (whole, size) = board(learning, all(ruleset, kind)).await;
        let expected = of_view(&database, ruleset, kind).await;
        assert_eq!(lines(&whole), expected, "{ruleset} {kind}");
        assert!(expected.len() >= 3, "{expected:?}");
        // In parts; those who are hidden leave theirs shorter.
        let mut parts = Vec::new();
        for skip in (0..size.all).step_by(3) {
            let part = BoardQuery {
                skip,
                limit: 3,
                ..all(ruleset, kind)
            };
            parts.extend(board(learning, part).await.0);
        }
        assert_eq!(parts, whole);
        for row in &whole {
            let search = &row.key.id[1..];
            let found = BoardQuery {
                search,
                ..all(ruleset, kind)
            };
            let found = board(learning, found).await.0;
            let expected = whole.iter().filter(|row| row.key.id.contains(search));
            assert_eq!(found, expected.cloned().collect::<Vec<_>>());
        }
        boards.insert((ruleset, kind), (whole, size));
    }
    let (humans, size) = &boards[&("ctf", Human)];
    let standings = [Standing::Placed, Standing::Placing, Standing::Away];
    assert!(
        standings
            .iter()
            .all(|one| humans.iter().any(|row| row.standing == *one))
    );
    assert!(humans.len() < usize::try_from(size.all).unwrap());
    same_from_stored_weights(&service, &boards).await;
}

/// While a process with other settings learns, its boards are those of the weights in the database.
async fn same_from_stored_weights(
    service: &Service,
    boards: &BTreeMap<(&str, Kind), (Vec<BoardLine>, BoardSize)>,
) {
    let other = common::config(&METALS.replace("min_seconds = 0", "min_seconds = 1"));
    let other = Service::open(service.store().clone(), other.service()).unwrap();
    other.learning().resume(0).await.unwrap();
    assert!(other.learning().is_deriving());
    for ((ruleset, kind), known) in boards {
        assert_eq!(board(other.learning(), all(ruleset, *kind)).await, *known);
    }
}

#[tokio::test]
async fn players_are_found_by_names_identities_and_handles() {
    let config = common::config(METALS);
    let (service, _folder) = service(&config).await;
    play(&service).await;
    correct(&service).await;
    let learning: &Arc<Learning> = service.learning();
    let (humans, size) = board(learning, all("ctf", Human)).await;
    let row = |id: &str| humans.iter().find(|row| row.key.id == id).unwrap().clone();
    let texts = ["p03", "P07", "p04", "p11", "nobody"].map(str::to_lowercase);
    let texts = texts.into_iter().chain([row("p12").player.handle.unwrap()]);
    let named = learning.named("ctf", &texts.collect()).await.unwrap();
    let mut expected = ["p03", "p07", "p12"].map(row).to_vec();
    expected.sort_by_key(|row| humans.iter().position(|other| other == row));
    assert_eq!(named, expected);
    // The page of a player has the line of the board.
    for text in ["p06", "p05", &row("p06").player.handle.unwrap()] {
        let person = learning.person(text, None).await.unwrap().unwrap();
        assert_eq!(person.key, key(Human, "p06"), "{text}");
        let standings = learning.standings_of(&person).await.unwrap();
        let of_ctf = standings.iter().find(|line| line.ruleset == "ctf").unwrap();
        assert_eq!((&of_ctf.line, of_ctf.players), (&row("p06"), size.placed));
        assert!(standings.is_sorted_by(|a, b| a.line.games >= b.line.games));
    }
    for text in ["p04", "p11", "forgotten-1", "nobody"] {
        let person = learning.person(text, None).await.unwrap();
        assert_eq!(person, None, "{text}");
    }
    let found = learning.find_persons("p1", None, 100).await.unwrap();
    assert!(found.is_sorted_by(|a, b| a.games >= b.games));
    let mut names: Vec<&str> = found.iter().map(|one| one.player.raw.as_str()).collect();
    names.sort_unstable();
    let expected = [
        "^1P10", "^1P12", "^1P13", "^1P14", "^1P15", "^1P17", "^1P18", "^1P19",
    ];
    assert_eq!(names, expected);
    let latest = learning.latest_players("ctf", 5).await.unwrap();
    assert!(latest.len() >= 3 && latest.is_sorted_by(|a, b| a.last_seen >= b.last_seen));
}
