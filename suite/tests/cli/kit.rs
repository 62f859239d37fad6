//! Runs the program, and what it is run against: small servers on threads of their own.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// No run of these tests takes near as long; whatever does hangs.
const HANGS: Duration = Duration::from_mins(2);

/// What a run of the program came to.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Done {
    /// Everything that was printed.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.out, self.err)
    }

    #[track_caller]
    pub(crate) fn exits(&self, code: i32) -> &Self {
        assert_eq!(self.code, code, "\nstdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    /// Standard output as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}\nstdout:\n{}\nstderr:\n{}", self.out, self.err))
    }
}

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofmark"));
    // Nothing of the surroundings may change what is seen: PROOFMARK_*, NO_COLOR, CI.
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

pub(crate) fn proofmark(args: &[&str]) -> Done {
    proofmark_in(&[], args)
}

/// With environment variables.
pub(crate) fn proofmark_in(environment: &[(&str, &str)], args: &[&str]) -> Done {
    finish(program().args(args).envs(environment.iter().copied()).spawn().unwrap())
}

/// Waits for the end; kills what hangs.
pub(crate) fn finish(mut child: Child) -> Done {
    let reader = |mut pipe: Box<dyn std::io::Read + Send>| {
        thread::spawn(move || {
            let mut text = String::new();
            pipe.read_to_string(&mut text).unwrap();
            text
        })
    };
    let out = child.stdout.take().map(|pipe| reader(Box::new(pipe)));
    let err = child.stderr.take().map(|pipe| reader(Box::new(pipe)));
    let (id, (sender, receiver)) = (child.id(), channel());
    let waiter = thread::spawn(move || {
        let status = child.wait().unwrap();
        let _ = sender.send(());
        status
    });
    if receiver.recv_timeout(HANGS) == Err(RecvTimeoutError::Timeout) {
        signal(id, "KILL");
        panic!("the program did not end within {HANGS:?}");
    }
    let text = |handle: Option<thread::JoinHandle<String>>| handle.map(|handle| handle.join().unwrap()).unwrap_or_default();
    Done { code: waiter.join().unwrap().code().unwrap_or(-1), out: text(out), err: text(err) }
}

pub(crate) fn signal(process: u32, name: &str) {
    let sent = Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).status().unwrap();
    assert!(sent.success());
}

/// A small contract of two rules, whose folder takes no time to read.
pub(crate) fn tiny_fixtures() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/written/bad/base").display().to_string()
}

/// Arguments that choose the small contract and `target`.
pub(crate) fn tiny<'a>(fixtures: &'a str, target: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["--fixtures", fixtures, "--target", target], more].concat()
}

/// A folder that goes away with the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A port that takes connections and tells whether anybody came.
pub(crate) struct Untouched(TcpListener);

impl Untouched {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.0.local_addr().unwrap())
    }

    #[track_caller]
    pub(crate) fn assert_untouched(&self) {
        assert!(self.0.accept().is_err(), "somebody connected");
    }
}

/// A server that answers every request by a function, and remembers what it was asked.
pub(crate) struct Target {
    address: String,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Target {
    /// `answer` makes a whole HTTP answer of a whole request.
    pub(crate) fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (requests, answer) = (Arc::new(Mutex::new(Vec::new())), Arc::new(answer));
        let seen = requests.clone();
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (seen, answer) = (seen.clone(), answer.clone());
                thread::spawn(move || {
                    let Some(request) = read_request(&mut stream) else { return };
                    let text = answer(&request);
                    seen.lock().unwrap().push(request);
                    let _ = stream.write_all(text.as_bytes());
                });
            }
        });
        Self { address, requests }
    }

    /// A correct target of the small contract.
    pub(crate) fn tiny() -> Self {
        Self::start(|request| match request.split(' ').take(2).collect::<Vec<_>>()[..] {
            ["GET", "/"] => answer(200, r#"{"name":"tiny","version":"1"}"#),
            ["POST", "/things"] => answer(201, r#"{"id":"7","status":"ok"}"#),
            ["GET", path] => answer(200, &format!(r#"{{"id":"{}","status":"ok"}}"#, path.trim_start_matches("/things/"))),
            _ => answer(404, "{}"),
        })
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

pub(crate) fn answer(status: u16, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}")
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse().ok()).unwrap_or(0);
            if bytes.len() >= end + 4 + length {
                return String::from_utf8(bytes).ok();
            }
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}

/// `proofmark serve`, ended with the test.
pub(crate) struct Served {
    child: Option<Child>,
    /// The lines it printed when it was ready.
    pub(crate) ready: Vec<serde_json::Value>,
}

/// `proofmark serve`, which may not live to say where it listens.
pub(crate) fn serve(args: &[&str]) -> Child {
    program().args(["serve", "--format", "json"]).args(args).spawn().unwrap()
}

impl Served {
    /// Waits for one line for each `--listen` among `args`.
    pub(crate) fn start(args: &[&str]) -> Self {
        let mut child = serve(args);
        let count = args.iter().filter(|arg| **arg == "--listen").count();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let ready = (0..count).map(|_| serde_json::from_str(&lines.next().expect("a line").unwrap()).unwrap()).collect();
        Self { child: Some(child), ready }
    }

    pub(crate) fn url(&self) -> &str {
        self.ready[0]["url"].as_str().unwrap()
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.as_ref().unwrap().id()
    }

    /// Waits until it ends by itself.
    pub(crate) fn ends(mut self) -> Done {
        finish(self.child.take().unwrap())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Opens a connection and sends one request; what comes back can be read from the connection.
pub(crate) fn request(url: &str, method: &str, path: &str, headers: &[&str], body: &str) -> TcpStream {
    let host = url.trim_start_matches("http://");
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
    for header in headers {
        write!(text, "{header}\r\n").unwrap();
    }
    if !body.is_empty() {
        write!(text, "content-type: application/json\r\ncontent-length: {}\r\n", body.len()).unwrap();
    }
    let mut stream = TcpStream::connect(host).unwrap();
    stream.set_read_timeout(Some(HANGS)).unwrap();
    stream.write_all(format!("{text}\r\n{body}").as_bytes()).unwrap();
    stream
}

/// The JSON body of the answer to one request.
pub(crate) fn ask(url: &str, method: &str, path: &str, body: &str) -> serde_json::Value {
    let mut text = String::new();
    request(url, method, path, &[], body).read_to_string(&mut text).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 2"), "{text}");
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {text}"))
}
