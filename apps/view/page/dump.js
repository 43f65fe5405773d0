// What the converter has written of a dump: which PEs wait, values of members, and what wsl-debug says of PEs.
class Dump {
  constructor(meta, layout, parts) {
    Object.assign(this, meta);
    this.layout = layout;
    this.waiting = parts.waiting;
    this.textOf = new Uint32Array(parts.text_of.buffer);
    this.values = new Map(meta.members.map((m) => [m.name, new Float32Array(parts["member " + m.name].buffer)]));
  }
  rank(x, y) { return y * this.layout.width + x; }
  // Lines about a PE, or null if the page has none.
  lines(x, y) {
    const k = this.textOf[this.rank(x, y)];
    return k ? this.texts[k - 1] : null;
  }
  valueText(name, x, y) {
    const value = this.values.get(name)[this.rank(x, y)];
    return value === Infinity ? "none" : Number.isNaN(value) ? "nan" : String(value);
  }
  // An image of the PEs that wait, or of the values of a member: from pale, the lowest, to strong; not a number in red.
  paint(what) {
    const { width, height } = this.layout, image = Wafer.image(width, height, 1);
    const empty = rgbOfHex(style("--empty")), idle = rgbOfHex(style("--idle")), bad = rgbOfHex(style("--bad"));
    const starved = rgbOfHex(style("--starved")), strong = rgbOfHex(style("--computing"));
    const member = this.members.find((m) => "member " + m.name === what), values = member && this.values.get(member.name);
    for (let k = 0; k < width * height; ++k) {
      let tint = empty;
      if (!member) tint = this.waiting[k] ? starved : idle;
      else if (Number.isNaN(values[k])) tint = bad;
      else if (values[k] !== Infinity) {
        const range = member.high - member.low, t = Number.isFinite(values[k]) && range > 0 ? (values[k] - member.low) / range : 0.5;
        tint = between(idle, strong, Math.min(1, Math.max(0, t))).map(Math.round);
      }
      image.pixels[k] = Wafer.pixel(tint);
    }
    image.show();
    return image;
  }
}
