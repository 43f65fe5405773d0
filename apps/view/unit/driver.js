// SPDX-License-Identifier: MIT
// What the test appends to a page: it uses the page as a person would, with clicks and keys, and leaves what it saw in a list.
(async () => {
  const said = [], tell = (name, value) => said.push(name + "=" + value);
  const wait = (milliseconds) => new Promise((after) => setTimeout(after, milliseconds));
  const key = (name, more = {}) => $("wafer").dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
  // Clicks on the middle of a PE.
  const click = (x, y) => {
    const box = $("wafer").getBoundingClientRect(), [px, py] = page.wafer.center(x, y), at = { clientX: box.left + px, clientY: box.top + py, bubbles: true, pointerId: 1 };
    $("wafer").dispatchEvent(new PointerEvent("pointerdown", at));
    $("wafer").dispatchEvent(new PointerEvent("pointerup", at));
  };
  // The number of different tints on the canvas.
  const tints = () => {
    page.wafer.draw();
    const { width, height } = $("wafer");
    return new Set(new Uint32Array(page.wafer.context.getImageData(0, 0, width, height).data.buffer)).size;
  };
  try {
    for (let k = 0; k < 300 && !document.documentElement.dataset.opened; ++k) await wait(20);
    const { width, height } = page.layout;
    tell("title", document.title);
    tell("tints", tints() > 1);
    click(Math.min(2, width - 1), 0);
    tell("click", $("pe-title").textContent);
    tell("program", $("pe-text").textContent.includes("runs ") && $("said").textContent);
    const picture = () => { page.wafer.draw(); return $("wafer").toDataURL(); }, before = picture();
    for (const box of $("colors").querySelectorAll("input")) box.click();
    await wait(300);
    tell("routes", $("colors").querySelectorAll("input").length === 0 || picture() !== before);
    for (const choice of $("colors").querySelectorAll("select")) {
      choice.value = "1";
      choice.dispatchEvent(new Event("change"));
      tell("position", choice.getAttribute("aria-label") + " " + page.wafer.position.get(Number(choice.closest("li").querySelector("input").value)));
    }
    $("place").value = width - 1 + "," + (height - 1);
    $("search").requestSubmit();
    tell("search", $("pe-title").textContent);
    $("place").value = width + ",0";
    $("search").requestSubmit();
    tell("beyond", $("said").textContent);
    key("ArrowLeft");
    tell("arrow", $("pe-title").textContent);
    const scale = page.wafer.scale;
    key("+");
    tell("plus", page.wafer.scale > scale);
    key("0");
    key("Enter");
    tell("focus", document.activeElement.id);
    const unnamed = [...document.querySelectorAll("button, input, select, canvas, pre")].filter((e) => !e.textContent.trim() && !e.getAttribute("aria-label") && !e.labels?.length);
    tell("unnamed", unnamed.length);
    if (page.trace) {
      tell("summary", $("summary").textContent);
      tell("slowest", $("slowest").tBodies[0].textContent);
      $("time").value = 1;
      $("time").dispatchEvent(new Event("input"));
      tell("cycles", $("cycles").textContent);
      tell("states", tints() > 1);
      for (const shown of ["links", "programs", "states"]) { document.querySelector("input[value=" + shown + "]").click(); tell(shown, tints() > 1); }
      $("play").click();
      tell("playing", $("play").getAttribute("aria-pressed"));
      $("play").click();
      if (page.trace.ending) tell("arrows", page.wafer.arrows.length + " " + page.wafer.arrows.filter((a) => a.strong).length);
      $("sum").click();
      click(Math.min(2, width - 1), 0);
      tell("activity", $("pe-text").textContent.slice(0, 300));
      const task = [...$("pe-text").querySelectorAll("button")].find((b) => b.textContent.startsWith("task"));
      if (task) { task.click(); tell("follow", $("said").textContent); tell("steps", [...$("pe-text").querySelectorAll(".steps li")].map((li) => li.textContent).join("; ")); }
    }
    if (page.dump) {
      const choice = $("dump-shown"), show = (value) => { choice.value = value; choice.dispatchEvent(new Event("change")); };
      tell("members", [...choice.options].map((o) => o.textContent).join(", "));
      for (const o of choice.options) { show(o.value); tell(o.value, tints() > 1); tell("range", $("dump-range").textContent); }
      if (page.dump.values.has("heat")) tell("nan", page.dump.valueText("heat", 2, 1));
      if (page.dump.ending) tell("arrows", page.wafer.arrows.length + " " + page.wafer.arrows.filter((a) => a.strong).length);
      click(Math.min(2, width - 1), 0);
      tell("state", $("pe-text").textContent.replaceAll("\n", " "));
      page.select(width - 1, height - 1);
      if (page.dump.values.has("heat")) tell("member", $("pe-text").textContent.match(/steps: [0-9]+/)?.[0]);
      show("programs");
      tell("beyond the texts", $("pe-text").textContent.match(/The page has no more of this PE: [^.]*\./)?.[0]);
    }
    tell("bad", $("said").classList.contains("bad"));
  } catch (e) {
    tell("exception", e.stack);
  }
  document.body.append(element("pre", said.join("\n"), { id: "result" }));
})();
