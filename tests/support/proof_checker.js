// A second checker of proofs, from docs/proofs.md alone: node proof_checker.js FILE...
// It prints a line of JSON for each file, {"bounds": [...]} or {"refused": "why"}.
"use strict";
const { createReadStream } = require("fs");
const { createHash } = require("crypto");
const { createGunzip } = require("zlib");

const EPS = 2 ** -52;
const FREE = 0, IN = 1, OUT = 2;
const MOST_RULES = 4096, MOST = 2 ** 24;

class Refused extends Error {}

function refuse(why) { throw new Refused(why); }

// --- bytes, no more of them in memory than are asked for

class Bytes {
  constructor(path) {
    this.stream = createReadStream(path).pipe(createGunzip());
    this.chunks = this.stream[Symbol.asyncIterator]();
    this.have = Buffer.alloc(0);
    this.hash = createHash("sha256");
  }
  async more() {
    try {
      return await this.chunks.next();
    } catch (error) {
      return refuse(`damaged: ${error.message}`);
    }
  }
  async take(size) {
    const parts = [this.have];
    let length = this.have.length;
    while (length < size) {
      const { value, done } = await this.more();
      if (done) refuse("cut off");
      parts.push(value);
      length += value.length;
    }
    if (parts.length > 1) this.have = Buffer.concat(parts);
    const data = this.have.subarray(0, size);
    this.have = this.have.subarray(size);
    this.hash.update(data);
    return data;
  }
  async atEnd() {
    return this.have.length === 0 && (await this.more()).done;
  }
  async u4() { return (await this.take(4)).readUInt32LE(0); }
  async f8(n) {
    const data = await this.take(8 * n), values = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      values[i] = data.readDoubleLE(8 * i);
      if (!Number.isFinite(values[i])) refuse("a number is not finite");
    }
    return values;
  }
  async text() {
    const size = await this.u4();
    if (size > MOST) refuse("a text is too long");
    try {
      return JSON.parse((await this.take(size)).toString("utf8"));
    } catch (error) {
      if (error instanceof Refused) throw error;
      return refuse("no JSON");
    }
  }
}

// --- the problem

const isWhole = (x, low, high) => Number.isSafeInteger(x) && x >= low && x <= high;
const areWhole = (list, end) => Array.isArray(list) && list.every((x) => isWhole(x, 0, end - 1))
  && new Set(list).size === list.length;

async function readProblem(bytes) {
  if ((await bytes.take(18)).toString("latin1") !== "mossrules proof 1\n") refuse("no proof");
  const p = await bytes.text();
  const sizes = { rules: [1, MOST], kept: [1, MOST_RULES], max_rules: [1, MOST_RULES],
    min_approved: [0, MOST_RULES], limits: [0, MOST_RULES], groups: [0, MOST_RULES] };
  for (const [name, [low, high]] of Object.entries(sizes)) {
    if (!isWhole(p[name], low, high)) refuse(`header: ${name}`);
  }
  for (const name of ["fixed_in", "fixed_out", "approved"]) {
    if (!areWhole(p[name], p.rules)) refuse(`header: ${name}`);
  }
  if (p.loss !== "squared" || !["sum", "each"].includes(p.floor)) refuse("header: loss or floor");
  if (!(p.gamma > 0 && Number.isFinite(p.gamma) && p.yy >= 0 && Number.isFinite(p.yy))) {
    refuse("header: gamma or yy");
  }
  const n = p.kept, lengths = [["counts", 8, p.rules], ["kept", 4, n],
    ["A", 8, p.limits * (n + p.groups)], ["b", 8, p.limits], ["in_group", 1, p.groups * n],
    ["signs", 1, n], ["q", 8, n], ["shift", 8, n], ["G", 8, (n * (n + 1)) / 2]];
  const raw = {};
  for (const [name, width, length] of lengths) {
    if (length > MOST) refuse(`array ${name} is too long`);
    raw[name] = Buffer.from(await bytes.take(width * length));
    const hash = createHash("sha256").update(raw[name]).digest("hex");
    if (!p.hashes || hash !== p.hashes[name]) refuse(`array ${name} has another hash`);
  }
  const doubles = (name) => Float64Array.from({ length: raw[name].length / 8 }, (_, i) => {
    const x = raw[name].readDoubleLE(8 * i);
    return Number.isFinite(x) ? x : refuse(`array ${name}: not finite`);
  });
  p.counts = Array.from({ length: p.rules }, (_, i) => Number(raw.counts.readBigInt64LE(8 * i)));
  if (p.counts.some((c) => c < 0 || c > 2 ** 53 / p.max_rules)) refuse("array counts");
  p.keptRules = Array.from({ length: n }, (_, i) => raw.kept.readUInt32LE(4 * i));
  if (p.keptRules.some((x, i) => x >= p.rules || (i && x <= p.keptRules[i - 1]))) refuse("kept");
  for (const name of ["A", "b", "q", "shift"]) p[name] = doubles(name);
  p.inGroup = Array.from({ length: p.groups }, (_, g) => raw.in_group.subarray(g * n, (g + 1) * n));
  p.signs = new Int8Array(raw.signs);
  const triangle = doubles("G");
  p.G = Array.from({ length: n }, () => new Float64Array(n));
  for (let i = 0, at = 0; i < n; i++) {
    for (let j = i; j < n; j++) p.G[i][j] = p.G[j][i] = triangle[at++];
  }
  prepare(p);
  return p;
}

function prepare(p) {
  const n = p.kept;
  p.ridge = p.shift.map((x) => 1 / p.gamma - x);
  if (p.ridge.some((d) => !(d > (64 * EPS) / p.gamma))) refuse("no ridge is left");
  p.H = p.G.map((row, i) => { const copy = row.slice(); copy[i] += p.shift[i]; return copy; });
  p.largest = p.H.map((row) => row.reduce((most, x) => Math.max(most, Math.abs(x)), 0));
  const slack = (n + 16) * EPS * p.H.reduce((sum, row, i) => sum + Math.abs(row[i]), 0);
  const R = p.H.map((row) => row.slice());
  for (let i = 0; i < n; i++) {
    for (let j = 0; j <= i; j++) {
      let sum = i === j ? R[i][i] - slack : R[i][j];
      for (let l = 0; l < j; l++) sum -= R[i][l] * R[j][l];
      if (i === j && !(sum > 0)) refuse("G is not positive semidefinite");
      R[i][j] = i === j ? Math.sqrt(sum) : sum / R[j][j];
    }
  }
  p.whole = Array.from({ length: p.limits }, (_, row) => {
    const entries = p.A.subarray(row * (n + p.groups), (row + 1) * (n + p.groups));
    if (entries.subarray(n).some((x) => x < 0)) refuse("a group counts less than 0");
    const size = entries.reduce((sum, x) => sum + Math.abs(x), 0);
    const whole = entries.every(Number.isInteger) && size < 2 ** 53;
    return { entries, b: p.b[row],
      off: whole ? 0 : (n + p.groups + 16) * EPS * (size + Math.abs(p.b[row])) };
  });
}

// --- a claim

class Tree {
  constructor(p, claim) {
    this.p = p;
    this.n = p.kept;
    this.blanks = p.limits ? p.max_rules : 0;
    this.total = this.n + this.blanks;
    this.bound = claim.bound;
    let floor = claim.min_stability, counts = p.counts;
    const inside = new Set(p.fixed_in), out = new Set(p.fixed_out), approved = new Set(p.approved);
    if (p.floor === "each") {
      counts.forEach((c, i) => {
        if (c < floor && !inside.has(i) && !approved.has(i)) out.add(i);
      });
      floor = p.min_approved;
      if (floor) counts = counts.map((_, i) => (approved.has(i) ? 1 : 0));
    }
    this.eps = floor;
    this.size = Math.min(p.max_rules, p.rules - out.size + this.blanks);
    const K = this.size - inside.size;
    let E = floor;
    inside.forEach((i) => { E -= counts[i]; });
    const kept = new Set(p.keptRules);
    const free = counts.map((_, i) => i).filter((i) => !inside.has(i) && !out.has(i));
    const best = free.map((i) => counts[i]).sort((a, b) => b - a)
      .slice(0, Math.max(0, K - 1)).reduce((a, b) => a + b, 0);
    if (free.some((i) => !kept.has(i) && counts[i] + best >= E)
      || p.fixed_in.some((i) => !kept.has(i))) refuse("a rule is left out");
    this.c = [...p.keptRules.map((i) => counts[i]), ...Array(this.blanks).fill(0)];
    this.order = this.c.map((_, i) => i).sort((a, b) => this.c[b] - this.c[a] || a - b);
    const d = new Int8Array(this.total);
    p.keptRules.forEach((i, at) => { d[at] = inside.has(i) ? IN : out.has(i) ? OUT : FREE; });
    if (p.fixed_in.some((i) => out.has(i))) refuse("a rule is in and out");
    this.start = d;
    this.pair(claim.duplicates);
    this.check(claim);
  }
  pair(pairs) {
    const p = this.p, place = [];
    this.order.forEach((i, at) => { place[i] = at; });
    this.before = new Map();
    this.after = new Map();
    for (const [i, j] of pairs) {
      const same = this.start[i] === FREE && this.start[j] === FREE && place[i] < place[j]
        && !this.after.has(i) && !this.before.has(j) && p.q[i] === p.q[j]
        && p.signs[i] === p.signs[j] && p.shift[i] === p.shift[j]
        && p.G[i].every((x, l) => x === p.G[j][l])
        && p.whole.every((row) => row.entries[i] === row.entries[j])
        && p.inGroup.every((members) => members[i] === members[j]);
      if (!same) refuse("no duplicates");
      this.after.set(i, j);
      this.before.set(j, i);
    }
  }
  check(claim) { // the rule set that it names
    const p = this.p, chosen = new Uint8Array(this.n);
    claim.support.forEach((rule, a) => {
      const at = p.keptRules.indexOf(rule);
      if (at < 0 || this.start[at] === OUT) refuse("the rule set is not allowed");
      if (p.signs[at] * claim.weights[a] < 0) refuse("a weight has the wrong sign");
      chosen[at] = 1;
    });
    let sum = 0;
    chosen.forEach((x, i) => {
      sum += x * this.c[i];
      if (!x && this.start[i] === IN) refuse("the rule set lacks a rule");
    });
    if (claim.support.length > p.max_rules || sum < this.eps) refuse("the rule set is not allowed");
    for (const row of p.whole) {
      let used = 0;
      chosen.forEach((x, i) => { used += x * row.entries[i]; });
      p.inGroup.forEach((members, g) => {
        if (members.some((x, i) => x && chosen[i])) used += row.entries[this.n + g];
      });
      if (used > row.b + row.off) refuse("the rule set breaks a limit");
    }
  }
  root() {
    const prices = { o: new Float64Array(this.total), a: 0, off: 0 };
    const state = { d: this.start.slice(), groups: new Int8Array(this.p.groups), prices };
    return this.settle(state) ? state : null;
  }
  put(d, i, side) {
    const chain = side === IN ? this.before : this.after;
    while (i !== undefined && d[i] === FREE) {
      d[i] = side;
      i = chain.get(i);
    }
    return i === undefined || d[i] === side;
  }
  settle(state) {
    for (;;) {
      const before = state.d.join() + state.groups.join();
      if (!this.bySize(state.d)) return false;
      if (this.blanks && !this.byLimits(state)) return false;
      if (before === state.d.join() + state.groups.join()) return true;
    }
  }
  left(d) {
    let K = this.size, E = this.eps;
    d.forEach((x, i) => { if (x === IN) { K -= 1; E -= this.c[i]; } });
    return [K, E];
  }
  bySize(d) {
    const [K, E] = this.left(d), free = this.order.filter((i) => d[i] === FREE);
    if (K < 0 || free.length < K) return false;
    const first = free.slice(0, K), others = free.slice(K);
    const slack = first.reduce((sum, i) => sum + this.c[i], 0) - E;
    if (slack < 0) return false;
    let into = first, out = others;
    if (K > 0 && others.length) {
      into = first.filter((i) => this.c[i] - this.c[others[0]] > slack);
      out = others.filter((i) => this.c[i] < this.c[first[K - 1]] - slack);
    }
    return into.every((i) => this.put(d, i, IN)) && out.every((i) => this.put(d, i, OUT));
  }
  byLimits({ d, groups }) {
    const p = this.p, n = this.n;
    p.inGroup.forEach((members, g) => {
      let has = false, left = false;
      members.forEach((x, i) => { if (x) { has ||= d[i] === IN; left ||= d[i] !== OUT; } });
      if ((groups[g] === OUT && has) || (groups[g] === IN && !left)) groups[g] = -1;
      else if (has) groups[g] = IN;
      else if (!left) groups[g] = OUT;
    });
    if (groups.includes(-1)) return false;
    const sides = [];
    let loose = true;
    for (const { entries, b, off } of p.whole) {
      let least = 0, most = 0;
      entries.forEach((x, i) => {
        const side = i < n ? d[i] : groups[i - n];
        if (side === IN) { least += x; most += x; }
        if (side === FREE) { least += Math.min(0, x); most += Math.max(0, x); }
      });
      const slack = b - least + off;
      if (slack < 0) return false;
      loose &&= most <= b - off;
      entries.forEach((x, i) => {
        if ((i < n ? d[i] : groups[i - n]) !== FREE) return;
        if (x > slack) sides.push([i, OUT]);
        if (-x > slack) sides.push([i, IN]);
      });
    }
    for (const [i] of sides) if (i >= n) groups[i - n] = OUT;
    p.inGroup.forEach((members, g) => {
      if (groups[g] !== OUT) return;
      members.forEach((x, i) => { if (x && d[i] === FREE) sides.push([i, OUT]); });
    });
    for (const [i, side] of sides) if (i < n && !this.put(d, i, side)) return false;
    const blank = [];
    for (let i = n; i < this.total; i++) if (d[i] === FREE) blank.push(i);
    if (blank.length && loose) {
      let needed = this.left(d)[0];
      for (let i = 0; i < n; i++) needed -= d[i] === FREE ? 1 : 0;
      blank.forEach((i, at) => { d[i] = at < needed ? IN : OUT; });
    }
    return true;
  }
  relaxed(state, { lam, mu, rules, w }) {
    const p = this.p, n = this.n, length = w.length;
    const product = new Float64Array(n), gains = new Float64Array(this.total);
    let size = 0;
    rules.forEach((j, a) => {
      size += Math.abs(w[a]);
      for (let i = 0; i < n; i++) product[i] += p.H[j][i] * w[a];
    });
    const off = p.q.map((x, i) => (length + 8) * EPS * (Math.abs(x) + p.largest[i] * size));
    for (let i = 0; i < n; i++) {
      const r = p.q[i] - product[i];
      const pull = p.signs[i] * r < 0 ? Math.max(0, off[i] - Math.abs(r)) : Math.abs(r) + off[i];
      const unsure = 16 + (4 * (1 / p.gamma + Math.abs(p.shift[i]))) / p.ridge[i];
      gains[i] = (pull ** 2 / (2 * p.ridge[i])) * (1 + EPS * unsure);
    }
    let quadratic = 0, above = 0;
    rules.forEach((j, a) => {
      quadratic += w[a] * product[j];
      above += Math.abs(w[a]) * (off[j] + (length + 8) * EPS * Math.abs(product[j]));
    });
    above += 8 * EPS * (p.yy + Math.abs(quadratic) + above);
    const { o, a, off: priceOff } = state.prices, [K, E] = this.left(state.d);
    let L = 0.5 * (p.yy - quadratic - above), sum = Math.abs(L), touched = 0;
    const add = (x) => { L += x; sum += Math.abs(x); };
    add(-lam * K);
    add(mu * E);
    add(-a);
    const u = new Float64Array(this.total), sizes = new Float64Array(this.total);
    for (let i = 0; i < this.total; i++) {
      u[i] = gains[i] - (lam - mu * this.c[i] + o[i]);
      sizes[i] = gains[i] + lam + mu * this.c[i] + Math.abs(o[i]);
      sum += Math.abs(o[i]);
      if (state.d[i] === IN) { add(-gains[i]); add(o[i]); }
      if (state.d[i] === FREE) add(-Math.max(0, u[i]));
      if (state.d[i] !== OUT) touched += sizes[i];
    }
    L -= (this.total + 16) * EPS * sum + 8 * EPS * touched + priceOff;
    if (L >= this.bound) return null;
    const next = { d: state.d.slice(), groups: state.groups.slice(), prices: state.prices };
    const decide = (side, gain) => {
      for (let i = 0; i < this.total; i++) {
        const reached = L + gain(u[i]) - 8 * EPS * (sizes[i] + Math.abs(L)) - priceOff;
        if (state.d[i] === FREE && reached >= this.bound && !this.put(next.d, i, side)) return false;
      }
      return true;
    };
    const possible = decide(OUT, (x) => Math.max(0, -x)) && decide(IN, (x) => Math.max(0, x));
    return possible && this.settle(next) ? next : null;
  }
  child(state, kind, at, side) {
    if (!state) return null;
    const child = { d: state.d.slice(), groups: state.groups.slice(), prices: state.prices };
    if (kind === 3) {
      if (!this.put(child.d, at, side)) return null;
    } else {
      if (child.groups[at] !== FREE && child.groups[at] !== side) return null;
      child.groups[at] = side;
    }
    return this.settle(child) ? child : null;
  }
  async point(bytes) {
    const [lam, mu] = await bytes.f8(2);
    if (lam < 0 || mu < 0) refuse("a price is negative");
    const length = await bytes.u4();
    if (length > this.n) refuse("more weights than rules");
    const rules = [];
    for (let a = 0; a < length; a++) rules.push(await bytes.u4());
    if (rules.some((x, a) => x >= this.n || (a && x <= rules[a - 1]))) refuse("rules of a point");
    return { lam, mu, rules, w: await bytes.f8(length) };
  }
  async priced(bytes, state) {
    const y = await bytes.f8(this.p.limits), o = new Float64Array(this.total);
    if (y.some((x) => x < 0)) refuse("a price is negative");
    let a = 0, off = 0;
    this.p.whole.forEach(({ entries, b }, row) => {
      for (let i = 0; i < this.n; i++) {
        o[i] += y[row] * entries[i];
        off += Math.abs(y[row] * entries[i]);
      }
      a += y[row] * b;
      off += Math.abs(y[row] * b);
    });
    return state && { ...state, prices: { o, a, off: (y.length + 8) * EPS * off } };
  }
  async follow(bytes, counter) {
    const waiting = [this.root()];
    while (waiting.length) {
      let state = waiting.pop(), kind = 0;
      while (kind !== 1 && kind !== 4) {
        kind = (await bytes.take(1))[0];
        counter.records += 1;
        if (kind === 1 || kind === 2) {
          const point = await this.point(bytes);
          state = state && this.relaxed(state, point);
        } else if (kind === 3 || kind === 6) {
          const at = await bytes.u4();
          if (at >= (kind === 3 ? this.n : this.p.groups)) refuse(`record ${counter.records}`);
          waiting.push(this.child(state, kind, at, OUT));
          state = this.child(state, kind, at, IN);
        } else if (kind === 5 && this.blanks) {
          state = await this.priced(bytes, state);
        } else if (kind !== 4) refuse(`record ${counter.records}: kind ${kind}`);
        if (waiting.length > 2 * (this.n + this.p.groups) + 64) refuse("too deep");
      }
      if (state) refuse(`record ${counter.records}: the node is not closed`);
    }
  }
}

function isClaim(claim, p) {
  return isWhole(claim.min_stability, 0, 2 ** 53) && Number.isFinite(claim.bound)
    && areWhole(claim.support, p.rules) && Array.isArray(claim.weights)
    && claim.weights.length === claim.support.length && claim.weights.every(Number.isFinite)
    && Array.isArray(claim.duplicates)
    && claim.duplicates.every((pair) => areWhole(pair, p.kept) && pair.length === 2);
}

async function checkProof(path) {
  const bytes = new Bytes(path), bounds = [], counter = { records: 0 };
  const p = await readProblem(bytes);
  for (;;) {
    const mark = (await bytes.take(1)).toString("latin1");
    if (mark === "E" && bounds.length) break;
    if (mark !== "P") refuse("neither a claim nor the end");
    const claim = await bytes.text();
    if (!isClaim(claim, p)) refuse("no claim");
    await new Tree(p, claim).follow(bytes, counter);
    bounds.push(claim.bound);
  }
  if (Number((await bytes.take(8)).readBigUInt64LE(0)) !== counter.records) refuse("records");
  const seal = bytes.hash.copy().digest();
  if (!seal.equals(await bytes.take(32))) refuse("the file is not as it was written");
  if (!(await bytes.atEnd())) refuse("something follows");
  return bounds;
}

async function main() {
  for (const path of process.argv.slice(2)) {
    let said;
    try {
      said = { bounds: await checkProof(path) };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      said = { refused: error.message };
    }
    console.log(JSON.stringify(said));
  }
}

main();
