fn main() {
    std::process::exit(stormglass::cli::main(std::env::args_os()));
}
