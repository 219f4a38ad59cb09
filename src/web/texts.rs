//! All texts of the pages, each once, so that a community can translate them: they stand here and nowhere else in this
//! room ([`tests/suite/architecture/texts.rs`] sees to that). What programs read below `/v1` is not among them, nor are the
//! sentences that pages share with the command line and the chat of games, such as why a weight is what it is.
//!
//! A text is a row `page.key = "text";`. `text!(page.key)` is the text. One with holes, `{0}` or `{name}`, is filled by
//! `format!(text!(page.key), …)`, or by [`mark!`] where parts are HTML; a translation may change the order of the holes. The
//! compiler checks that a key is there, and that the holes are those that are filled. No text contains what HTML escapes.

/// Makes the macro `text!` of rows with a key and a text.
macro_rules! texts {
    ($($page:ident.$key:tt = $text:tt;)*) => {
        /// The text of the pages with this key.
        macro_rules! text {
            $(($page.$key) => { $text };)*
        }
    };
}

/// A text whose holes are filled with HTML, each part in braces, as `html!` takes it.
macro_rules! mark {
    ($page:ident.$key:tt, $({ $($part:tt)* }),+) => {
        ::maud::PreEscaped(format!(
            text!($page.$key),
            $(::maud::html! { $($part)* }.into_string()),+
        ))
    };
}

texts! {
    // on several pages
    common.matches = "Matches";
    common.teams = "Teams";
    common.balance = "Balance";
    common.queues = "Queues";
    common.player = "Player";
    common.search = "Search";
    common.feed_of_matches = "Feed of matches";
    common.a_player = "a player";
    common.bot = "bot";
    common.mean_difference = "Mean difference";
    common.favourite_won = "Favourite won";
    common.draws = "Draws";
    common.ruleset = "Game type";
    common.show = "Show";
    common.all = "All";
    common.before = "Before";
    common.map = "Map";
    common.playing_now = "Playing now";
    common.latest_matches = "Latest matches";
    common.all_its_matches = "All its matches";
    common.humans = "Humans";
    common.bots = "Bots";
    common.players = "Players";
    common.place = "Place";
    common.weight = "Weight";
    common.better_than = "Better than";
    common.division = "Division";
    common.games = "Games";
    common.last_seen = "Last seen";
    common.n_of_all = "{0} of {1}";
    common.won = "Won";
    common.one_has_won = "{0} won.";
    common.it_was_abandoned = "It was abandoned.";
    common.played = "Played";
    common.server = "Server";
    common.why_these_teams = "Why these teams";
    common.points = "Points";
    common.change = "Change";
    common.reason = "Reason";
    common.rulesets = "Game types";
    common.one_game_type = "game type";
    common.all_matches = "All matches";
    common.score = "Score";
    common.one_won = "{0} won";
    common.draw = "Draw";
    common.match = "Match";
    common.result = "Result";
    common.not_in_play = "not in play";

    // balance
    balance.a_player_came_late = "A player came late";
    balance.a_player_left_early = "A player left early";
    balance.teams_of_different_sizes = "Teams of different sizes";
    balance.a_player_with_fewer_than_10_matches = "A player with fewer than 10 matches";
    balance.to = "{0} ({1:.0} to {2:.0})";
    balance.what_one_sided_matches_have_in = "What one-sided matches have in common";
    balance.too_few_matches_have_a_cause_in = "Too few matches have a cause in this time.";
    balance.causes = "Causes";
    balance.what_happened = "What happened";
    balance.explains = "Explains";
    balance.difference_with_it = "Difference with it";
    balance.since = " since {0}";
    balance.of_all_rated_matches_with_scores = "Of all rated matches with scores{0}. “Explains” \
         is the part of all differences of scores that would be missing if these matches had been as even as the \
         others, with its 95 % interval: one that begins at 0 may be chance alone. Two causes may meet in one match, \
         and neither needs to be the reason.";
    balance.week_of = "Week of";
    balance.won = "{team_0} won";
    balance.equal_teams = "{team_0}, equal teams";
    balance.the_chance_between_equally_strong = "The chance between equally strong teams, as the rating system has \
         learned it";
    balance.compare_before_and_after = "Compare before and after";
    balance.time_of_the_causes = "Time of the causes";
    balance.number_of_matches_by_the_difference = "Number of matches by the difference of scores";
    balance.difference_of_scores = "difference of scores";
    balance.how_often_favourites_won_by_their = "How often favourites won, by their forecast";
    balance.matches_by_the_difference_of_scores = "Matches by the difference of scores";
    balance.forecasts_on_the_line_favourites = "Forecasts: on the line, favourites win as often as predicted. A draw \
         is half a win";
    balance.balance_of = "Balance of {ruleset}";
    balance.favourites_won_of_the_decided_ones = "Favourites won {share} of the decided ones among {matches} matches.";
    balance.all_rulesets = "all game types";
    balance.how_even_the_matches_of_are = "How even the matches of {ruleset} are. {0}";
    balance.after = "After";
    balance.no_match_has_been_rated_yet = "No match has been rated yet.";
    balance.weeks = "Weeks";
    balance.the_favourite_is_the_team_that_was = "The favourite is the team that was more likely to win by the \
         forecast; the closer to 50 % it won, the more even the teams were. Shares of wins are of the matches that a \
         team won, without draws. A week counts as before a date if it begins before it. {0}";
    balance.mean_difference_of_scores_by_week = "Mean difference of scores by week";
    balance.week_that_begins_on = "week that begins on";
    balance.by_map = "By map";
    balance.equal_teams_is_how_often_that_team = "“{0}, equal teams” is how often that team would win between \
         equally strong teams, {1} v {2}: the side alone, without who happened to play on it.";
    balance.by_week = "By week";
    balance.all_rating_systems_compared = "All rating systems compared";
    balance.teams_picked_by_evenkeel = "Teams picked by Evenkeel";
    balance.all_others = "All others";
    balance.does_it_help = "Does it help?";
    balance.of_the_latest_matches = "Of the latest matches";
    balance.decided_matches = "Decided matches";
    balance.the_numbers_in_brackets_are_a_95 = "The numbers in brackets are a 95 % interval: with more matches, the \
         share comes to lie in it in 95 of 100 cases. The closer to 50 %, the more even. Matches are counted as \
         picked if BALANCE or a queue has chosen their teams.";
    balance.it_is_too_early_for_a_verdict_that = "It is too early for a verdict: that needs {0} with a forecast that \
         a team won.";
    balance.favourites_won_in_the_last_four = "Favourites won {0} in the last four weeks with matches.";
    balance.about_as_even_as_the_four_weeks = "About as even as the four weeks before";
    balance.more_even_than_the_four_weeks = "More even than the four weeks before";
    balance.less_even_than_the_four_weeks = "Less even than the four weeks before";
    balance.favourites_won_before = "{verdict}: favourites won {0}, before {1}.";
    balance.without = "without";

    // board
    board.is_first = " {0} is first.";
    board.the_of_by_strength = "The {0} of {1} by strength.{2}";
    board.how_even_its_matches_are = "How even its matches are";
    board.regulars_over_time = "Regulars over time";
    board.nobody_has_played_lately = "Nobody has played lately.";
    board.no_such_player = "No such player.";
    board.pages_of_players = "Pages of players";
    board.previous = "← Previous";
    board.of = " of {0}";
    board.page = "Page {0}";
    board.next = "Next →";
    board.a_weight_is_between_0_and_100_a = "A weight is between 0 and 100; 50 is the average of those who play here. \
         The number after ± is how uncertain it is. In a game in which people hardly differ, all weights are near 50.";
    board.kind_of_player = "Kind of player";
    board.in_this_ruleset = "In this game type";
    board.search_a_name = "Search a name";
    board.hide_those_who_are_away = "Hide those who are away";
    board.show_those_who_are_away_too = "Show those who are away, too ({0})";
    board.the_order_is_that_of_the_weight = "The order is that of the weight minus its uncertainty: what a player is \
         worth at least. Who has played fewer than {0} matches, or has an uncertain weight, is being placed; who had \
         not played for {1} days when the latest match was played is away.";
    board.plays_now = "plays now";
    board.placing = "placing";
    board.away = "away";
    board.better_than_is = "“Better than” is the share of the others with a place who have a lower one.";

    // board_line
    board_line.placing_of = "placing {0} of {enough}";

    // chances
    chances.as_picked = "As picked";
    chances.as_started = "As started";
    chances.forecast = "Forecast";
    chances.the_forecast_is_the_chance_with = "The forecast is the chance with everybody who played, each for as \
         long as they did, as predicted before the match was learned from.";
    chances.of_the_matches_that_a_team_won = "Of the matches that a team won, without draws";
    chances.the_chances_are_those_that_were = "The chances are those that were predicted at that time. They do not \
         count the score.";
    chances.with_the_score_has_a_chance_of_to = "With the score, {team} has a chance of {chance} to win.";
    chances.a_chance_of_to_win = "{moment}{sizes}, {team} {has} a chance of {chance} to win.";
    chances.no_chance_was_predicted = "{moment}{sizes}, no chance was predicted.";
    chances.had = "had";
    chances.has = "has";

    // companions
    companions.wins_with_and_against = "Wins with and against";
    companions.on_the_same_team = "On the same team";
    companions.on_the_other_team = "On the other team";
    companions.players_in_at_least_of_the_last = "Players in at least {0} of the last {1} matches. Of the {2} who \
         were in most of them, each table lists the {3} with whom, or against whom, this page's player won the \
         largest share; a draw is half a win.";
    companions.nobody_yet = "Nobody yet.";

    // distribution
    distribution.is_at = "; {name} is at {0}";
    distribution.players_with_a_place_in_by_weight = "Players with a place in {ruleset} by weight minus uncertainty, \
         in percent{here}";
    distribution.is_in_the_other_colour = ": {0} is in the other colour";
    distribution.all_players_with_a_place_in_percent = "All players with a place, in percent";
    distribution.weight_minus_its_uncertainty = "weight minus its uncertainty";

    // error
    error.there_is_no_such_page = "There is no such page.";
    error.no_ruleset_has_this_name = "No game type has this name.";
    error.no_player_with_a_rated_match_has = "No player with a rated match has this address.";
    error.no_match_has_this_number = "No match has this number.";
    error.the_address_of_this_page_cannot_be = "The address of this page cannot be read.";
    error.the_address_of_this_page_is_too = "The address of this page is too long.";
    error.the_statistics_cannot_be_read_at = "The statistics cannot be read at the moment.";
    error.this_page_cannot_be_shown = "This page cannot be shown.";
    error.too_many_visitors_try_again_later = "too many visitors, try again later";
    error.too_many_connections_from_your = "too many connections from your address, try again later";
    error.all_rulesets_and_matches = "All game types and matches";
    error.too_many_requests_from_your_address = "too many requests from your address";
    error.your_address_may_not_read_this_see = "your address may not read this: see [web] metrics_from";

    // feed
    feed.matches = "{name}: matches";
    feed.matches_2 = "{0}: matches";
    feed.won = "Won: ";
    feed.lost = "Lost: ";
    feed.draw = "Draw: ";

    // frame
    frame.skip_to_the_content = "Skip to the content";
    frame.pages = "Pages";
    frame.live = "Live";
    frame.everywhere = "Everywhere";
    frame.search_players_and_rulesets = "Search players and game types";
    frame.this_page_as_json = "This page as JSON";
    frame.imprint = "Imprint";
    frame.times_are_in_utc = "Times are in UTC. ";

    // game
    game.chances = "Chances";
    game.time = "Time";
    game.of_them_bots = "of them bots";
    game.only_the_first_changes_are_kept = " Only the first {0} changes are kept.";
    game.score_over_time_to_the_result = "Score over time, to the result {0}";
    game.score_over_time = "Score over time: ";
    game.chance_of_over_time_at_the_start = "Chance of {0} over time: {1} at the start, between {2} and {3}";
    game.chance_of_with_the_score = "Chance of {0} with the score";
    game.most_even_with_one_exchange_for = "Most even with one exchange: {0} for {1}, which would have made it {2}.";
    game.it_was_a_draw = "It was a draw.";
    game.the_match_does_not_count = " The match does not count: {0}";
    game.began = "Began";
    game.min = "{0} min";
    game.mutators = "Mutators";
    game.match_on = "Match {0} on {1}";
    game.on = "{0}. {1} on {2}, {3}.";
    game.weights_before = ", weights before {0}";
    game.on_no_team = "On no team";
    game.other_side_is_the_forecast_for_the = "“Other side” is the forecast for the other team if this player alone \
         had been on it, by the weights before the match. What the system has learned since, how much a strength or \
         a side of the map counts, is as of now.";
    game.kills_and_deaths = "Kills and deaths";
    game.the_weight_before_this_match = "The weight before this match";
    game.how_the_weight_changed_from_before = "How the weight changed from before this match to after it";
    game.other_side = "Other side";
    game.k_d = "K : D";
    game.of_the_columns = "“K : D” are kills and deaths, “Played” is the time on the team. “Before” is the weight before \
         this match, “Change” what the match did to it, and “Reason” what moved it or held it.";

    // home
    home.rulesets_and_matches = "Game types and matches";
    home.with_leaderboards_and_how_even = "{name}: {0} with leaderboards, and how even their matches are. Running \
         now: {1}.";
    home.no_match_has_been_rated_yet_weights = "No match has been rated yet. Weights are learned from finished \
         matches.";
    home.the_difference_is_that_between_the = "The difference is that between the highest and the lowest score of a \
         match. The favourite is the team that was more likely to win by the forecast: the closer to 50 % it won, of \
         the matches that a team won, the more even the teams were. {0}";
    home.with_fewer_than_matches = "{0} with fewer than {1} matches";
    home.last_match = "Last match";

    // lists
    lists.a_great_upset_that_happens_in_of = "A great upset: that happens in {in_hundred} of such matches.";
    lists.an_upset_that_happens_in_of_such = "An upset: that happens in {in_hundred} of such matches.";
    lists.it_could_have_gone_either_way = "It could have gone either way.";
    lists.that_happens_in_of_such_matches = "That happens in {in_hundred} of such matches.";
    lists.won_as_expected_with = "{0} won{scores}, as expected with {chance}";
    lists.won_against_with_a_chance_of = "{won} won{scores}, against {team} with a chance of {chance}";
    lists.won = "{0} won{scores}";
    lists.abandoned = "Abandoned";
    lists.had_a_chance_of = ", {0} had a chance of {chance}";
    lists.no_matches_yet = "No matches yet.";
    lists.draw = "draw";
    lists.abandoned_2 = "abandoned";

    // live
    live.running_games = "Running games";
    live.and_play_in_now = "{0} and {1} play in {2} now.";
    live.nobody_plays_at_the_moment = "Nobody plays at the moment.";
    live.and_play_in = "{0} and {1} play in {2}.";
    live.load_this_page_again_to_see_how_the = "Load this page again to see how the games go on.";
    live.and_with_fewer_players = "And {0} with fewer players.";
    live.the_game_server_is_away = " · the game server is away";
    live.and_play = "{0} and {1} play.";
    live.on_no_team = "On no team: ";
    live.now = "Now";
    live.in_play_since = "in play since {0}";
    live.until_by_the_games_clock = " · until {0} by the game’s clock";
    live.nobody = "nobody";
    live.this_page_follows = "This page follows the games by itself.";
    live.may_be_old = "The games cannot be asked for at the moment; what is shown may be old.";
    live.a_game = "A game";
    live.clock_played = " · {} played";
    live.clock_left = "{} left";

    // matches
    matches.all = "all";
    matches.picked_by_evenkeel = " picked by Evenkeel";
    matches.rated_matches_with_scores = "Rated matches with scores: {0}";
    matches.since = ", since {0}";
    matches.with = " with ";
    matches.against = " against ";
    matches.rated_matches_of = "Rated matches of {0}{1}.";
    matches.all_matches_with_their_results_and = "All matches with their results and the chances that were predicted.";
    matches.pages_of_matches = "Pages of matches";
    matches.latest = "← Latest";
    matches.earlier = "Earlier →";

    // player
    player.standings = "Standings";
    player.of = "{place} of {0}";
    player.last_results_the_latest_first = "Last results, the latest first: {0}";
    player.last_results_the_latest_first_2 = " Last results, the latest first: {form}.";
    player.identity = "Identity: {0}";
    player.the_band_is_one_standard_deviation = "The band is one standard deviation: how far off the weight may \
         easily be. 50 is the average of those who play here. The dots mark the peak and the weight of now; one beside the \
         line is a weight that an operator has fixed.";
    player.record = "Record";
    player.weight_of_in_over_time = "Weight of {name} in {0} over time";
    player.time_of_the_plots = "Time of the plots";
    player.weight_in_with_its_uncertainty = "Weight in {0}, with its uncertainty";
    player.maps = "Maps";
    player.best = "Best";
    player.worst = "Worst";
    player.maps_with_at_least_games_of_the = "Maps with at least {0} games, of the last {1}.";
    player.the_chance_is_that_of_the_player_s = " The chance is that of the player's team.";
    player.points_are_those_of_the_player_s = "Points are those of the player's team, and those against it, while \
         the player was on it.";
    player.why_this_rating = "Why this rating";
    player.won_in_a_row = "{wins} won in a row";
    player.lost_in_a_row = "{0} lost in a row";
    player.won_lost_drawn = "Won, lost, drawn";
    player.streak = "Streak";
    player.won_beyond_the_forecasts = "Won beyond the forecasts";
    player.best_win = "Best win";
    player.with_a_chance_of = "with a chance of {0}, {1}";
    player.rated_matches_the_last_at_most_a = "Rated matches, the last {0} at most. A forecast counts as that part \
         of a win; a draw is half a win.";
    player.place_of = ", place {0} of {1}";
    player.ahead_of_of_the_others = ", ahead of {0} of the others";
    player.over_the_last_peak_after = " Over the last {0}: {1}. Peak: {2} after {3}.";
    player.in = " in {0}{1}{2}.";
    player.place_of_2 = "place {place} of {of} · ";
    player.change_is = " “Change” is what the match did to the weight, and “Reason” what moved it or held it. Between own \
         matches a weight stands still. A win never lowers it, and a defeat never raises it: one that is narrower than \
         expected moves nothing. So it is with half of a strong player's wins, and a defeat costs them more.";
    player.an_operator_has_fixed_it = " An operator has fixed it.";
    player.recounted = "Counted again";
    player.recounted_by = "recounted: {0} ({1}, {2})";
    player.a_correction_counts_again = "After a correction of history, all weights are counted again in the order of \
         the matches, those before a player's last match included.";
    player.was_made_void = "a match was made void";
    player.counts_again = "a void match counts again";
    player.were_merged = "two identities are one player";
    player.were_split = "two identities are two players again";
    player.was_given_a_start = "a start weight was changed";
    player.log_was_read_again = "a log was read again";
    player.settings_changed = "the settings or the program changed";
    player.match_arrived_late = "a match arrived late";
    player.history_was_corrected = "history was corrected";

    // plot
    plot.forecast_for_the_favourite = "forecast for the favourite";
    plot.favourite_won_draw_half = "favourite won (draw: half)";
    plot.minutes = "minutes";

    // present
    present.in_play = "in play";

    // queues
    queues.instances = "Instances";
    queues.hosted_matches = "Hosted matches";
    queues.instance = "Instance";
    queues.region = "Region";
    queues.state = "State";
    queues.queue = "Queue";
    queues.since = "Since";
    queues.mean_wait_in_by_hour_in_seconds = "Mean wait in {0} by hour, in seconds";
    queues.waiting_now = "Waiting now";
    queues.in = "{0} in {1}";
    queues.oldest_ticket = "Oldest ticket";
    queues.median_wait = "Median wait";
    queues.matches_in_24_hours = "Matches in 24 hours";
    queues.tickets = "Tickets";
    queues.of_the_cancelled_ones_in_a_ready = "; {0} of the cancelled ones in a ready check";
    queues.matched_cancelled_expired = "{0} matched, {1} cancelled, {2} expired";
    queues.no_ticket_has_left_this_queue_in = "No ticket has left this queue in the last 24 hours.";
    queues.mean_wait_by_hour_in_seconds = "Mean wait by hour, in seconds";
    queues.hours_of = "Hours of {queue}";
    queues.hour = "Hour";
    queues.matched = "Matched";
    queues.cancelled = "Cancelled";
    queues.expired = "Expired";
    queues.mean_wait = "Mean wait";
    queues.longest = "Longest";
    queues.mean_penalty = "Mean penalty";
    queues.wait_for_a_match_now = "{0} wait for a match now.";
    queues.a_ticket_is_one_or_more_players_who = "A ticket is one or more players who queue together. Waits are in \
         minutes and seconds, by the hour in which a match took the ticket. A penalty is what the violations of \
         rules that are not hard cost.";
    queues.who_waits_in = "Who waits in {queue}";
    queues.ticket = "Ticket";
    queues.has_waited = "Has waited";
    queues.a_chance_of_for_the_favourite_on = ": a chance of {0} for the favourite on average";
    queues.the_favourite_won_of_those_that_a = "; the favourite won {0} of those that a team won";
    queues.the_latest = "The latest {0}{1}{2}.";
    queues.penalties_by_rule_over_the_last = "Penalties by rule, over the last {0}";
    queues.no_rule_cost_anything = "No rule cost anything.";
    queues.rules_of = "Rules of {queue}";
    queues.rule = "Rule";
    queues.matches_with_a_cost = "Matches with a cost";
    queues.mean_cost = "Mean cost";
    queues.highest_cost = "Highest cost";
    queues.mon = "Mon";
    queues.tue = "Tue";
    queues.wed = "Wed";
    queues.thu = "Thu";
    queues.fri = "Fri";
    queues.sat = "Sat";
    queues.sun = "Sun";
    queues.usual_week_of = "Usual week of {queue}";
    queues.after_waits_of = ", after waits of {0}";
    queues.in_the_next_hour_matches_are_usual = "In the next hour, {0} matches are usual{1}.";
    queues.matches_in_each_hour_of_the_week = "Matches in each hour of the week";
    queues.the_mean_of_the_last_four_weeks_at = "The mean of the last four weeks at most, by the hour in UTC. A dash \
         is an hour that has not come yet.";
    queues.hour_utc = "hour (UTC)";

    // reasons
    reasons.the_weaker_team_had_of_the_weight = "The weaker team had {0} of the weight of the stronger one, among \
         {1}.";
    reasons.the_best_players_of_the_teams = "The best players of the teams differed by {0} in weight.";
    reasons.one_team_was_more_mixed_than_the = "One team was more mixed than the other: the spread of weights \
         differed by {0}.";
    reasons.n_1_party = "1 party";
    reasons.parties = "{0} parties";
    reasons.all_were = "all were.";
    reasons.could_not_be = "{0} could not be.";
    reasons.asked_to_be_together = " asked to be together; ";
    reasons.of_players_who_avoid_each_other = "{0} of players who avoid each other shared a team.";
    reasons.a_wish_for_a_side_was_not_granted = "A wish for a side was not granted: {0}.";
    reasons.had_to_change_teams = "{0} had to change teams.";
    reasons.of_the_pairs_of_the_match_before = "{0} of the pairs of the match before were together again.";

    // regulars
    regulars.put_back = "put back";
    regulars.pick_out = "pick out";
    regulars.show_all_in_colour = "Show all in colour";
    regulars.regulars_of = "Regulars of {0}";
    regulars.the_weights_over_time_of = "The weights over time of {0}.";
    regulars.weights_over_time_in = "Weights over time in {0}: {1}";
    regulars.regulars = "Regulars";
    regulars.weights_over_time = "Weights over time";
    regulars.those_who_were_in_most_of_the = "Those who were in most of the latest {0} rated matches. The weight \
         after some of their last 1,000 matches, as far as they are of this game type, and after the latest one.";

    // search
    search.players_and_rulesets_by_a_part_of = "Players and game types by a part of their names.";
    search.type_a_part_of_a_name_above = "Type a part of a name above.";
    search.no_player_and_no_ruleset_has_in_the = "No player and no game type has “{0}” in the name.";
    search.mostly = "Mostly";
    search.those_with_most_games_are_listed_a = "Those with most games are listed, of the first 200 names that were found. \
         A longer part of the name finds fewer.";

    // share
    share.share_and_embed = "Share and embed";
    share.badge = "Badge";
    share.a_picture_of_one_line = "{0}, a picture of one line";
    share.frame = "Frame";
    share.for_another_page = "{0} for another page: {1}";

    // span
    span.a_year = "A year";

    // systems
    systems.rating_systems = "Rating systems";
    systems.how_well_each_rating_system_would = "How well each rating system would have predicted the latest matches.";
    systems.the_rating_systems_have_not_been = "The rating systems have not been compared yet. That is done in the \
         background, once there are 32 matches.";
    systems.how_well_each_rating_system_would_2 = "How well each rating system would have predicted the last {0}, \
         from {1} to {2}. Each one predicts a match, then learns from it. Measured are {3} of two teams that one of \
         them won, after the first fifth. Computed on {4}.";
    systems.the_system_that_is_best_for_each = "the system that is best for each game type";
    systems.the_system = "the system {0}";
    systems.the_weights_on_these_pages_come = "The weights on these pages come from {0}.";
    systems.log_loss_is_what_counts_the_mean_of = "Log loss is what counts: the mean of −ln of the chance that was \
         given to the result; a coin has 0.693, and the lower, the better. Brier is the mean squared difference of \
         chance and result; a coin has 0.25. Calibration is how far chances are from how often they came true. The \
         interval contains, with 95 % confidence, the log loss minus that of {0}; if it contains 0, both are level.";
    systems.best_by_ruleset = "Best by game type";
    systems.rulesets_with_at_least_predicted = "Game types with at least {0} predicted matches.";
    systems.system = "System";
    systems.log_loss = "Log loss";
    systems.accuracy = "Accuracy";
    systems.brier = "Brier";
    systems.calibration = "Calibration";
    systems.beside = "Beside {0}";
    systems.interval = "Interval";
    systems.to = "{low:+.4} to {high:+.4}";

    // teams
    teams.at_most_people_can_play = "At most {most_players} people can play.";
    teams.somebody_who_was_ticked_is_not = "Somebody who was ticked is not known any more. See who is still ticked.";
    teams.teams_need_at_least_as_many_people = "{0} teams need at least as many people.";
    teams.together = "Together";
    teams.apart = "Apart";
    teams.on_a_team = "On a team";
    teams.no_team_is_called = "There is no team “{name}”.";
    teams.line_of_a_list = "“{0} {1}”";
    teams.nobody_who_plays_is_called = "{field}: nobody who plays is called “{name}”.";
    teams.the_origin_of_this_form_is_not = "the Origin of this form is not stated";
    teams.sign_in_to_make_teams = "Sign in to make teams.";
    teams.that_did_not_work = "That did not work";
    teams.back_to_the_teams = "Back to the teams";
    teams.this_browser_records_for = "This browser records for {0}.";
    teams.sign_out = "Sign out";
    teams.to_record_who_has_won_show_a_token = "To record who has won, show a token once. It is then good for 30 \
         days in this browser.";
    teams.to_make_teams_show_a_token_once_it = "To make teams, show a token once. It is then good for 30 days in \
         this browser.";
    teams.sign_in = "Sign in";
    teams.token = "Token";
    teams.the_form_has_more_than_fields = "the form has more than {fields} fields";
    teams.somebody_of_these_teams_is_not = "somebody of these teams is not known any more: pick again";
    teams.there_is_no_such_team = "there is no such team";
    teams.state_the_score_of_each_team_as_a = "State the score of each team as a number.";
    teams.no_match_has_this_number = "no match has this number";
    teams.again_the_next_best_teams = "Again: the next best teams";
    teams.change_who_plays = "Change who plays";
    teams.wins_with_with = "{0} wins with {1}, {2} with {3}.";
    teams.nothing_is_known_of_anybody_yet_it = "Nothing is known of anybody yet. It comes with the results.";
    teams.the_sums_of_the_weights_decide = "The sums of the weights decide: {0}.";
    teams.to = " to ";
    teams.the_chance_of_each_team_to_win_is = "The chance of each team to win is beside its name.";
    teams.record_the_score = "Record the score";
    teams.who_won = "Who won?";
    teams.enter_the_score_instead = "Enter the score instead";
    teams.these_are_number_of_the_best = "These are number {0} of the {1} best.";
    teams.in_numbers = "In numbers";
    teams.wins_with = ": {0} wins with {1}";
    teams.the_closest_alternative = "The closest alternative";
    teams.a_draw = "A draw.";
    teams.recorded = "Recorded";
    teams.match = "match {0}";
    teams.it_does_not_count = "It does not count: {0}";
    teams.it_is = "{0} It is {1}. ";
    teams.undo = "Undo";
    teams.next_game_same_people = "Next game, same people";
    teams.match_does_not_count_any_more = "Match {0} does not count any more.";
    teams.undone = "Undone";
    teams.this_game_is_recorded_already_with = "This game is recorded already, with another result. To change it, \
         undo it first.";
    teams.recorded_last = "Recorded last: {0}, {1}, {2}";
    teams.undo_match = "Undo match {0}";
    teams.this_form_was_not_made_for_you_load = "this form was not made for you: load the page again";
    teams.path_max_age_httponly_samesite = "{cookie}={value}; Path={path}; Max-Age={max_age}; HttpOnly; \
         SameSite=Strict{secure}";
    teams.fair_teams = "Fair teams";
    teams.what_is_played = "What is played";
    teams.what_do_you_play = "What do you play?";
    teams.futsal = "futsal";
    teams.who_plays_one_name_on_each_line_or = "Who plays? One name on each line, or with commas; with weights before \
        the names, their sums decide";
    teams.or_tick_who_played_last = "Or tick who played last";
    teams.new = "new";
    teams.how_many_teams = "How many teams?";
    teams.teams = "{0} teams";
    teams.who_must_be_together_and_who_apart = "Who must be together, apart, or on a certain team";
    teams.together_one_group_on_each_line = "Together: one group on each line";
    teams.ann_bob = "ann, bob";
    teams.apart_one_group_on_each_line = "Apart: one group on each line";
    teams.cid_dan = "cid, dan";
    teams.on_a_team_one_team_on_each_line = "On a team: the team, a colon, and names, one team on each line";
    teams.team_and_names = "{0}: eve, fay";
    teams.make_teams = "Make teams";
    teams.new_players = "New players";
    teams.back = "Back";
    teams.who_is_who = "Who is who?";
    teams.did_you_mean = "{0}: did you mean";
    teams.is_a_new_player = "{0} is a new player";
    teams.which = "Which {0}?";
    teams.the_same_person_count_once = "The same person: count once";
    teams.somebody_else = "Somebody else: {0}";
    teams.is_there_twice = "{0} is there twice";
    teams.does_not_play = "Does not play";
    teams.description = "Fair teams for people who play without a game server, made of the results of their games.";
    teams.of_so_many = " of {}";

    // venues
    venues.map = "Map {0}";
    venues.the_matches_on_and_how_even_they = "The matches on {0}, and how even they are.";
    venues.server = "Server {0}";
    venues.the_latest_matches_on_the_server = "The latest matches on the server {0}.";

    // versus
    versus.matches_of_both = "Matches of both";
    versus.won_by = "Won by {0}";
    versus.above_expected = "Above expected";
    versus.the_same = "the same";
    versus.and = "{0} and {1}";
    versus.matches_on_one_team_against_each = "{0}: {1} matches on one team, {2} against each other.";
    versus.different_ones = "different ones";
    versus.rated_matches_with_a_result_the = "Rated matches with a result, the last {0}; a draw is half a win. \
         “Above expected” is the wins minus the sum of the forecasts for the team.";
    versus.latest_matches_of_both = "Latest matches of both";

    // with_score
    with_score.the_chance_with_the_score_also = "The chance with the score also counts the score and the time that \
         is left: the game's own clock where the server states it, otherwise the time in which nine in ten of the \
         latest matches were over.";

    // words
    words.rated_matches_between_teams_the = "Rated matches between teams. The favourite is the team that was more \
         likely to win by the forecast; the closer to 50 % it won, the more even the teams were.";
    words.the_matches_are_being_counted_again = "The matches are being counted again. This takes a moment.";
    words.history_was_corrected = "History was corrected, and the matches are being counted again. Until that is done, \
         weights are those without the correction.";
    words.nobody_played = "Nobody played.";
    words.it_was_too_short = "It was too short.";
    words.no_score_was_reported = "No score was reported.";
    words.a_team_had_no_player = "A team had no player.";
    words.only_one_player_took_part = "Only one player took part.";
    words.there_were_too_few_humans = "There were too few humans.";
    words.an_operator_has_declared_it_void = "An operator has declared it void.";
    words.it_does_not_count = "It does not count.";
}
