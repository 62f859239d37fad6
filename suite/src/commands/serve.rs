//! `proofmark serve`: the reference mock server.

use super::CommandError;
use super::list::Format;
use crate::reference::{Behaviour, Server, StartError, contracts, defects, weathers};
use crate::scenario::diagnostic::suggestion;
use clap::Args;
use proofmark_reports::exit;
use serde_json::json;
use std::io::Write;
use std::num::NonZero;
use std::path::PathBuf;
use tokio::net::TcpListener;

#[derive(Args, Clone, Debug)]
pub struct ServeArgs {
    /// `CONTRACT=ADDR`, such as harness-runtime=127.0.0.1:4310; port 0 takes a free one; repeatable
    #[arg(long = "listen", value_name = "CONTRACT=ADDR")]
    pub listen: Vec<String>,
    /// Something a correct server may do; `CONTRACT:NAME` for one contract only; repeatable
    #[arg(long = "weather", value_name = "[CONTRACT:]NAME")]
    pub weather: Vec<String>,
    /// Something an implementer could have built wrongly; repeatable
    #[arg(long = "defect", value_name = "[CONTRACT:]NAME")]
    pub defects: Vec<String>,
    /// Fixes what weather and defects draw at random
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// What was promised survives the process, in this folder
    #[arg(long, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Keep the newest N ended executions and forget the others; all of them without
    #[arg(long, value_name = "N")]
    pub retain: Option<NonZero<usize>>,
    #[arg(long, conflicts_with_all = ["listen", "list_weather"])]
    pub list_defects: bool,
    #[arg(long, conflicts_with = "listen")]
    pub list_weather: bool,
    /// json: one object a line
    #[arg(long, value_enum, default_value_t)]
    pub format: Format,
}

/// Serves until `stop` resolves.
pub async fn run(args: &ServeArgs, stop: impl Future<Output = ()>, out: &mut dyn Write) -> Result<u8, CommandError> {
    if args.list_defects || args.list_weather {
        return list(args, out);
    }
    if args.listen.is_empty() {
        return Err(CommandError::usage("--listen is missing", Some("--listen harness-runtime=127.0.0.1:4310".to_owned())));
    }
    check_names(args)?;
    let mut servers = Vec::new();
    for text in &args.listen {
        let server = listen(args, text).await?;
        let contract = text.split('=').next().unwrap_or_default();
        let line = match args.format {
            Format::Text => format!("{contract} {}\n", server.url()),
            Format::Json => format!("{}\n", json!({ "contract": contract, "url": server.url() })),
        };
        print(out, &line)?;
        servers.push(server);
    }
    let failure = tokio::select! {
        () = stop => None,
        failure = failed(&mut servers) => Some(failure),
    };
    for server in servers {
        server.stop().await;
    }
    match failure {
        None => Ok(exit::HELD),
        Some(failure) => Err(CommandError::Kit(format!("the store can no longer be written, and the server has stopped: {failure}"))),
    }
}

/// Waits until the first store can no longer be written.
async fn failed(servers: &mut [Server]) -> String {
    let failures: Vec<_> = servers.iter_mut().map(|server| Box::pin(server.failed())).collect();
    futures_util::future::select_all(failures).await.0
}

fn print(out: &mut dyn Write, text: &str) -> Result<(), CommandError> {
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|problem| CommandError::Write { path: "standard output".into(), problem })
}

async fn listen(args: &ServeArgs, text: &str) -> Result<Server, CommandError> {
    let hint = || Some("--listen harness-runtime=127.0.0.1:4310".to_owned());
    let Some((contract, address)) = text.split_once('=') else {
        return Err(CommandError::usage(format!("`{text}` is not CONTRACT=ADDR"), hint()));
    };
    let served = contracts();
    if !served.contains(&contract) {
        let hint = suggestion(contract, served.iter().copied());
        return Err(CommandError::usage(format!("there is no reference server for `{contract}`"), hint));
    }
    let listener =
        TcpListener::bind(address).await.map_err(|error| CommandError::usage(format!("cannot listen on {address}: {error}"), hint()))?;
    let mine = |names: &[String], has: fn(&str, &str) -> bool| {
        let names = names.iter().filter_map(|name| for_contract(name, contract));
        names.filter(|name| has(contract, name)).map(str::to_owned).collect()
    };
    let (defects, weather) = (mine(&args.defects, has_defect), mine(&args.weather, has_weather));
    let behaviour = Behaviour { defects, weather, seed: args.seed, store: args.store.clone(), retain: args.retain };
    Server::listen(contract, listener, &behaviour).await.map_err(|error| refused(&error))
}

fn refused(error: &StartError) -> CommandError {
    let hint = match error {
        StartError::Store(problem) => Some(problem.hint().to_owned()),
        StartError::NoStore(_) => Some("serve it without --store, from a process of its own".to_owned()),
        StartError::NoRetention(_) => Some("serve it without --retain, from a process of its own".to_owned()),
        _ => return CommandError::Kit(error.to_string()),
    };
    CommandError::usage(error.to_string(), hint)
}

/// The name, if it is meant for this contract.
fn for_contract<'a>(name: &'a str, contract: &str) -> Option<&'a str> {
    match name.split_once(':') {
        Some((of, name)) => (of == contract).then_some(name),
        None => Some(name),
    }
}

fn has_weather(contract: &str, name: &str) -> bool {
    weathers().iter().any(|w| w.contract == contract && w.name == name)
}

fn has_defect(contract: &str, name: &str) -> bool {
    defects().iter().any(|d| d.contract == contract && d.name == name)
}

/// A name that none of the served contracts knows is a mistake.
fn check_names(args: &ServeArgs) -> Result<(), CommandError> {
    let served: Vec<&str> = args.listen.iter().map(|text| text.split('=').next().unwrap_or_default()).collect();
    let named = |name: &str, has: fn(&str, &str) -> bool| {
        served.iter().any(|contract| for_contract(name, contract).is_some_and(|name| has(contract, name)))
    };
    for name in &args.weather {
        if !named(name, has_weather) {
            let known = weathers().iter().filter(|w| served.contains(&w.contract)).map(|w| w.name);
            return Err(CommandError::usage(format!("there is no weather `{name}`"), suggestion(name, known)));
        }
    }
    if let Some(name) = args.defects.iter().find(|name| !named(name, has_defect)) {
        let known = defects().iter().filter(|d| served.contains(&d.contract)).map(|d| d.name);
        return Err(CommandError::usage(format!("there is no defect `{name}`"), suggestion(name, known)));
    }
    Ok(())
}

fn list(args: &ServeArgs, out: &mut dyn Write) -> Result<u8, CommandError> {
    let mut text = String::new();
    let mut line = |contract: &str, name: &str, about: &str, more: serde_json::Value| {
        text.push_str(&match args.format {
            Format::Text => format!("{contract}:{name:<36} {about}\n"),
            Format::Json => {
                let mut object = json!({ "contract": contract, "name": name, "about": about });
                if let (Some(object), Some(more)) = (object.as_object_mut(), more.as_object()) {
                    object.extend(more.clone());
                }
                format!("{object}\n")
            }
        });
    };
    if args.list_defects {
        for defect in defects() {
            line(
                defect.contract,
                defect.name,
                defect.about,
                json!({ "breaks": defect.breaks, "kind": format!("{:?}", defect.kind).to_lowercase() }),
            );
        }
    } else {
        weathers().iter().for_each(|weather| line(weather.contract, weather.name, weather.about, json!({})));
    }
    print(out, &text)?;
    Ok(exit::HELD)
}
