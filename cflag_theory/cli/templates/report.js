const byId = id => document.getElementById(id);
{% if box %}
// Step sizes.
const EPSILON = { name: "epsilon", low: 1e-4, high: 100, start: 0.05, log: true };
const dials = [...BOX.dials, EPSILON];
const whole = new Set(["E", "T"]);
function read(dial) {
  const share = Number(byId("dial-" + dial.name).value);
  const value = dial.log ? dial.low * Math.pow(dial.high / dial.low, share) : dial.low + (dial.high - dial.low) * share;
  return whole.has(dial.name) ? Math.max(1, Math.round(value)) : value;
}
function set(dial, value) {
  const share = dial.log ? Math.log(value / dial.low) / Math.log(dial.high / dial.low) : (value - dial.low) / (dial.high - dial.low);
  byId("dial-" + dial.name).value = String(share);
}
const short = value => !Number.isFinite(value) ? "none" : Math.abs(value) >= 1e5 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2) : String(Number(value.toPrecision(4)));
// alpha and beta are chosen as multiples of 1/L and 1/(L E).
function numbers() {
  const found = {};
  for (const dial of dials) found[dial.name] = read(dial);
  found.alpha = found.alpha / found.L;
  found.beta = found.beta / (found.L * found.E);
  return found;
}
const ordered = at => BOX.dials.map(dial => at[dial.name]);
function met(condition, at) {
  const [left, right] = condition.sides(...ordered(at));
  if (condition.op === "==") return Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right), 1e-300);
  return condition.op === "<" ? left < right : left <= right;
}
const named = Object.fromEntries(BOX.conditions.map(one => [one.name, one]));
function value(bound, at) {
  return bound.needs.every(name => met(named[name], at)) ? bound.value(...ordered(at)) : NaN;
}
// With beta = c / sqrt(T) where the theorem allows it, c being that of the chosen T.
function roundsTo(bound, at) {
  const c = at.beta * Math.sqrt(at.T);
  for (let T = 1; T <= 1e12; T *= 2) {
    const later = { ...at, T, beta: bound.sqrt ? c / Math.sqrt(T) : at.beta };
    if (value(bound, later) <= at.epsilon) return T;
  }
  return Infinity;
}
// The largest beta at which the bound meets the target at this alpha and T, by bisection; 0 where none does.
function largestBeta(bound, at) {
  const meets = beta => value(bound, { ...at, beta }) <= at.epsilon;
  let low = 0, high = 1 / (at.L * at.E);
  if (!meets(1e-12 * high)) return 0;
  if (meets(high)) return high;
  for (let step = 0; step < 100; step += 1) {
    const middle = (low + high) / 2;
    if (meets(middle)) low = middle; else high = middle;
  }
  return low;
}
function answer(at) {
  const bound = BOX.bounds.find(one => one.claim === (at.m < 1 ? "ours.drawn_once" : "ours.redrawn"));
  const memory = at.m < 1 ? "One memory for the whole run, m < 1" : "A memory that is drawn anew in every round, m >= 1";
  const most = at.m < 1 ? 1 / at.L : Math.min(1 / at.L, 1 / (at.L * at.m));
  const beta = largestBeta(bound, at);
  const first = memory + ": every alpha " + (at.m < 1 ? "up to " : "below ") + short(most) + " is safe. ";
  return first + (beta > 0 ? "At alpha = " + short(at.alpha) + " and T = " + at.T + " every beta up to " + short(beta) + " keeps the mean of ||grad f||^2 below " + short(at.epsilon) + "." : "At alpha = " + short(at.alpha) + " and T = " + at.T + " no beta is proved to reach " + short(at.epsilon) + ": take more rounds" + (at.alpha > most ? " and a smaller alpha." : "."));
}
function show() {
  const at = numbers();
  for (const dial of dials) {
    const raw = read(dial);
    byId("out-" + dial.name).textContent = short(raw);
  }
  byId("answer").textContent = answer(at);
  byId("steps-now").textContent = "alpha = " + short(at.alpha) + ", beta = " + short(at.beta) + ", u = beta L E = " + short(at.beta * at.L * at.E);
  BOX.bounds.forEach((bound, index) => {
    const now = value(bound, at), rounds = roundsTo(bound, at);
    const lacking = bound.needs.filter(name => !met(named[name], at));
    document.querySelector(`[data-bound="${index}"]`).textContent = lacking.length ? "needs " + lacking.join(", ") : short(now);
    document.querySelector(`[data-floor="${index}"]`).textContent = lacking.length ? "" : short(value(bound, { ...at, T: 1e15 })) + " with this beta" + (bound.sqrt ? ", 0 with c/sqrt(T)" : "");
    document.querySelector(`[data-rounds="${index}"]`).textContent = rounds === Infinity ? "not reached" : "at most " + rounds + (bound.sqrt ? " with c/sqrt(T)" : "");
  });
  BOX.conditions.forEach((condition, index) => {
    const cell = document.querySelector(`[data-condition="${index}"]`);
    if (!cell) return;
    const holds = met(condition, at);
    cell.textContent = holds ? "yes" : "no";
    cell.className = holds ? "yes" : "no";
  });
}
for (const dial of dials) {
  set(dial, dial.start);
  byId("dial-" + dial.name).addEventListener("input", show);
}
show();
{% endif %}
// Filters and search, kept in the address.
const selects = [...document.querySelectorAll("select[data-filter]")];
const search = byId("search");
const items = [...document.querySelectorAll("[data-verdict]")];
const texts = new Map();
for (const item of items) if (item.tagName === "DETAILS") texts.set(item.id, item.textContent.toLowerCase());
function filter() {
  let shown = 0;
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const item of items) {
    const text = texts.get(item.tagName === "DETAILS" ? item.id : item.dataset.row) || "";
    const visible = selects.every(s => !s.value || item.dataset[s.dataset.filter].split("|").includes(s.value)) && words.every(word => text.includes(word));
    item.hidden = !visible;
    if (visible && item.tagName === "DETAILS") shown += 1;
  }
  const chosen = new URLSearchParams();
  for (const s of selects) if (s.value) chosen.set(s.dataset.filter, s.value);
  if (search.value) chosen.set("q", search.value);
  byId("shown").textContent = [...chosen].length ? shown + " shown" : "";
  const query = [...chosen].length ? "?" + chosen : "";
  try { history.replaceState(null, "", location.pathname + query + location.hash); } catch (error) { /* a page from a file may not */ }
}
const asked = new URLSearchParams(location.search);
for (const s of selects) s.value = asked.get(s.dataset.filter) || "";
search.value = asked.get("q") || "";
selects.forEach(s => s.addEventListener("change", filter));
search.addEventListener("input", filter);
filter();
// A link opens the claim that it leads to, filtered or not.
function reveal() {
  const found = byId(decodeURIComponent(location.hash.slice(1)));
  if (!found || found.tagName !== "DETAILS") return;
  found.hidden = false;
  found.open = true;
  found.scrollIntoView();
}
window.addEventListener("hashchange", reveal);
reveal();
// A printed page has everything.
window.addEventListener("beforeprint", () => items.forEach(item => { if (item.tagName === "DETAILS") item.open = true; }));
