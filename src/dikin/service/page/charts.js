// One chart over rounds, in SVG; the charts of a study share a cursor.

import { isNumber, make, setText, svg } from "./dom.js";
import { niceStep, steps } from "./series.js";

/**
 * A chart in a `<figure>`.
 *
 * The drawing is one image with a text summary. An invisible slider lies above it, which moves the cursor by pointer and
 * by keys, and from which a screen reader reads the values of a round.
 */
export class Chart {
  constructor({ title, hue, onCursor }) {
    this.title = title;
    this.onCursor = onCursor;
    this.model = null;
    this.size = { width: 0, height: 0, rem: 16 };
    this.build(hue);
  }

  build(hue) {
    this.note = make("p", { class: "chart-note" });
    this.parts = {
      grid: svg("g", { class: "grid" }),
      band: svg("path", { class: "band" }), dots: svg("path", { class: "dots" }), failed: svg("path", { class: "failed" }),
      line: svg("path", { class: "line" }),
      labels: svg("g", { class: "labels" }),
      end: svg("circle", { class: "end", r: 3.5 }), endLabel: svg("text", { class: "end-label" }),
      cursor: svg("path", { class: "cursor" }), mark: svg("circle", { class: "mark", r: 4 }),
    };
    this.image = svg("svg", { role: "img", "aria-label": this.title, class: "drawing" }, ...Object.values(this.parts));
    this.slider = make("input", { type: "range", class: "slider", min: 0, max: 0, "aria-label": `Cursor in ${this.title}`, "aria-valuetext": "no rounds yet" });
    this.plot = make("div", { class: "plot" }, this.image, this.slider);
    const head = make("figcaption", {}, make("h3", { text: this.title }), this.note);
    this.element = make("figure", { class: `chart hue-${hue}` }, head, this.plot);
    this.listen();
  }

  listen() {
    const move = (event) => this.point(event);
    this.slider.addEventListener("pointermove", move);
    this.slider.addEventListener("pointerdown", move);
    this.slider.addEventListener("pointerleave", (event) => {
      // After a touch the finger is gone at once, but the values must stay readable.
      if (event.pointerType !== "touch") this.onCursor(null);
    });
    this.slider.addEventListener("input", () => this.onCursor(Number(this.slider.value)));
    this.slider.addEventListener("keydown", (event) => event.key === "Escape" && this.onCursor(null));
    this.slider.addEventListener("focus", () => {
      if (this.slider.matches(":focus-visible")) this.onCursor(this.at ?? this.model?.last ?? null);
    });
    this.slider.addEventListener("focusout", () => this.onCursor(null));
    // Sizes are read here only, so a redraw never has to measure.
    new ResizeObserver(([entry]) => {
      const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
      this.size = { width: entry.contentRect.width, height: entry.contentRect.height, rem };
      this.draw();
    }).observe(this.plot);
  }

  // --- the cursor ---------------------------------------------------------------------------------

  point(event) {
    if (!this.model || !this.scale) return;
    const x = event.clientX - this.image.getBoundingClientRect().left;
    const { left, right } = this.scale;
    this.onCursor(this.model.axis.round(Math.min(1, Math.max(0, (x - left) / (right - left)))));
  }

  /** Show the cursor at a round, or hide it (null). */
  mark(round) {
    this.at = round;
    if (!this.model || !this.scale) return;
    const { cursor, mark } = this.parts;
    const shown = round !== null;
    cursor.classList.toggle("on", shown);
    const at = shown ? this.model.at(round) : null;
    if (shown) {
      const x = fine(this.scale.x(at.round));
      cursor.setAttribute("d", `M${x} ${this.scale.top}V${this.scale.bottom}`);
      if (isNumber(at.y)) mark.setAttribute("transform", `translate(${x} ${fine(this.scale.y(at.y))})`);
    }
    mark.classList.toggle("on", shown && isNumber(at?.y));
    setText(this.note, shown ? at.short : this.model.note);
    this.note.classList.toggle("at-cursor", shown);
    if (shown) this.setSlider(at.round, at.text);
  }

  setSlider(round, text) {
    const { first, last, step } = this.model;
    const values = { min: first, max: last, step, "aria-valuetext": text };
    for (const [name, value] of Object.entries(values)) this.slider.setAttribute(name, value);
    this.slider.value = round;
  }

  // --- drawing ------------------------------------------------------------------------------------

  /** Show a model; see `series.js` for its parts. */
  show(model) {
    this.model = model;
    this.draw();
    this.image.setAttribute("aria-label", this.model.summary);
    if (this.at == null) this.setSlider(this.model.last, this.model.at(this.model.last).text);
  }

  draw() {
    const { width, height } = this.size;
    if (!this.model || width < 40 || height < 40) return;
    this.image.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.scale = this.makeScale();
    this.drawGrid();
    this.drawShapes();
    this.drawEnd();
    this.mark(this.at ?? null);
  }

  makeScale() {
    const { width, height, rem } = this.size;
    const { axis, domain, log } = this.model;
    const left = 3.1 * rem;
    // Room for the label at the end of the line; wide enough for most, so that it seldom changes.
    const letters = Math.max(5, this.endText().length);
    const right = width - (0.56 * letters + 0.7) * rem;
    const top = 0.7 * rem;
    const bottom = height - 1.5 * rem;
    const turn = log ? Math.log10 : (v) => v;
    const [low, high] = domain.map(turn);
    const share = (v) => Math.min(1, Math.max(0, (turn(v) - low) / (high - low)));
    return {
      left, right, top, bottom,
      x: (round) => left + axis.share(round) * (right - left),
      y: (v) => bottom - share(v) * (bottom - top),
    };
  }

  drawGrid() {
    const { left, right, top, bottom, y } = this.scale;
    const bounds = this.model.bounds ?? [];
    const gap = 1.15 * this.size.rem;
    const near = (v) => bounds.some((bound) => Math.abs(y(v) - y(bound)) < gap);
    const ticks = (this.model.ticks ?? valueTicks(this.model, bottom - top, this.size.rem)).filter((v) => !near(v));
    const { axis } = this.model;
    const marks = axis.ticks((right - left) / (3.2 * this.size.rem));
    const format = this.model.tick;
    const across = (v, kind) => svg("path", { class: kind, d: `M${left} ${fine(y(v))}H${right}` });
    const lines = [...ticks.map((v) => across(v, "tick")), ...bounds.map((v) => across(v, "bound"))];
    this.parts.grid.replaceChildren(...lines);
    const side = (v, kind) => svg("text", { class: kind, x: left - 8, y: fine(y(v)), dy: "0.34em", "text-anchor": "end", text: format(v) });
    const below = ([share, text]) => svg("text", { class: "tick", x: fine(left + share * (right - left)), y: bottom + 1.15 * this.size.rem, "text-anchor": "middle", text });
    this.parts.labels.replaceChildren(...ticks.map((v) => side(v, "tick")), ...bounds.map((v) => side(v, "bound")), ...marks.map(below));
  }

  drawShapes() {
    const { x, y } = this.scale;
    const { band, dots, failed, line } = this.model;
    this.parts.band.setAttribute("d", bandPath(band ?? [], x, y));
    // A line of no length with round ends is a dot; one path for all dots is cheap.
    this.parts.dots.setAttribute("d", (dots ?? []).map(([r, v]) => `M${fine(x(r))} ${fine(y(v))}h0`).join(""));
    this.parts.failed.setAttribute("d", (failed ?? []).map((round) => this.cross(round)).join(""));
    this.parts.line.setAttribute("d", linePath(line, x, y));
  }

  /** A failure, which has no value, as a cross at the end of the axis where values are bad. */
  cross(round) {
    const { x, top, bottom } = this.scale;
    const size = 0.22 * this.size.rem;
    const [left, high] = [fine(x(round) - size), fine((this.model.failuresAbove ? top : bottom) - size)];
    const wide = fine(2 * size);
    return `M${left} ${high}l${wide} ${wide}m0 ${-wide}l${-wide} ${wide}`;
  }

  lastPoint() {
    return this.model.line.findLast(([, v]) => v !== null);
  }

  endText() {
    const last = this.lastPoint();
    return last ? this.model.format(last[1]) : "";
  }

  drawEnd() {
    const { x, y, right } = this.scale;
    const last = this.lastPoint();
    this.parts.end.classList.toggle("on", Boolean(last));
    setText(this.parts.endLabel, this.endText());
    if (!last) return;
    this.parts.end.setAttribute("transform", `translate(${fine(x(last[0]))} ${fine(y(last[1]))})`);
    this.parts.endLabel.setAttribute("x", right + 9);
    this.parts.endLabel.setAttribute("y", fine(y(last[1]) + 0.3 * this.size.rem));
  }
}

const fine = (x) => Math.round(x * 10) / 10;

function bandPath(rows, x, y) {
  if (!rows.length) return "";
  const upper = rows.map(([r, , high]) => `${fine(x(r))} ${fine(y(high))}`);
  const lower = rows.map(([r, low]) => `${fine(x(r))} ${fine(y(low))}`).reverse();
  return `M${upper.join("L")}L${lower.join("L")}Z`;
}

const linePath = (rows, x, y) => rows.map(([round, value], i) =>
  (value === null ? "" : `${i && rows[i - 1][1] !== null ? "L" : "M"}${fine(x(round))} ${fine(y(value))}`)).join("");

function valueTicks({ domain: [low, high], log }, height, rem) {
  const most = Math.max(4, Math.floor(height / (2.4 * rem)));
  const powers = log ? steps(Math.log10(low), Math.log10(high), Math.max(1, Math.ceil(Math.log10(high / low) / most))) : [];
  return powers.length >= 2 ? powers.map((power) => 10 ** Math.round(power)) : steps(low, high, niceStep(high - low, most));
}
