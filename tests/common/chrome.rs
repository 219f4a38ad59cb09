//! Chromium as a telephone: pages are opened, touched and looked at over its pipe for debuggers.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use serde_json::{Value, json};
use tempfile::TempDir;

/// How long the browser may take for anything.
const PATIENCE: Duration = Duration::from_secs(120);
/// The room of a telephone.
pub const SIZE: (u32, u32) = (390, 844);

/// A browser with one page.
pub struct Chrome {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    events: VecDeque<Value>,
    session: String,
    calls: u64,
    _profile: TempDir,
}

impl Chrome {
    /// Starts the browser, with more arguments.
    pub fn start(browser: &Path) -> Self {
        let profile = TempDir::new().unwrap();
        let mut command = Command::new("sh");
        // The browser reads commands from 3, and answers on 4.
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 >/dev/null 2>&1", "sh"]);
        command.arg(browser).args([
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--hide-scrollbars",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", profile.path().display()));
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let (send, from) = channel();
        std::thread::spawn(move || {
            let mut bytes = Vec::new();
            while output
                .read_until(0, &mut bytes)
                .is_ok_and(|length| length > 0)
            {
                let message = serde_json::from_slice(&bytes[..bytes.len() - 1]);
                if message.is_ok_and(|message| send.send(message).is_err()) {
                    break;
                }
                bytes.clear();
            }
        });
        let mut chrome = Self {
            to: child.stdin.take().unwrap(),
            child,
            from,
            events: VecDeque::new(),
            session: String::new(),
            calls: 0,
            _profile: profile,
        };
        chrome.open_page();
        chrome
    }

    fn open_page(&mut self) {
        let target = self.call("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let attached = self.call("Target.attachToTarget", attach);
        self.session = attached["sessionId"].as_str().unwrap().to_owned();
        let (width, height) = SIZE;
        let room =
            json!({"width": width, "height": height, "deviceScaleFactor": 2, "mobile": true});
        self.call("Emulation.setDeviceMetricsOverride", room);
        self.call(
            "Emulation.setTouchEmulationEnabled",
            json!({"enabled": true}),
        );
        self.call("Page.enable", json!({}));
    }

    /// Calls a method of the protocol for debuggers.
    pub fn call(&mut self, method: &str, params: Value) -> Value {
        self.calls += 1;
        let mut message = json!({"id": self.calls, "method": method, "params": params});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).unwrap();
        loop {
            let answer = self.from.recv_timeout(PATIENCE).unwrap();
            if answer["id"] == self.calls {
                assert!(answer["error"].is_null(), "{method}: {answer}");
                return answer["result"].clone();
            }
            self.events.push_back(answer);
        }
    }

    /// Waits until a page has been loaded since the last call of this kind.
    fn wait_for_page(&mut self) {
        loop {
            let event = self.events.pop_front();
            let event = event.unwrap_or_else(|| self.from.recv_timeout(PATIENCE).unwrap());
            if event["method"] == "Page.loadEventFired" {
                return;
            }
        }
    }

    pub fn go(&mut self, url: &str) {
        self.events.clear();
        self.call("Page.navigate", json!({"url": url}));
        self.wait_for_page();
    }

    /// The value of an expression of JavaScript in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", params);
        assert!(answer["exceptionDetails"].is_null(), "{answer}");
        answer["result"]["value"].clone()
    }

    /// The text that people see.
    pub fn text(&mut self) -> String {
        self.value("document.body.innerText")
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// Touches the middle of what a selector finds, as a thumb does.
    pub fn tap(&mut self, selector: &str) {
        let place = format!(
            "(() => {{ const found = document.querySelector({});
             found.scrollIntoView({{block: 'center'}});
             const box = found.getBoundingClientRect();
             return [box.x + box.width / 2, box.y + box.height / 2]; }})()",
            json!(selector)
        );
        let place = self.value(&place);
        let thumb = json!([{"x": place[0], "y": place[1]}]);
        for (kind, points) in [("touchStart", thumb), ("touchEnd", json!([]))] {
            let touch = json!({"type": kind, "touchPoints": points});
            self.call("Input.dispatchTouchEvent", touch);
        }
    }

    /// Touches a button that leads to another page.
    pub fn follow(&mut self, selector: &str) {
        self.events.clear();
        self.tap(selector);
        self.wait_for_page();
    }

    /// Touches a field, and types instead of what is in it.
    pub fn fill(&mut self, selector: &str, text: &str) {
        self.tap(selector);
        self.value(&format!(
            "document.querySelector({}).select()",
            json!(selector)
        ));
        self.call("Input.insertText", json!({"text": text}));
    }

    /// Keeps a picture of the whole page as a PNG file.
    pub fn picture(&mut self, to: &Path) {
        let params = json!({"format": "png", "captureBeyondViewport": true});
        let picture = self.call("Page.captureScreenshot", params);
        let bytes = BASE64_STANDARD.decode(picture["data"].as_str().unwrap());
        std::fs::write(to, bytes.unwrap()).unwrap();
    }
}

impl Drop for Chrome {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
