//! The statistics pages in a real browser: Chromium without a window, at the width of a telephone and of
//! a desk, in the light theme and in the dark one.

use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use tempfile::TempDir;

use super::live::play;
use crate::common::{
    hostile::{self, identity},
    http::Pages,
    process::wait_for,
};

/// How long the browser may take for a page.
const PATIENCE: Duration = Duration::from_secs(120);

/// The browser, if it is installed.
pub fn browser() -> Option<PathBuf> {
    let folders = std::env::var_os("PATH")?;
    let mut places = std::env::split_paths(&folders)
        .flat_map(|folder| ["chromium", "chromium-browser"].map(|name| folder.join(name)));
    let found = places.find(|path| path.is_file());
    if found.is_none() {
        println!("skipped: there is no chromium");
    }
    found
}

/// Runs the browser on a page, and returns what it prints.
fn browse(browser: &Path, profile: &Path, words: &[&str], url: &str) -> String {
    let mut command = Command::new(browser);
    command
        .args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
        ])
        .args([
            "--no-first-run",
            "--hide-scrollbars",
            "--virtual-time-budget=2000",
        ])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(words)
        .arg(url);
    let output = profile.join("output");
    let file = std::fs::File::create(&output).unwrap();
    let mut child = command.stdout(file).stderr(Stdio::null()).spawn().unwrap();
    let status = wait_for(&mut child, PATIENCE);
    assert!(status.success(), "{url}: {status}");
    String::from_utf8_lossy(&std::fs::read(output).unwrap()).into_owned()
}

/// The width and the height in the head of a PNG file.
fn size_of_png(path: &Path) -> (u32, u32) {
    let bytes = std::fs::read(path).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    (number(16), number(20))
}

#[test]
fn a_browser_shows_every_page_and_runs_no_script_of_a_name() {
    let Some(browser) = browser() else { return };
    let folder = TempDir::new().unwrap();
    hostile::ingest_season(folder.path());
    hostile::ingest(folder.path(), 24);
    let queue = "[queue.quick]\nteams = 2\nsize = 1\nruleset = \"baseoa.ctf\"\nhost = \"none\"\n";
    std::fs::write(folder.path().join("evenkeel.toml"), queue).unwrap();
    let pages = Pages::start(folder.path(), &[("EVENKEEL_CONFIG", "evenkeel.toml")]);
    let _running = play(&pages);
    let profile = TempDir::new().unwrap();
    let home = pages.get("/v1/matches").body;
    let home: serde_json::Value = serde_json::from_str(&home).unwrap();
    let player = pages.get(&format!("/v1/players/{}", identity(0))).body;
    let player: serde_json::Value = serde_json::from_str(&player).unwrap();
    let handle = player["player"]["handle"].as_str().unwrap();
    let ruleset = "%3Ci%3Ectf%3C%2Fi%3E%26a";
    let paths = [
        "/".to_owned(),
        format!("/rulesets/{ruleset}"),
        format!("/players/{handle}"),
        "/players/Sarge".to_owned(),
        format!("/matches/{}", home["matches"][0]["id"]),
        format!("/balance?ruleset={ruleset}"),
        "/systems".to_owned(),
        "/matches".to_owned(),
        "/search?q=a".to_owned(),
        "/queues".to_owned(),
        "/live".to_owned(),
    ];
    let began = Instant::now();
    for path in &paths {
        let url = format!("http://{}{path}", pages.address);
        let dom = browse(&browser, profile.path(), &["--dump-dom"], &url);
        assert!(dom.contains("<main id=\"content\">"), "{path}: {dom}");
        let scripts = 1 + usize::from(path == "/live");
        assert_eq!(dom.matches("<script").count(), scripts, "{path}: {dom}");
        assert!(
            dom.contains("Times are in your time zone ("),
            "{path}: {dom}"
        );
        assert!(!dom.contains("<title>owned"), "{path}: {dom}");
        if path == "/live" {
            // Its own script has run, and has shown the page again.
            assert!(
                dom.contains("This page follows the games by itself."),
                "{dom}"
            );
            assert!(dom.contains("&lt;script&gt;x"), "{dom}");
        }
        // What the parser of the browser took for the end of an element would close the page too early.
        assert_eq!(dom.matches("<footer>").count(), 1, "{path}");
    }
    let shot = profile.path().join("shot.png");
    let to = format!("--screenshot={}", shot.display());
    for (width, dark) in [(390, false), (1440, true)] {
        let url = format!("http://{}{}", pages.address, paths[2]);
        let size = format!("--window-size={width},900");
        let mut words = vec![to.as_str(), size.as_str()];
        words.extend(dark.then_some("--blink-settings=preferredColorScheme=0"));
        browse(&browser, profile.path(), &words, &url);
        assert_eq!(size_of_png(&shot).0, width);
    }
    println!("{} pages in {:?}", paths.len(), began.elapsed());
}
