// What the converter has written of a trace: shares of time bins for cells of PEs, sums for each PE, and, if the page has them,
// single tasks, operations, stalls and words.
class Trace {
  constructor(meta, layout, parts) {
    Object.assign(this, meta);
    this.layout = layout;
    this.cells = meta.wide * meta.high;
    this.states = parts.states;  // 3 bytes: computing, starved, held up; for each cell of each bin
    this.used = parts.links;     // 4 bytes: the links to the east, west, north and south
    this.sums = new Uint32Array(parts.sums.buffer);  // 3 numbers for each PE, in cycles
    if (meta.details) this.details = new Details(meta, layout, parts);
  }
  cell(x, y) { return Math.floor(y / this.block) * this.wide + Math.floor(x / this.block); }
  // The shares of a PE's cell in a bin; in the whole run, of the PE itself.
  shares(bin, x, y) {
    if (bin === null) {
      const at = 3 * (y * this.layout.width + x), all = Math.max(1, this.cycles);
      return [0, 1, 2].map((k) => this.sums[at + k] / all);
    }
    const at = 3 * (bin * this.cells + this.cell(x, y));
    return [0, 1, 2].map((k) => this.states[at + k] / 255);
  }
  linkShare(bin, x, y, side) {
    const k = SIDES.indexOf(side);
    if (bin !== null) return this.used[4 * (bin * this.cells + this.cell(x, y)) + k] / 255;
    let sum = 0;
    for (let b = 0; b < this.bins; ++b) sum += this.used[4 * (b * this.cells + this.cell(x, y)) + k];
    return sum / this.bins / 255;
  }
  // An image of the states, or of the use of links, in a bin or, if it is null, in the whole run.
  paint(bin, what) {
    const idle = rgbOfHex(style("--idle"));
    const tints = ["--computing", "--starved", "--held"].map((n) => rgbOfHex(style(n))), busy = rgbOfHex(style("--bad"));
    const image = Wafer.image(this.wide, this.high, this.block), from = bin === null ? 0 : bin, to = bin === null ? this.bins : bin + 1;
    const data = what === "links" ? this.used : this.states, n = what === "links" ? 4 : 3;
    const sum = new Float64Array(n);
    for (let cell = 0; cell < this.cells; ++cell) {
      sum.fill(0);
      for (let b = from; b < to; ++b) for (let k = 0; k < n; ++k) sum[k] += data[n * (b * this.cells + cell) + k];
      for (let k = 0; k < n; ++k) sum[k] /= 255 * (to - from);
      let tint;
      if (what === "links") tint = between(idle, busy, Math.max(...sum));
      else {
        const rest = Math.max(0, 1 - sum[0] - sum[1] - sum[2]);
        tint = [0, 1, 2].map((k) => idle[k] * rest + tints[0][k] * sum[0] + tints[1][k] * sum[1] + tints[2][k] * sum[2]);
      }
      image.pixels[cell] = Wafer.pixel(tint.map((v) => Math.min(255, Math.round(v))));
    }
    image.show();
    return image;
  }
  binOf(cycle) { return Math.max(0, Math.min(this.bins - 1, Math.floor((cycle - this.from) / this.bin_cycles))); }
  cyclesOf(bin) { return [this.from + bin * this.bin_cycles, Math.min(this.from + (bin + 1) * this.bin_cycles, this.from + this.cycles)]; }
}

// Single events of PEs, ordered by PE and time; times count from the begin of the part that the page has.
class Details {
  static KINDS = ["task", "operation", "starved", "held up"];
  constructor(meta, layout, parts) {
    this.layout = layout;
    this.names = meta.names;
    this.start = meta.from;
    const u32 = (part) => new Uint32Array(part.buffer);
    this.pe = u32(parts.event_pe); this.from = u32(parts.event_from); this.span = u32(parts.event_span);
    this.name = new Uint16Array(parts.event_name.buffer); this.kind = parts.event_kind; this.thread = parts.event_thread;
    this.wordPe = u32(parts.word_pe); this.wordFirst = u32(parts.word_first); this.wordSpan = u32(parts.word_span);
    this.wordCount = u32(parts.word_count); this.wordColor = parts.word_color; this.wordWay = parts.word_way;
  }
  static first(sorted, value) {
    let low = 0, high = sorted.length;
    while (low < high) {
      const mid = (low + high) >> 1;
      if (sorted[mid] < value) low = mid + 1; else high = mid;
    }
    return low;
  }
  rank(x, y) { return y * this.layout.width + x; }
  place(rank) { return [rank % this.layout.width, Math.floor(rank / this.layout.width)]; }
  event(k) {
    const [x, y] = this.place(this.pe[k]);
    return { k, x, y, kind: Details.KINDS[this.kind[k]], name: this.names[this.name[k]] || "", thread: this.thread[k],
      from: this.start + this.from[k], to: this.start + this.from[k] + this.span[k] };
  }
  // The events of a PE in the order of their begins.
  of(x, y) {
    const rank = this.rank(x, y), list = [];
    for (let k = Details.first(this.pe, rank); k < this.pe.length && this.pe[k] === rank; ++k) list.push(this.event(k));
    return list;
  }
  // The times at which words of a color left a PE's ramp for its router (way 0), or came to it (way 1), at most 200,000.
  times(x, y, color, way) {
    const rank = this.rank(x, y), times = [];
    for (let k = Details.first(this.wordPe, rank); k < this.wordPe.length && this.wordPe[k] === rank; ++k) {
      if (this.wordColor[k] !== color || this.wordWay[k] !== way) continue;
      const gap = this.wordCount[k] > 1 ? this.wordSpan[k] / (this.wordCount[k] - 1) : 0;
      for (let j = 0; j < this.wordCount[k] && times.length < 200000; ++j) times.push(this.start + this.wordFirst[k] + Math.round(j * gap));
    }
    return times.sort((a, b) => a - b);
  }
  // The colors whose words start a task of this name on a PE.
  colorsOf(x, y, name) {
    const program = this.layout.programAt(x, y);
    return program ? program.tasks.filter((t) => t.what === "data" && t.name === name).map((t) => this.layout.colorAt(x, y, t.id)) : [];
  }
  // What happened on a PE when a word was sent at a time: the task or operation that was going on, or the last one before.
  sending(x, y, at) {
    let best = null;
    for (const e of this.of(x, y)) {
      if (e.kind !== "task" && e.kind !== "operation") continue;
      if (e.from > at) break;
      if (!best || e.to >= at || e.from > best.from) best = e;
    }
    return best;
  }
  // The task run that a word of a color started on a PE, or the operation that took it.
  taking(x, y, color, number, at) {
    const tasks = (this.layout.programAt(x, y) || { tasks: [] }).tasks.filter((t) => t.what === "data" && this.layout.colorAt(x, y, t.id) === color).map((t) => t.name);
    if (tasks.length) {
      const runs = this.of(x, y).filter((e) => e.kind === "task" && tasks.includes(e.name));
      return (this.servesOne(x, y, tasks[0]) ? runs[number] : runs.find((e) => e.from >= at)) || null;
    }
    return this.of(x, y).find((e) => e.kind === "operation" && e.to >= at) || this.of(x, y).find((e) => e.kind === "task" && e.to >= at) || null;
  }
  // Whether a task is bound to one color, so that its runs are that color's words in turn.
  servesOne(x, y, name) { return this.colorsOf(x, y, name).length === 1; }
  // Where the word came from that started a task run: { color, number, sure, event, x, y }, or null.
  cause(run) {
    const runs = this.of(run.x, run.y).filter((e) => e.kind === "task" && e.name === run.name);
    const words = this.colorsOf(run.x, run.y, run.name).flatMap((color) => this.times(run.x, run.y, color, 1).map((at, number) => ({ at, color, number })));
    const word = words.sort((a, b) => a.at - b.at || a.color - b.color)[runs.findIndex((e) => e.k === run.k)];
    if (!word || word.at > run.from) return null;
    const senders = this.layout.senders(run.x, run.y, word.color);
    const sure = senders.length === 1 && this.layout.plain(word.color) && this.start === 0 && this.servesOne(run.x, run.y, run.name);
    let best = null;
    for (const s of senders) {
      const times = this.times(s.x, s.y, s.color, 0), k = sure ? word.number : Details.first(times, word.at) - 1;
      if (times[k] !== undefined && (!best || times[k] > best.at)) best = { x: s.x, y: s.y, at: times[k], number: k };
    }
    return best && { ...best, color: word.color, sure, event: this.sending(best.x, best.y, best.at) };
  }
  // What the words that a task run sent led to: a list of { color, x, y, sure, event }, at most 24.
  effects(run) {
    const found = [], after = this.of(run.x, run.y).find((e) => e.kind === "task" && e.from >= run.to);
    const program = this.layout.programAt(run.x, run.y);
    const colors = new Set((program ? program.tasks : []).filter((t) => t.what === "send" || t.what === "steer").map((t) => this.layout.colorAt(run.x, run.y, t.id)));
    for (const color of colors) {
      const times = this.times(run.x, run.y, color, 0);
      const first = Details.first(times, run.from);
      if (first >= times.length || (after && times[first] >= after.from + 4)) continue;
      for (const r of this.layout.receivers(run.x, run.y, color)) {
        if (found.length >= 24) return found;
        const alone = this.layout.plain(color) && this.layout.senders(r.x, r.y, r.color).length === 1 && this.start === 0;
        const came = this.times(r.x, r.y, r.color, 1);
        const k = alone ? first : Details.first(came, times[first]);
        if (came[k] === undefined) continue;
        const event = this.taking(r.x, r.y, r.color, k, came[k]);
        found.push({ color: r.color, x: r.x, y: r.y, sure: alone && (!event || this.servesOne(r.x, r.y, event.name)), event });
      }
    }
    return found;
  }
}
