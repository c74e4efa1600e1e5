//! Whatever is in a memory, an export brings it over to the byte.

use proptest::prelude::*;

use crate::support::Am;

#[derive(Clone, Debug)]
enum Step {
    Save { project: String, session: String, text: String, concepts: Vec<String> },
    Capture { project: String, session: String, key: u8, text: String },
    Lesson { text: String },
    Forget { nth: usize },
    Summarise { session: String },
    CopyOver,
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof!["[a-c]", "\\PC{1,12}".prop_filter("not blank", |name| !am_model::text::trim(name).is_empty())]
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{3,9}( [a-z]{2,9}){0,8}",
        // Nearly the same again and again, so that texts are merged.
        (0_usize..4).prop_map(|n| {
            let words: Vec<String> = (0..40).map(|word| format!("word{word}")).collect();
            format!("{} tail{n}", words.join(" "))
        }),
        "\\PC{1,60}",
        "[\u{0}-\u{10ffff}]{1,20}",
    ]
    .prop_filter("not blank", |text| !am_model::text::trim(text).is_empty())
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (name(), name(), text(), prop::collection::vec(name(), 0..3)).prop_map(
            |(project, session, text, concepts)| Step::Save { project, session, text, concepts }
        ),
        2 => (name(), name(), any::<u8>(), text())
            .prop_map(|(project, session, key, text)| Step::Capture { project, session, key, text }),
        1 => text().prop_map(|text| Step::Lesson { text }),
        1 => (0_usize..8).prop_map(|nth| Step::Forget { nth }),
        1 => "[a-c]".prop_map(|session| Step::Summarise { session }),
        1 => Just(Step::CopyOver),
    ]
}

fn import(exported: &str) -> Am {
    let am = Am::new();
    am.run_with_input(["import", "-"], exported.as_bytes()).ok();
    am
}

/// Returns an argument that no option is taken for, nor anything that an argument can't be.
fn option(name: &str, value: &str) -> Option<String> {
    (!value.contains('\0')).then(|| format!("--{name}={value}"))
}

fn apply(am: Am, step: Step, ids: &mut Vec<String>) -> Am {
    match step {
        Step::Save { project, session, text, concepts } => {
            let options = [option("project", &project), option("session", &session)];
            let concepts = concepts.iter().map(|concept| option("concept", concept));
            let arguments = ["remember".to_owned()].into_iter();
            let ran = am.run_with_input(
                arguments.chain(options.into_iter().chain(concepts).flatten()),
                text.as_bytes(),
            );
            ids.push(ran.ok().stdout.trim_ascii().to_owned());
        }
        Step::Capture { project, session, key, text } => {
            am.capture(&project, &session, &format!("host:Stop:{key}"), &text);
        }
        Step::Lesson { text } => {
            am.run_with_input(["remember", "--lesson", "--project", "a"], text.as_bytes()).ok();
        }
        Step::Forget { nth } => {
            if let Some(id) = ids.get(nth) {
                am.run(["forget", id]);
            }
        }
        Step::Summarise { session } => {
            am.run(["summarize", "--project", "a", "--session-id", &session]);
        }
        // From here on the memory is a copy that lives on.
        Step::CopyOver => {
            let exported = am.run(["export"]);
            if exported.code == 0 {
                return import(&exported.stdout);
            }
        }
    }
    am
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_export_of_an_import_is_equal_to_the_byte(steps in prop::collection::vec(step(), 1..8)) {
        let mut am = Am::new();
        let mut ids = vec![];
        am.run(["bootstrap"]).ok();
        for step in steps {
            am = apply(am, step, &mut ids);
        }
        let exported = am.run(["export"]).ok().stdout;
        let other = import(&exported);
        prop_assert_eq!(other.run(["verify", "--json"]).ok().json()["ok"].clone(), true);
        prop_assert_eq!(&other.run(["export"]).ok().stdout, &exported);
        // A second time everything is there already.
        other.run_with_input(["import", "-"], exported.as_bytes()).ok();
        prop_assert_eq!(&other.run(["export"]).ok().stdout, &exported);
    }
}
