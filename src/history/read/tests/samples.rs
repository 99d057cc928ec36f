//! A sound history in every form.

use super::super::Format;

const JSON_LINES: &str = r#"{"index":0,"time":10,"type":"invoke","process":0,"node":"n1","f":"cas","key":7,"value":[1,2]}
{"index":1,"time":10,"type":"info","process":"nemesis","f":"cut","value":{"step":"begin","é":[1.5,true]}}
{"index":2,"time":11,"type":"invoke","process":1,"f":"txn","value":[["r","x",null],["append",3,-4]]}
{"index":3,"time":12,"type":"ok","process":1,"f":"txn","value":[["r","x",[1,2,3]],["append",3,-4]]}
{"index":4,"time":13,"type":"fail","process":0,"f":"cas","key":7,"value":[1,2],"error":"a \"b\"\u00e9"}
"#;

const JSON: &str = r#"[{"type":"invoke","f":"read","process":0,"time":11142323154,"index":0},
{"type":"ok","f":"read","process":0,"value":{"0":100,"7":0},"index":1, "extra": [null, {}]},
 {"index":2,"process":1,"type":"info","f":"transfer","value":{"from":0,"to":7,"amount":1}}
]
"#;

const EDN: &str = r#"; a comment
[{:type :invoke, :f :txn, :value [[:append 253 1] [:r :x nil]], :process 0, :time 5, :index 0}
 #jepsen.history.Op{:index 1, :time 6, :type :ok, :process 0, :f :txn :value [[:append 253 1] [:r :x [1 2]]]}
 {:type :info :f :start :process :nemesis :value {"n1" #{"n2" "n3"}} :at #inst "2026-01-01" #_ {:no 1}}
 {:type :info, :process 1, :f :add :value [1/2 3N \a ##NaN "a\"\u00e9"] :error [:timeout #object[a.B 0x1 "c"]]}]
"#;

const TEXT: &str = "0\t:invoke\t:cas\t[1 2]\n:nemesis\t:info\t:start\tnil\n0\t:fail\t:cas\t[1 2]\t\"no\"\n\
                    1\t:invoke\t:read\tnil\n1\t:info\t:read\t:timed-out\n";

const LOG: &str = "INFO  jepsen.core - starting\nINFO  jepsen.util - 0\t:invoke\t:read\tnil\n\
                   WARN  jepsen.util - 12 things\n2026-05-09 12:33:21,155{GMT}\tINFO\t[jepsen worker 0] \
                   jepsen.util: 0   :ok   :read   {:a 1}\n";

const CONSOLE: &str = "INFO [2018-02-04 22:13:53,377] main - jepsen.core begins, 2 ok\n\
                       INFO [2018-02-04 22:13:53,377] jepsen worker 4 - jepsen.util 4\t:invoke\t:add\t2\n\
                       INFO [2018-02-04 22:13:54,006] jepsen nemesis - jepsen.util :nemesis :info :stop nil\n\
                       INFO [2018-02-04 22:13:54,377] jepsen worker 4 - jepsen.util 4\t:info\t:add\t2\tno (or\n\
                       \tat a.b (c.clj:7)\n...\n";

const NAMED: &str = ":w1\t:invoke\t:read\tnil\n10.0.0.1:80\t:info\t:read\t[1 #{2}]\tlate (or\n(not))\n\n\
                     nemesis\t:info\t:stop\tnil\t:hint 7\nx :ok :read \"a\"\n";

const TAGGED: &str = "#jepsen.history.DenseHistory [#jepsen.history.Op{:type :invoke, :process 1, :f :cas, \
                      :value [\"k\" [1 {:a 2}] 3]} {:event :phase} {:type :ok, :process 1, :f :cas}]";

const MARKED: &str = r#"{"type":"meta","seed":7}
{"type":"invoke","process":"a","f":"cas","value":["k",1,[2,{"a":[]}]]}
{"type":"info","event":"phase","time":3}
{"type":"ok","process":"a","f":"cas","value":["k",1,2]}
"#;

const SESSIONS: &str = "w 0 0\nw 1 0\n=====\nr 0 0\n-----\nw 0 1\n\nr 1 0\n=====\nr 0 1\n";

const PLUME: &str = "w(1,0,0,0)\nr(1,0,1,1)\nr(2,0,1,1)\nw(2,5,2,2)\nw(2,9,3,-1)\nw(1,7,1,3)\n";

/// All forms, with what they are found to be.
pub fn samples() -> Vec<(Format, Vec<u8>)> {
    let mut encoder = crate::history::FrameEncoder::new().expect("an encoder");
    let (first, second) = JSON_LINES.split_at(JSON_LINES.len() / 2);
    let frames = [first, second].map(|lines| encoder.encode(lines.as_bytes()).expect("in memory"));
    [
        (Format::JsonLines, JSON_LINES),
        (Format::Json, JSON),
        (Format::Edn, EDN),
        (Format::Edn, EDN.trim_start_matches("; a comment\n[").trim_end().trim_end_matches(']')),
        (Format::Text, TEXT),
        (Format::Text, LOG),
        (Format::Text, CONSOLE),
        (Format::Text, NAMED),
        (Format::Edn, TAGGED),
        (Format::JsonLines, MARKED),
        (Format::Sessions, SESSIONS),
        (Format::Plume, PLUME),
    ]
    .map(|(format, text)| (format, text.as_bytes().to_vec()))
    .into_iter()
    .chain([(Format::Packed, frames.concat())])
    .collect()
}
