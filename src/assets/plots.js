// The latency and rate plots. uPlot gives axes, zoom and cursor; points, bands and marks are drawn here.
"use strict";
(() => {
  const source = document.getElementById("plot-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const FONT = getComputedStyle(document.body).fontFamily;
  const OUTCOMES = ["ok", "fail", "info"];
  const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "plus", "down", "bar"];
  const points = data.points;
  const shown = { kinds: data.kinds.map(() => true), outcomes: OUTCOMES.map(() => true) };
  const isShown = (series) => shown.kinds[Math.floor(series / 3)] && shown.outcomes[series % 3];
  const byId = (id) => document.getElementById(id);

  // A canvas needs colours as they come out in the theme of the moment, so an element is asked for them.
  let colours = {};
  const readColours = () => {
    const probe = document.createElement("span");
    document.body.append(probe);
    const of = (name) => {
      probe.style.color = `var(--${name})`;
      return getComputedStyle(probe).color;
    };
    colours = { ok: of("ok"), okPoint: of("ok-point"), fail: of("fail"), info: of("info"),
      quiet: of("quiet"), grid: of("grid") };
    for (const family of ["links", "processes", "messages", "clocks", "sessions"]) colours[family] = of("on-" + family);
    probe.remove();
  };
  readColours();

  // ---- words ----
  const moment = (seconds) => seconds.toFixed(3) + " s";
  const latency = (ms) => ms < 1 ? (ms * 1000).toFixed(0) + " µs"
    : ms < 10 ? ms.toFixed(1) + " ms" : ms < 1000 ? ms.toFixed(0) + " ms" : (ms / 1000).toFixed(2) + " s";
  // A moment is told by the pointer near it.
  const REACH = data.end / 300;
  const faultsAt = (seconds) => data.bands
    .filter((band) => band.from - (band.tick ? REACH : 0) <= seconds && seconds <= band.to + (band.tick ? REACH : 0))
    .map((band) => band.label).slice(0, 4).join(", ");
  const phaseAt = (seconds) => data.phases.filter((mark) => mark.at <= seconds).map((mark) => mark.name).pop();
  const around = (seconds) => {
    const parts = [phaseAt(seconds), faultsAt(seconds)].filter(Boolean);
    return parts.length ? " · " + parts.join(" · ") : "";
  };

  // ---- shapes: one a kind of operation, on the canvas and in the legend ----
  const SHAPE_PATHS = {
    circle: (r) => [["arc", r]],
    square: (r) => [[-r, -r], [r, -r], [r, r], [-r, r]],
    triangle: (r) => [[0, -r * 1.2], [r * 1.1, r * .9], [-r * 1.1, r * .9]],
    down: (r) => [[0, r * 1.2], [r * 1.1, -r * .9], [-r * 1.1, -r * .9]],
    diamond: (r) => [[0, -r * 1.3], [r * 1.3, 0], [0, r * 1.3], [-r * 1.3, 0]],
    bar: (r) => [[-r * .5, -r * 1.4], [r * .5, -r * 1.4], [r * .5, r * 1.4], [-r * .5, r * 1.4]],
    plus: (r) => [[-r * .4, -r * 1.3], [r * .4, -r * 1.3], [r * .4, -r * .4], [r * 1.3, -r * .4], [r * 1.3, r * .4],
      [r * .4, r * .4], [r * .4, r * 1.3], [-r * .4, r * 1.3], [-r * .4, r * .4], [-r * 1.3, r * .4],
      [-r * 1.3, -r * .4], [-r * .4, -r * .4]],
    cross: (r) => SHAPE_PATHS.plus(r).map(([x, y]) => [(x - y) * .75, (x + y) * .75]),
  };
  const trace = (path, shape, x, y, r) => {
    const corners = SHAPE_PATHS[shape](r);
    if (corners[0][0] === "arc") {
      path.moveTo(x + r, y);
      path.arc(x, y, r, 0, 2 * Math.PI);
      return;
    }
    corners.forEach(([dx, dy], i) => i ? path.lineTo(x + dx, y + dy) : path.moveTo(x + dx, y + dy));
    path.closePath();
  };
  const shapeSvg = (shape) => {
    const corners = SHAPE_PATHS[shape](5);
    const inner = corners[0][0] === "arc" ? '<circle cx="8" cy="8" r="5"/>'
      : `<path d="M${corners.map(([x, y]) => (8 + x) + " " + (8 + y)).join("L")}z"/>`;
    return `<svg viewBox="0 0 16 16" aria-hidden="true" fill="currentColor">${inner}</svg>`;
  };

  // ---- what both plots share ----
  const drawBands = (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top - 20 * ratio, bbox.width, bbox.height + 20 * ratio);
    ctx.clip();
    for (const band of data.bands) (band.tick ? drawTick : drawBand)(plot, band);
    drawPhases(plot);
    ctx.restore();
  };
  const drawBand = ({ ctx, bbox, valToPos }, band) => {
    const ratio = devicePixelRatio;
    const from = valToPos(band.from, "x", true);
    const width = Math.max(valToPos(band.to, "x", true) - from, ratio);
    ctx.fillStyle = colours[band.family];
    ctx.globalAlpha = .15;
    ctx.fillRect(from, bbox.top, width, bbox.height);
    ctx.globalAlpha = 1;
    if (!band.proven) {
      ctx.strokeStyle = colours[band.family];
      ctx.setLineDash([4 * ratio, 3 * ratio]);
      ctx.strokeRect(from, bbox.top, width, bbox.height);
      ctx.setLineDash([]);
    }
    label(ctx, band.label + (band.proven ? "" : " (not proven)"), Math.max(from, bbox.left) + 4 * ratio,
      bbox.top + 13 * ratio, Math.min(from + width, bbox.left + bbox.width) - 4 * ratio, colours[band.family], 600);
  };
  // What is over at once: a line with a head.
  const drawTick = ({ ctx, bbox, valToPos }, band) => {
    const ratio = devicePixelRatio;
    const x = valToPos(band.from, "x", true);
    ctx.fillStyle = colours[band.family];
    ctx.globalAlpha = .55;
    ctx.fillRect(x - ratio / 2, bbox.top, ratio, bbox.height);
    ctx.globalAlpha = 1;
    ctx.beginPath();
    ctx.moveTo(x - 4 * ratio, bbox.top);
    ctx.lineTo(x + 4 * ratio, bbox.top);
    ctx.lineTo(x, bbox.top + 6 * ratio);
    ctx.fill();
  };
  const label = (ctx, text, x, y, end, colour, weight) => {
    ctx.font = `${weight} ${11 * devicePixelRatio}px ${FONT}`;
    ctx.textAlign = "left";
    ctx.textBaseline = "alphabetic";
    if (x + ctx.measureText(text).width > end) return false;
    ctx.fillStyle = colour;
    ctx.fillText(text, x, y);
    return true;
  };
  const drawPhases = (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    data.phases.forEach((mark, index) => {
      const x = plot.valToPos(mark.at, "x", true);
      const next = data.phases[index + 1];
      const end = next ? plot.valToPos(next.at, "x", true) : bbox.left + bbox.width;
      if (end < bbox.left || x > bbox.left + bbox.width) return;
      ctx.strokeStyle = colours.quiet;
      ctx.lineWidth = ratio;
      ctx.setLineDash([2 * ratio, 3 * ratio]);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top - 16 * ratio);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
      ctx.setLineDash([]);
      label(ctx, mark.name, Math.max(x, bbox.left) + 4 * ratio, bbox.top - 6 * ratio, end, colours.quiet, 400);
    });
  };

  const plots = [];
  const syncZoom = (plot, scale) => {
    if (scale !== "x") return;
    const { min, max } = plot.scales.x;
    for (const other of plots) {
      if (other !== plot && (other.scales.x.min !== min || other.scales.x.max !== max)) {
        other.setScale("x", { min, max });
      }
    }
  };
  const timeAxis = () => ({
    stroke: () => colours.quiet, grid: { stroke: () => colours.grid, width: 1 },
    ticks: { stroke: () => colours.grid, width: 1 }, size: 34, font: "12px " + FONT,
    values: (_, splits) => splits.map((value) => +value.toFixed(6) + " s"),
  });
  const valueAxis = (values) => ({ ...timeAxis(), size: 62, values });
  const wholeRun = [0, Math.max(data.end, 1e-3)];
  const options = (host, more) => ({
    width: host.clientWidth, height: host.clientHeight, legend: { show: false }, padding: [18, 22, 0, 0],
    ...more,
    scales: { x: { time: false, range: (_, min, max) => min === null ? wholeRun : [min, max] }, ...more.scales },
    cursor: { y: false, points: { show: false }, drag: { x: true, y: false, setScale: true }, ...more.cursor },
  });

  // ---- latency ----
  const times = points.time.map((time) => time / 1e6);
  const latencies = points.latency.map((value) => Math.max(value, 1) / 1e3);
  // Failures and unknowns lie over the many that were ok.
  const order = [0, 1, 2].map((outcome) => {
    const positions = [];
    points.series.forEach((series, i) => { if (series % 3 === outcome) positions.push(i); });
    return positions;
  });
  const drawPoints = (plot) => {
    const { ctx, bbox } = plot;
    const ratio = devicePixelRatio;
    const { min, max } = plot.scales.x;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    // The fewer there are in sight, the larger they can be.
    const crowd = firstAt(max) - firstAt(min);
    const grown = crowd > 6000 ? 0 : crowd > 1500 ? .5 : 1.2;
    order.forEach((positions, outcome) => {
      const paths = data.kinds.map(() => new Path2D());
      const radius = ((outcome === 0 ? 1.6 : 2.4) + grown) * ratio;
      for (const i of positions) {
        if (times[i] < min || times[i] > max || !isShown(points.series[i])) continue;
        const kind = Math.floor(points.series[i] / 3);
        trace(paths[kind], SHAPES[kind % SHAPES.length],
          plot.valToPos(times[i], "x", true), plot.valToPos(latencies[i], "y", true), radius);
      }
      ctx.fillStyle = [colours.okPoint, colours.fail, colours.info][outcome];
      for (const path of paths) ctx.fill(path);
    });
    ctx.restore();
  };
  const describe = (i) => {
    const outcome = OUTCOMES[points.series[i] % 3];
    const node = points.node[i] < 0 ? "" : " at " + data.nodes[points.node[i]];
    const error = points.error[i] < 0 ? "" : " · " + data.errors[points.error[i]];
    return `${moment(times[i])} · ${points.text[i]} · ${outcome} after ${latency(latencies[i])} · process `
      + `${points.process[i]}${node} · index ${points.index[i]}${error}${around(times[i])}`;
  };
  const ring = document.createElement("div");
  ring.className = "ring";
  ring.hidden = true;
  let selected = -1;
  const select = (plot, i) => {
    selected = i;
    ring.hidden = i < 0;
    if (i < 0) return;
    ring.style.left = plot.valToPos(times[i], "x") + "px";
    ring.style.top = plot.valToPos(latencies[i], "y") + "px";
    byId("latency-readout").textContent = describe(i);
  };
  const firstAt = (time) => {
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] < time) low = middle + 1; else high = middle;
    }
    return low;
  };
  const nearest = (plot, left, top) => {
    const REACH = 24;
    let best = -1;
    let bestDistance = REACH * REACH;
    for (let i = firstAt(plot.posToVal(left - REACH, "x")); i < times.length; i++) {
      const dx = plot.valToPos(times[i], "x") - left;
      if (dx > REACH) break;
      if (!isShown(points.series[i])) continue;
      const dy = plot.valToPos(latencies[i], "y") - top;
      if (dx * dx + dy * dy < bestDistance) [best, bestDistance] = [i, dx * dx + dy * dy];
    }
    return best;
  };
  const hover = (plot) => {
    const { left, top } = plot.cursor;
    if (left < 0) return;
    const i = nearest(plot, left, top);
    select(plot, i);
    if (i < 0) {
      const seconds = plot.posToVal(left, "x");
      byId("latency-readout").textContent = moment(seconds) + around(seconds);
    }
  };
  const decades = () => {
    let low = Infinity;
    let high = -Infinity;
    for (const value of latencies) {
      low = Math.min(low, value);
      high = Math.max(high, value);
    }
    const floor = 10 ** Math.floor(Math.log10(low));
    return [floor, Math.max(10 ** Math.ceil(Math.log10(high * 1.05)), floor * 10)];
  };
  const latencyRange = decades();
  const powersOfTen = () => {
    const powers = [];
    for (let value = latencyRange[0]; value < latencyRange[1] * 1.01; value *= 10) powers.push(value);
    return powers;
  };
  const latencyTick = (value) => value < .99 ? +(value * 1000).toPrecision(3) + " µs"
    : value < 990 ? +value.toPrecision(3) + " ms" : +(value / 1000).toPrecision(3) + " s";
  const makeLatency = () => {
    const host = byId("latency-plot");
    const plot = new uPlot(options(host, {
      scales: { y: { distr: 3, log: 10, range: () => latencyRange } },
      series: [{}, { paths: () => null, points: { show: false } }],
      axes: [timeAxis(), { ...valueAxis((_, splits) => splits.map(latencyTick)), splits: () => powersOfTen() }],
      hooks: {
        drawAxes: [drawBands], draw: [drawPoints], setCursor: [hover],
        setScale: [syncZoom, (plot) => { if (selected >= 0) select(plot, -1); }],
      },
    }), [times, latencies], host);
    plot.over.append(ring);
    host.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      const { min, max } = plot.scales.x;
      let i = selected >= 0 ? selected + step : firstAt(min);
      while (i >= 0 && i < times.length && !isShown(points.series[i])) i += step;
      if (i >= 0 && i < times.length && times[i] >= min && times[i] <= max) select(plot, i);
    });
    return plot;
  };

  // ---- rate: one line an outcome, summed over the kinds that are shown ----
  const edges = data.rate_edges;
  const rateColumns = () => {
    const columns = OUTCOMES.map((_, outcome) => {
      const sums = edges.slice(1).map((_, slice) => {
        let sum = 0;
        data.kinds.forEach((_, kind) => { if (shown.kinds[kind]) sum += data.rate[kind * 3 + outcome][slice]; });
        return sum;
      });
      return shown.outcomes[outcome] ? [...sums, sums[sums.length - 1]] : edges.map(() => null);
    });
    return [edges, ...columns];
  };
  const readRate = (plot, slice) => {
    const from = edges[slice];
    const to = edges[slice + 1];
    const rates = OUTCOMES.filter((_, outcome) => shown.outcomes[outcome])
      .map((name) => `${name} ${plot.data[OUTCOMES.indexOf(name) + 1][slice].toFixed(1)}/s`);
    byId("rate-readout").textContent = `${moment(from)} to ${moment(to)} · ${rates.join(" · ")}${around((from + to) / 2)}`;
  };
  const makeRate = () => {
    const host = byId("rate-plot");
    const line = (outcome, dash) => ({
      stroke: () => colours[outcome], width: 2, dash, paths: uPlot.paths.stepped({ align: 1 }), points: { show: false },
    });
    let slice = -1;
    const last = edges.length - 2;
    const plot = new uPlot(options(host, {
      scales: { y: { range: (_, __, max) => [0, Math.max(max * 1.12, 1)] } },
      series: [{}, line("ok"), line("fail", [6, 3]), line("info", [2, 2])],
      axes: [timeAxis(), valueAxis((_, splits) => splits.map((value) => value + " /s"))],
      hooks: {
        drawAxes: [drawBands], setScale: [syncZoom],
        setCursor: [(plot) => {
          if (plot.cursor.left < 0) return;
          const seconds = plot.posToVal(plot.cursor.left, "x");
          slice = edges.findLastIndex((edge) => edge <= seconds);
          slice = Math.min(Math.max(slice, 0), last);
          readRate(plot, slice);
        }],
      },
    }), rateColumns(), host);
    host.addEventListener("keydown", (event) => {
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!step) return;
      event.preventDefault();
      slice = Math.min(Math.max(slice + step, 0), last);
      readRate(plot, slice);
    });
    return plot;
  };

  plots.push(makeLatency(), makeRate());
  const redraw = () => {
    plots[1].setData(rateColumns(), false);
    plots[1].setScale("x", { min: plots[0].scales.x.min, max: plots[0].scales.x.max });
    plots[0].redraw(false);
  };

  // ---- legend and zoom ----
  const legend = byId("legend");
  const toggle = (list, index, name, colour, shape) => {
    const button = document.createElement("button");
    button.type = "button";
    button.setAttribute("aria-pressed", "true");
    button.innerHTML = shapeSvg(shape);
    if (colour) button.firstChild.style.color = `var(--${colour})`;
    button.append(name);
    button.addEventListener("click", () => {
      list[index] = !list[index];
      button.setAttribute("aria-pressed", String(list[index]));
      redraw();
    });
    legend.append(button);
  };
  OUTCOMES.forEach((name, index) => toggle(shown.outcomes, index, name, name, "square"));
  const gap = document.createElement("span");
  gap.className = "gap";
  legend.append(gap);
  data.kinds.forEach((name, index) => toggle(shown.kinds, index, name, null, SHAPES[index % SHAPES.length]));

  const zoom = (action) => {
    const { min, max } = plots[0].scales.x;
    const width = max - min;
    const to = (from, until) => {
      const length = Math.min(until - from, wholeRun[1]);
      const start = Math.min(Math.max(from, 0), wholeRun[1] - length);
      plots[0].setScale("x", { min: start, max: start + length });
    };
    if (action === "in") to(min + width / 4, max - width / 4);
    if (action === "out") to(min - width / 2, max + width / 2);
    if (action === "left") to(min - width / 2, max - width / 2);
    if (action === "right") to(min + width / 2, max + width / 2);
    if (action === "all") to(...wholeRun);
  };
  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => zoom(button.dataset.zoom));
  }
  document.querySelector(".controls").hidden = false;
  for (const plot of plots) plot.setScale("x", { min: wholeRun[0], max: wholeRun[1] });
  for (const plot of plots) plot.over.addEventListener("dblclick", () => zoom("all"));

  document.addEventListener("themechange", () => {
    readColours();
    for (const plot of plots) plot.redraw(false);
  });
  const resize = () => {
    for (const plot of plots) {
      const host = plot.root.parentElement;
      plot.setSize({ width: host.clientWidth, height: host.clientHeight });
    }
  };
  new ResizeObserver(resize).observe(byId("latency-plot"));
})();
