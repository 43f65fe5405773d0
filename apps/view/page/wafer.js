// The canvas. What does not change from frame to frame is an image with a pixel for each PE, or for a block of them, so a
// frame costs no more for a whole wafer than for a small grid. Routes are drawn line by line where they are large enough; many
// of them are drawn when the wafer stands still, and that drawing moves with it.
class Wafer {
  static mostLines = 30000;
  static linesAFrame = 600;
  constructor(canvas, layout) {
    this.canvas = canvas;
    this.layout = layout;
    this.context = canvas.getContext("2d");
    this.chosen = [];            // colors whose routes are drawn
    this.position = new Map();   // of the switches of a color: a number, "start" or "all"
    this.phase = 0;
    this.selected = null;
    this.arrows = [];            // { from: [x, y], to: [x, y], strong }
    this.links = null;           // (x, y, side) => share of the cycles in which the link was used, 0 to 1
    this.paintPrograms();
    this.fit();
  }

  // ---- images

  static image(width, height, block) {
    const canvas = document.createElement("canvas");
    canvas.width = width;
    canvas.height = height;
    const context = canvas.getContext("2d");
    const data = context.createImageData(width, height);
    return { canvas, block, pixels: new Uint32Array(data.data.buffer), width, height, show: () => context.putImageData(data, 0, 0) };
  }
  static pixel([r, g, b], alpha = 255) { return ((alpha << 24) | (b << 16) | (g << 8) | r) >>> 0; }
  get block() { return Math.max(1, Math.ceil(Math.sqrt((this.layout.width * this.layout.height) / 8e6)), Math.ceil(Math.max(this.layout.width, this.layout.height) / 16000)); }
  newImage(block = this.block) {
    return Wafer.image(Math.ceil(this.layout.width / block), Math.ceil(this.layout.height / block), block);
  }
  paintPrograms() {
    const image = (this.programs = this.newImage()), { block, width } = image;
    image.pixels.fill(Wafer.pixel(rgbOfHex(style("--empty"))));
    for (const p of this.layout.placements) {
      const tint = Wafer.pixel(programTint(p.program));
      p.where.each((x, y) => { image.pixels[Math.floor(y / block) * width + Math.floor(x / block)] = tint; }, 0, 0, this.layout.width, this.layout.height, block);
    }
    image.show();
    this.base = image;
    this.routes = this.still = null;
  }
  paintRoutes() {
    const image = this.newImage(), { block, width } = image, n = this.chosen.length;
    this.chosen.forEach((color, k) => {
      const tint = Wafer.pixel(colorTint(color), 220);
      for (const p of this.layout.byColor.get(color)) {
        if (p.phase !== this.phase) continue;
        p.where.each((x, y) => {
          const bx = Math.floor(x / block), by = Math.floor(y / block), at = by * width + bx;
          if (!image.pixels[at] || (bx + by) % n === k) image.pixels[at] = tint;  // all colors of a PE are seen among its neighbours
        }, 0, 0, this.layout.width, this.layout.height, block);
      }
    });
    image.show();
    return image;
  }
  // The routes to draw, or how, have changed.
  changeRoutes() { this.routes = this.still = null; this.invalidate(); }
  choose(colors) { this.chosen = colors; this.changeRoutes(); }
  setPosition(color, position) { this.position.set(color, position); this.changeRoutes(); }
  setPhase(phase) { this.phase = phase; this.changeRoutes(); }

  // ---- the window

  get size() { return [this.canvas.clientWidth, this.canvas.clientHeight]; }
  fit() {
    const [w, h] = this.size;
    this.least = Math.min(w / (this.layout.width + 1), h / (this.layout.height + 1), 64);
    this.scale = this.least;
    this.x = (w - this.layout.width * this.scale) / 2;
    this.y = (h - this.layout.height * this.scale) / 2;
    this.fitted = true;
    this.invalidate();
  }
  zoom(factor, at) {
    const [w, h] = this.size, [px, py] = at || [w / 2, h / 2];
    const scale = Math.min(160, Math.max(this.least / 2, this.scale * factor));
    this.x = px - ((px - this.x) * scale) / this.scale;
    this.y = py - ((py - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.invalidate();
  }
  pan(dx, dy) { this.x += dx; this.y += dy; this.fitted = false; this.invalidate(); }
  // Draws at once: until then the old frame is stretched.
  resized() {
    if (this.fitted) this.fit();
    this.draw();
  }
  peAt(px, py) {
    const x = Math.floor((px - this.x) / this.scale), y = Math.floor((py - this.y) / this.scale);
    return this.layout.has(x, y) ? [x, y] : null;
  }
  // Brings a PE into the window; zooms in if it is smaller than `least` pixels.
  reveal(x, y, least = 0) {
    const [w, h] = this.size;
    const moved = least > this.scale;
    if (moved) this.scale = least;
    const px = this.x + (x + 0.5) * this.scale, py = this.y + (y + 0.5) * this.scale;
    if (moved || px < 20 || py < 20 || px > w - 20 || py > h - 20) {
      this.x = w / 2 - (x + 0.5) * this.scale;
      this.y = h / 2 - (y + 0.5) * this.scale;
      this.fitted = false;
    }
    this.invalidate();
  }
  window() {
    const [w, h] = this.size, { width, height } = this.layout;
    return [Math.max(0, Math.floor(-this.x / this.scale)), Math.max(0, Math.floor(-this.y / this.scale)),
      Math.min(width, Math.ceil((w - this.x) / this.scale)), Math.min(height, Math.ceil((h - this.y) / this.scale))];
  }
  center(x, y) { return [this.x + (x + 0.5) * this.scale, this.y + (y + 0.5) * this.scale]; }

  // ---- a frame

  invalidate() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => { this.waiting = false; this.draw(); });
  }
  draw() {
    const ratio = devicePixelRatio || 1, [w, h] = this.size, c = this.context;
    const wide = Math.max(1, Math.round(w * ratio)), high = Math.max(1, Math.round(h * ratio));
    if (this.canvas.width !== wide || this.canvas.height !== high) { this.canvas.width = wide; this.canvas.height = high; }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.fillStyle = style("--back");
    c.fillRect(0, 0, w, h);
    this.drawImage(this.base);
    const [x0, y0, x1, y1] = this.window();
    if (this.scale >= 7) this.drawGrid(x0, y0, x1, y1);
    if (this.scale >= 24 && (x1 - x0) * (y1 - y0) <= 400 && this.base === this.programs) this.drawLetters(x0, y0, x1, y1);
    if (this.links && this.scale >= 10 && (x1 - x0) * (y1 - y0) <= 10 * Wafer.linesAFrame) this.drawLinks(x0, y0, x1, y1);
    if (this.chosen.length) this.drawRoutes(x0, y0, x1, y1);
    this.drawArrows();
    if (this.selected) {
      const [x, y] = this.selected, size = Math.max(this.scale, 5);
      const [px, py] = this.center(x, y);
      c.lineWidth = 3; c.strokeStyle = style("--back"); c.strokeRect(px - size / 2, py - size / 2, size, size);
      c.lineWidth = 2; c.strokeStyle = style("--bad"); c.strokeRect(px - size / 2, py - size / 2, size, size);
    }
  }
  drawImage(image) {
    const c = this.context, size = image.block * this.scale;
    c.imageSmoothingEnabled = size < 1;
    c.drawImage(image.canvas, this.x, this.y, image.width * size, image.height * size);
    const { width, height } = this.layout, right = this.x + width * this.scale, bottom = this.y + height * this.scale;
    // the last blocks may be larger than the grid
    c.fillStyle = style("--back");
    c.fillRect(right, this.y, image.width * size - width * this.scale + 1, image.height * size + 1);
    c.fillRect(this.x, bottom, image.width * size + 1, image.height * size - height * this.scale + 1);
  }
  drawGrid(x0, y0, x1, y1) {
    const c = this.context;
    c.beginPath();
    for (let x = x0; x <= x1; ++x) { c.moveTo(this.x + x * this.scale, this.y + y0 * this.scale); c.lineTo(this.x + x * this.scale, this.y + y1 * this.scale); }
    for (let y = y0; y <= y1; ++y) { c.moveTo(this.x + x0 * this.scale, this.y + y * this.scale); c.lineTo(this.x + x1 * this.scale, this.y + y * this.scale); }
    c.strokeStyle = style("--back");
    c.lineWidth = Math.max(1, Math.min(4, this.scale / 12));
    c.stroke();
  }
  drawLetters(x0, y0, x1, y1) {
    const c = this.context;
    c.fillStyle = style("--soft");
    c.font = "600 " + Math.round(Math.min(14, this.scale * 0.3)) + "px ui-monospace, monospace";
    for (const p of this.layout.placements)
      p.where.each((x, y) => c.fillText(letterOf(p.program), this.x + x * this.scale + 4, this.y + (y + 1) * this.scale - 5), x0, y0, x1, y1);
  }

  // ---- routes

  drawRoutes(x0, y0, x1, y1) {
    const shown = this.chosen.flatMap((color) => this.layout.byColor.get(color).filter((p) => p.phase === this.phase));
    const lines = shown.reduce((sum, p) => sum + p.where.within(x0, y0, x1, y1), 0);
    if (this.scale < 6 || lines > Wafer.mostLines) {
      if (!this.routes) this.routes = this.paintRoutes();
      return this.drawImageOver(this.routes);
    }
    if (lines <= Wafer.linesAFrame) return this.drawLines(x0, y0, x1, y1);
    const still = this.still;
    if (still && still.scale === this.scale && still.x === this.x && still.y === this.y && still.size.join() === this.size.join()) return this.drawStill();
    clearTimeout(this.sharpening);
    this.sharpening = setTimeout(() => this.sharpen(), 120);
    if (still) this.drawStill();
    else this.drawImageOver(this.routes || (this.routes = this.paintRoutes()));
  }
  drawLines(x0, y0, x1, y1) { this.chosen.forEach((color, k) => this.drawColor(color, k, x0, y0, x1, y1)); }
  // Draws the lines of this window into an image.
  sharpen() {
    const canvas = document.createElement("canvas"), ratio = devicePixelRatio || 1, shown = this.context;
    canvas.width = this.canvas.width;
    canvas.height = this.canvas.height;
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.drawLines(...this.window());
    this.context = shown;
    this.still = { canvas, x: this.x, y: this.y, scale: this.scale, size: this.size };
    this.invalidate();
  }
  drawStill() {
    const { canvas, x, y, scale, size } = this.still, larger = this.scale / scale;
    this.context.imageSmoothingEnabled = true;
    this.context.drawImage(canvas, this.x - x * larger, this.y - y * larger, size[0] * larger, size[1] * larger);
  }
  drawImageOver(image) {
    const c = this.context, size = image.block * this.scale;
    c.imageSmoothingEnabled = size < 1;
    c.drawImage(image.canvas, this.x, this.y, image.width * size, image.height * size);
  }
  drawColor(color, k, x0, y0, x1, y1) {
    const c = this.context, s = this.scale, n = this.chosen.length;
    const off = (k - (n - 1) / 2) * Math.min((0.62 * s) / n, 9), thick = Math.max(1, Math.min(3.5, s / 16));
    const round = s >= 24, heads = s >= 18, r = Math.max(1.5, Math.min(6, s * 0.11)), head = Math.min(7, s * 0.2), ring = r + thick * 1.5;
    const position = this.position.has(color) ? this.position.get(color) : "start";
    c.strokeStyle = c.fillStyle = text(colorTint(color));
    c.lineWidth = thick;
    c.lineCap = round ? "round" : "butt";
    // a path of a few hundred PEs is drawn faster than one of all
    let lines = new Path2D(), full = new Path2D(), count = 0;
    const flush = () => { c.stroke(lines); c.fill(full); lines = new Path2D(); full = new Path2D(); count = 0; };
    const dot = (path, x, y, size) => {
      if (!round) return path.rect(x - size, y - size, 2 * size, 2 * size);
      path.moveTo(x + size, y);
      path.arc(x, y, size, 0, 7);
    };
    for (const p of this.layout.byColor.get(color)) {
      if (p.phase !== this.phase) continue;
      const { from, to } = Layout.routeOf(p, position), sides = SIDES.filter((side) => (from | to) & side);
      p.where.each((x, y) => {
        const mx = this.x + (x + 0.5) * s, my = this.y + (y + 0.5) * s, cx = mx + off, cy = my + off;
        for (const side of sides) {
          const [dx, dy] = STEP[side], ex = dx ? mx + (dx * s) / 2 : cx, ey = dy ? my + (dy * s) / 2 : cy;
          lines.moveTo(ex, ey); lines.lineTo(cx, cy);
          if (to & side && heads) {
            full.moveTo(ex, ey); full.lineTo(ex - dx * head - dy * head * 0.6, ey - dy * head - dx * head * 0.6);
            full.lineTo(ex - dx * head + dy * head * 0.6, ey - dy * head + dx * head * 0.6); full.closePath();
          }
        }
        if (to & RAMP) dot(full, cx, cy, r);
        if (from & RAMP) dot(lines, cx, cy, ring);
        if (p.positions && heads) { const d = r * 2.6; lines.moveTo(cx - d, cy); lines.lineTo(cx, cy - d); lines.lineTo(cx + d, cy); lines.lineTo(cx, cy + d); lines.closePath(); }
        if (++count === 200) flush();
      }, x0, y0, x1, y1);
    }
    for (const st of this.layout.streams) {
      if (st.color !== color) continue;
      const [dx, dy] = STEP[st.side];
      st.where.each((x, y) => {
        const [mx, my] = this.center(x, y), q = Math.max(2, Math.min(7, s * 0.2)), px = mx + dx * (s / 2 + q + 2), py = my + dy * (s / 2 + q + 2);
        (st.inbound ? lines : full).rect(px - q, py - q, 2 * q, 2 * q);
      }, x0, y0, x1, y1);
    }
    flush();
  }

  // ---- traces

  drawLinks(x0, y0, x1, y1) {
    const c = this.context, s = this.scale, calm = rgbOfHex(style("--idle")), busy = rgbOfHex(style("--bad")), steps = 8;
    const bars = Array.from({ length: steps + 1 }, () => new Path2D()), o = s * 0.12;
    for (let y = y0; y < y1; ++y)
      for (let x = x0; x < x1; ++x)
        for (const side of SIDES) {
          const used = this.links(x, y, side);
          if (!used) continue;
          const [dx, dy] = STEP[side], [mx, my] = this.center(x, y), bar = bars[Math.ceil(used * steps)];
          bar.moveTo(mx + dx * s * 0.3 - dy * o, my + dy * s * 0.3 + dx * o);
          bar.lineTo(mx + dx * s * 0.7 - dy * o, my + dy * s * 0.7 + dx * o);
        }
    c.lineWidth = Math.max(1, s * 0.14);
    c.lineCap = "butt";
    bars.forEach((bar, k) => { c.strokeStyle = text(between(calm, busy, 0.25 + (0.75 * k) / steps).map(Math.round)); c.stroke(bar); });
  }
  drawArrows() {
    const c = this.context;
    for (const a of this.arrows) {
      const [ax, ay] = this.center(...a.from), [bx, by] = this.center(...a.to);
      const long = Math.hypot(bx - ax, by - ay), size = a.strong ? 9 : 6;
      c.strokeStyle = c.fillStyle = a.tint || style("--bad");
      c.globalAlpha = a.strong ? 1 : 0.55;
      c.lineWidth = a.strong ? 2.5 : 1.2;
      c.beginPath();
      if (long < 1) { c.arc(ax, ay, Math.max(4, this.scale * 0.35), 0, 7); c.stroke(); c.globalAlpha = 1; continue; }
      // bent, so that two PEs that wait for each other have two arrows
      const qx = (ax + bx) / 2 - ((by - ay) / long) * Math.min(30, long * 0.2), qy = (ay + by) / 2 + ((bx - ax) / long) * Math.min(30, long * 0.2);
      c.moveTo(ax, ay); c.quadraticCurveTo(qx, qy, bx, by); c.stroke();
      const way = Math.atan2(by - qy, bx - qx);
      c.beginPath();
      c.moveTo(bx, by);
      c.lineTo(bx - size * 1.6 * Math.cos(way - 0.4), by - size * 1.6 * Math.sin(way - 0.4));
      c.lineTo(bx - size * 1.6 * Math.cos(way + 0.4), by - size * 1.6 * Math.sin(way + 0.4));
      c.fill();
      c.globalAlpha = 1;
    }
  }
}
