//! The limit on the size of files that an operator sets with `ulimit -f`.

use std::io;

/// Makes a write beyond the limit fail, like one on a full disk, instead of ending the process.
/// Does nothing on systems where the number of the limit's signal is unknown.
///
/// # Errors
/// Fails if the operating system refuses the handler of the signal.
pub(super) fn survive() -> io::Result<()> {
    #[cfg(unix)]
    if cfg!(not(any(target_arch = "mips", target_arch = "mips64"))) {
        /// SIGXFSZ, the signal for a write beyond the limit.
        const TOO_LARGE: i32 = 25;
        let kind = tokio::signal::unix::SignalKind::from_raw(TOO_LARGE);
        // The handler remains installed when the stream of signals is dropped.
        let _ = tokio::signal::unix::signal(kind)?;
    }
    Ok(())
}
