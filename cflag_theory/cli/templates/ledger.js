const byId = id => document.getElementById(id);
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
