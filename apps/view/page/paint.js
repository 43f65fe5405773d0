// Tints of programs, colors and states.
const dark = matchMedia("(prefers-color-scheme: dark)");
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function rgbOfHsl(h, s, l) {
  const a = s * Math.min(l, 1 - l);
  return [0, 8, 4].map((n) => {
    const k = (n + h / 30) % 12;
    return Math.round(255 * (l - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
  });
}
const rgbOfHex = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16));
const text = (rgb) => "rgb(" + rgb.join(",") + ")";
// Far apart in hue for neighbouring numbers.
const programTint = (k) => rgbOfHsl((200 + k * 137.508) % 360, 0.45, dark.matches ? 0.3 : 0.8);
const colorTint = (c) => rgbOfHsl((c * 222.492) % 360, dark.matches ? 0.8 : 0.85, dark.matches ? 0.66 : 0.36);
const letterOf = (k) => "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[k] || "#";
// From one tint to another, t from 0 to 1.
const between = (a, b, t) => a.map((v, k) => v + (b[k] - v) * t);
