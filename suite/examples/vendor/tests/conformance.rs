//! The whole suite as ordinary tests: one a case. `cargo test -p vendor-example -- idempotency` runs some of them.

use proofmark::trials::Conformance;
use std::process::ExitCode;
use vendor_example::Server;

/// How to provoke this server; in a runtime of your own, `proofmark.toml` beside its `Cargo.toml`.
const PROFILE: &str = "../../../fixtures/profiles/reference-harness-runtime.toml";

fn main() -> ExitCode {
    // VENDOR_DEFECT shows what a failing runtime looks like.
    let defect = std::env::var("VENDOR_DEFECT").ok();
    let server = match Server::start(defect.as_deref()) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("the server did not start: {error:?}");
            return ExitCode::FAILURE;
        }
    };
    Conformance::of(server.url()).profile(PROFILE).main()
}
