//! The priority of the thread that reads a long log.

use std::{io, panic::resume_unwind, thread};

use thread_priority::{Error, ThreadPriority};

/// Runs `work` on a thread of the lowest priority, so that it uses only time that no session needs.
/// If the operating system refuses the priority, the thread has the normal one.
///
/// On a machine whose cores are all busy, `work` takes very long. Use it only for work that no
/// session waits for.
///
/// # Errors
/// Fails if the operating system refuses to start a thread.
pub(super) fn at_lowest<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let builder = thread::Builder::new().name("long log".to_owned());
        let worker = builder.spawn_scoped(scope, || {
            if let Err(error) = set_lowest() {
                tracing::debug!(%error, "cannot lower the priority of the thread that reads logs");
            }
            work()
        })?;
        Ok(worker.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Sets the policy "idle". On Linux, a core that runs only idle threads counts as free for a thread
/// that wakes up. A core that runs a thread of merely low priority does not, so that the thread of
/// a session might wait for another core.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn set_lowest() -> Result<(), Error> {
    use thread_priority::{
        NormalThreadSchedulePolicy::Idle, ThreadSchedulePolicy::Normal,
        set_thread_priority_and_policy, thread_native_id,
    };
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Min, Normal(Idle))
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn set_lowest() -> Result<(), Error> {
    thread_priority::set_current_thread_priority(ThreadPriority::Min)
}
