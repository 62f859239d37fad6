//! The resident memory of another process, where `/proc` tells it.

use std::fmt;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// How often the process is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// How long a process is given to give memory back.
const SETTLE: Duration = Duration::from_secs(2);

/// In KiB.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    before: u64,
    most: u64,
    after: u64,
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mib = |kib: u64| kib / 1024;
        write!(f, "{} MiB before, {} MiB at the most, {} MiB after", mib(self.before), mib(self.most), mib(self.after))
    }
}

pub(crate) struct Watch {
    stop: oneshot::Sender<()>,
    task: JoinHandle<Memory>,
}

/// Watches a process until it is told to stop.
pub(crate) fn watch(pid: u32) -> Watch {
    let (stop, mut stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        let mut memory = Memory { before: resident(pid), ..Memory::default() };
        while stopped.try_recv().is_err() {
            memory.most = memory.most.max(resident(pid));
            tokio::time::sleep(LOOK).await;
        }
        tokio::time::sleep(SETTLE).await;
        memory.after = resident(pid);
        memory
    });
    Watch { stop, task }
}

impl Watch {
    pub(crate) async fn stop(self) -> Memory {
        let _ = self.stop.send(());
        self.task.await.unwrap_or_default()
    }
}

fn resident(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|rest| rest.split_whitespace().next()).and_then(|kib| kib.parse().ok()).unwrap_or_default()
}
