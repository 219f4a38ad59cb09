//! The decisions in a running game, for 64 humans and 16 bots on two teams.
//!
//! `cargo bench --bench lobby`. Each should take well under a millisecond, in the lobby alone and
//! through a session, which stores each decision as JSON; the run fails if the fastest of several
//! tries takes longer. There are two references in the same run: the view of a game that every decision
//! starts from, and the NS2 page's greedy swaps, to compare with REBALANCE's exact search.

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]
#![allow(clippy::unwrap_used, missing_docs)] // criterion's macros document nothing

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use criterion::{Criterion, criterion_group, criterion_main};
use evenkeel::{
    config::Config,
    lobby::{
        BotWeight, Command, Lobby, LobbySettings, NewGame, Update, Weights,
        rebalance::RebalanceSettings, settings::RosterSettings,
    },
    model::{
        Kind, PlayerKey,
        ident::Ident,
        units::{Count, Share},
    },
    partition::GameView,
    server::Service,
    store,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const HUMANS: usize = 64;
const BOTS: usize = 16;

/// Weights without pattern from 0 to 100, by the number in the name (a Weyl sequence, mixed).
struct Mixed;

fn weight(name: &str) -> f64 {
    let index: u64 = name[1..].parse().unwrap();
    let mut z = (index + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z >> 11) as f64 / (1u64 << 53) as f64 * 100.0
}

impl Weights for Mixed {
    fn human(&self, id: &str) -> f64 {
        weight(id)
    }

    fn bot(&self, name: &str) -> Option<BotWeight> {
        let weight = weight(name);
        Some(BotWeight {
            weight,
            strength: (weight - 50.0) / 25.0,
            in_mean: true,
        })
    }

    fn mean_bot(&self) -> (f64, usize) {
        (50.0, 40)
    }
}

/// The stronger half against the weaker, so that much can be improved; `unplaced` humans have no
/// team.
fn lobby(rebalance: RebalanceSettings, unplaced: usize) -> Lobby {
    let mut lobby = Lobby::new(LobbySettings {
        rebalance,
        roster: RosterSettings {
            min_players: Count::of(80),
            level_max: Count::of(100),
            ..RosterSettings::default()
        },
        ..LobbySettings::default()
    });
    let game = Command::Game(NewGame {
        game_type: "ctf".into(),
        canonical_type: "ctf".into(),
        has_teams: true,
        tournament: false,
    });
    lobby.apply(&game, 0).unwrap();
    for n in 0..HUMANS {
        let id = Ident::from_text(&format!("p{n}"));
        let team = (n >= unplaced).then(|| u8::from(weight(id.text()) < 50.0));
        lobby.apply(&join(&id, team), 0).unwrap();
    }
    for n in 0..BOTS {
        lobby.apply(&bot_join(n), 0).unwrap();
    }
    lobby.apply(&Command::Start, 0).unwrap();
    lobby
}

fn join(id: &Ident, team: Option<u8>) -> Command {
    Command::Join {
        id: id.clone(),
        update: Update {
            team,
            ..Update::default()
        },
    }
}

fn bot_join(n: usize) -> Command {
    Command::BotJoin {
        name: Ident::from_text(&format!("b{n}")),
        team: (n % 2) as u8,
    }
}

/// The NS2 page's method: the swap that reduces the difference most, while one does; at most two.
fn greedy_swaps(view: &GameView) -> f64 {
    let mut teams: Vec<(f64, u8)> = (view.humans.iter())
        .map(|human| (human.weight, human.team.unwrap_or(0)))
        .collect();
    let signed = |(weight, team): (f64, u8)| if team == 0 { weight } else { -weight };
    let mut difference: f64 = teams.iter().copied().map(signed).sum();
    for _ in 0..2 {
        let mut best = (difference.abs(), None);
        for a in 0..teams.len() {
            for b in a + 1..teams.len() {
                if teams[a].1 != teams[b].1 {
                    let after = difference - 2.0 * (signed(teams[a]) + signed(teams[b]));
                    if after.abs() < best.0 {
                        best = (after.abs(), Some((a, b, after)));
                    }
                }
            }
        }
        let Some((a, b, after)) = best.1 else { break };
        (teams[a].1, teams[b].1) = (teams[b].1, teams[a].1);
        difference = after;
    }
    difference
}

/// Fails if none of many tries is fast enough; on a busy machine some are slow, but not all.
fn in_time(what: &str, mut run: impl FnMut()) {
    let tries = (0..50).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed()
    });
    let fastest = tries.min().unwrap();
    assert!(
        fastest < Duration::from_millis(1),
        "{what} takes {fastest:?}"
    );
}

fn decisions(c: &mut Criterion) {
    let mut group = c.benchmark_group("lobby");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    let mut measure = |what: &str, run: &mut dyn FnMut()| {
        in_time(what, &mut *run);
        group.bench_function(what, |b| b.iter(&mut *run));
    };

    let usual = lobby(RebalanceSettings::default(), 0);
    let view = usual.view(&Mixed).unwrap();
    measure("view of the game (reference)", &mut || {
        black_box(usual.view(&Mixed).unwrap());
    });
    measure("greedy swaps (reference)", &mut || {
        black_box(greedy_swaps(black_box(&view)));
    });

    let who = Ident::from_text("p0");
    for (what, unplaced) in [
        ("PLACE one", 1),
        ("PLACE one of ten", 10),
        ("PLACE one of all", HUMANS),
    ] {
        let waiting = lobby(RebalanceSettings::default(), unplaced);
        measure(what, &mut || {
            black_box(waiting.clone().place(&who, &Mixed, 1).unwrap());
        });
    }

    let mut game = usual.clone();
    measure("ADVANTAGE", &mut || {
        black_box(game.advantage(&Mixed).unwrap());
    });

    let mut game = usual.clone();
    measure("REBALANCE", &mut || {
        black_box(game.rebalance(&Mixed, 1).unwrap());
    });
    // No ratio is enough, so every plan of up to three moves is tried.
    let never = RebalanceSettings {
        enough: Share::of(1.0),
        max_moves: Count::of(3),
        ..RebalanceSettings::default()
    };
    let mut game = lobby(never, 0);
    measure("REBALANCE, all plans", &mut || {
        black_box(game.rebalance(&Mixed, 1).unwrap());
    });
    measure("DEATH", &mut || {
        black_box(game.died(&who, &Mixed).unwrap());
    });
    group.finish();
}

/// The same decisions through a session of the service, with a database.
fn sessions(c: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let folder = TempDir::new().unwrap();
    let config = Config::load("lobby.min_players = 80\nlobby.level_max = 100", []).unwrap();
    let mut session = runtime.block_on(async {
        let path = folder.path().join("bench.db");
        let store = store::open(&path, true, Duration::ZERO).await.unwrap();
        let service = Service::open(store, config.service()).unwrap();
        for n in 0..HUMANS {
            let id = format!("p{n}");
            let weight = Some(weight(&id));
            let kind = Kind::Human;
            service
                .store()
                .corrections()
                .pin_weight(&PlayerKey { kind, id }, weight)
                .await
                .unwrap();
        }
        service.learning().refresh().await.unwrap();
        service.open_session()
    });
    let game = session.new_game(&Ident::from_text("ctf"));
    session.apply(&game).unwrap();
    let ids: Vec<Ident> = (0..HUMANS)
        .map(|n| Ident::from_text(&format!("p{n}")))
        .collect();
    for id in &ids {
        // The stronger half against the weaker, as above.
        let team = Some(u8::from(weight(id.text()) < 50.0));
        session.apply(&join(id, team)).unwrap();
    }
    for n in 0..BOTS {
        session.apply(&bot_join(n)).unwrap();
    }
    session.apply(&Command::Start).unwrap();
    let mut group = c.benchmark_group("session");
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1));
    let mut measure = |what: &str, run: &mut dyn FnMut()| {
        in_time(what, &mut *run);
        group.bench_function(what, |b| b.iter(&mut *run));
    };
    measure("LEAVE, JOIN, PLACE", &mut || {
        let id = ids[1].clone();
        session
            .apply(&Command::Leave {
                id,
                reason: Default::default(),
            })
            .unwrap();
        session.apply(&join(&ids[1], None)).unwrap();
        black_box(session.place(&ids[1], Some(1)).unwrap());
    });
    measure("ADVANTAGE", &mut || {
        black_box(session.advantage().unwrap());
    });
    measure("REBALANCE", &mut || {
        black_box(session.rebalance(Some(1)).unwrap());
    });
    measure("DEATH", &mut || {
        black_box(session.died(&ids[2]).unwrap());
    });
    group.finish();
}

criterion_group!(benches, decisions, sessions);
criterion_main!(benches);
