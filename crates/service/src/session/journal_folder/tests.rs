#![allow(
    clippy::disallowed_methods,
    reason = "how long the disk takes is measured in real time"
)]

use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::*;

const NOW: Timestamp = Timestamp(5);

fn open(folder: &TempDir) -> JournalFolder {
    JournalFolder::open(folder.path(), FileMode::default())
        .unwrap()
        .0
}

/// Bytes of all journals in the folder.
fn on_disk(folder: &TempDir) -> u64 {
    let entries = fs::read_dir(folder.path()).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let journals = paths.filter(|path| path.extension().is_some());
    journals.map(|path| path.metadata().unwrap().len()).sum()
}

#[test]
fn all_journals_together_have_a_bound() {
    let folder = TempDir::new().unwrap();
    let journals = open(&folder);
    let content = [&HEADER[..], &vec![7; MAX_FILE as usize - HEADER.len()]];
    let files: Vec<_> = (0..8)
        .map(|_| journals.create(&content, None).unwrap())
        .collect();
    assert_eq!(on_disk(&folder), MAX_BYTES);
    assert!(journals.create(&[b"x"], None).is_err());
    assert!(journals.append(&files[0], b"x").is_err());
    assert_eq!(on_disk(&folder), MAX_BYTES, "nothing was written");
    journals.remove(&files[3]);
    let small = journals.create(&[&HEADER], None).unwrap();
    journals.append(&small, &vec![7; 1 << 20]).unwrap();
    assert!(journals.append(&small, &vec![7; 7 << 20]).is_err());
    drop(journals);

    // Another daemon had a higher bound.
    for number in 90..93 {
        let path = folder.path().join(format!("{number}.game"));
        fs::write(path, content.concat()).unwrap();
    }
    let journals = open(&folder);
    let loaded = journals.load().unwrap();
    assert_eq!(loaded[0].0.number, 92, "the latest first");
    assert_eq!(on_disk(&folder), journals.used.load(Ordering::Relaxed));
    assert!(on_disk(&folder) <= MAX_BYTES && loaded.len() == 8);
    assert_eq!(journals.create(&[], None).unwrap().number, 93);
}

#[test]
fn a_journal_is_removed_once_its_successor_is_on_the_disk() {
    let folder = TempDir::new().unwrap();
    let journals = open(&folder);
    let first = journals.create(&[&HEADER, b"first"], None).unwrap();
    let second = journals.create(&[&HEADER], Some(first.clone())).unwrap();
    assert!(first.path.exists() && second.path.exists());
    journals.sync(NOW).unwrap();
    assert!(!first.path.exists() && second.path.exists());
    assert_eq!(journals.used.load(Ordering::Relaxed), 8);
    // Before that, both are removed together.
    let third = journals.create(&[&HEADER], Some(second.clone())).unwrap();
    journals.remove(&third);
    assert!(!second.path.exists() && !third.path.exists());
    assert_eq!(journals.used.load(Ordering::Relaxed), 0);
}

#[test]
fn five_hundred_journals_reach_a_slow_disk_in_time() {
    let folder = TempDir::new().unwrap();
    let journals = open(&folder);
    let files: Vec<_> = (0..500)
        .map(|_| journals.create(&[&HEADER], None).unwrap())
        .collect();
    let (together, most) = (AtomicU64::new(0), AtomicU64::new(0));
    let (calls, began) = (AtomicU64::new(0), Instant::now());
    let forced = force_all(&files, |file| {
        calls.fetch_add(1, Ordering::Relaxed);
        most.fetch_max(
            together.fetch_add(1, Ordering::Relaxed) + 1,
            Ordering::Relaxed,
        );
        // A disk that turns. One after the other, it would take twenty seconds.
        std::thread::sleep(Duration::from_millis(40));
        together.fetch_sub(1, Ordering::Relaxed);
        match file.number {
            7 => Err(io::Error::other("this one fails")),
            _ => file.sync(),
        }
    });
    let took = began.elapsed();
    assert!(took < Duration::from_millis(2_500), "{took:?}");
    assert_eq!(forced.unwrap_err().to_string(), "this one fails");
    let most = most.load(Ordering::Relaxed);
    assert!((2..=32).contains(&most), "{most} at a time");
    assert_eq!(calls.load(Ordering::Relaxed), 500, "each file once");
    let dirty: Vec<_> = files.iter().filter(|file| file.is_dirty()).collect();
    assert!(
        dirty.len() == 1 && dirty[0].number == 7,
        "the others do not wait for it"
    );
}

#[test]
#[ignore = "measures this machine's disk: `cargo test --release --lib journal_folder -- --ignored --nocapture`"]
fn five_hundred_journals_on_this_disk() {
    let folder = TempDir::new().unwrap();
    let journals = open(&folder);
    let files: Vec<_> = (0..500)
        .map(|_| journals.create(&[&HEADER], None).unwrap())
        .collect();
    let mut rounds: Vec<_> = (0..11)
        .map(|_| {
            for file in &files {
                journals.append(file, &[7; 2_000]).unwrap();
            }
            let began = Instant::now();
            journals.sync(NOW).unwrap();
            began.elapsed()
        })
        .collect();
    rounds.sort();
    let serial = Instant::now();
    for file in &files {
        journals.append(file, &[7; 2_000]).unwrap();
        file.sync().unwrap();
    }
    println!("median {:?}, longest {:?}", rounds[5], rounds[10]);
    println!("one after the other {:?}", serial.elapsed());
}

#[test]
fn files_of_other_programs_stay() {
    let folder = TempDir::new().unwrap();
    let names = ["1.game", "2.game", "3.game", "notes.txt", "lock.game"];
    for name in names {
        fs::write(folder.path().join(name), "Save 1").unwrap();
    }
    fs::write(folder.path().join("2.game"), "EVKLGAM\x05").unwrap();
    fs::write(folder.path().join("3.game"), "").unwrap();
    let journals = open(&folder);
    let loaded: Vec<_> = journals.load().unwrap();
    let numbers: Vec<_> = loaded.iter().map(|(file, _)| file.number).collect();
    assert_eq!(numbers, [3, 2], "torn, and of another version");
    assert!(names.iter().all(|name| folder.path().join(name).exists()));
    assert_eq!(journals.create(&[&HEADER], None).unwrap().number, 4);
}

#[test]
fn the_time_of_the_last_sign_of_life_is_kept() {
    let folder = TempDir::new().unwrap();
    let (journals, alive) = JournalFolder::open(folder.path(), FileMode::default()).unwrap();
    assert_eq!(alive, None);
    assert!(
        JournalFolder::open(folder.path(), FileMode::default()).is_err(),
        "it is locked"
    );
    journals.sync(NOW).unwrap();
    journals.note_alive(Timestamp(7)).unwrap();
    drop(journals);
    let (_, alive) = JournalFolder::open(folder.path(), FileMode::default()).unwrap();
    assert_eq!(alive, Some(Timestamp(7)));
}

#[test]
fn a_small_part_of_a_small_disk_is_taken_and_given_back_in_blocks() {
    let folder = tempfile::TempDir::new().unwrap();
    let reserve = Reserve::open(folder.path(), FileMode::default());
    let length = || std::fs::metadata(folder.path().join(NAME)).unwrap().len();
    let file = File::options()
        .write(true)
        .open(folder.path().join(NAME))
        .unwrap();
    assert!(fill(&file, 16 * 50_000).unwrap());
    assert_eq!(length(), 12 * BLOCK);
    fill(&file, 0).unwrap();
    assert_eq!(length(), 12 * BLOCK, "what is taken is not given back");
    let full = io::Error::from(io::ErrorKind::StorageFull);
    assert!(!reserve.is_released(&io::Error::other("broken"), 1));
    assert!(reserve.is_released(&full, 1));
    assert_eq!(length(), 10 * BLOCK);
    assert!(reserve.is_released(&full, 9 * BLOCK));
    assert_eq!(length(), 0);
    assert!(!reserve.is_released(&full, 1), "nothing is left");
    assert!(fill(&file, u64::MAX).unwrap());
    assert_eq!(length(), MOST);
}
