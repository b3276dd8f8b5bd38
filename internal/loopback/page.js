"use strict";
// Hands the trace to Perfetto: https://perfetto.dev/docs/visualization/deep-linking-to-perfetto-ui
const page = JSON.parse(document.getElementById("page").textContent);
const state = document.getElementById("state");
const button = document.getElementById("open");

function say(text, bad) {
  state.textContent = text;
  state.className = bad ? "bad" : "";
}

// answered resolves when the window answers a ping, and rejects if it is closed first.
function answered(target) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(() => say(
      "The window does not answer. Either it is still loading, or this browser cannot reach " + page.origin +
      ". Check the network. You can also open the file in Perfetto yourself: " + page.path, true), page.patience);
    const done = (end, value) => {
      clearInterval(timer);
      clearTimeout(late);
      window.removeEventListener("message", heard);
      end(value);
    };
    const heard = (e) => {
      if (e.source === target && e.origin === page.origin && e.data === "PONG") done(resolve);
    };
    window.addEventListener("message", heard);
    const timer = setInterval(() => {
      if (target.closed) done(reject, new Error("The window was closed before it had the trace."));
      else target.postMessage("PING", page.origin);
    }, 100);
  });
}

// A function named open would replace window.open.
async function hand() {
  const target = window.open(page.address);
  if (!target) {
    say("The browser blocked the window. Allow pop-ups for this page and press the button again.", true);
    return;
  }
  button.disabled = true;
  try {
    say("Reading the trace and waiting for Perfetto.");
    const [buffer] = await Promise.all([
      fetch(page.trace).then((r) => {
        if (!r.ok) throw new Error("The trace cannot be read (status " + r.status + ").");
        return r.arrayBuffer();
      }, () => { throw new Error("The server has stopped. Start assay open again."); }),
      answered(target),
    ]);
    target.postMessage({perfetto: {buffer, title: page.title, fileName: page.fileName}}, page.origin, [buffer]);
    say("Perfetto has the trace.");
  } catch (e) {
    say(e.message, true);
  }
  button.disabled = false;
}

button.addEventListener("click", hand);
button.disabled = false;
say("Ready.");
