//! The priority of the thread that reads logs.

use thread_priority::{Error, ThreadPriority};

/// Lowers the priority of the current thread, so that reading a long log uses only time that no
/// session needs. If the operating system refuses, the thread works as any other.
pub(super) fn lower() {
    if let Err(error) = set_lowest() {
        tracing::debug!(%error, "cannot lower the priority of the thread that reads logs");
    }
}

/// On Linux, a core that runs only idle threads counts as free for a thread that wakes up. A core with
/// a thread of low priority does not: an answer then waits for a busier core.
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
