//! The service: a store, an embedder, a clock and settings under one handle.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use am_embed::analysis::{Analysis, Profile};
use am_embed::embedder::Embedder;
use am_fusion::recall::RecallLedger;
use am_model::{Actor, Channel, Instant, Project};
use am_store::{Action, Audit, Change, LiveMemory, Outcome, Store, StoreError, StoreIdentity};

use crate::{Clock, Inbox, ServiceError, Settings};

/// Who asks: what the log says of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The surface the request came through.
    pub channel: Channel,
    /// On whose behalf; saves are logged under their origin instead.
    pub actor: Actor,
}

impl Caller {
    /// Makes the caller that programs are which embed the crates.
    pub fn library() -> Self {
        Self { channel: Channel::Library, actor: Actor(Channel::Library.as_str().to_owned()) }
    }
}

/// Every verb of agent-memory over one store. Cheap to clone; clones share the recall counts.
#[derive(Clone)]
pub struct Service {
    given: Arc<Given>,
    known: Arc<Known>,
}

struct Given {
    store: Arc<dyn Store>,
    embedder: Arc<dyn Embedder>,
    clock: Arc<dyn Clock>,
    settings: Settings,
    recalls: Mutex<RecallLedger>,
    inbox: OnceLock<Arc<dyn Inbox>>,
}

/// What the store says of itself, and what follows from it.
struct Known {
    identity: StoreIdentity,
    analysis: Analysis,
    /// Whether new vectors may stand beside the stored ones.
    embeds: bool,
}

impl Known {
    fn new(identity: StoreIdentity, embedder: &dyn Embedder) -> Self {
        let analysis = Analysis::new(identity.profile);
        let embeds = embedder.id().to_string() == identity.embedder;
        Self { identity, analysis, embeds }
    }
}

impl Service {
    /// Takes up a store under the profile that it records.
    ///
    /// With another embedder than the one the store records, memories are saved without a vector and hybrid
    /// searches say in a signal that the vector arm is out. The verbs run on a tokio runtime with its timer enabled.
    pub async fn open(
        store: Arc<dyn Store>,
        embedder: Arc<dyn Embedder>,
        clock: Arc<dyn Clock>,
        settings: Settings,
    ) -> Result<Self, ServiceError> {
        let known = Arc::new(Known::new(store.identity().await?, &*embedder));
        let given = Arc::new(Given {
            store,
            embedder,
            clock,
            settings,
            recalls: Mutex::default(),
            inbox: OnceLock::new(),
        });
        Ok(Self { given, known })
    }

    /// Returns the service as the store is now: another process may have given it another profile since.
    pub(crate) async fn current(&self) -> Result<Self, StoreError> {
        let identity = self.store().identity().await?;
        if identity == self.known.identity {
            return Ok(self.clone());
        }
        let known = Arc::new(Known::new(identity, &*self.given.embedder));
        Ok(Self { given: self.given.clone(), known })
    }

    /// Returns the same for verbs that never fail: what reads the store next will say what is wrong.
    pub(crate) async fn current_or_known(&self) -> Self {
        self.current().await.unwrap_or_else(|_| self.clone())
    }

    /// Returns whether the store is of this program's analysis, as far as known.
    pub(crate) fn is_up_to_date(&self) -> bool {
        self.identity().analysis == self.analysis().id()
    }

    /// Names the place where events wait; the verbs that forget take them in first. Counts once, for all clones.
    pub fn set_inbox(&self, inbox: Arc<dyn Inbox>) {
        // A second one would be a mistake of the program's; the first goes on to count.
        drop(self.given.inbox.set(inbox));
    }

    /// Takes in what waits, so that it can't bring back what is forgotten next.
    pub(crate) async fn take_in(&self) {
        if let Some(inbox) = self.given.inbox.get() {
            inbox.take_in(self).await;
        }
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.given.store
    }

    /// Returns what the store said of itself when it was opened.
    pub fn identity(&self) -> &StoreIdentity {
        &self.known.identity
    }

    /// Returns the settings.
    pub fn settings(&self) -> &Settings {
        &self.given.settings
    }

    /// Tells the time, by the clock of the service.
    pub fn now(&self) -> Instant {
        self.given.clock.now()
    }

    /// Returns whether the store keeps to the contract to the byte.
    pub(crate) fn is_contract(&self) -> bool {
        self.known.identity.profile == Profile::Contract
    }

    pub(crate) fn analysis(&self) -> &Analysis {
        &self.known.analysis
    }

    pub(crate) fn embedder(&self) -> &Arc<dyn Embedder> {
        &self.given.embedder
    }

    pub(crate) fn embeds(&self) -> bool {
        self.known.embeds
    }

    /// Returns the recall counts; those of a thread that panicked are as good as any.
    pub(crate) fn recalls(&self) -> MutexGuard<'_, RecallLedger> {
        self.given.recalls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the instant before which memories are expired; `None` without a TTL.
    pub(crate) fn expired_before(&self, now: Instant) -> Option<Instant> {
        self.given.settings.ttl.map(|ttl| ttl.cutoff(now))
    }

    /// Returns the rows of `project` that a read may see. The contract applies TTL after the cut, and to searches
    /// only.
    pub(crate) fn live(&self, project: &Project, now: Instant) -> LiveMemory {
        let expired_before = if self.is_contract() { None } else { self.expired_before(now) };
        LiveMemory { project: project.clone(), expired_before }
    }

    pub(crate) async fn commit(&self, audit: Audit, action: Action) -> Result<Outcome, ServiceError> {
        let brings_terms = matches!(
            action,
            Action::Save(_) | Action::Merge(_) | Action::ForgetSession(_) | Action::Import(_)
        );
        let analysis = brings_terms.then(|| self.analysis().id().to_owned());
        Ok(self.given.store.commit(Change { audit, analysis, action }).await?)
    }
}

impl Caller {
    pub(crate) fn audit(&self, at: Instant) -> Audit {
        Audit { at, actor: self.actor.clone(), channel: self.channel }
    }
}

impl std::fmt::Debug for Service {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Service")
            .field("identity", &self.known.identity)
            .field("settings", &self.given.settings)
            .finish_non_exhaustive()
    }
}
