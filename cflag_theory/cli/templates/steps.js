{% set names = box.fields | map(attribute="name") | join(", ") %}
const byId = id => document.getElementById(id);
const fields = {{ box.fields | map(attribute="name") | list | tojson }};
const bounds = [{% for one in box.bounds %}{ claim: {{ one.claim | tojson }}, needs: {{ one.needs | tojson }}, sqrt: {{ ("beta = c/sqrt(T)" in one.laws) | tojson }}, value: ({{ names }}) => {{ one.value | safe }}, floor: ({{ names }}) => {{ one.floor | safe }} },
{% endfor %}];
const conditions = [{% for one in box.conditions %}{ name: {{ one.name | tojson }}, op: {{ one.op | tojson }}, sides: ({{ names }}) => [{{ one.left | safe }}, {{ one.right | safe }}] },
{% endfor %}];
const whole = ["E", "T"], optional = ["alpha", "beta"], all = [...fields, "epsilon"];
const letter = { alpha: "α", beta: "β", epsilon: "the target" };
const short = value => !Number.isFinite(value) ? "none" : Math.abs(value) >= 1e7 || (value !== 0 && Math.abs(value) < 1e-3) ? value.toExponential(2).replace(/e([+-])(\d+)/, (_, sign, power) => " · 10" + (sign + power).replace("+", "").replace(/./g, one => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(one)])) : String(Number(value.toPrecision(4)));
// A bound is never rounded up: what is printed can be typed.
const down = value => { const unit = Math.pow(10, Math.floor(Math.log10(value)) - 3); return Math.floor(value / unit) * unit; };
const starts = Object.fromEntries(all.map(name => [name, byId("in-" + name).value]));
// A number or a fraction; NaN for anything else.
function parsed(text) {
  const parts = text.trim().split("/");
  return parts.length > 2 || parts.some(one => one.trim() === "") ? NaN : parts.map(Number).reduce((a, b) => a / b);
}
function numbers() {
  const at = {}, wrong = [];
  for (const name of all) {
    const text = byId("in-" + name).value;
    const blank = optional.includes(name) && text.trim() === "";
    const value = blank ? undefined : parsed(text);
    const good = blank || (Number.isFinite(value) && (name === "m" || name === "F" || name === "G" ? value >= 0 : value > 0) && (!whole.includes(name) || Number.isInteger(value)));
    byId("in-" + name).setAttribute("aria-invalid", String(!good));
    if (!good) wrong.push((letter[name] || name) + " = " + text);
    at[name] = value;
  }
  return { at, wrong };
}
const ordered = at => fields.map(name => at[name]);
function met(condition, at) {
  const [left, right] = condition.sides(...ordered(at));
  if (condition.op === "==") return Math.abs(left - right) <= 1e-9 * Math.max(Math.abs(left), Math.abs(right), 1e-300);
  return condition.op === "<" ? left < right : left <= right;
}
const named = Object.fromEntries(conditions.map(one => [one.name, one]));
const holds = (bound, at) => bound.needs.every(name => met(named[name], at));
const value = (bound, at) => holds(bound, at) ? bound.value(...ordered(at)) : NaN;
// With beta = c / sqrt(T) where the theorem allows it, c being that of the chosen T.
function roundsTo(bound, at) {
  const c = at.beta * Math.sqrt(at.T);
  const reached = T => value(bound, { ...at, T, beta: bound.sqrt ? c / Math.sqrt(T) : at.beta }) <= at.epsilon;
  let high = 1;
  while (high <= 1e12 && !reached(high)) high *= 2;
  if (high > 1e12) return Infinity;
  let low = high / 2;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (reached(middle)) high = middle; else low = middle;
  }
  return high;
}
// The largest beta up to 1/(L E) at which the bound meets the target at this alpha and T, by bisection; 0 where none does.
function largestBeta(bound, at) {
  const meets = beta => value(bound, { ...at, beta }) <= at.epsilon;
  let low = 0, high = 1 / (at.L * at.E);
  if (!meets(1e-12 * high)) return 0;
  if (meets(high)) return high;
  for (let step = 0; step < 60; step += 1) {
    const middle = (low + high) / 2;
    if (meets(middle)) low = middle; else high = middle;
  }
  return low;
}
function answer(at) {
  const one = at.m < 1, bound = bounds.find(found => found.claim === (one ? "ours.drawn_once" : "ours.redrawn"));
  const most = one ? 1 / at.L : 1 / (at.L * at.m);
  const range = "α " + (one ? "≤ 1/L = " : "< 1/(L m) = ") + short(down(most));
  const memory = one ? "one memory for the whole run" : "a memory that is drawn anew in every round, as m ≥ 1";
  if (at.alpha !== undefined && !bound.needs.every(name => met(named[name], at))) return "Not proved safe: α = " + short(at.alpha) + ". Safe for " + memory + " is " + range + ".";
  const chosen = { ...at }, words = [];
  const tried = at.alpha !== undefined ? [at.alpha] : Array.from({ length: 99 }, (_, step) => most * (step + 1) / (one ? 99 : 100));
  const best = tried.map(alpha => [largestBeta(bound, { ...at, alpha }), alpha]).reduce((a, b) => b[0] > a[0] ? b : a);
  const beta = best[0] > 0 ? down(best[0]) : 0;
  chosen.alpha = at.alpha ?? (beta > 0 ? best[1] : (one ? 1 : 0.5) * most);
  chosen.beta = at.beta ?? (beta > 0 ? beta : 1e-3 / (at.L * at.E));
  Object.assign(at, chosen);
  const proved = value(bound, chosen), mean = "the mean of ‖∇f‖² over " + at.T + " rounds";
  const reach = beta > 0 ? (tried.length > 1 ? " With α = " + short(chosen.alpha) + ", the best for this target, every" : " Every") + " β ≤ " + short(beta) + " keeps " + mean + " below " + short(at.epsilon) + "." : " No β is proved to bring " + mean + " below " + short(at.epsilon) + ": take more rounds.";
  return "Safe for " + memory + ": " + range + "." + reach + " At α = " + short(chosen.alpha) + ", β = " + short(chosen.beta) + " the proved bound is " + short(proved) + ".";
}
function show() {
  const { at, wrong } = numbers();
  if (wrong.length) {
    byId("answer").textContent = "No number that is possible here: " + wrong.join(", ") + ". Write one such as 0.5 or 1/3; E and T are whole.";
    document.querySelectorAll("[data-bound], [data-floor], [data-rounds], [data-condition]").forEach(cell => { cell.textContent = ""; });
    return;
  }
  byId("answer").textContent = answer(at);
  bounds.forEach((bound, index) => {
    const lacking = at.beta === undefined ? ["a safe α"] : bound.needs.filter(name => !met(named[name], at));
    const rounds = lacking.length ? Infinity : roundsTo(bound, at);
    document.querySelector(`[data-bound="${index}"]`).textContent = lacking.length ? "needs " + lacking.join(", ").replace(/alpha/g, "α").replace(/<=/g, "≤") : short(value(bound, at));
    document.querySelector(`[data-floor="${index}"]`).textContent = lacking.length ? "" : short(bound.floor(...ordered(at))) + (bound.sqrt && at.G > 0 ? "; 0 with β = c/√T" : "");
    document.querySelector(`[data-rounds="${index}"]`).textContent = lacking.length ? "" : rounds === Infinity ? "not reached" : rounds + (bound.sqrt ? " with β = c/√T" : "");
  });
  conditions.forEach((condition, index) => {
    const cell = document.querySelector(`[data-condition="${index}"]`);
    if (!cell) return;
    const known = at.beta !== undefined, good = known && met(condition, at);
    cell.textContent = known ? (good ? "yes" : "no") : "";
    cell.className = good ? "yes" : "no";
  });
}
// The link has what differs from the start.
function keep() {
  const chosen = new URLSearchParams();
  for (const name of all) if (byId("in-" + name).value !== starts[name]) chosen.set(name, byId("in-" + name).value);
  const address = ([...chosen].length ? "?" + chosen : location.pathname) + "#steps";
  byId("keep").href = address;
  try { history.replaceState(null, "", address); } catch (error) { /* a page from a file may not */ }
}
const asked = new URLSearchParams(location.search);
for (const name of all) {
  if (asked.has(name)) byId("in-" + name).value = asked.get(name);
  byId("in-" + name).addEventListener("input", () => { show(); keep(); });
}
show();
if ([...asked].length) keep();
