//! `am serve`: what am-server does, for those who have only `am` at hand.

use am_server::report;

use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Failure, Result};

pub(crate) use am_server::Arguments;

/// Serves until a signal asks to stop. Makes a runtime of its own.
pub(crate) fn run(context: &Context<'_>, arguments: &Arguments) -> Result<Exit> {
    match am_server::run(&context.config, arguments.launch(context.environment)) {
        Ok(()) => Ok(Exit::Success),
        Err(error) => {
            report(&error);
            Err(Failure::shown(Exit::Failed))
        }
    }
}
