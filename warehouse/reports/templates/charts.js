// Draws every .chart on the page from the data beside it. Charts in sight come first, all of them before printing.
(() => {
  "use strict";
  const DAY_MS = 86400000;
  const { library, templates: specs } = window.gpuLedgerCharts;
  const iso = (day) => new Date(day * DAY_MS).toISOString().slice(0, 10);
  const dollars = (usd) =>
    usd >= 1e6 ? `$${(usd / 1e6).toPrecision(3)} million`
      : usd >= 1000 ? `$${Math.round(usd).toLocaleString("en-US")}`
        : `$${usd.toFixed(usd < 0.01 ? 5 : usd < 0.1 ? 3 : 2)}`;
  const level = (value) => value.toFixed(1);

  // Runs of an unchanged price become the two ends of a level stroke; a gap, or a change between firm and thin, starts a new piece.
  function pointsOf(data, amount) {
    const points = [];
    const tooShortToSee = (data.last - data.first) / 120;
    let piece = [];
    const endPiece = () => {
      if (piece.length && piece.at(-1).day - piece[0].day < tooShortToSee * DAY_MS) piece[0].alone = true;
      points.push(...piece);
      piece = [];
    };
    for (const line of data.lines) {
      let to = 0;
      let dashedBefore = null;
      for (const [wait, length, usd, dashed, n, told, low, high] of line.rows) {
        const from = to + wait;
        to = from + length;
        const joins = dashedBefore !== null && wait === line.step;
        if (!joins || dashed !== dashedBefore) {
          const last = piece.at(-1);
          endPiece();
          if (joins) piece.push({ ...last, piece: points.length, dashed: Boolean(dashed), is_joint: true, alone: false });
        }
        const point = {
          usd, low, high, colour: line.colour, dashed: Boolean(dashed), piece: points.length,
          told: [`${line.name}: ${amount(usd)}`, length ? `${iso(from)} to ${iso(to)}` : iso(from),
            n ? `${n} provider${n === 1 ? "" : "s"}` : "", low ? `${amount(low)} to ${amount(high)}` : "", data.says[told]].filter(Boolean).join("\n"),
        };
        piece.push({ ...point, day: from * DAY_MS });
        if (length) piece.push({ ...point, day: to * DAY_MS });
        dashedBefore = dashed;
      }
      endPiece();
    }
    return points;
  }

  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  function tell(_handler, event, _item, value) {
    tip.hidden = value === null || value === undefined || value === "";
    if (tip.hidden) return;
    tip.textContent = typeof value === "string" ? value : value["told"] ?? Object.values(value).join("\n");
    tip.style.left = `${Math.max(4, Math.min(event.pageX + 12, document.documentElement.clientWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${event.pageY + 14}px`;
  }

  async function draw(box) {
    if (box.dataset.drawn) return;
    box.dataset.drawn = "yes";
    const data = JSON.parse(box.nextElementSibling.textContent);
    const spec = structuredClone(specs[box.dataset.chart]);
    const fill = (name, values) => { spec.data.find((one) => one.name === name).values = values; };
    const set = (name, value) => { spec.signals.find((one) => one.name === name).value = value; };
    if (box.dataset.chart === "offers") {
      fill("rows", data.lines.flatMap((line) => line.rows.map(([usd, told]) => ({ line: line.name, colour: line.colour, usd, told }))));
    } else {
      set("first", data.first * DAY_MS);
      set("last", Math.max(data.last, data.first + 365) * DAY_MS);
      fill("rows", pointsOf(data, box.dataset.chart === "index" ? level : dollars));
      fill("marks", (data.marks ?? []).map(([day, usd, told]) => ({ day: day * DAY_MS, usd, told: `${told}\n${dollars(usd)}, ${iso(day)}` })));
    }
    if (box.closest(".single") && typeof spec.height === "number") spec.height = Math.min(300, Math.max(spec.height, box.clientWidth / 3));
    await vegaEmbed(box, spec, { mode: "vega", renderer: "svg", actions: false, defaultStyle: false, hover: false, logLevel: 1, tooltip: tell });
  }

  // The library comes packed, which saves a phone two thirds of it. A browser that can't unpack it shows the tables.
  async function unpack() {
    const packed = Uint8Array.from(atob(library), (character) => character.charCodeAt(0));
    const script = document.createElement("script");
    script.textContent = await new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
    document.head.append(script);
  }

  const boxes = [...document.querySelectorAll(".chart")];
  const idle = window.requestIdleCallback ?? ((work) => setTimeout(work, 50));
  async function drawRest() {
    const box = boxes.find((one) => !one.dataset.drawn);
    if (box) {
      await draw(box);
      idle(drawRest);
    } else {
      document.documentElement.dataset.charts = "drawn";
    }
  }
  unpack().then(() => {
    window.addEventListener("beforeprint", () => boxes.forEach(draw));
    const watcher = new IntersectionObserver(
      (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)), { rootMargin: "300px" });
    boxes.forEach((box) => watcher.observe(box));
    idle(drawRest);
  });
})();
