//! What the user may set, who wins, and what is said of what can't be.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use am_embed::analysis::Profile;
use am_runtime::config::{Config, Key, Origin, Overrides, Secret, config_file, read_config_file};
use am_store_sqlite::Synchronous;
use proptest::prelude::*;

use crate::support::{environment, resolve};

fn shown(config: &Config, key: Key) -> (String, String) {
    let line = config.show().into_iter().find(|shown| shown.key == key).unwrap();
    (line.value, line.origin)
}

#[test]
fn without_a_word_from_the_user_the_defaults_hold() {
    let config = resolve(&[], None).unwrap();
    let lines: Vec<String> = config
        .show()
        .iter()
        .map(|shown| format!("{}={} ({})", shown.key.name(), shown.value, shown.origin))
        .collect();
    let data_dir = format!("data_dir={} (default)", config.data_dir.value.display());
    assert_eq!(
        lines,
        [
            &data_dir,
            "store=embedded (default)",
            "profile=default (default)",
            "embedder=hash (default)",
            "synchronous=full (default)",
            "projection_bytes= (default)",
            "host=127.0.0.1 (default)",
            "port=3111 (default)",
            "secret= (default)",
            "allow_hosts= (default)",
            "allow_origins= (default)",
            "metrics_port=off (default)",
            "url= (default)",
            "project= (default)",
            "ttl_days=off (default)",
            "decay_lambda=off (default)",
            "merge_jaccard=0.9 (default)",
            "capture_paths=off (default)",
            "evidence_days=off (default)",
        ]
    );
    assert!(config.warnings.is_empty());
    assert_eq!(config.settings(), am_service::Settings::default());
    if cfg!(target_os = "linux") {
        assert_eq!(config.data_dir.value, Path::new("/home/someone/.local/share/agent-memory"));
    }
}

#[test]
fn a_flag_beats_the_environment_that_beats_the_file_that_beats_the_default() {
    let file = "port = 1\nhost = \"::1\"\nprofile = \"contract\"\n";
    let environment = environment(&[("AGENT_MEMORY_PORT", "2"), ("AGENT_MEMORY_HOST", "localhost")]);
    let overrides = Overrides::default().with(Key::Port, Some("3")).with(Key::Host, None::<OsString>);
    let config = Config::resolve(&overrides, &environment, Some(file)).unwrap();
    assert_eq!((config.port.value, config.port.origin), (3, Origin::Flag));
    assert_eq!((config.host.value.as_str(), config.host.origin), ("localhost", Origin::Environment));
    assert_eq!((config.profile.value, config.profile.origin), (Profile::Contract, Origin::File));
    assert_eq!(config.synchronous.origin, Origin::Default);
    assert_eq!(shown(&config, Key::Port), ("3".to_owned(), "flag".to_owned()));
    assert_eq!(shown(&config, Key::Host).1, "environment AGENT_MEMORY_HOST");
    assert_eq!(shown(&config, Key::Profile).1, "file");
}

#[test]
fn every_setting_can_be_set_in_the_file_and_in_the_environment() {
    let file = r#"
        data_dir = "/somewhere/else"
        store = "embedded"
        profile = "contract"
        embedder = "hash"
        synchronous = "normal"
        projection_bytes = "64MiB"
        host = "[::1]"
        port = 0x10
        secret = "s \u00e9"
        allow_hosts = ["Box.lan", "10.0.0.7"]
        allow_origins = ["HTTP://Localhost:8080/", "https://a.example"]
        metrics_port = 9100
        url = "https://memory.example/prefix"
        project = " p "
        ttl_days = 30
        decay_lambda = 0.01
        merge_jaccard = 0.8
        capture_paths = "basename"
        evidence_days = 90
    "#;
    let of_file = resolve(&[], Some(file)).unwrap();
    let of_environment = resolve(
        &[
            ("AGENT_MEMORY_DATA_DIR", "/somewhere/else"),
            ("AGENT_MEMORY_STORE", "embedded"),
            ("AGENT_MEMORY_PROFILE", "contract"),
            ("AGENT_MEMORY_EMBEDDER", "hash"),
            ("AGENT_MEMORY_SYNCHRONOUS", "normal"),
            ("AGENT_MEMORY_PROJECTION_BYTES", "67108864"),
            ("AGENT_MEMORY_HOST", "::1"),
            ("AGENT_MEMORY_PORT", " 16 "),
            ("AGENT_MEMORY_SECRET", "s \u{e9}"),
            ("AGENT_MEMORY_ALLOW_HOSTS", "box.lan, 10.0.0.7,"),
            ("AGENT_MEMORY_ALLOW_ORIGINS", "http://localhost:8080,https://a.example:443"),
            ("AGENT_MEMORY_METRICS_PORT", "9100"),
            ("AGENT_MEMORY_URL", "https://memory.example/prefix"),
            ("AGENT_MEMORY_PROJECT", "p"),
            ("AGENT_MEMORY_TTL_DAYS", "30"),
            ("AGENT_MEMORY_DECAY_LAMBDA", "1e-2"),
            ("AGENT_MEMORY_MERGE_JACCARD", ".8"),
            ("AGENT_MEMORY_CAPTURE_PATHS", "basename"),
            ("AGENT_MEMORY_EVIDENCE_DAYS", "90"),
        ],
        None,
    )
    .unwrap();
    for config in [&of_file, &of_environment] {
        assert_eq!(config.data_dir.value, Path::new("/somewhere/else"));
        assert_eq!(config.synchronous.value, Synchronous::Normal);
        assert_eq!(config.projection_bytes.value, Some(64 << 20));
        assert_eq!((config.host.value.as_str(), config.is_loopback()), ("::1", true));
        assert_eq!(config.port.value, 16);
        assert_eq!(config.secret.value.as_ref().map(Secret::expose), Some("s \u{e9}"));
        assert_eq!(config.allow_hosts.value, ["box.lan", "10.0.0.7"]);
        assert_eq!(config.allow_origins.value, ["http://localhost:8080", "https://a.example"]);
        assert_eq!(config.metrics_port.value, Some(9100));
        assert_eq!(
            config.url.value.as_ref().map(|url| url.text.as_str()),
            Some("https://memory.example/prefix")
        );
        assert_eq!(config.project.value.as_ref().map(AsRef::as_ref), Some("p"));
        assert_eq!(config.settings().ttl.map(am_service::Ttl::days), Some(30.0));
        assert_eq!(config.settings().decay.map(am_service::DecayLambda::per_day), Some(0.01));
        assert_eq!(config.settings().merge_threshold.map(am_service::MergeThreshold::get), Some(0.8));
        assert!(config.capture_paths.value);
        assert_eq!(config.evidence_days.value, Some(90));
        assert!(config.warnings.is_empty());
    }
    let origins =
        |config: &Config| config.show().iter().map(|shown| shown.origin.clone()).collect::<Vec<_>>();
    assert!(origins(&of_file).iter().all(|origin| origin == "file"));
    assert!(origins(&of_environment).iter().all(|origin| origin.starts_with("environment AGENT_MEMORY_")));
}

#[test]
fn an_unusable_value_is_named_with_what_is_allowed() {
    for (variable, value, allowed) in [
        ("AGENT_MEMORY_PORT", "", "an integer from 1 to 65535"),
        ("AGENT_MEMORY_PORT", "0", "an integer from 1 to 65535"),
        ("AGENT_MEMORY_PORT", "65536", "an integer from 1 to 65535"),
        ("AGENT_MEMORY_PORT", "80.5", "an integer from 1 to 65535"),
        ("AGENT_MEMORY_PORT", "http", "an integer from 1 to 65535"),
        ("AGENT_MEMORY_METRICS_PORT", "x", "an integer from 1 to 65535, or off"),
        ("AGENT_MEMORY_HOST", "", "an IP address or a host name"),
        ("AGENT_MEMORY_HOST", "1.2.3", "an IP address or a host name"),
        ("AGENT_MEMORY_HOST", "127.0.0.1:80", "an IP address or a host name"),
        ("AGENT_MEMORY_HOST", "a b", "an IP address or a host name"),
        ("AGENT_MEMORY_STORE", "helix", "embedded"),
        ("AGENT_MEMORY_PROFILE", "Default", "default, contract"),
        ("AGENT_MEMORY_EMBEDDER", "static", "hash"),
        ("AGENT_MEMORY_SYNCHRONOUS", "off", "full, normal"),
        ("AGENT_MEMORY_PROJECTION_BYTES", "1KiB", "a number of bytes"),
        ("AGENT_MEMORY_PROJECTION_BYTES", "99999999999999GiB", "a number of bytes"),
        ("AGENT_MEMORY_URL", "localhost:3111", "an http or https URL"),
        ("AGENT_MEMORY_URL", "ftp://x", "an http or https URL"),
        ("AGENT_MEMORY_ALLOW_HOSTS", "a,b:1", "a list of host names"),
        ("AGENT_MEMORY_ALLOW_ORIGINS", "http://a/path", "a list of origins"),
        ("AGENT_MEMORY_CAPTURE_PATHS", "full", "basename, off"),
    ] {
        let error = resolve(&[(variable, value)], None).expect_err(variable).to_string();
        assert!(
            error.starts_with(&format!("{variable}: {value:?} is not usable; allowed: {allowed}")),
            "{error}"
        );
    }
    let long = "x".repeat(201);
    assert!(resolve(&[("AGENT_MEMORY_PROJECT", &long)], None).is_err());
    let flag = Overrides::default().with(Key::Port, Some("x"));
    let error = Config::resolve(&flag, &environment(&[]), None).unwrap_err().to_string();
    assert!(error.starts_with("--port: \"x\""), "{error}");
    let error = resolve(&[], Some("port = 0")).unwrap_err().to_string();
    assert!(error.starts_with("port in config.toml: \"0\""), "{error}");
}

#[test]
fn empty_means_unset_where_nothing_is_meant() {
    let config = resolve(
        &[
            ("AGENT_MEMORY_SECRET", ""),
            ("AGENT_MEMORY_URL", " "),
            ("AGENT_MEMORY_PROJECT", " "),
            ("AGENT_MEMORY_DATA_DIR", ""),
            ("AGENT_MEMORY_METRICS_PORT", ""),
            ("AGENT_MEMORY_CAPTURE_PATHS", ""),
            ("AGENT_MEMORY_ALLOW_HOSTS", ""),
            ("AGENT_MEMORY_TTL_DAYS", ""),
            ("AGENT_MEMORY_DECAY_LAMBDA", ""),
        ],
        None,
    )
    .unwrap();
    assert_eq!(config.secret.value, None);
    assert_eq!(config.url.value, None);
    assert_eq!(config.project.value, None);
    assert_eq!(config.data_dir.origin, Origin::Default);
    assert!(config.warnings.is_empty());
    let config = resolve(&[("AGENT_MEMORY_DATA_DIR", "")], Some("data_dir = '/from/file'")).unwrap();
    assert_eq!(config.data_dir.value, Path::new("/from/file"));
}

#[test]
fn ranking_and_merging_are_off_where_unusable_and_a_warning_says_so() {
    let variables = [
        ("AGENT_MEMORY_TTL_DAYS", "-1"),
        ("AGENT_MEMORY_DECAY_LAMBDA", "x"),
        ("AGENT_MEMORY_MERGE_JACCARD", ""),
    ];
    let config = resolve(&variables, None).unwrap();
    assert_eq!(config.settings(), am_service::Settings { ttl: None, decay: None, merge_threshold: None });
    let warnings: Vec<String> = config.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "AGENT_MEMORY_TTL_DAYS: \"-1\" is not usable: memories don't expire (write `off` to say so)",
            "AGENT_MEMORY_DECAY_LAMBDA: \"x\" is not usable: importance doesn't fade (write `off` to say so)",
            "AGENT_MEMORY_MERGE_JACCARD: \"\" is not usable: texts are not merged (write `off` to say so)",
        ]
    );
    let config = resolve(&[("AGENT_MEMORY_MERGE_JACCARD", "off")], Some("ttl_days = \"off\"")).unwrap();
    assert_eq!(config.settings().merge_threshold, None);
    assert!(config.warnings.is_empty());
}

#[test]
fn a_secret_is_never_shown() {
    let config = resolve(&[("AGENT_MEMORY_SECRET", "hunter2")], None).unwrap();
    assert_eq!(shown(&config, Key::Secret).0, "set");
    assert!(!format!("{config:?}").contains("hunter2"));
    let error = resolve(&[("AGENT_MEMORY_SECRET", "hunter2\n")], None).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    assert!(error.to_string().starts_with("AGENT_MEMORY_SECRET: "), "{error}");
    let error = resolve(&[], Some("secret = \"hunter2")).unwrap_err();
    assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
}

#[test]
fn a_secret_that_no_header_can_carry_is_refused() {
    let mut refused = vec![];
    for value in
        [" hunter2", "hunter2 ", "\thunter2", "hunter2\t", "hun\u{0}ter2", "hun\nter2", "hunter2\u{7f}", " "]
    {
        refused.push(resolve(&[("AGENT_MEMORY_SECRET", value)], None).expect_err(value));
    }
    for file in ["secret = ' hunter2'", r#"secret = "hunter2\u0000""#] {
        refused.push(resolve(&[], Some(file)).expect_err(file));
    }
    for error in refused {
        let shown = error.to_string();
        assert!(
            shown.contains("the secret is not usable; allowed: text without control characters"),
            "{shown}"
        );
        assert!(shown.contains("space"), "{shown}");
        assert!(!format!("{error} {error:?}").contains("hun"), "{shown}");
    }
    for value in ["a b", "p\u{e9}", "\u{1f511}"] {
        assert!(resolve(&[("AGENT_MEMORY_SECRET", value)], None).is_ok(), "{value}");
    }
}

#[test]
fn a_file_with_mistakes_is_refused() {
    for (file, expected) in [
        ("prot = 1", "config.toml: unknown key \"prot\" (did you mean \"port\"?)"),
        ("Data-Dir = 1", "config.toml: unknown key \"Data-Dir\" (did you mean \"data_dir\"?)"),
        ("something_else = 1", "config.toml: unknown key \"something_else\""),
        ("[server]\nport = 1", "config.toml: unknown key \"server\""),
        ("port = 2026-01-01", "config.toml: the value of \"port\" must be"),
        ("port = { a = 1 }", "config.toml: the value of \"port\" must be"),
        ("host = \"a\"\nport = ", "config.toml: line 2: "),
        ("port = 1\nport = 2", "config.toml: line 2: "),
    ] {
        let error = resolve(&[], Some(file)).expect_err(file).to_string();
        assert!(error.starts_with(expected), "{file}: {error}");
    }
    let error = resolve(&[], Some("something_else = 1")).unwrap_err().to_string();
    assert!(!error.contains("did you mean"), "{error}");
    assert!(resolve(&[], Some("data_dir = 'relative'")).is_err());
    assert!(resolve(&[], Some("\u{feff}# a mark\n")).is_ok());
}

#[test]
fn names_of_earlier_versions_are_ignored() {
    let variables = [("AGENTMEMORY_PORT", "no port"), ("AGENTMEMORY_SECRET", "x"), ("AGENTMEMORY_URL", "x")];
    assert_eq!(resolve(&variables, None).unwrap(), resolve(&[], None).unwrap());
}

#[cfg(unix)]
#[test]
fn what_is_no_text_is_unusable_and_a_path_need_not_be_text() {
    use std::os::unix::ffi::OsStringExt as _;

    let odd = OsString::from_vec(vec![b'/', 0xff]);
    let lookup = |name: &str| (name == "AGENT_MEMORY_DATA_DIR").then(|| odd.clone());
    let config = Config::resolve(&Overrides::default(), &lookup, None).unwrap();
    assert_eq!(config.data_dir.value, PathBuf::from(&odd));
    for name in Key::ALL.map(Key::variable) {
        if name.ends_with("_DATA_DIR") {
            continue;
        }
        let lookup = |asked: &str| match asked {
            "HOME" => Some("/home/someone".into()),
            asked => (asked == name).then(|| odd.clone()),
        };
        match Config::resolve(&Overrides::default(), &lookup, None) {
            Ok(config) => assert_eq!(config.warnings.len(), 1, "{name}"),
            Err(error) => assert!(error.to_string().starts_with(name), "{error}"),
        }
    }
}

#[test]
fn without_a_home_there_is_no_place_for_data_unless_one_is_named() {
    let nothing = |_: &str| None;
    let error = Config::resolve(&Overrides::default(), &nothing, None).unwrap_err().to_string();
    assert!(error.contains("AGENT_MEMORY_DATA_DIR"), "{error}");
    let flag = Overrides::default().with(Key::DataDir, Some("here"));
    assert_eq!(Config::resolve(&flag, &nothing, None).unwrap().data_dir.value, Path::new("here"));
    assert!(Config::resolve(&Overrides::default(), &nothing, Some("data_dir = '/d'")).is_ok());
}

#[cfg(all(unix, not(target_os = "macos")))]
#[test]
fn directories_come_from_the_environment_and_must_be_absolute() {
    let file = |variables: &[(&str, &str)]| config_file(&environment(variables)).unwrap();
    assert_eq!(file(&[]), Path::new("/home/someone/.config/agent-memory/config.toml"));
    assert_eq!(file(&[("XDG_CONFIG_HOME", "")]), Path::new("/home/someone/.config/agent-memory/config.toml"));
    assert_eq!(
        file(&[("XDG_CONFIG_HOME", "rel")]),
        Path::new("/home/someone/.config/agent-memory/config.toml")
    );
    assert_eq!(file(&[("XDG_CONFIG_HOME", "/c")]), Path::new("/c/agent-memory/config.toml"));
    let data = |variables: &[(&str, &str)]| resolve(variables, None).unwrap().data_dir.value;
    assert_eq!(data(&[("XDG_DATA_HOME", "/d")]), Path::new("/d/agent-memory"));
    assert_eq!(data(&[("XDG_DATA_HOME", "")]), Path::new("/home/someone/.local/share/agent-memory"));
}

#[test]
fn hooks_that_know_only_the_environment_are_drained_too() {
    let config = resolve(&[("AGENT_MEMORY_DATA_DIR", "/e")], None).unwrap();
    assert_eq!(config.spool_directories(), [Path::new("/e")]);
    let config = resolve(&[("AGENT_MEMORY_DATA_DIR", "")], Some("data_dir = '/f'")).unwrap();
    assert_eq!(config.spool_directories().len(), 2);
    assert_eq!(config.spool_directories()[0], Path::new("/f"));
}

#[test]
fn only_loopback_is_loopback() {
    for (host, loopback) in [
        ("127.0.0.1", true),
        ("127.8.8.8", true),
        ("::1", true),
        ("localhost", true),
        ("0.0.0.0", false),
        ("::", false),
        ("box.lan", false),
    ] {
        assert_eq!(resolve(&[("AGENT_MEMORY_HOST", host)], None).unwrap().is_loopback(), loopback, "{host}");
    }
}

#[test]
fn a_missing_file_is_none_and_an_unreadable_one_an_error() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("config.toml");
    assert_eq!(read_config_file(&path).unwrap(), None);
    assert_eq!(read_config_file(&path.join("below")).unwrap(), None);
    std::fs::write(&path, "port = 1").unwrap();
    assert_eq!(read_config_file(&path).unwrap().as_deref(), Some("port = 1"));
    assert_eq!(read_config_file(&path.join("below")).unwrap(), None);
    std::fs::write(&path, b"\xff").unwrap();
    assert!(read_config_file(&path).unwrap_err().to_string().contains("config.toml"));
    std::fs::write(&path, vec![b'#'; (1 << 20) + 1]).unwrap();
    assert!(read_config_file(&path).is_err());
    assert!(read_config_file(directory.path()).is_err());
}

proptest! {
    #[test]
    fn any_values_are_settings_or_errors(values in proptest::collection::vec((0..Key::ALL.len(), any::<String>()), 0..6), file in any::<String>()) {
        let variables: Vec<(&str, &str)> =
            values.iter().map(|(key, value)| (Key::ALL[*key].variable(), value.as_str())).collect();
        drop(resolve(&variables, None));
        drop(resolve(&[], Some(&file)));
        for (key, value) in &values {
            drop(resolve(&[], Some(&format!("{} = {value}", Key::ALL[*key].name()))));
        }
    }

    #[test]
    fn any_secret_is_kept_as_it_is(secret in "[^ \\pC](\\PC{0,38}[^ \\pC])?") {
        let config = resolve(&[("AGENT_MEMORY_SECRET", &secret)], None).unwrap();
        prop_assert_eq!(config.secret.value.as_ref().map(Secret::expose), Some(secret.as_str()));
    }
}
