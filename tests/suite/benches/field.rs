//! The balancers of others give legal teams, and the page about them says what was measured.

use std::{fs, path::Path};

use rand::{RngExt, SeedableRng, rngs::ChaCha8Rng};

use super::{
    balancers::{
        Assembly, Balancer, brute_force, captains, faf, karmarkar_karp, loser_picks, ns2, pubobot2,
        scramble, shine, snake, spads, squadjs, tf2pickup, ut2004, zero_k,
    },
    data::{from_csv, to_csv},
    page::{DATA, PAGE, PICTURE, filled, picture},
};

/// All balancers, and whether their teams are equally large, if the number is even and nobody came together.
const ALL: [(&str, Balancer, bool); 15] = [
    ("brute force", brute_force::teams, true),
    ("captains", captains::teams, true),
    ("faf", faf::teams, true),
    ("karmarkar-karp", karmarkar_karp::teams, true),
    ("loser picks", loser_picks::teams, true),
    ("ns2", ns2::teams, true),
    ("pubobot2", pubobot2::teams, true),
    ("scramble", scramble::teams, true),
    ("shine", shine::teams, true),
    ("snake", snake::teams, true),
    ("spads", spads::teams, true),
    ("squadjs", squadjs::teams, false),
    ("tf2pickup", tf2pickup::teams, true),
    ("ut2004", ut2004::teams, false),
    ("zero-k", zero_k::teams, true),
];

fn assembly(players: usize, parties: bool, random: &mut ChaCha8Rng) -> Assembly {
    Assembly {
        ratings: (0..players)
            .map(|_| random.random_range(1_200.0..1_800.0))
            .collect(),
        games: (0..players).map(|_| random.random_range(0..20)).collect(),
        parties: if parties {
            vec![vec![0, players - 1], vec![1, 2]]
        } else {
            Vec::new()
        },
        standing: (0..players).map(|who| (who % 2) as u8).collect(),
    }
}

#[test]
fn all_teams_are_legal() {
    let mut random = ChaCha8Rng::seed_from_u64(9);
    for players in 4..=18 {
        for parties in [false, true] {
            let assembly = assembly(players, parties, &mut random);
            for (name, teams, equal) in ALL {
                let Some(teams) = teams(&assembly, &mut random) else {
                    let odd = players % 2 == 1 && ["faf", "pubobot2"].contains(&name);
                    assert!(
                        odd || parties && name == "faf",
                        "{name}: {players} have no teams"
                    );
                    continue;
                };
                assert_eq!(teams.len(), players, "{name}");
                let second = teams.iter().filter(|team| **team == 1).count();
                assert!(
                    teams.iter().all(|team| *team < 2) && second > 0 && second < players,
                    "{name}: {teams:?}"
                );
                if equal && players % 2 == 0 && !parties {
                    assert_eq!(2 * second, players, "{name}: {teams:?}");
                }
            }
        }
    }
}

/// Nobody finds more even sums than the exact searches do, and Zero-K's, which is another exact one, finds as even ones.
#[test]
fn exact_searches_agree() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for players in [6, 8, 12, 14] {
        let assembly = assembly(players, false, &mut random);
        let mut apart = |teams: Balancer| {
            let teams = teams(&assembly, &mut random).unwrap();
            let sign = |team: &u8| if *team == 0 { 1.0 } else { -1.0 };
            let signed = assembly
                .ratings
                .iter()
                .zip(&teams)
                .map(|(rating, team)| sign(team) * rating);
            signed.sum::<f64>().abs()
        };
        let exact = apart(pubobot2::teams);
        assert!((apart(zero_k::teams) - exact).abs() < 1e-6, "{players}");
        for (name, teams, equal) in ALL {
            assert!(!equal || apart(teams) >= exact - 1e-6, "{name}, {players}");
        }
    }
}

/// `cargo bench --bench field -- --page` writes them from the results.
#[test]
fn the_page_and_the_picture_are_made_from_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let csv = read(DATA);
    let lines = from_csv(&csv).unwrap();
    assert!(lines.len() > 300, "{} lines", lines.len());
    assert_eq!(to_csv(&lines), csv);
    let page = read(PAGE);
    assert_eq!(
        page.matches("<!-- figures: ").count(),
        page.matches("<!-- end -->").count()
    );
    assert_eq!(
        page.matches("<!-- figures: ").count(),
        super::page::blocks(&lines).len()
    );
    assert!(
        filled(&page, &lines) == page,
        "{PAGE} is not what {DATA} says"
    );
    assert!(
        picture(&lines) == read(PICTURE),
        "{PICTURE} is not what {DATA} says"
    );
}

/// The README's picture and figures are these.
#[test]
fn the_readme_shows_the_picture() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains(PICTURE) && readme.contains(PAGE));
}
