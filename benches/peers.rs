//! Register checking beside porcupine, on the same files in one run: verdicts, CPU time of checking,
//! peak memory, ratios, and how both grow.
//!
//! `STORMGLASS_PEERS` names a folder with the sources of the generator (`cmd/histgen`) and of a program
//! that runs porcupine (`porcupine`), in Go; without it nothing runs. `STORMGLASS_HISTORIES` names a folder
//! of recorded histories. `cargo bench --bench peers -- quick` takes a tenth of everything. Nothing here
//! fails for being slow: it measures, and says which target is met.

#[path = "peers/judged.rs"]
mod judged;
#[path = "peers/plot.rs"]
mod plot;
#[path = "peers/recorded.rs"]
mod recorded;
#[path = "peers/table.rs"]
mod table;
#[path = "peers/tools.rs"]
mod tools;
#[path = "peers/transactions.rs"]
mod transactions;
#[path = "peers/workload.rs"]
mod workload;

use std::path::Path;

use plot::Growth;
use table::{Row, Table};
use tools::{Bounds, Tools};
use workload::{GROWN, Scale, WORKLOADS};

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, mode, file, model, options, explained] = arguments.as_slice()
        && mode == judged::MODE
    {
        return judged::judge(Path::new(file), model, options, explained);
    }
    let Some(peers) = std::env::var_os("STORMGLASS_PEERS") else {
        println!(
            "not run: STORMGLASS_PEERS names no folder with histgen's and porcupine's sources"
        );
        return;
    };
    let quick = arguments.iter().any(|argument| argument == "quick");
    let scale = if quick { Scale::Tenth } else { Scale::Full };
    let bounds = if quick { Bounds::QUICK } else { Bounds::FULL };
    let work = Path::new(env!("CARGO_TARGET_TMPDIR")).join("peers");
    let tools = Tools::build(Path::new(&peers), &work, bounds);
    println!("porcupine may take {bounds}; CPU times are of deciding alone, memory is of all\n");

    let mut table = Table::new();
    for workload in WORKLOADS {
        let file = tools.generate(&workload.arguments(scale), workload.name);
        let row = Row::measured(&tools, workload, &file);
        table.add(row);
        tools.forget(&file);
    }
    recorded::measure(&tools, &mut table);
    transactions::measure(&tools, scale, &mut table);
    table.conclude();

    let mut growth = Growth::default();
    for (name, arguments) in GROWN {
        for operations in scale.steps() {
            let file = tools.generate(&workload::sized(arguments, operations), name);
            growth.add(
                name,
                operations,
                tools.ours(&file, "cas-register", "{}", 0),
                tools.porcupine(&file, "jsonl"),
            );
            tools.forget(&file);
        }
    }
    growth.print();
    let plot = work.join("growth.svg");
    std::fs::write(&plot, growth.svg()).expect("a plot on disk");
    println!("\nplot: {}", plot.display());
}
