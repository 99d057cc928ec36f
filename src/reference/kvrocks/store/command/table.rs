//! Every command on keys.

use super::{Command, Keys};
use crate::reference::kvrocks::store::call::{Answer, Call};
use crate::reference::kvrocks::store::{
    database, expiry, hash, key, list, script, set, sorted_set, stream, string,
};

type Run = fn(&Call<'_>) -> Answer;

const NONE: Keys = Keys::None;
const ONE: Keys = Keys::Range { first: 1, last: 1, step: 1 };
const TWO: Keys = Keys::Range { first: 1, last: 2, step: 1 };
const ALL: Keys = Keys::Range { first: 1, last: -1, step: 1 };
const PAIRS: Keys = Keys::Range { first: 1, last: -1, step: 2 };
const COUNTED: Keys = Keys::Counted { count: 2 };

const fn reads(name: &'static str, arity: i32, keys: Keys, run: Run) -> Command {
    Command { name, arity, write: false, keys, run }
}

const fn writes(name: &'static str, arity: i32, keys: Keys, run: Run) -> Command {
    Command { name, arity, write: true, keys, run }
}

pub const COMMANDS: &[Command] = &[
    reads("ping", -1, NONE, database::ping),
    reads("echo", 2, NONE, database::echo),
    reads("keys", 2, NONE, database::keys),
    reads("scan", -2, NONE, database::scan),
    reads("dbsize", -1, NONE, database::dbsize),
    writes("flushdb", 1, NONE, database::flush),
    writes("flushall", 1, NONE, database::flush),
    writes("eval", -3, COUNTED, script::eval),
    reads("eval_ro", -3, COUNTED, script::eval_ro),
    reads("exists", -2, ALL, key::exists),
    reads("type", 2, ONE, key::type_name),
    writes("del", -2, ALL, key::delete),
    writes("unlink", -2, ALL, key::delete),
    writes("rename", 3, TWO, key::rename),
    writes("renamenx", 3, TWO, key::rename_new),
    reads("ttl", 2, ONE, expiry::ttl),
    reads("pttl", 2, ONE, expiry::pttl),
    reads("expiretime", 2, ONE, expiry::expire_time),
    reads("pexpiretime", 2, ONE, expiry::pexpire_time),
    writes("expire", 3, ONE, expiry::expire),
    writes("pexpire", 3, ONE, expiry::pexpire),
    writes("expireat", 3, ONE, expiry::expire_at),
    writes("pexpireat", 3, ONE, expiry::pexpire_at),
    writes("persist", 2, ONE, expiry::persist),
    reads("get", 2, ONE, string::get),
    reads("mget", -2, ALL, string::get_many),
    reads("strlen", 2, ONE, string::length),
    reads("getrange", 4, ONE, string::range),
    reads("substr", 4, ONE, string::range),
    writes("set", -3, ONE, string::set),
    writes("setnx", 3, ONE, string::set_new),
    writes("setex", 4, ONE, string::set_seconds),
    writes("psetex", 4, ONE, string::set_ms),
    writes("mset", -3, PAIRS, string::set_many),
    writes("msetnx", -3, PAIRS, string::set_many_new),
    writes("getset", 3, ONE, string::get_set),
    writes("getex", -2, ONE, string::get_expire),
    writes("getdel", 2, ONE, string::get_delete),
    writes("append", 3, ONE, string::append),
    writes("setrange", 4, ONE, string::set_range),
    writes("incr", 2, ONE, string::increment),
    writes("decr", 2, ONE, string::decrement),
    writes("incrby", 3, ONE, string::increment_by),
    writes("decrby", 3, ONE, string::decrement_by),
    writes("incrbyfloat", 3, ONE, string::increment_float),
    writes("cas", -4, ONE, string::compare_and_set),
    writes("cad", 3, ONE, string::compare_and_delete),
    reads("llen", 2, ONE, list::length),
    reads("lrange", 4, ONE, list::range),
    reads("lindex", 3, ONE, list::index),
    writes("lpush", -3, ONE, list::push_left),
    writes("rpush", -3, ONE, list::push_right),
    writes("lpushx", -3, ONE, list::push_left_existing),
    writes("rpushx", -3, ONE, list::push_right_existing),
    writes("lpop", -2, ONE, list::pop_left),
    writes("rpop", -2, ONE, list::pop_right),
    writes("lset", 4, ONE, list::set),
    writes("lrem", 4, ONE, list::remove),
    writes("ltrim", 4, ONE, list::trim),
    reads("hget", 3, ONE, hash::get),
    reads("hmget", -3, ONE, hash::get_many),
    reads("hgetall", 2, ONE, hash::get_all),
    reads("hkeys", 2, ONE, hash::fields),
    reads("hvals", 2, ONE, hash::values),
    reads("hlen", 2, ONE, hash::length),
    reads("hexists", 3, ONE, hash::exists),
    reads("hstrlen", 3, ONE, hash::value_length),
    writes("hset", -4, ONE, hash::set),
    writes("hmset", -4, ONE, hash::set_many),
    writes("hsetnx", 4, ONE, hash::set_new),
    writes("hdel", -3, ONE, hash::delete),
    writes("hincrby", 4, ONE, hash::increment_by),
    writes("hincrbyfloat", 4, ONE, hash::increment_float),
    reads("smembers", 2, ONE, set::members),
    reads("sismember", 3, ONE, set::is_member),
    reads("smismember", -3, ONE, set::are_members),
    reads("scard", 2, ONE, set::count),
    writes("sadd", -3, ONE, set::add),
    writes("srem", -3, ONE, set::remove),
    reads("zscore", 3, ONE, sorted_set::score),
    reads("zcard", 2, ONE, sorted_set::count),
    reads("zrange", -4, ONE, sorted_set::range),
    writes("zadd", -4, ONE, sorted_set::add),
    writes("zrem", -3, ONE, sorted_set::remove),
    reads("xlen", 2, ONE, stream::length),
    reads("xrange", -4, ONE, stream::range),
    writes("xadd", -5, ONE, stream::add),
];
