// SPDX-License-Identifier: MIT
// The page asks wsl-ctl for the state of the cluster every two seconds. All texts of others enter as text, never as markup.
"use strict";

const $ = (id) => document.getElementById(id);
let chosen = location.hash.slice(1);

function element(tag, text, attributes = {}) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  return e;
}
function drawn(tag, attributes, text) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  if (text !== undefined) e.textContent = text;
  return e;
}

function time(milliseconds) {
  const s = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (a, ofA, b, ofB) => a + ofA + (b ? b + ofB : "");
  if (s < 60) return s + "s";
  if (s < 3600) return two(Math.floor(s / 60), "m", s % 60, "s");
  if (s < 86400) return two(Math.floor(s / 3600), "h", Math.floor((s % 3600) / 60), "m");
  return two(Math.floor(s / 86400), "d", Math.floor((s % 86400) / 3600), "h");
}
function bytes(n) {
  const units = ["B", "KB", "MB", "GB", "TB", "PB"];
  let k = 0;
  for (; n >= 999.5 && k < 5; ++k) n /= 1000;
  return Number(n.toPrecision(3)) + " " + units[k];
}
const number = (x) => (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3) ? x.toExponential(2) : String(Number(x.toPrecision(4))));

function used(cell, now, total, text) {
  if (total > 0) cell.append(element("meter", text, { min: 0, max: total, value: Math.min(now, total), "aria-label": text }), " ");
  cell.append(text);
  return cell;
}

function showNodes(nodes) {
  $("nodes").tBodies[0].replaceChildren(...nodes.map((n) => {
    const role = (name) => n.roles.find((r) => r.name === name);
    const row = element("tr");
    row.append(element("th", n.name, { scope: "row", title: n.host }));
    for (const name of ["wafer", "memoryx", "swarmx", "input"]) {
      const r = role(name);
      row.append(used(element("td"), r.used, r.total, r.used + " of " + r.total));
    }
    row.append(used(element("td"), n.cores_used, n.cores, number(n.cores_used) + " of " + n.cores));
    row.append(used(element("td"), Number(n.memory_used), Number(n.memory), bytes(Number(n.memory_used)) + " of " + bytes(Number(n.memory))));
    row.append(element("td", n.load < 0 ? "unknown" : n.load.toFixed(2)));
    row.append(element("td", n.jobs.length ? String(n.jobs.length) : "none", { title: n.jobs.join(", ") }));
    return row;
  }));
}

function showJobs(jobs) {
  const now = Date.now(), order = { RUNNING: 0, QUEUED: 1 };
  const rank = (j) => order[j.phase] ?? 2;
  const shown = jobs.filter((j) => $("ended").checked || rank(j) < 2)
    .sort((a, b) => rank(a) - rank(b) || (rank(a) === 1 ? a.priority - b.priority || (a.name < b.name ? -1 : 1) : a.name < b.name ? 1 : -1)).slice(0, 200);
  const focused = document.activeElement?.dataset?.job;
  $("jobs").tBodies[0].replaceChildren(...shown.map((j) => {
    const row = element("tr");
    if (j.name === chosen) row.setAttribute("aria-current", "true");
    const button = element("button", j.name, { class: "job", type: "button", "data-job": j.name, "aria-label": "show " + j.name });
    button.addEventListener("click", () => { choose(j.name).then(() => $("details-title").focus()); });
    const name = element("th", undefined, { scope: "row" });
    name.append(button);
    row.append(name, element("td", j.phase, { class: j.phase }));
    const begun = Number(j.started), ended = Number(j.ended);
    const labels = Object.entries(j.labels).map(([k, v]) => k + "=" + v).sort().join(", ");
    for (const text of [time(now - Number(j.submitted)), begun ? time((ended || now) - begun) : "", j.systems.join(", "), j.user, String(j.priority), labels])
      row.append(element("td", text));
    row.append(element("td", [j.program, ...j.arguments].join(" "), { class: "program" }));
    return row;
  }));
  if (focused) document.querySelector(`[data-job="${focused}"]`)?.focus();
}

// Draws curves in one picture, and says in words what it shows.
function chart(svg, curves, what) {
  const all = curves.flatMap((c) => c.points);
  svg.replaceChildren();
  if (all.length === 0) {
    svg.setAttribute("aria-label", what + ": nothing yet");
    svg.append(drawn("text", { x: 240, y: 120, "text-anchor": "middle" }, "nothing yet"));
    return;
  }
  const xs = all.map((p) => p[0]), ys = all.map((p) => p[1]);
  let [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  if (left === right) right = left + 1;
  if (low === high) { low -= Math.abs(low) / 2 || 1; high += Math.abs(high) / 2 || 1; }
  const x = (v) => 52 + ((v - left) / (right - left)) * 416, y = (v) => 212 - ((v - low) / (high - low)) * 190;
  for (let k = 0; k <= 4; ++k) {
    const v = low + ((high - low) * k) / 4;
    svg.append(drawn("line", { class: "axis", x1: 52, x2: 468, y1: y(v), y2: y(v) }));
    svg.append(drawn("text", { x: 46, y: y(v) + 4, "text-anchor": "end" }, number(v)));
  }
  svg.append(drawn("text", { x: 52, y: 230 }, "step " + number(left)), drawn("text", { x: 468, y: 230, "text-anchor": "end" }, number(right)));
  const said = [];
  curves.forEach((c, k) => {
    if (!c.points.length) return;
    if (c.points.length < 3) for (const p of c.points) svg.append(drawn("circle", { class: c.kind, cx: x(p[0]), cy: y(p[1]), r: 3 }));
    svg.append(drawn("polyline", { class: c.kind, points: c.points.map((p) => x(p[0]).toFixed(1) + "," + y(p[1]).toFixed(1)).join(" ") }));
    if (curves.length > 1) svg.append(drawn("text", { class: c.kind, x: 468 - 70 * k, y: 14, "text-anchor": "end" }, c.name));
    const last = c.points[c.points.length - 1];
    said.push(`${c.name}: ${number(c.points[0][1])} at step ${c.points[0][0]}, ${number(last[1])} at step ${last[0]}`);
  });
  svg.setAttribute("aria-label", what + ". " + said.join("; "));
}

function showDetails(d) {
  const j = d.job;
  $("details").hidden = false;
  $("details-title").textContent = `${j.name}: ${j.phase}` + (Number(j.ended) ? `, status ${j.exit_status}` : "");
  $("command").textContent = d.command.join(" ") || [j.program, ...j.arguments].join(" ");
  chart($("loss"), [{ name: "train", kind: "train", points: d.train }, { name: "eval", kind: "eval", points: d.eval }], "Loss");
  chart($("rate"), [{ name: "samples a second", kind: "train", points: d.rate }], "Throughput");
  const files = [];
  if (d.train.length + d.eval.length) files.push(element("a", "loss.csv", { href: `jobs/${j.name}/loss.csv` }));
  if (d.has_trace) files.push(element("a", "chrome_trace.json", { href: `jobs/${j.name}/chrome_trace.json`, download: j.name + "_trace.json" }), " (for ui.perfetto.dev or chrome://tracing)");
  $("files").replaceChildren(...files.flatMap((f, k) => (k && f instanceof Element ? [", ", f] : [f])));
  $("layout").hidden = !d.has_layout;
  if (d.has_layout) $("layout").querySelector("img").src = `jobs/${j.name}/layout.svg`;
  $("events").replaceChildren(...d.events.map((e) => element("li", new Date(Number(e.time)).toLocaleString() + "  " + e.text)));
  $("profile-part").hidden = !d.profile;
  $("profile").textContent = d.profile;
  const figures = d.performance && typeof d.performance === "object" ? Object.entries(d.performance).filter(([, v]) => typeof v !== "object") : [];
  $("performance-part").hidden = figures.length === 0;
  $("performance").replaceChildren(...figures.flatMap(([k, v]) => [element("dt", k), element("dd", typeof v === "number" ? number(v) : String(v))]));
  $("log").textContent = d.log;
}

async function ask(path) {
  const answer = await fetch(path);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.error);
  return body;
}

async function choose(name) {
  chosen = name;
  history.replaceState(null, "", "#" + name);
  await update();
}

async function update() {
  try {
    const s = await ask("state.json");
    $("address").textContent = s.address;
    const count = (phase) => s.jobs.filter((j) => j.phase === phase).length;
    $("summary").className = "";
    const text = `${count("RUNNING")} running, ${count("QUEUED")} queued, ${count("SUCCEEDED")} succeeded, ${count("FAILED")} failed, ${count("CANCELLED")} cancelled`;
    if ($("summary").textContent !== text) $("summary").textContent = text;
    showNodes(s.nodes);
    showJobs(s.jobs);
    if (s.jobs.some((j) => j.name === chosen)) showDetails(await ask(`jobs/${chosen}.json`));
  } catch (e) {
    $("summary").className = "trouble";
    $("summary").textContent = e.message;
  }
}

$("ended").addEventListener("change", update);
(async () => {
  for (;;) {
    await update();
    await new Promise((next) => setTimeout(next, 2000));
  }
})();
