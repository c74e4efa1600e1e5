//! The recall ledger.

use am_fusion::recall::{LEDGER_MAX, RecallLedger};
use am_model::MemoryId;

fn id(number: usize) -> MemoryId {
    MemoryId::from_stored(format!("m{number}"))
}

#[test]
fn counts_each_recall() {
    let mut ledger = RecallLedger::default();
    ledger.record(&[id(1), id(2)]);
    ledger.record(&[id(1)]);
    assert_eq!([1, 2, 3].map(|number| ledger.count(&id(number))), [2, 1, 0]);
}

#[test]
fn a_new_id_at_the_cap_clears_all_and_a_known_one_does_not() {
    let mut ledger = RecallLedger::default();
    let ids: Vec<MemoryId> = (0..LEDGER_MAX).map(id).collect();
    ledger.record(&ids);
    ledger.record(&[id(7)]);
    assert_eq!([ledger.count(&id(7)), ledger.count(&id(LEDGER_MAX - 1))], [2, 1]);
    ledger.record(&[id(LEDGER_MAX)]);
    assert_eq!([ledger.count(&id(7)), ledger.count(&id(LEDGER_MAX))], [0, 1]);
}
