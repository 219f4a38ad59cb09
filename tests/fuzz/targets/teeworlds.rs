#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|log: &[u8]| check::check("teeworlds", log));
