//! Files and folders as people have them at hand: logs, marks between operations, and what is no history.

use crate::binary::Folder;

const CONSOLE: &str = "INFO [2018-02-04 22:13:53,300] main - jepsen.core begins\n\
    INFO [2018-02-04 22:13:53,377] jepsen worker 4 - jepsen.util 4\t:invoke\t:write\t2\n\
    INFO [2018-02-04 22:13:53,390] jepsen worker 4 - jepsen.util 4\t:ok\t:write\t2\n\
    INFO [2018-02-04 22:14:17,146] jepsen worker 3 - jepsen.util 3\t:invoke\t:read\tnil\n\
    INFO [2018-02-04 22:14:17,153] jepsen worker 3 - jepsen.util 3\t:ok\t:read\t2\n\
    \n\nEverything looks good!\n";

const FLAT: &str = r#"[{:process 0 :type :invoke :f :write :value ["k2" "v0"]}
 {:process 0 :type :ok :f :write :value ["k2" "v0"]}
 {:process 1 :type :invoke :f :cas :value ["k2" "v0" "v2"]}
 {:process 1 :type :ok :f :cas :value ["k2" "v0" "v2"]}
 {:process 0 :type :invoke :f :read :value ["k2" nil]}
 {:process 0 :type :ok :f :read :value ["k2" "v2"]}]
"#;

#[test]
fn what_is_passed_over_is_counted() {
    let folder = Folder::new();
    folder.write("console.log", CONSOLE);
    let said = folder.run("check console.log --model register");
    assert_eq!(said.code, Some(0), "{said:?}");
    let told = "2 entries are no operations and were passed over, the first in line 1";
    assert!(said.err.contains(told), "{}", said.err);
}

#[test]
fn an_empty_list_is_a_history_in_which_nothing_was_done() {
    let folder = Folder::new();
    folder.write("none.json", "[]\n");
    for call in ["check none.json", "check none.json --model list-append"] {
        let said = folder.run(call);
        assert_eq!(said.code, Some(2), "{said:?}");
        assert!(said.out.contains("no client did anything, so nothing was shown"), "{}", said.out);
    }
}

#[test]
fn a_compare_and_set_of_a_key_may_be_flat() {
    let folder = Folder::new();
    folder.write("flat.edn", FLAT);
    folder.write("stale.edn", FLAT.replace("[\"k2\" \"v2\"]}]", "[\"k2\" \"v0\"]}]"));
    for (call, code) in [("check flat.edn", 0), ("check stale.edn", 1)] {
        for model in ["", " --model cas-register", " --model cas-register --independent"] {
            let said = folder.run(&format!("{call}{model}"));
            assert_eq!(said.code, Some(code), "{said:?}");
        }
    }
}

#[test]
fn a_register_with_versions_is_refused_with_what_to_do() {
    let folder = Folder::new();
    let ops = FLAT.replace("\"k2\" \"v0\" \"v2\"", "0 [nil [1 2]]");
    let ops = ops.replace("\"k2\" nil", "0 [nil nil]").replace("\"k2\" \"v0\"", "0 [nil 1]");
    folder.write("etcd.edn", ops);
    for call in ["check etcd.edn", "check etcd.edn --model cas-register --independent"] {
        let said = folder.run(call);
        assert_eq!(said.code, Some(64), "{said:?}");
        assert!(said.err.contains("its values are [version value], as jepsen.etcd's"), "{said:?}");
    }
}

#[test]
fn a_folder_of_jepsens_store_is_judged_by_its_history() {
    let folder = Folder::new();
    folder.write("store/results.edn", "{:valid? true}\n");
    folder.write("store/history.edn", FLAT);
    let said = folder.run("check store --model cas-register");
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(said.out.contains("store/history.edn against cas-register"), "{}", said.out);
    let said = folder.run("check store/results.edn");
    assert_eq!(said.code, Some(64), "{said:?}");
    assert!(said.err.contains("give the history.edn beside it"), "{}", said.err);
}
