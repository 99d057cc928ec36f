//! Replies and error texts, as kvrocks has them.

use super::*;

#[test]
fn strings() {
    talk(
        &mut Store::default(),
        "PING => +PONG
        PING hi => $2 hi
        GET k => $-1
        SET k 4 GET => $-1
        SET k 5 GET => $1 4
        SET k 6 NX => $-1
        SET n 6 XX => $-1
        SET k 6 NX GET => $1 5
        SET k 6 NX XX => -ERR syntax error
        SET k 6 EX 0 => -ERR out of numeric range
        SET k 6 EX x => -ERR not started as an integer
        SET k 6 EX 1x => -ERR encounter non-integer characters
        SET k 6 EX 5 KEEPTTL => -ERR syntax error
        SET k 6 EX => -ERR no more item to parse
        SETNX k 7 => :0
        SETEX k 0 v => -ERR invalid expire time
        GETSET k 8 => $1 5
        GETDEL k => $1 8
        MSET a 1 b 2 => +OK
        MSET a 1 b => -ERR wrong number of arguments
        MSETNX a 1 c 2 => :0
        MGET a none b => *3 $1 1 $-1 $1 2
        APPEND a bc => :3
        STRLEN a => :3
        GETRANGE a 1 -1 => $2 bc
        SETRANGE a 4 z => :5
        GET => -ERR wrong number of arguments
        NONE a b => -ERR unknown command `NONE`, with args beginning with: `a`, `b`
        NONE => -ERR unknown command `NONE`, with args beginning with:",
    );
}

#[test]
fn numbers() {
    talk(
        &mut Store::default(),
        "SET c 10 => +OK
        INCR c => :11
        DECRBY c 1 => :10
        INCRBY c 5 => :15
        INCRBYFLOAT c 1.5 => $4 16.5
        GET c => $9 16.500000
        INCR c => -ERR Invalid argument: value is not an integer or out of range
        INCRBY c x => -ERR value is not an integer or out of range
        INCRBYFLOAT c x => -ERR value is not a valid float
        SET c 9223372036854775807 => +OK
        INCR c => -ERR Invalid argument: increment or decrement would overflow
        DECRBY c -9223372036854775808 => -ERR decrement would overflow
        CAS cas a b => :-1
        SET cas a => +OK
        CAS cas a b => :1
        CAS cas a c => :0
        CAD cas zzz => :0
        CAD cas b => :1
        CAD cas b => :-1",
    );
}

#[test]
fn other_types_and_what_they_refuse() {
    talk(
        &mut Store::default(),
        "LPOP l => $-1
        LPOP l 2 => *-1
        RPUSH l 1 2 3 => :3
        LPUSH l 0 => :4
        LRANGE l 1 2 => *2 $1 1 $1 2
        LRANGE none 0 -1 => *0
        LINDEX l -1 => $1 3
        LPOP l 2 => *2 $1 0 $1 1
        RPOP l -1 => -ERR value is out of range, must be positive
        LSET l 9 x => -ERR Invalid argument: index out of range
        GET l => -ERR Invalid argument: WRONGTYPE Operation against a key holding the wrong kind of value
        INCR l => -ERR Invalid argument: WRONGTYPE Operation against a key holding the wrong kind of value
        MGET l => *1 $-1
        TYPE l => +list
        TYPE none => +none
        HSET h f v2 g w => :2
        HGETALL h => *4 $1 f $2 v2 $1 g $1 w
        HMGET h f none => *2 $2 v2 $-1
        HSETNX h f z => :0
        HINCRBY h n 3 => :3
        HINCRBY h f 3 => -ERR Invalid argument: not started as an integer
        HDEL h f f none => :1
        SADD s b a b => :2
        SMEMBERS s => *2 $1 a $1 b
        SISMEMBER s a => :1
        ZADD z 1 a => :1
        ZADD z x a => -ERR score is not a valid float
        ZRANGE z 0 -1 WITHSCORES => *2 $1 a $1 1
        XADD x 1-1 f v => $3 1-1
        XADD x 1-1 f v => -ERR Invalid argument: The ID specified in XADD is equal or smaller than the target stream top item
        XRANGE x - + => *1 *2 $3 1-1 *2 $1 f $1 v
        RENAME none y => -ERR no such key
        RENAME l l2 => +OK
        EXISTS l l2 l2 => :2
        DEL l2 l2 none => :1
        KEYS h* => *1 $1 h
        KEYS h? => -ERR only keys prefix match was supported
        DBSIZE => :0
        DBSIZE SCAN => +OK
        DBSIZE => :4
        FLUSHALL => +OK
        KEYS * => *0",
    );
}

#[test]
fn expiry_is_a_time_of_day() {
    let mut store = Store::default();
    talk(
        &mut store,
        "SET k v PX 1500 => +OK
        PTTL k => :1500
        TTL k => :1
        PEXPIRETIME k => :1001500
        SET k w KEEPTTL => +OK
        PERSIST k => :1
        PERSIST k => :0
        TTL k => :-1
        TTL none => :-2
        EXPIRE none 5 => :0
        PEXPIREAT k 1001000 => :1
        GETEX k => $1 w
        RPUSH l a => :1
        PEXPIRE l 1000 => :1",
    );
    assert_eq!(say(&mut store, "GET k", 1_001_000), "$1 w");
    assert_eq!(say(&mut store, "GET k", 1_001_001), "$-1");
    assert!(!store.is_empty(), "what is past its expiry still takes space");
    assert_eq!(say(&mut store, "RPUSH l b", 1_001_001), ":1", "made anew");
    assert_eq!(say(&mut store, "TTL l", 1_001_001), ":-1");
}

#[test]
fn scripts_of_one_call() {
    let mut store = Store::default();
    let mut eval = |script: &'static str, rest: &str| {
        let mut request = vec![Bytes::from("EVAL"), Bytes::from(script)];
        request.extend(words(rest));
        let mut bytes = Vec::new();
        run(&mut store, &request, NOW).reply.encode(&mut bytes);
        String::from_utf8_lossy(&bytes).trim_end().to_owned()
    };
    assert_eq!(eval("return 1", "0"), ":1");
    assert_eq!(eval("return redis.call('SET',KEYS[1],'1')", "1 k"), "+OK");
    assert_eq!(eval(" return redis.call( \"GET\" , KEYS[1] ) ;", "1 k"), "$1\r\n1");
    assert_eq!(eval("return ARGV[1]", "1 k arg"), "$3\r\narg");
    assert_eq!(eval("return KEYS[1]", "0"), "$-1");
    assert_eq!(eval("return 1", "3 k"), "-ERR Number of keys can't be greater than number of args");
    for script in ["local x = 1; return x", "return", "return redis.call('GET',", "return 'a\\n'"] {
        assert!(eval(script, "1 k").starts_with("-ERR this node has no Lua"), "{script}");
    }
    let text = eval("return redis.call('EVAL','return 1','0')", "0");
    assert_eq!(text, "-ERR This command is not allowed from script");
    let request = ["EVAL_RO", "return redis.call('SET',KEYS[1],'2')", "1", "k"].map(Bytes::from);
    assert!(matches!(run(&mut store, &request, NOW).reply, Value::Error(_)));
}

#[test]
fn a_scan_goes_over_every_key_and_ends() {
    let mut store = Store::default();
    for number in 0..25 {
        run(&mut store, &words(&format!("SET key{number} v")), NOW);
    }
    let (mut cursor, mut found) = (Bytes::from("0"), Vec::new());
    loop {
        let request = [Bytes::from("SCAN"), cursor, Bytes::from("COUNT"), Bytes::from("10")];
        let Value::Array(reply) = store.execute(&request, NOW).reply else { panic!("no array") };
        let [Value::Bulk(next), Value::Array(keys)] = reply.as_slice() else { panic!("no scan") };
        found.extend(keys.iter().cloned());
        cursor = next.clone();
        if cursor == "0" {
            break;
        }
    }
    assert_eq!(found.len(), 25);
    assert_eq!(say(&mut store, "SCAN x", NOW), "-ERR invalid cursor");
}

#[test]
fn the_table_tells_keys_from_words() {
    let keys = |line: &str| {
        let words = words(line);
        let command = lookup(&words[0]).expect("a command");
        let keys: Vec<String> = command
            .keys(&words)
            .iter()
            .map(|key| String::from_utf8_lossy(key).into_owned())
            .collect();
        (keys.join(" "), command.write, command.takes(words.len()))
    };
    assert_eq!(keys("mset a 1 b 2"), ("a b".into(), true, true));
    assert_eq!(keys("GET a b"), ("a".into(), false, false));
    assert_eq!(keys("DEL a b"), ("a b".into(), true, true));
    assert_eq!(keys("PING"), (String::new(), false, true));
    assert_eq!(keys("EVAL s 2 a b c"), ("a b".into(), true, true));
    assert_eq!(keys("EVAL s 9 a b c"), ("a b c".into(), true, true));
    assert_eq!(keys("EVAL s -1 a"), (String::new(), true, true));
    assert_eq!(keys("EVAL"), (String::new(), true, false));
    assert!(lookup(b"nothing").is_none());
}

#[test]
fn watches_see_changes_and_named_keys() {
    let mut store = Store::default();
    let key = Bytes::from("k");
    let watch = store.watch(&key);
    let other = store.watch(&Bytes::from("other"));
    run(&mut store, &words("GET k"), NOW);
    assert!(!watch.is_touched());
    run(&mut store, &words("SET k v"), NOW);
    assert!(watch.is_touched() && !other.is_touched());
    let again = store.watch(&key);
    let mut transaction = store.transaction(NOW);
    transaction.execute(&words("SET k w"));
    drop(transaction);
    assert!(!again.is_touched(), "a transaction that comes to nothing changes nothing");
    store.touch(b"k");
    assert!(again.is_touched());
    store.apply(&Record::ClearSlots { first: 0, last: 16383 });
    assert!(other.is_touched());
}
