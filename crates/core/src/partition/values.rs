//! What players count in a comparison of teams: their weights or, by chances, their strengths.

use super::{ChanceModel, Objective, Problem, Settings, counts::Counts, grid::Grid};

/// The numbers that an [`Instance`](super::instance::Instance) is made of, in the caller's unit.
pub(super) struct Values<'a> {
    /// What each human counts.
    pub humans: Vec<f64>,
    /// What a mean bot counts that fills a place, or the empty place if no bots come.
    pub bot: f64,
    /// What the bots that are on each team count together; empty if there are none.
    there: Vec<f64>,
    /// What the side of the map of team 0 counts.
    pub handicap: f64,
    /// See [`ProblemSpec::even_total`].
    pub even_total: Option<f64>,
    settings: &'a Settings,
    model: Option<&'a ChanceModel>,
}

impl<'a> Values<'a> {
    /// The strengths if the objective compares chances and there are any, otherwise the weights.
    pub fn of(problem: &'a Problem, settings: &'a Settings) -> Self {
        let (spec, view) = (problem.spec(), &problem.spec().view);
        let by_chance = settings.objective == Objective::Chance;
        let there = problem.bots().iter().map(|team| team.of_bots);
        let Some(model) = view.chance.as_ref().filter(|_| by_chance) else {
            return Self {
                humans: view.humans.iter().map(|human| human.weight).collect(),
                bot: bot_weight(problem),
                there: there.map(|bots| bots.weight).collect(),
                handicap: spec.handicap,
                even_total: spec.even_total,
                settings,
                model: None,
            };
        };
        let outlook = &model.outlook;
        let per_strength = model.per_strength(problem);
        Self {
            humans: model.humans.clone(),
            bot: model.of_place(problem),
            there: there.map(|bots| bots.strength).collect(),
            handicap: match view.teams {
                2 => outlook.side / per_strength,
                _ => 0.0,
            },
            // (t − g)/(t + g) is then nearly the odds of a gap g, e^(−2g/t).
            even_total: Some(2.0 * outlook.link.per_log_odds() / per_strength),
            settings,
            model: Some(model),
        }
    }

    /// What the members of a group count together, in quanta.
    pub fn quanta(&self, grid: Grid, members: &[usize]) -> i64 {
        if self.model.is_some() {
            return grid.quanta(self.group(members));
        }
        // The largest weights can be added up as quanta only.
        let sum: i64 = members
            .iter()
            .map(|&human| grid.quanta(self.humans[human]))
            .sum();
        match self.settings.multiplier(members.len()) {
            1.0 => sum,
            multiplier => (sum as f64 * multiplier).round() as i64,
        }
    }

    /// What the members of a group count together.
    fn group(&self, members: &[usize]) -> f64 {
        if let Some(model) = self.model {
            return model.together(members.iter().copied());
        }
        let sum: f64 = members.iter().map(|&human| self.humans[human]).sum();
        sum * self.settings.multiplier(members.len())
    }

    /// For each team with bots on it, how much its bots count beyond as many mean bots, by the number
    /// of places that humans leave.
    pub fn bots_by_places(&self, problem: &Problem, grid: Grid) -> Vec<Vec<i64>> {
        let of = |(team, &there): (usize, &f64)| {
            let beyond = |places: usize| {
                let bots = problem.bots_on(team, places);
                let sum = bots.sum(there, self.bot);
                grid.quanta(sum - self.bot * bots.count() as f64)
            };
            // With more places, the bots that are there stay, and mean bots come.
            (0..=problem.bots_there(team)).map(beyond).collect()
        };
        self.there.iter().enumerate().map(of).collect()
    }

    /// A grid for what all groups and bots count.
    pub fn grid(&self, groups: &[Vec<usize>], counts: &Counts) -> Grid {
        let mut slots = counts.teams * counts.largest_size();
        let mut weights = vec![self.bot.abs()];
        let mut products = Vec::new();
        if self.model.is_some() {
            weights.extend(groups.iter().map(|group| self.group(group).abs()));
        } else {
            weights.extend(&self.humans);
            let multiplied = groups
                .iter()
                .map(|group| self.settings.multiplier(group.len()));
            // At most 10, the range of the setting.
            slots *= multiplied.fold(1.0, f64::max).ceil() as usize;
            let heavier = groups
                .iter()
                .filter(|g| self.settings.multiplier(g.len()) > 1.0);
            products.extend(heavier.map(|group| self.group(group)));
        }
        if self.handicap != 0.0 {
            weights.push(self.handicap.abs());
            slots += 1;
        }
        weights.extend(self.there.iter().map(|sum| sum.abs()));
        slots += 2 * self.there.len();
        Grid::fit(&weights, &products, slots)
    }
}

/// The weight of a bot; 0 if no split has room for a bot and its weight would make the grid too
/// coarse for the humans' weights.
fn bot_weight(problem: &Problem) -> f64 {
    /// The largest weight of a bot, as a multiple of the largest weight of a human, at which the
    /// grid still gives the humans' weights far more digits than any rating has.
    const COARSE: f64 = 1e6;
    let (view, counts) = (&problem.spec().view, problem.counts());
    let weights = view.humans.iter().map(|human| human.weight);
    let largest = weights.fold(0.0, f64::max);
    let has_room = counts.teams * counts.largest_size() > view.humans.len();
    let weight = view.weight_of_place();
    match has_room || weight <= COARSE * largest {
        true => weight,
        false => 0.0,
    }
}
