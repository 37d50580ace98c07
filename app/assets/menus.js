// Streamlit puts an open menu at the end of the page and leaves the focus on its button: Tab had to pass the whole page first.
if (!window.leadsIntoMenus) {
  window.leadsIntoMenus = true;
  addEventListener("keydown", (event) => {
    const opener = document.querySelector("[data-testid=stPopoverButton][aria-expanded=true]"), menu = document.querySelector("[data-testid=stPopoverBody]");
    if (!opener || !menu) return;
    const at = document.activeElement;
    const items = [...menu.querySelectorAll("button, input, a[href], textarea, [tabindex]")].filter((one) => one.tabIndex >= 0 && !one.disabled && one.offsetParent);
    const [first, last] = [items[0], items.at(-1)];
    if (event.key === "Escape" && menu.contains(at)) setTimeout(() => opener.focus(), 50);
    if (event.key !== "Tab" || !first) return;
    const isOutside = !menu.contains(at) && !at.closest("[role=dialog]"); // a calendar of the menu lies outside of it, too
    const isLast = at === last || last.closest("[role=radiogroup]")?.contains(at);
    const next = event.shiftKey ? at === first && opener : isOutside ? first : isLast && opener;
    if (!next) return;
    event.preventDefault();
    next.focus();
  }, true);
  // The next visit shows what is new since this one ended.
  addEventListener("pagehide", () => {
    document.cookie = `tachograph_looked=${Math.floor(Date.now() / 60000)}; path=/; max-age=2592000; samesite=strict`;
  });
}
