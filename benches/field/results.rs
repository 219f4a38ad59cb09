//! All results: of each history, case, balancer and rating, and of all histories together.

use std::time::Instant;

use evenkeel::rating::SystemName;

use crate::{
    cases::Case,
    common::{
        daemon::{Trial, Way, pick_all},
        lobbies::{History, Lobby},
        sets::Set,
        statistics::{interval, mean, middle, resampled},
        threads::on_all_cores,
    },
    data::Line,
    entries::{Entry, FIELD, RATINGS, SEARCH},
    measure::{Bench, Measured},
    page::{ALL, BEST, OURS, PLAYED},
    ratings::{Known, Source, before},
};

/// How much is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plan {
    /// Of how many lobbies one is looked at.
    every: usize,
    pub seeds: u64,
}

impl Plan {
    pub const FULL: Self = Self {
        every: 1,
        seeds: 30,
    };
    pub const QUICK: Self = Self { every: 5, seeds: 5 };
}

/// The systems with which Evenkeel's own way to choose teams is tried besides its own.
const BESIDE: [SystemName; 3] = [
    SystemName::Elo,
    SystemName::TrueSkill,
    SystemName::PlackettLuce,
];

/// The fewest lobbies that are worth a table.
const FEWEST: usize = 10;

/// The lines, and beside each of them what the lines of all histories together need.
#[derive(Default)]
pub struct Results {
    lines: Vec<Line>,
    /// For each line, means of samples of its differences to Evenkeel.
    samples: Vec<Vec<f64>>,
    histories: u64,
}

/// One balancer with one rating.
struct Job<'a> {
    entry: &'a Entry,
    source: Source,
}

impl Results {
    /// Measures all balancers on a history.
    #[allow(clippy::disallowed_methods, reason = "the progress is shown")]
    pub fn add(&mut self, set: &Set, history: &History, plan: Plan) {
        let begun = Instant::now();
        let told = |what: &str| {
            eprintln!(
                "{}: {what} after {:.0} s",
                set.name,
                begun.elapsed().as_secs_f64()
            )
        };
        let lobbies: Vec<Lobby> = history
            .lobbies(set.lobbies)
            .into_iter()
            .step_by(plan.every)
            .collect();
        let judges = history.later_judges(&lobbies);
        told("judges");
        for case in Case::ALL {
            let of_case = case.lobbies(&lobbies);
            if of_case.len() < FEWEST {
                continue;
            }
            let bench = Bench::new(case, history, &judges, &of_case);
            self.case(set.name, history, &bench, plan);
            told(case.name());
        }
        self.histories += 1;
    }

    fn case(&mut self, set: &str, history: &History, bench: &Bench, plan: Plan) {
        let picked = |system, best| {
            let trial = Trial {
                wishes: bench.case.wishes(),
                system,
                best,
                ..Trial::default()
            };
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .enable_all()
                .build()
                .expect("a runtime");
            bench.ours(&runtime.block_on(pick_all(Way::Chance, history, bench.lobbies, trial)))
        };
        let ours = picked(SystemName::Joint, false);
        let mut push = |name, source, own: &Measured| {
            self.push(set, bench.case, name, source, own, &ours);
        };
        push(OURS, Source::OURS, &ours);
        if bench.case == Case::Plain {
            push(PLAYED, Source::Nothing, &bench.played());
            push(BEST, Source::OURS, &picked(SystemName::Joint, true));
            for system in BESIDE {
                push(OURS, Source::System(system), &picked(system, false));
            }
        }
        let jobs = jobs(bench.case);
        let mut sources: Vec<Source> = Vec::new();
        for job in &jobs {
            if !sources.contains(&job.source) {
                sources.push(job.source);
            }
        }
        let known: Vec<Vec<Vec<Known>>> =
            on_all_cores(&sources, |source| before(*source, history, bench.lobbies));
        let of = |source: Source| &known[sources.iter().position(|s| *s == source).unwrap_or(0)];
        let run = |job: &Job| bench.run(job.entry, job.source, of(job.source), plan.seeds);
        for (job, measured) in jobs.iter().zip(on_all_cores(&jobs, run)) {
            push(job.entry.name, job.source, &measured);
        }
    }

    fn push(
        &mut self,
        set: &str,
        case: Case,
        balancer: &str,
        source: Source,
        own: &Measured,
        ours: &Measured,
    ) {
        let off: Vec<f64> = own.off.iter().flatten().copied().collect();
        let pairs = own.off.iter().zip(&ours.off);
        let paired: Vec<f64> = pairs
            .filter_map(|(own, ours)| Some((*own)? - (*ours)?))
            .collect();
        if paired.len() < FEWEST {
            return;
        }
        let (low, high) = interval(&paired);
        let share = |[part, of]: [usize; 2]| (of > 0).then(|| part as f64 / of as f64);
        self.samples.push(resampled(&paired, 8 + self.histories));
        self.lines.push(Line {
            history: set.to_owned(),
            case: case.name().to_owned(),
            balancer: balancer.to_owned(),
            rating: source.name().to_owned(),
            lobbies: off.len(),
            off: mean(&off),
            difference: [mean(&paired), low, high],
            kept: share(own.kept),
            granted: share(own.granted),
            splits: own.splits(),
            micros: own.micros(),
        });
    }

    /// All lines, and those of all histories together if there are several: each history counts as much.
    pub fn lines(&self) -> Vec<Line> {
        let mut lines = self.lines.clone();
        if self.histories < 2 {
            return lines;
        }
        let mut done: Vec<[&str; 3]> = Vec::new();
        for line in &self.lines {
            let key = key(line);
            if !done.contains(&key) {
                done.push(key);
                lines.extend(self.together(key));
            }
        }
        lines
    }

    /// The places of the lines with this key.
    fn places<'a>(&'a self, wanted: [&'a str; 3]) -> impl Iterator<Item = usize> + 'a {
        let keys = self.lines.iter().map(key).enumerate();
        keys.filter(move |(_, key)| *key == wanted)
            .map(|(at, _)| at)
    }

    /// The line of all histories that have the case; `None` if the balancer has no answer in one of them.
    fn together(&self, own: [&str; 3]) -> Option<Line> {
        let ours = self.places([own[0], OURS, Source::OURS.name()]).count();
        let lines: Vec<&Line> = self.places(own).map(|at| &self.lines[at]).collect();
        if lines.len() < ours {
            return None;
        }
        let of = |value: fn(&Line) -> f64| {
            mean(&lines.iter().map(|line| value(line)).collect::<Vec<_>>())
        };
        let share = |value: fn(&Line) -> Option<f64>| -> Option<f64> {
            let shares: Option<Vec<f64>> = lines.iter().map(|line| value(line)).collect();
            shares.map(|shares| mean(&shares))
        };
        let mut sums: Vec<f64> = Vec::new();
        for at in self.places(own) {
            sums.resize(self.samples[at].len(), 0.0);
            let samples = sums.iter_mut().zip(&self.samples[at]);
            samples.for_each(|(sum, sample)| *sum += sample / lines.len() as f64);
        }
        let (low, high) = middle(sums);
        Some(Line {
            history: ALL.to_owned(),
            lobbies: lines.iter().map(|line| line.lobbies).sum(),
            off: of(|line| line.off),
            difference: [of(|line| line.difference[0]), low, high],
            kept: share(|line| line.kept),
            granted: share(|line| line.granted),
            splits: of(|line| line.splits),
            micros: of(|line| line.micros),
            ..(*lines.first()?).clone()
        })
    }
}

/// What is the same in the lines of several histories that belong together.
fn key(line: &Line) -> [&str; 3] {
    [&line.case, &line.balancer, &line.rating]
}

/// The balancers of a case with their ratings.
fn jobs(case: Case) -> Vec<Job<'static>> {
    let job = |entry: &'static Entry, source| Job { entry, source };
    let mut jobs: Vec<Job> = FIELD.iter().map(|entry| job(entry, entry.own)).collect();
    if case == Case::Plain {
        let rated = FIELD.iter().filter(|entry| entry.own != Source::Nothing);
        jobs.extend(rated.map(|entry| job(entry, Source::OURS)));
        jobs.extend(RATINGS.iter().map(|source| job(&SEARCH, *source)));
    }
    jobs
}
