//! The suite every store must pass: named cases over the port alone.
//!
//! A store's test crate implements [`Factory`] and writes `am_store::conformance_tests!(TheFactory::new());`, which
//! makes one `#[tokio::test]` of each case (tokio with `macros` and `rt-multi-thread` must be a dependency there). A
//! case panics where the store fails it.

mod concepts;
mod evidence;
mod forgetting;
mod handles;
mod import;
mod log;
mod merging;
mod near_duplicates;
mod reading;
mod saving;
mod searching;
mod sessions;

use std::pin::Pin;
use std::sync::Arc;

use am_embed::analysis::Profile;
use async_trait::async_trait;

use crate::Store;

/// Makes the stores that the cases run on.
#[async_trait]
pub trait Factory: Send + Sync {
    /// Makes an empty store of `profile` for the vectors of the hash embedder, and names where its data is.
    async fn make(&self, profile: Profile) -> (Arc<dyn Store>, String);

    /// Opens the data at a place that [`Factory::make`] named, beside the handles that are open, as another process
    /// would.
    async fn open(&self, place: &str) -> Arc<dyn Store>;
}

/// What a case does with the stores it is given.
type Run = for<'a> fn(&'a dyn Factory) -> Pin<Box<dyn Future<Output = ()> + 'a>>;

/// One case of the suite.
#[derive(Clone, Copy)]
pub struct Case {
    /// What it shows.
    pub name: &'static str,
    /// Panics where the store fails.
    pub run: Run,
}

/// Runs the case of that name.
///
/// # Panics
/// The store fails it, or there is none of that name.
pub async fn run(name: &str, factory: &dyn Factory) {
    let case = cases().into_iter().find(|case| case.name == name).unwrap();
    (case.run)(factory).await;
}

macro_rules! suite {
    ($dollar:tt $($module:ident: $($case:ident),+;)+) => {
        /// How many cases there are.
        pub const COUNT: usize = [$($(stringify!($case)),+),+].len();

        /// Returns every case.
        pub fn cases() -> Vec<Case> {
            vec![$($(
                Case { name: stringify!($case), run: |factory| Box::pin($module::$case(factory)) },
            )+)+]
        }

        /// Makes one asynchronous test of each case of the conformance suite, with the factory that the given
        /// expression makes.
        #[macro_export]
        macro_rules! conformance_tests {
            ($dollar factory:expr) => {
                $($(
                    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
                    async fn $case() {
                        $crate::testkit::conformance::run(stringify!($case), &$dollar factory).await;
                    }
                )+)+
            };
        }
    };
}

suite! { $
    saving:
        a_saved_text_is_in_every_arm_listing_and_count,
        a_repeated_text_is_saved_once,
        an_expired_text_is_revived,
        terms_of_another_analysis_are_refused,
        a_text_without_terms_or_vector_is_listed_only,
        quoting_what_is_not_there_is_refused,
        a_repeated_quotation_settles_what_it_rests_on,
        what_makes_no_sense_is_refused_and_changes_nothing,
        a_failed_precondition_changes_nothing,
        hostile_text_is_kept_to_the_byte,
        projects_that_look_alike_stay_apart;
    sessions:
        a_session_begins_and_moves_with_its_memories,
        sessions_of_two_projects_share_no_row,
        listings_come_newest_first_and_hide_expired_rows;
    evidence:
        an_event_counts_once_by_its_key,
        an_event_of_two_hosts_counts_once_within_two_seconds,
        a_dedup_hit_keeps_its_event,
        evidence_alone_is_appended_once,
        a_forgotten_event_takes_what_rests_on_it_alone,
        a_forgotten_event_leaves_what_rests_on_more,
        an_erased_line_leaves_no_digest_of_what_it_said,
        old_evidence_can_be_purged_and_memories_stay,
        a_late_delivery_brings_nothing_back;
    near_duplicates:
        near_duplicates_are_found_exactly_at_the_threshold,
        near_duplicates_are_found_beyond_the_best_lexical_hits,
        near_duplicates_stay_in_their_project,
        rows_that_are_expired_derived_or_unranked_are_no_near_duplicates,
        a_row_passed_over_stays_so_at_its_version_only,
        the_probe_sees_merges_and_removals;
    merging:
        a_merged_text_takes_the_place_of_the_old_one,
        merging_keeps_the_parts_in_order,
        merging_links_missing_concepts_once,
        merging_without_a_text_links_only,
        a_survivor_that_changed_is_not_merged_into,
        a_merged_text_that_is_another_rows_is_not_written,
        merging_what_was_said_before_is_no_merge;
    concepts:
        concepts_are_ranked_in_creation_order,
        concepts_belong_to_a_project,
        a_concept_goes_with_its_last_memory,
        concepts_are_kept_as_given;
    forgetting:
        a_forgotten_memory_is_gone_everywhere,
        forgetting_erases_the_evidence_of_that_memory_only,
        what_quotes_a_forgotten_memory_goes_with_it,
        forgetting_can_be_bounded_by_age,
        forgetting_the_unknown_changes_nothing,
        a_forgotten_session_is_gone_everywhere,
        a_shared_memory_loses_the_part_of_a_forgotten_session,
        forgetting_a_session_needs_the_rewrites_that_are_right_now,
        a_rewrite_that_is_another_rows_text_is_removed,
        concepts_without_a_text_go_with_their_session,
        what_quotes_a_rewritten_memory_goes;
    searching:
        bm25_scores_follow_the_formula,
        bm25_statistics_follow_removals_and_merges,
        equal_scores_come_by_store_id,
        the_vector_arm_is_exact,
        an_unusable_vector_fails_its_arm_only,
        expired_rows_are_filtered_before_the_cut_and_counted,
        an_arm_that_is_left_out_is_empty,
        limits_hold_for_every_read,
        fixed_lines_take_no_place_in_the_default_profile;
    reading:
        pages_walk_everything_once,
        memories_come_in_the_order_asked,
        projects_are_those_that_hold_something,
        statistics_count_what_is_there,
        a_store_says_what_it_is;
    import:
        an_import_is_an_exact_copy,
        an_import_skips_what_is_there,
        an_import_keeps_free_ids_and_reuses_none,
        imported_rows_work_like_saved_ones,
        a_record_that_does_not_add_up_is_refused;
    log:
        every_mutation_is_one_row_of_a_whole_chain,
        digests_follow_a_memory_through_its_life,
        content_never_enters_the_log,
        what_writes_nothing_is_not_logged;
    handles:
        another_handle_sees_a_commit_at_once,
        reopening_finds_everything,
        one_text_saved_by_many_at_once_is_one_row,
        near_duplicates_saved_by_many_at_once_lose_no_text,
        chains_stay_whole_among_many_writers;
}
