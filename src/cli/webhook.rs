//! `evenkeel webhook`: tests a webhook, lists what waits, and generates a secret.

use std::{
    io::{self, Write},
    process::ExitCode,
    sync::Arc,
};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    CliError, CommonArgs, block_on, open, print_json, random,
    table::{Table, or_dash},
};
use crate::{
    model::text::to_hex,
    session::{Clock, MachineClock},
    store::{HookEvent, HookKind, HookReport, HookRow},
    webhooks::{HookSender, HookVerdict, SigningKeys, body, verdict},
};

/// Test the webhooks of the configuration, list what waits for them, or generate a secret
#[derive(Debug, Args)]
pub(super) struct WebhookArgs {
    #[command(subcommand)]
    command: WebhookCommand,
}

#[derive(Debug, Subcommand)]
enum WebhookCommand {
    /// Send a test event to a webhook, and print the answer
    ///
    /// Exits with 1 unless the receiver answers with a status of 200 to 299. The test is not repeated.
    Test {
        /// The name of the webhook in the configuration
        #[arg(value_name = "NAME")]
        name: String,
        /// Print a JSON object
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// List the webhooks of the daemon: the events that wait, and those that were sent or dropped
    List {
        /// Print a JSON array
        #[arg(long)]
        json: bool,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Print a new secret, for the configuration and for the receiver
    Secret,
}

pub(super) fn run(args: &WebhookArgs) -> Result<ExitCode, CliError> {
    match &args.command {
        WebhookCommand::Test { name, json, common } => test(name, *json, common),
        WebhookCommand::List { json, common } => {
            block_on(list(*json, common)).map(|()| ExitCode::SUCCESS)
        }
        WebhookCommand::Secret => secret().map(|()| ExitCode::SUCCESS),
    }
}

fn test(name: &str, as_json: bool, common: &CommonArgs) -> Result<ExitCode, CliError> {
    let config = common.settings()?;
    let mut hooks = config.webhook.iter();
    let Some(hook) = hooks.find(|hook| hook.name.to_string() == name) else {
        return Err(CliError::input(format!(
            "the configuration has no webhook {name}"
        )));
    };
    let clock = Arc::new(MachineClock::default());
    let id = to_hex(&random::<12>()?);
    let event = HookEvent {
        number: 0,
        id: format!("evt_{id}"),
        kind: None,
        match_id: 0,
        at: clock.now(),
        address: None,
    };
    let sender = HookSender::new(hook)?;
    let answer = sender.send(&event.id, event.at, &body(&event, &HookReport::Test));
    let (url, millis, what) = (&hook.url, clock.millis(), answer.describe());
    let delivered = matches!(verdict(&answer, 1), HookVerdict::Delivered);
    match as_json {
        true => print_json(&json!({
            "webhook": name,
            "delivered": delivered,
            "answer": what,
            "url": url.to_string(),
            "milliseconds": millis,
        }))?,
        false => writeln!(
            io::stdout().lock(),
            "{name}: {what}, from {url} in {millis} ms"
        )?,
    }
    Ok(match delivered {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    })
}

async fn list(as_json: bool, common: &CommonArgs) -> Result<(), CliError> {
    let service = open(&common.load()?, false).await?;
    let rows = service.store().hooks().hook_rows().await?;
    service.close().await;
    if as_json {
        return print_json(&rows.iter().map(row_json).collect::<Vec<_>>());
    }
    let failed = |row: &HookRow| or_dash(row.failure.as_ref().map(|(at, _)| *at));
    let table = Table::of(&rows)
        .text("webhook", |row| &row.name)
        .text("events", |row| words(row).join(" "))
        .num("waiting", |row| row.waiting)
        .text("oldest", |row| or_dash(row.oldest))
        .num("delivered", |row| row.delivered)
        .num("dropped", |row| row.dropped)
        .num("tries", |row| row.tries)
        .text("failed", failed)
        .text("why", |row| {
            or_dash(row.failure.as_ref().map(|(_, why)| why))
        });
    Ok(writeln!(io::stdout().lock(), "{table}")?)
}

fn row_json(row: &HookRow) -> serde_json::Value {
    let failure = row.failure.as_ref();
    json!({
        "webhook": row.name,
        "events": words(row),
        "waiting": row.waiting,
        "oldest": row.oldest.map(|at| at.to_string()),
        "delivered": row.delivered,
        "dropped": row.dropped,
        "tries": row.tries,
        "failed": failure.map(|(at, _)| at.to_string()),
        "why": failure.map(|(_, why)| why),
    })
}

fn words(row: &HookRow) -> Vec<&'static str> {
    row.kinds.iter().copied().map(HookKind::as_str).collect()
}

fn secret() -> Result<(), CliError> {
    writeln!(io::stdout().lock(), "{}", SigningKeys::secret(&random()?))?;
    Ok(())
}
