//! `stormglass down`: remove what runs have left behind.

use clap::Args;

use super::{exit, fail};
use crate::docker::{Engine, sweep};

#[derive(Args)]
pub struct Arguments {
    /// Only this run
    #[arg(long, value_name = "ID")]
    run: Option<String>,
    /// Also runs whose orchestrator is alive
    #[arg(long)]
    force: bool,
}

pub fn down(arguments: &Arguments) -> i32 {
    let runtime = match super::runtime() {
        Ok(runtime) => runtime,
        Err(error) => return fail(exit::INFRASTRUCTURE, error),
    };
    runtime.block_on(async {
        let engine = match Engine::connect().await {
            Ok(engine) => engine,
            Err(error) => return fail(exit::INFRASTRUCTURE, error),
        };
        match sweep(&engine, arguments.run.as_deref(), arguments.force).await {
            Ok(swept) => {
                for line in swept.lines() {
                    println!("{line}");
                }
                swept.exit_code()
            }
            Err(error) => fail(exit::INFRASTRUCTURE, format!("{error:#}")),
        }
    })
}
