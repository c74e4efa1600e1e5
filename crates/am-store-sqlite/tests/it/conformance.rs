//! The suite that every store must pass, with projections and by scans alone.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use am_embed::analysis::Profile;
use am_store::Store;
use am_store::testkit::conformance::Factory;
use am_store_sqlite::{OpenOptions, SqliteStore};
use async_trait::async_trait;

use crate::support::{Directories, options};

/// Makes stores in temporary directories.
pub(crate) struct Files {
    directories: Directories,
    projection_bytes: usize,
}

impl Files {
    pub(crate) fn new(projection_bytes: usize) -> Self {
        Self { directories: Directories::default(), projection_bytes }
    }

    fn options(&self, profile: Profile) -> OpenOptions {
        OpenOptions { projection_bytes: self.projection_bytes, ..options(profile) }
    }
}

#[async_trait]
impl Factory for Files {
    async fn make(&self, profile: Profile) -> (Arc<dyn Store>, String) {
        let directory: PathBuf = self.directories.make();
        let store = SqliteStore::open(&directory, self.options(profile)).unwrap();
        (Arc::new(store), directory.to_str().unwrap().to_owned())
    }

    async fn open(&self, place: &str) -> Arc<dyn Store> {
        Arc::new(SqliteStore::open(Path::new(place), self.options(Profile::Default)).unwrap())
    }
}

mod projected {
    use super::Files;

    am_store::conformance_tests!(Files::new(256 << 20));
}

mod scanned {
    use super::Files;

    am_store::conformance_tests!(Files::new(0));
}
