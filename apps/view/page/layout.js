// The layout: which program runs on a PE, which way a color takes. Ports are bits: ramp 1, east 2, west 4, north 8, south 16.
const RAMP = 1, EAST = 2, WEST = 4, NORTH = 8, SOUTH = 16;
const SIDES = [EAST, WEST, NORTH, SOUTH];
const STEP = { [EAST]: [1, 0], [WEST]: [-1, 0], [NORTH]: [0, -1], [SOUTH]: [0, 1] };
const OPPOSITE = { [EAST]: WEST, [WEST]: EAST, [NORTH]: SOUTH, [SOUTH]: NORTH };
const NAMES = { [RAMP]: "ramp", [EAST]: "east", [WEST]: "west", [NORTH]: "north", [SOUTH]: "south" };
const LETTERS = { R: RAMP, E: EAST, W: WEST, N: NORTH, S: SOUTH };
const bitsOf = (letters) => [...letters].reduce((all, letter) => all | LETTERS[letter], 0);
const nameOf = (ports) => {
  const names = [RAMP, ...SIDES].filter((p) => ports & p).map((p) => NAMES[p]);
  return names.length > 1 ? "(" + names.join(" | ") + ")" : names.join("");
};
const counted = (n, what) => n.toLocaleString("en") + " " + what + (n === 1 ? "" : "s");

class Region {
  constructor([x, y, columns, rows, sx, sy]) {
    Object.assign(this, { x0: x, y0: y, x1: x + (columns - 1) * sx + 1, y1: y + (rows - 1) * sy + 1, sx, sy, count: columns * rows });
  }
  has(x, y) {
    return x >= this.x0 && x < this.x1 && y >= this.y0 && y < this.y1 && (x - this.x0) % this.sx === 0 && (y - this.y0) % this.sy === 0;
  }
  // Calls use(x, y) for its PEs in a window; of every `every` PEs in each direction at least one.
  each(use, x0, y0, x1, y1, every = 1) {
    const stepX = this.sx * Math.max(1, Math.floor(every / this.sx)), stepY = this.sy * Math.max(1, Math.floor(every / this.sy));
    const first = (from, begin, step) => (begin <= from ? from : from + Math.ceil((begin - from) / step) * step);
    for (let y = first(this.y0, y0, stepY); y < Math.min(y1, this.y1); y += stepY)
      for (let x = first(this.x0, x0, stepX); x < Math.min(x1, this.x1); x += stepX) use(x, y);
  }
  // The number of its PEs in a window, about.
  within(x0, y0, x1, y1) {
    const wide = Math.min(x1, this.x1) - Math.max(x0, this.x0), high = Math.min(y1, this.y1) - Math.max(y0, this.y0);
    return wide > 0 && high > 0 ? (wide / this.sx) * (high / this.sy) : 0;
  }
}

class Layout {
  constructor(data) {
    this.data = data;
    this.width = data.width;
    this.height = data.height;
    this.programs = data.programs.map((p) => ({ ...p, pes: 0 }));
    this.placements = data.placements.map((p) => ({ ...p, where: new Region(p.where) }));
    for (const p of this.placements) this.programs[p.program].pes += p.where.count;
    this.paths = data.paths.map((p) => ({
      ...p, where: new Region(p.where), from: bitsOf(p.from), to: bitsOf(p.to), swaps: bitsOf(p.swaps || ""), phase: p.phase || 0,
      positions: p.switch && p.switch.positions.map(([from, to]) => ({ from: bitsOf(from), to: bitsOf(to) })),
    }));
    this.streams = data.streams.map((s) => ({ ...s, where: new Region(s.where), side: bitsOf(s.side) }));
    this.claims = data.claims.map((c) => ({ ...c, where: new Region(c.where) }));
    this.byColor = new Map();
    for (const p of this.paths) {
      if (!this.byColor.has(p.color)) this.byColor.set(p.color, []);
      this.byColor.get(p.color).push(p);
    }
    this.colors = [...this.byColor.keys()].sort((a, b) => a - b);
    this.phases = this.paths.reduce((most, p) => Math.max(most, p.phase), 0);
  }
  has(x, y) { return x >= 0 && y >= 0 && x < this.width && y < this.height; }
  placementAt(x, y) { return this.placements.find((p) => p.where.has(x, y)); }
  programAt(x, y) {
    const p = this.placementAt(x, y);
    return p ? this.programs[p.program] : null;
  }
  pathAt(x, y, color, phase = 0) { return (this.byColor.get(color) || []).find((p) => p.phase === phase && p.where.has(x, y)); }
  // All ports that a path uses in any position of its switch.
  static everyRoute(p) {
    if (!p.positions) return p;
    return p.positions.reduce((all, r) => ({ from: all.from | r.from, to: all.to | r.to }), { from: 0, to: 0 });
  }
  // The route of a path with its switch in a position: a number, "start", or "all".
  static routeOf(p, position) {
    if (!p.positions) return p;
    if (position === "all") return Layout.everyRoute(p);
    return p.positions[Math.min(position === "start" ? p.switch.start : position, p.positions.length - 1)];
  }
  static behind(p, side) { return p.swaps & side ? p.color ^ 1 : p.color; }
  // The PEs whose ramps feed a color at a PE, found backwards along the routes; at most `budget` routers are looked at.
  senders(x, y, color, budget = 20000) {
    const found = [], seen = new Set(), todo = [[x, y, color, RAMP]];
    while (todo.length && budget-- > 0) {
      const [cx, cy, c, out] = todo.pop();
      const p = this.pathAt(cx, cy, c);
      if (!p || !(Layout.everyRoute(p).to & out)) continue;
      const key = (cy * this.width + cx) * 64 + c;
      if (seen.has(key)) continue;
      seen.add(key);
      const from = Layout.everyRoute(p).from;
      if (from & RAMP) found.push({ x: cx, y: cy, color: c });
      for (const side of SIDES) {
        if (!(from & side)) continue;
        const [dx, dy] = STEP[side], back = OPPOSITE[side];
        for (const before of [c, c ^ 1]) {
          const q = this.pathAt(cx + dx, cy + dy, before);
          if (q && Layout.behind(q, back) === c) todo.push([cx + dx, cy + dy, before, back]);
        }
      }
    }
    return found;
  }
  // The PEs whose ramps receive what a PE sends, forwards along the routes.
  receivers(x, y, color, budget = 20000) {
    const found = [], seen = new Set(), todo = [[x, y, color, RAMP, 0]];
    while (todo.length && budget-- > 0) {
      const [cx, cy, c, into, hops] = todo.pop();
      const p = this.pathAt(cx, cy, c);
      if (!p || !(Layout.everyRoute(p).from & into)) continue;
      const key = (cy * this.width + cx) * 64 + c;
      if (seen.has(key)) continue;
      seen.add(key);
      const to = Layout.everyRoute(p).to;
      if (to & RAMP) found.push({ x: cx, y: cy, color: c, hops });
      for (const side of SIDES)
        if (to & side) todo.push([cx + STEP[side][0], cy + STEP[side][1], Layout.behind(p, side), OPPOSITE[side], hops + 1]);
    }
    return found;
  }
  // Whether the routes between two PEs neither change nor filter nor merge, so that words arrive one by one as they were sent.
  plain(color) { return (this.byColor.get(color) || []).every((p) => !p.switch && !p.filter && !p.merges && !p.closed && !p.phase && !p.swaps); }
  // The color that a color of the program on a PE stands for.
  colorAt(x, y, named) {
    const p = this.placementAt(x, y);
    return p && p.colors && named in p.colors ? p.colors[named] : named;
  }
}
