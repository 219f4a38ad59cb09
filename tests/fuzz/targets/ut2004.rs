#![no_main]

mod check;

libfuzzer_sys::fuzz_target!(|log: &[u8]| check::check("ut2004", log));
