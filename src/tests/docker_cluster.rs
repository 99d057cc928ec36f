//! tmp
use stormglass::docker::{Engine, images};

#[tokio::test]
async fn resolve() {
    let engine = Engine::connect().await.unwrap();
    println!("{engine:?}");
    let start = std::time::Instant::now();
    let progress = |line: &str| eprintln!("{:?} {line}", start.elapsed());
    println!("{:?}", images::resolve(&engine, "zookeeper", Some("nope:1"), &progress).await.unwrap_err().to_string());
    let image = images::resolve(&engine, "zookeeper", None, &progress).await;
    match image { Ok(image) => println!("{image:?}"), Err(error) => panic!("{error}") }
    println!("{:?}", images::list(&engine).await.unwrap());
}
