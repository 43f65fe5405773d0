// The page: lists, descriptions, keys. All texts of the file enter as text, never as markup.
const $ = (id) => document.getElementById(id);
function element(tag, content, attributes = {}) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) e.setAttribute(name, value);
  e.append(...(Array.isArray(content) ? content : content === undefined ? [] : [content]));
  return e;
}
const number = (n) => Number(n).toLocaleString("en");
const percent = (share) => (share > 0 && share < 0.0005 ? "< 0.1" : (100 * share).toFixed(1)) + " %";
const nameOfPe = (x, y) => "PE(" + x + ", " + y + ")";

// ---- what the file has

async function unpacked(id) {
  const packed = $(id).textContent.trim(), raw = atob(packed), bytes = new Uint8Array(raw.length);
  for (let k = 0; k < raw.length; ++k) bytes[k] = raw.charCodeAt(k);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
// A trace, or a dump, if the page has one. Its parts lie one after the other, each at a multiple of 4.
async function read(kind, Kind, layout) {
  if (!$(kind + "-meta")) return null;
  const meta = JSON.parse($(kind + "-meta").textContent), all = await unpacked(kind + "-data"), parts = {};
  for (const { name, at, size } of meta.parts) parts[name] = all.slice(at, at + size);
  return new Kind(meta, layout, parts);
}

class Page {
  constructor(layout, trace, dump) {
    this.layout = layout;
    this.trace = trace;
    this.dump = dump;
    this.bin = null;
    this.shown = "programs";
    this.wafer = new Wafer($("wafer"), layout);
    this.waiting = [];
    const { machine, width, height } = layout.data;
    const title = machine.name + ", " + number(width) + " x " + number(height) + " PEs";
    document.title = "wsl-view: " + title;
    $("title").textContent = title;
    this.describePrograms();
    this.describeColors();
    if (trace) this.describeTrace();
    if (dump) this.describeDump();
    this.listen();
    this.follow();
  }
  say(what, bad = false) {
    $("said").textContent = what;
    $("said").classList.toggle("bad", bad);
  }
  button(x, y, label = nameOfPe(x, y)) {
    const b = element("button", label, { class: "pe", type: "button" });
    b.addEventListener("click", () => this.select(x, y, true));
    return b;
  }

  // ---- legends

  describePrograms() {
    const memory = this.layout.data.machine.memory;
    const items = this.layout.programs.map((p, k) => {
      const mark = element("span", letterOf(k), { class: "mark" });
      mark.style.background = text(programTint(k));
      return element("li", [mark, element("span", [element("b", p.name), " " + counted(p.pes, "PE") + ", " + number(p.bytes) + " of " + number(memory) + " bytes"])]);
    });
    $("programs").replaceChildren(...(items.length ? items : [element("li", "none")]));
  }
  modulesOf(color) { return [...new Set(this.layout.claims.filter((c) => color >= c.first && color < c.first + c.count).map((c) => c.module))]; }
  describeColors() {
    const layout = this.layout;
    if (!layout.colors.length) $("colors-text").textContent = "No color has a path.";
    $("colors").replaceChildren(...layout.colors.map((color) => {
      const paths = layout.byColor.get(color), box = element("input", [], { type: "checkbox", value: color });
      box.checked = this.wafer.chosen.includes(color);
      box.addEventListener("change", () => this.chooseColors());
      const mark = element("span", [], { class: "mark line" });
      mark.style.background = text(colorTint(color));
      const sum = (ports, way) => paths.reduce((n, p) => n + (p.phase === 0 && Layout.everyRoute(p)[way] & ports ? p.where.count : 0), 0);
      const modules = this.modulesOf(color), streams = layout.streams.filter((s) => s.color === color);
      const about = ["color " + color, paths[0].payload ? " (" + paths[0].payload[0] + ")" : "", ": sent by " + counted(sum(RAMP, "from"), "PE") + ", received by " + number(sum(RAMP, "to")),
        modules.length ? "; " + modules.join(", ") : "", streams.length ? "; host: " + streams.map((s) => (s.inbound ? "in " : "out ") + nameOf(s.side)).join(", ") : ""].join("");
      const item = element("li", element("label", [box, mark, element("span", about)]));
      const most = paths.reduce((n, p) => Math.max(n, p.positions ? p.positions.length : 0), 0);
      if (most > 1) {
        const choice = element("select", [element("option", "start", { value: "start" }), ...Array.from({ length: most }, (_, k) => element("option", "position " + k, { value: k })), element("option", "all", { value: "all" })],
          { "aria-label": "switch position of color " + color });
        choice.value = String(this.wafer.position.has(color) ? this.wafer.position.get(color) : "start");
        choice.addEventListener("change", () => {
          this.wafer.setPosition(color, /^\d+$/.test(choice.value) ? Number(choice.value) : choice.value);
          if (this.wafer.selected) this.describePe();
        });
        item.append(choice);
      }
      return item;
    }));
    if (layout.phases && $("phases").hidden) {
      $("phases").hidden = false;
      $("phase").replaceChildren(...Array.from({ length: layout.phases + 1 }, (_, k) => element("option", String(k), { value: k })));
      $("phase").addEventListener("change", () => { this.wafer.setPhase(Number($("phase").value)); });
    }
  }
  chooseColors() {
    const chosen = [...$("colors").querySelectorAll("input:checked")].map((box) => Number(box.value));
    this.wafer.choose(chosen);
    this.remember();
  }

  // ---- a PE

  select(x, y, reveal = false) {
    if (!this.layout.has(x, y)) return this.say("There is no " + nameOfPe(x, y) + "; the grid has columns 0 to " + (this.layout.width - 1) + " and rows 0 to " + (this.layout.height - 1) + ".", true);
    this.wafer.selected = [x, y];
    if (reveal) this.wafer.reveal(x, y, 14);
    this.run = null;
    this.describePe();
    this.showArrows();
    const program = this.layout.programAt(x, y);
    this.say(nameOfPe(x, y) + " runs " + (program ? program.name : "no program") + ".");
    this.remember();
  }
  table(head, rows) {
    return element("table", [element("thead", element("tr", head.map((h) => element("th", h, { scope: "col" })))), element("tbody", rows.map((r) => element("tr", r.map((c) => element("td", c)))))]);
  }
  describePe() {
    const [x, y] = this.wafer.selected, layout = this.layout, program = layout.programAt(x, y), parts = [];
    $("pe-title").textContent = nameOfPe(x, y);
    parts.push(element("p", program ? ["runs ", element("b", program.name)] : "has no program"));
    if (this.trace) parts.push(...this.describeActivity(x, y));
    if (this.dump) parts.push(...this.describeState(x, y));
    const routes = layout.paths.filter((p) => p.where.has(x, y)).sort((a, b) => a.color - b.color || a.phase - b.phase);
    if (routes.length) parts.push(element("h3", "Routes"), this.table(["color", "way", ""], routes.map((p) => [String(p.color), this.wayOf(p), this.moreOf(p, x, y)])));
    const streams = layout.streams.filter((s) => s.where.has(x, y));
    if (streams.length) parts.push(element("h3", "Host streams"), this.table(["color", "way"], streams.map((s) => [String(s.color), (s.inbound ? "in from the " : "out to the ") + nameOf(s.side)])));
    if (program) parts.push(...this.describeProgram(program, x, y));
    $("pe-text").replaceChildren(...parts);
  }
  wayOf(p) {
    if (!p.positions) return nameOf(p.from) + " → " + nameOf(p.to);
    const shown = this.wafer.position.has(p.color) ? this.wafer.position.get(p.color) : "start";
    const now = shown === "start" ? p.switch.start : shown;
    return p.positions.map((r, k) => element("div", (k === now ? "▸ " : "") + k + ": " + nameOf(r.from) + " → " + nameOf(r.to)));
  }
  moreOf(p, x, y) {
    const words = [];
    if (p.phase) words.push("phase " + p.phase);
    if (p.closed) words.push("closed at first");
    if (p.merges) words.push("words merge");
    if (p.injects) words.push(p.injects > 0 ? "injects first" : "injects last");
    if (p.swaps) words.push("swaps colors to the " + nameOf(p.swaps));
    if (p.switch) words.push("switch, starts in " + p.switch.start + (p.switch.ring ? ", and again" : "") + (p.switch.pop !== "never" ? ", pops " + p.switch.pop.replaceAll("_", " ") : ""));
    if (p.filter) {
      const f = p.filter, move = f.per_column * Math.floor((x - p.where.x0) / p.where.sx) + f.per_row * Math.floor((y - p.where.y0) / p.where.sy);
      words.push(f.by_index ? "keeps indices " + (f.first + move) + " to " + (f.last + move) : "keeps " + (f.last + 1) + " of every " + f.period + ", counting from " + ((((f.start + move) % f.period) + f.period) % f.period));
    }
    return words.join("; ");
  }
  describeProgram(program, x, y) {
    const parts = [element("h3", "Memory")], all = this.layout.data.machine.memory;
    const members = program.members || [], listed = [...members].sort((a, b) => a.offset - b.offset);
    const bar = element("div", [], { class: "memory", role: "img", "aria-label": number(program.bytes) + " of " + number(all) + " bytes are used" });
    // members as parts of the program, or the program as a part of the memory
    const piece = (bytes, tint) => { const s = element("span", []); s.style.width = (100 * bytes) / (listed.length ? program.bytes : all) + "%"; s.style.background = tint; bar.append(s); };
    if (listed.length) {
      let at = 0;
      listed.forEach((m, k) => {
        if (m.offset > at) piece(m.offset - at, style("--line"));
        if (m.offset >= at) piece(m.bytes, text(programTint(k + 3)));
        at = Math.max(at, m.offset + m.bytes);
      });
      if (program.bytes > at) piece(program.bytes - at, style("--line"));
    } else piece(program.bytes, style("--accent"));
    parts.push(bar, element("p", number(program.bytes) + " of " + number(all) + " bytes (" + percent(program.bytes / all) + ")", { class: "soft" }));
    if (listed.length) parts.push(this.table(["offset", "bytes", "member", "type"], listed.map((m) => [number(m.offset), number(m.bytes), m.name, m.type + (m.extents || []).map((e) => `[${e}]`).join("")])));
    const words = { launch: "the host calls", data: "color", local: "is activated", control: "control wavelet", torn_down: "teardown of color", read: "reads color", send: "sends color", steer: "steers color" };
    const rows = program.tasks.filter((t) => t.what in words).map((t) => {
      const named = ["data", "torn_down", "read", "send", "steer"].includes(t.what), id = named ? this.layout.colorAt(x, y, t.id) : t.id;
      return [t.name || "", words[t.what] + (named || t.what === "control" ? " " + id : ""), t.start ? t.start + " at first" : t.arrivals ? "after " + t.arrivals + " activations" : ""];
    });
    if (rows.length) parts.push(element("h3", "Tasks and colors"), this.table(["task", "trigger", ""], rows));
    return parts;
  }

  // ---- a trace

  describeTrace() {
    const t = this.trace;
    $("trace").hidden = $("times").hidden = false;
    this.shown = "states";
    $("time").max = t.bins - 1;
    $("time").value = 0;
    $("sum").checked = true;
    const legend = [["--computing", "computing"], ["--starved", "starved: an operation waits for wavelets"], ["--held", "held up: a send or an operation waits for room"], ["--idle", "idle"]];
    $("states").replaceChildren(...legend.map(([tint, name]) => {
      const mark = element("span", [], { class: "mark" });
      mark.style.background = "var(" + tint + ")";
      return element("li", [mark, name]);
    }));
    $("summary").textContent = t.summary;
    $("slowest").tBodies[0].replaceChildren(...t.slowest.map((p) => element("tr", [element("td", this.button(p.x, p.y)), element("td", percent(p.computing / t.cycles)),
      element("td", percent(p.starved / t.cycles)), element("td", percent(p.held_up / t.cycles)), element("td", number(p.last))])));
    this.describeEnding(t);
  }
  // How a run ended, of a trace or a dump.
  describeEnding(t) {
    if (!t.ending) return;
    $("deadlock").hidden = false;
    $("sentence").textContent = t.ending;
    $("waits-choice").hidden = !t.waits.length;
    $("chain").replaceChildren(...t.chain.map((l) => element("li", [this.button(l.from[0], l.from[1]), " " + l.says + " ", ...(l.to ? [this.button(l.to[0], l.to[1])] : [])])));
    this.waiting = this.waitArrows(t);
  }
  // Thick arrows: the chain that the sentence names. Thin ones: for each PE that waits for words, the senders of the color.
  waitArrows(t) {
    const arrows = [], most = 1000;
    for (const w of t.waits) {
      if (arrows.length >= most) break;
      if (!w.for_words) continue;
      for (const s of this.layout.senders(w.x, w.y, w.color, 2000).slice(0, 4)) if (s.x !== w.x || s.y !== w.y) arrows.push({ from: [w.x, w.y], to: [s.x, s.y], strong: false });
    }
    return arrows.concat(t.chain.filter((l) => l.to).map((l) => ({ from: l.from, to: l.to, strong: true })));
  }
  showArrows() {
    const arrows = $("waits").checked ? this.waiting : [];
    this.wafer.arrows = arrows.concat(this.run ? this.run.arrows : []);
    this.wafer.invalidate();
  }
  // ---- a dump

  describeDump() {
    const d = this.dump, choice = $("dump-shown");
    $("dump").hidden = false;
    $("dump-summary").textContent = d.summary;
    choice.replaceChildren(element("option", "programs", { value: "programs" }), element("option", "PEs that wait", { value: "waiting" }),
      ...d.members.map((m) => element("option", "member " + m.name, { value: "member " + m.name })));
    this.shown = d.ending ? "waiting" : "programs";
    choice.value = this.shown;
    choice.addEventListener("change", () => { this.shown = choice.value; this.showTime(); });
    this.describeEnding(d);
  }
  describeState(x, y) {
    const d = this.dump, lines = d.lines(x, y), member = this.shown.startsWith("member ") ? this.shown.slice(7) : null;
    if (lines === null && member) return [element("p", member + ": " + d.valueText(member, x, y))];
    if (lines === null) return [element("p", "The page has no more of this PE: wsl-debug FILE -c \"pe " + x + "," + y + "\" has.", { class: "soft" })];
    return lines ? [element("pre", lines, { tabindex: "0", "aria-label": "state of the PE" })] : [element("p", "does and holds nothing", { class: "soft" })];
  }
  showDump() {
    const d = this.dump, member = d.members.find((m) => "member " + m.name === this.shown);
    this.wafer.base = this.shown === "programs" ? this.wafer.programs : d.paint(this.shown);
    $("dump-range").textContent = member ? "from " + member.low + " (pale) to " + member.high + "; of arrays the largest number; not a number in red" :
      this.shown === "waiting" ? "PEs that wait are orange" : "";
    this.wafer.invalidate();
    if (this.wafer.selected) this.describePe();
  }
  showTime() {
    if (this.dump) return this.showDump();
    const t = this.trace;
    if (!t) return;
    this.bin = $("sum").checked ? null : Number($("time").value);
    const [from, to] = this.bin === null ? [t.from, t.from + t.cycles] : t.cyclesOf(this.bin);
    const label = "cycles " + number(from) + " to " + number(to);
    $("cycles").textContent = label;
    $("time").setAttribute("aria-valuetext", label);
    this.wafer.base = this.shown === "programs" ? this.wafer.programs : t.paint(this.bin, this.shown);
    this.wafer.links = this.shown === "links" ? (x, y, side) => t.linkShare(this.bin, x, y, side) : null;
    this.wafer.invalidate();
    if (this.wafer.selected && !this.playing) this.describePe();
  }
  play(on) {
    this.playing = on;
    $("play").setAttribute("aria-pressed", on);
    $("play").textContent = on ? "Pause" : "Play";
    if (!on) return this.showTime();
    $("sum").checked = false;
    if (Number($("time").value) >= this.trace.bins - 1) $("time").value = 0;
    const began = performance.now(), first = Number($("time").value), rate = this.trace.bins / 12000;
    const step = (now) => {
      if (!this.playing) return;
      const bin = Math.min(this.trace.bins - 1, first + Math.floor((now - began) * rate));
      if (bin !== this.bin) { $("time").value = bin; this.showTime(); }
      if (bin >= this.trace.bins - 1) return this.play(false);
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  }
  describeActivity(x, y) {
    const t = this.trace, parts = [], shares = t.shares(this.bin, x, y);
    const where = this.bin === null ? "in the whole run" : "in these cycles" + (t.block > 1 ? ", with its neighbours" : "");
    parts.push(element("p", "computing " + percent(shares[0]) + ", starved " + percent(shares[1]) + ", held up " + percent(shares[2]) + " " + where, { class: "soft" }));
    for (const w of t.waits || []) if (w.x === x && w.y === y) parts.push(element("p", w.says));
    if (!t.details) return parts.concat(element("p", "Single tasks and wavelets are not in this page: choose fewer cycles with --cycles FROM:TO.", { class: "soft" }));
    const all = t.details.of(x, y), from = this.bin === null ? t.from : t.cyclesOf(this.bin)[0];
    let first = all.findIndex((e) => e.to > from);
    if (first < 0) first = Math.max(0, all.length - 12);
    const some = all.slice(first, first + 12);
    if (some.length)
      parts.push(element("h3", "From cycle " + number(from) + " on"), this.table(["cycles", "what"], some.map((e) => {
        const name = e.kind === "operation" ? "operation " + e.name + ", microthread " + (e.thread - 1) : e.kind === "task" ? "task " + e.name : e.kind;
        if (e.kind !== "task") return [number(e.from) + " to " + number(e.to), name];
        const b = element("button", name, { class: "pe", type: "button", title: "follow its wavelets" });
        b.addEventListener("click", () => this.followRun(e));
        return [number(e.from) + " to " + number(e.to), b];
      })));
    if (all.length > first + 12) parts.push(element("p", number(all.length - first - 12) + " more after these", { class: "soft" }));
    if (this.run) parts.push(...this.run.parts);
    return parts;
  }
  // From task to task: back to where its words came from, and on to what it led to.
  followRun(run) {
    const d = this.trace.details, back = [], arrows = [], seen = new Set();
    let now = run, cause = null;
    while (back.length < 50 && !seen.has(now.k) && (cause = d.cause(now))) {
      seen.add(now.k);
      back.push({ ...cause, of: now });
      arrows.push({ from: [cause.x, cause.y], to: [now.x, now.y], strong: true, tint: text(colorTint(cause.color)) });
      if (!cause.event || cause.event.kind !== "task") break;
      now = cause.event;
    }
    const effects = d.effects(run);
    for (const e of effects) arrows.push({ from: [run.x, run.y], to: [e.x, e.y], strong: false, tint: text(colorTint(e.color)) });
    const what = (e) => (e ? " " + e.kind + " " + e.name + ", cycles " + number(e.from) + " to " + number(e.to) : "");
    const step = (e, before) => {
      const b = this.button(e.x, e.y);
      if (e.event && e.event.kind === "task") b.addEventListener("click", () => this.followRun(e.event));
      return element("li", [before + (e.sure ? "" : "probably ") + "color " + e.color + (e.number >= 0 && e.sure ? ", word " + (e.number + 1) : "") + ": ", b, what(e.event)]);
    };
    const parts = [element("h3", "Wavelets of task " + run.name + ", cycles " + number(run.from) + " to " + number(run.to))];
    if (back.length) parts.push(element("p", "came from", { class: "soft" }), element("ol", back.map((e) => step(e, "")), { class: "steps" }));
    else parts.push(element("p", "The page has no wavelet that started it: the host, another task or an operation did.", { class: "soft" }));
    if (effects.length) parts.push(element("p", "led to", { class: "soft" }), element("ul", effects.map((e) => step(e, "")), { class: "steps" }));
    this.wafer.selected = [run.x, run.y];
    this.run = { arrows, parts };
    this.describePe();
    this.showArrows();
    this.say("Task " + run.name + " of " + nameOfPe(run.x, run.y) + ": " + counted(back.length, "step") + " back, " + counted(effects.length, "effect") + ".");
  }

  // ---- keys, the pointer, the address

  listen() {
    const wafer = this.wafer, canvas = wafer.canvas;
    $("larger").addEventListener("click", () => wafer.zoom(1.5));
    $("smaller").addEventListener("click", () => wafer.zoom(1 / 1.5));
    $("whole").addEventListener("click", () => wafer.fit());
    $("search").addEventListener("submit", (event) => {
      event.preventDefault();
      const found = /^\s*\(?\s*(\d+)\s*[,; ]\s*(\d+)\s*\)?\s*$/.exec($("place").value);
      if (!found) return this.say("A PE is its column and its row, such as 3,1.", true);
      this.select(Number(found[1]), Number(found[2]), true);
    });
    let held = null;
    canvas.addEventListener("pointerdown", (event) => {
      held = { x: event.clientX, y: event.clientY, moved: 0 };
      try { canvas.setPointerCapture(event.pointerId); } catch (_) { /* a pointer of a test */ }
    });
    canvas.addEventListener("pointermove", (event) => {
      if (!held) return;
      const dx = event.clientX - held.x, dy = event.clientY - held.y;
      held.moved += Math.abs(dx) + Math.abs(dy);
      if (held.moved > 4) { wafer.pan(dx, dy); held.x = event.clientX; held.y = event.clientY; }
    });
    canvas.addEventListener("pointerup", (event) => {
      if (held && held.moved <= 4) {
        const box = canvas.getBoundingClientRect(), at = wafer.peAt(event.clientX - box.left, event.clientY - box.top);
        if (at) this.select(...at);
      }
      held = null;
    });
    canvas.addEventListener("pointercancel", () => { held = null; });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      wafer.zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0018)), [event.clientX - box.left, event.clientY - box.top]);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => this.key(event));
    $("waits").addEventListener("change", () => this.showArrows());
    $("time").addEventListener("input", () => { this.playing = false; $("sum").checked = false; this.play(false); });
    $("sum").addEventListener("change", () => this.showTime());
    $("play").addEventListener("click", () => this.play(!this.playing));
    for (const radio of document.querySelectorAll("input[name=shown]"))
      radio.addEventListener("change", () => { this.shown = radio.value; this.showTime(); });
    new ResizeObserver(() => wafer.resized()).observe(canvas);
    dark.addEventListener("change", () => { wafer.paintPrograms(); this.describePrograms(); this.describeColors(); this.showTime(); wafer.invalidate(); });
  }
  key(event) {
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }, step = steps[event.key], wafer = this.wafer;
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (step && event.shiftKey) wafer.pan(-step[0] * 60, -step[1] * 60);
    else if (step) {
      const [x0, y0, x1, y1] = wafer.window();
      const [x, y] = wafer.selected ? [wafer.selected[0] + step[0], wafer.selected[1] + step[1]] : [Math.floor((x0 + x1) / 2), Math.floor((y0 + y1) / 2)];
      if (this.layout.has(x, y)) { this.select(x, y); wafer.reveal(x, y); }
    } else if (event.key === "+" || event.key === "=") wafer.zoom(1.5, wafer.selected && wafer.center(...wafer.selected));
    else if (event.key === "-") wafer.zoom(1 / 1.5, wafer.selected && wafer.center(...wafer.selected));
    else if (event.key === "0") wafer.fit();
    else if (event.key === " " && this.trace) this.play(!this.playing);
    else if (event.key === "Enter") $("pe-title").focus();
    else return;
    event.preventDefault();
  }
  // The address says what is shown, "#pe=3,1&colors=0,4", so that a place can be passed on.
  remember() {
    const parts = [];
    if (this.wafer.selected) parts.push("pe=" + this.wafer.selected.join(","));
    if (this.wafer.chosen.length) parts.push("colors=" + this.wafer.chosen.join(","));
    try { history.replaceState(null, "", "#" + parts.join("&")); } catch (_) { /* not everywhere allowed for files */ }
  }
  follow() {
    const asked = new URLSearchParams(location.hash.slice(1));
    const numbers = (key) => (asked.get(key) || "").split(",").filter((n) => /^\d+$/.test(n)).map(Number);
    const colors = numbers("colors"), pe = numbers("pe");
    for (const box of $("colors").querySelectorAll("input")) box.checked = colors.includes(Number(box.value));
    this.wafer.choose(colors.filter((c) => this.layout.byColor.has(c)));
    this.showTime();
    this.showArrows();
    if (pe.length === 2) this.select(pe[0], pe[1], true);
  }
}

async function open() {
  const layout = new Layout(JSON.parse($("layout-data").textContent));
  window.page = new Page(layout, await read("trace", Trace, layout), await read("dump", Dump, layout));
  document.documentElement.dataset.opened = Math.round(performance.now());  // milliseconds since the page began to load
}
open().catch((e) => { $("said").textContent = "This page cannot be shown: " + e.message; $("said").classList.add("bad"); throw e; });
