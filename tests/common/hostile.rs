//! A small season of players and servers whose names attack pages.

use std::{fmt::Write, fs, path::Path};

use super::process::evenkeel;

/// Names that break pages which do not escape them, or their layout.
pub const NAMES: [&str; 8] = [
    "<script>document.title='owned'</script>",
    "\"><img src=x onerror=document.title='owned'>",
    "^1Red^2Green^x0afTeal^7 & ' \" ]]>",
    "\u{202e}drawkcab\u{202c}",
    "Z\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}\u{309}\u{30a}algo",
    "WWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWWW",
    "\u{200b}\u{3164}",
    "日本語の名前 🏳\u{fe0f}\u{200d}🌈",
];

/// What the identities of the players begin with; no page may contain it.
pub const SECRET: &str = "5ec2e7-";

/// The identity of a player.
pub fn identity(player: usize) -> String {
    format!("{SECRET}{player}-0123456789abcdef")
}

/// Writes matches of two teams of four and ingests them. Their map, server and mutators have hostile names,
/// too.
pub fn ingest(folder: &Path, matches: usize) {
    let text = |text: &str| serde_json::to_string(text).unwrap();
    let mut lines = String::new();
    for number in 0..matches {
        let minute = |at: usize| {
            format!(
                "2026-11-{:02}T{:02}:{:02}:00Z",
                21 + at / 1_440,
                at / 60 % 24,
                at % 60
            )
        };
        let mut players = String::new();
        for (seat, name) in NAMES.iter().enumerate() {
            let team = (seat + number) / 4 % 2;
            let comma = if seat > 0 { "," } else { "" };
            let (id, name) = (text(&identity(seat)), text(name));
            let _ = write!(
                players,
                "{comma}{{\"id\":{id},\"name\":{name},\"stays\":[{{\"team\":{team},\"from\":{},\"to\":600000}}],\
                 \"points\":{},\"kills\":{seat},\"deaths\":3}}",
                60_000 * (seat % 3),
                5 * seat + number % 7
            );
        }
        let (red, blue) = (number % 4, (number * 3 + 1) % 5);
        let (start, end) = (minute(30 * number), minute(30 * number + 10));
        let outcome = match red.cmp(&blue) {
            std::cmp::Ordering::Equal => "\"outcome\":\"draw\"",
            std::cmp::Ordering::Greater => "\"outcome\":\"won\",\"winner\":0",
            std::cmp::Ordering::Less => "\"outcome\":\"won\",\"winner\":1",
        };
        let server = text("</title><script>document.title='owned'</script>");
        let map = text("../<b>map</b>\"'&");
        let _ = writeln!(
            lines,
            "{{\"evenkeel\":1,\"server\":{server},\"start\":\"{start}\",\"end\":\"{end}\",\"game\":\"<i>ctf</i>&a\",\
             \"map\":{map},\"scores\":[{red}.0,{blue}.0],{outcome},\"players\":[{players}],\"events\":[]}}"
        );
    }
    let path = folder.join("hostile.jsonl");
    fs::write(&path, lines).unwrap();
    let output = evenkeel(folder).arg("ingest").arg(&path).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}

/// The matches of bots that the program contains for its demonstration.
pub const SEASON: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/src/cli/demo/openarena-ctf.jsonl.gz"
);

/// Ingests the season of bots.
pub fn ingest_season(folder: &Path) {
    let output = evenkeel(folder).args(["ingest", SEASON]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
}
