//! Players who make points that do not win, in simulated seasons.

use crate::common::process::evenkeel;

/// The report of a few seasons in which a quarter of twelve humans farm points, on random teams. Then
/// the games are the same whatever the farmers weigh.
fn report(args: &[&str]) -> serde_json::Value {
    let folder = tempfile::TempDir::new().unwrap();
    let mut command = evenkeel(folder.path());
    command.args(["simulate", "--policy", "random", "--json", "--bots", "0"]);
    command.args(["--seasons", "3", "--games", "40", "--players", "12"]);
    command.args(["--stay", "1000", "--farmers", "0.25"]);
    let output = command.args(args).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn mean(report: &serde_json::Value, what: &str) -> f64 {
    report["policies"][0][what]["mean"].as_f64().unwrap()
}

#[test]
fn farmers_are_shown_beside_equally_strong_team_players() {
    let [honest, farmed, costly] = [
        &["--farm-factor", "1"][..],
        &[],
        &["--farm-factor", "1", "--farm-cost", "0.9"],
    ]
    .map(report);
    let what = ["difference", "favourite", "log_loss"];
    assert_eq!(
        what.map(|what| mean(&honest, what)),
        what.map(|what| mean(&farmed, what)),
        "farming wins no game"
    );
    for report in [&honest, &farmed] {
        let less = mean(report, "farmers") - mean(report, "team_players");
        assert!((less - mean(report, "farmers_less_team_players")).abs() < 1e-9);
    }
    let gained = mean(&farmed, "farmers") - mean(&honest, "farmers");
    println!("farmers gain {gained:.2} points of weight");
    assert!(gained < 3.0, "{gained}");
    let lost = mean(&honest, "farmers") - mean(&costly, "farmers");
    assert!(lost > 10.0, "{lost}");
}

#[test]
fn seasons_have_farmers_or_quitters() {
    let folder = tempfile::TempDir::new().unwrap();
    for bad in [
        &["--farmers", "0.6"][..],
        &["--farmers", "0.2", "--quitters", "0.2"],
        &["--farm-factor", "2"],
        &["--farmers", "0.2", "--farm-cost", "1.5"],
    ] {
        let mut command = evenkeel(folder.path());
        let output = command.arg("simulate").args(bad).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{bad:?}");
    }
    let mut command = evenkeel(folder.path());
    command.args(["simulate", "--seasons", "1", "--games", "10"]);
    command.args(["--policy", "random", "--farmers", "0.25"]);
    let table = String::from_utf8(command.output().unwrap().stdout).unwrap();
    assert!(table.contains("weight of farmers"), "{table}");
    assert!(table.contains("of those as strong who play for the team"));
}
