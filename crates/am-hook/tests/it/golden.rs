//! Every case of the golden capture data, through the library and a listener.

use std::io::Cursor;

use am_hook::program::{self, Settings};
use serde_json::Value;

use crate::support::{self, Listener};

const GOLDEN: &str = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden/hook.json"));

#[test]
fn every_case_makes_its_request() {
    let golden: Value = serde_json::from_str(GOLDEN).unwrap();
    let cases = golden["cases"].as_array().unwrap();
    assert_eq!(cases.len(), 124);
    let listener = Listener::start(|_| support::ours(201));
    let directory = tempfile::tempdir().unwrap();
    for case in cases {
        let name = case["name"].as_str().unwrap();
        let mut environment = support::golden_environment(case, &listener);
        environment.push(("AGENT_MEMORY_DATA_DIR".to_owned(), directory.path().to_str().unwrap().to_owned()));
        let settings = Settings::from_environment(
            |variable| environment.iter().find(|(key, _)| key == variable).map(|(_, value)| value.into()),
            Some("/somewhere/own-directory".into()),
        );
        let arguments = case["args"].as_array().unwrap();
        let arguments = arguments.iter().map(|argument| argument.as_str().unwrap().into());
        let mut output = Vec::new();
        program::run(arguments, settings, Some(Cursor::new(support::golden_input(case))), &mut output);
        assert_eq!(String::from_utf8(output).unwrap(), case["stdout"].as_str().unwrap(), "{name}");
        support::assert_golden_request(case, &listener.take(), "own-directory");
    }
}
