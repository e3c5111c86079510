(function (what, ...args) {
  const state = globalThis.openspace ||= { next: 1, parts: new Map(), numbers: new WeakMap() };
  const squeeze = (s, most) => {
    s = (s || "").replace(/\s+/g, " ").trim();
    return s.length > most ? s.slice(0, most) + "…" : s;
  };
  const blocks = new Set(["ADDRESS", "ARTICLE", "ASIDE", "BLOCKQUOTE", "BODY", "DD", "DETAILS", "DIALOG", "DIV", "DL", "DT", "FIELDSET", "FIGURE",
    "FIGCAPTION", "FOOTER", "FORM", "H1", "H2", "H3", "H4", "H5", "H6", "HEADER", "HR", "LEGEND", "LI", "MAIN", "NAV", "OL", "P", "PRE", "SECTION",
    "SUMMARY", "TABLE", "TBODY", "THEAD", "TR", "UL"]);
  const skipped = new Set(["SCRIPT", "STYLE", "NOSCRIPT", "TEMPLATE", "HEAD", "OBJECT", "EMBED", "DATALIST", "COLGROUP"]);
  const roles = ["button", "link", "checkbox", "radio", "switch", "tab", "menuitem", "option", "combobox", "textbox", "searchbox", "treeitem"];

  // kind names what can be done with an element; "" is nothing.
  function kind(el) {
    const role = (el.getAttribute("role") || "").split(" ")[0];
    switch (el.tagName) {
      case "A": return el.href ? "link" : "";
      case "BUTTON": return "button";
      case "SUMMARY": return "button";
      case "TEXTAREA": return "text";
      case "SELECT": return "list";
      case "INPUT":
        if (el.type === "hidden") return "";
        if (["button", "submit", "reset", "image"].includes(el.type)) return "button";
        return ["checkbox", "radio", "file", "password", "range", "color", "date", "time"].includes(el.type) ? el.type : "text";
    }
    if (el.isContentEditable && !(el.parentElement && el.parentElement.isContentEditable)) return "text";
    if (roles.includes(role)) return role === "textbox" || role === "searchbox" ? "text" : role;
    return el.hasAttribute("onclick") ? "button" : "";
  }

  function number(el) {
    let n = state.numbers.get(el);
    if (!n) {
      n = state.next++;
      state.numbers.set(el, n);
      state.parts.set(n, new WeakRef(el));
    }
    return n;
  }

  function visible(el) {
    const style = el.ownerDocument.defaultView.getComputedStyle(el);
    if (style.visibility !== "visible") return false;
    return style.display === "contents" || el.checkVisibility({ opacityProperty: true, contentVisibilityAuto: false });
  }

  function name(el) {
    const by = (el.getAttribute("aria-labelledby") || "").split(/\s+/).map(id => id && el.getRootNode().getElementById?.(id)?.textContent).filter(Boolean).join(" ");
    const label = el.labels && el.labels[0] ? el.labels[0].textContent : "";
    const own = el.tagName === "INPUT" && ["submit", "button", "reset"].includes(el.type) ? el.value : "";
    const inner = ["A", "BUTTON", "SUMMARY"].includes(el.tagName) || el.getAttribute("role") ? el.innerText : "";
    const picture = el.querySelector && el.querySelector("img[alt], svg title");
    return squeeze(by || el.getAttribute("aria-label") || label || own || inner || el.getAttribute("placeholder") || el.title ||
      (picture && (picture.alt || picture.textContent)) || el.alt || el.name || "", 120);
  }

  function address(el) {
    const url = new URL(el.href, el.ownerDocument.baseURI);
    return squeeze(url.origin === location.origin ? url.pathname + url.search + url.hash : url.href, 120);
  }

  // told is how a part is shown in the text.
  function told(el, k) {
    let s = "[" + number(el) + " " + k + ": " + name(el);
    if (k === "link") { try { s += " → " + address(el); } catch {} }
    if (k === "list") {
      const all = [...el.options].map(o => squeeze(o.label, 40));
      s += " = " + [...el.selectedOptions].map(o => squeeze(o.label, 40)).join(", ") + " of " + all.slice(0, 20).join(" | ") + (all.length > 20 ? " | …" : "");
    } else if (k === "checkbox" || k === "radio" || k === "switch") {
      s += el.checked || el.getAttribute("aria-checked") === "true" ? " = on" : " = off";
    } else if (k === "password") {
      s += el.value ? " = (filled)" : "";
    } else if (["text", "range", "color", "date", "time"].includes(k)) {
      const value = "value" in el ? el.value : el.innerText;
      s += value ? ' = "' + squeeze(value, 200) + '"' : "";
    }
    if (el.disabled || el.getAttribute("aria-disabled") === "true") s += " (disabled)";
    return s + "]";
  }

  function read(most) {
    const out = [];
    let size = 0, more = false;
    const put = s => {
      if (size > most) { more = true; return; }
      out.push(s);
      size += s.length;
    };
    const line = () => { if (out.length && !out[out.length - 1].endsWith("\n")) out.push("\n"); };
    const walk = (node, pre) => {
      if (more) return;
      if (node.nodeType === Node.TEXT_NODE) {
        const at = node.parentElement || (node.getRootNode().host);
        if (!node.data.trim()) { if (/\s/.test(node.data) && out.length && !/\s$/.test(out[out.length - 1])) out.push(" "); return; }
        if (at && visible(at)) put(pre ? node.data : node.data.replace(/\s+/g, " "));
        return;
      }
      if (node.nodeType !== Node.ELEMENT_NODE || skipped.has(node.tagName)) return;
      const style = node.ownerDocument.defaultView.getComputedStyle(node);
      if (style.display === "none") return;
      const block = blocks.has(node.tagName) || ["block", "flex", "grid", "list-item", "table"].includes(style.display);
      const k = kind(node);
      if (k && (visible(node) || node.labels?.length && visible(node.labels[0]))) {
        put(" " + told(node, k) + " ");
        if (block) line();
        return;
      }
      if (node.tagName === "IFRAME" || node.tagName === "FRAME") {
        let doc = null;
        try { doc = node.contentDocument; } catch {}
        line();
        if (doc && doc.body) { put("[frame]"); line(); walk(doc.body, false); } else if (node.src) put("[frame of another site, not read: " + squeeze(node.src, 200) + "]");
        line();
        return;
      }
      if (node.tagName === "IMG" || node.tagName === "CANVAS" || node.tagName === "VIDEO" || node.tagName.toLowerCase() === "svg") {
        const text = node.alt || node.getAttribute("aria-label") || node.querySelector?.("title")?.textContent;
        if (text && visible(node)) put(" [picture: " + squeeze(text, 120) + "] ");
        return;
      }
      if (block) line();
      if (/^H[1-6]$/.test(node.tagName)) put("#".repeat(+node.tagName[1]) + " ");
      if (node.tagName === "LI") put("- ");
      if ((node.tagName === "TD" || node.tagName === "TH") && node.previousElementSibling) put(" | ");
      if (node.tagName === "BR") { out.push("\n"); return; }
      const inside = node.shadowRoot ? node.shadowRoot.childNodes : node.tagName === "SLOT" && node.assignedNodes().length ? node.assignedNodes() : node.childNodes;
      for (const child of inside) walk(child, pre || style.whiteSpace.startsWith("pre"));
      if (block) line();
    };
    if (document.body) walk(document.body, false);
    const entry = performance.getEntriesByType("navigation")[0];
    const text = out.join("").replace(/[ \t\u00a0]+\n/g, "\n").replace(/\n[ \t]+(?=\S)/g, "\n").replace(/\n{3,}/g, "\n\n").replace(/ {2,}/g, " ").trim();
    return { url: location.href, title: squeeze(document.title, 200), status: entry ? entry.responseStatus : 0, text: text.slice(0, most), cut: more || text.length > most };
  }

  function part(n) {
    const ref = state.parts.get(n);
    const el = ref && ref.deref();
    if (!el) return { problem: "there is no part " + n + " on this page; read it for the numbers that there are" };
    if (!el.isConnected) return { problem: "part " + n + " is no longer on the page; read it again" };
    return { el };
  }

  // place scrolls to an element and says where its middle is in the window.
  function place(n) {
    const found = part(n);
    if (found.problem) return found;
    const el = found.el;
    if (el.disabled) return { problem: "part " + n + " is disabled" };
    if (el.tagName === "INPUT" && el.type === "file") return { problem: "files cannot be given to pages" };
    el.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = [...el.getClientRects()].find(r => r.width > 0 && r.height > 0);
    if (!box || !visible(el)) { el.click(); return { done: true }; }
    let x = box.x + box.width / 2, y = box.y + box.height / 2;
    let hit = el.getRootNode().elementFromPoint(x, y);
    while (hit && hit.shadowRoot && hit !== el) {
      const inner = hit.shadowRoot.elementFromPoint(x, y);
      if (!inner || inner === hit) break;
      hit = inner;
    }
    if (hit && !el.contains(hit) && !hit.contains(el) && !(el.labels && [...el.labels].some(l => l.contains(hit)))) {
      return { problem: "part " + n + " is covered by something else (" + squeeze(hit.innerText || hit.tagName.toLowerCase(), 80) + "); deal with that first" };
    }
    for (let view = el.ownerDocument.defaultView; view !== globalThis && view.frameElement; view = view.parent) {
      const frame = view.frameElement.getBoundingClientRect();
      x += frame.x + view.frameElement.clientLeft;
      y += frame.y + view.frameElement.clientTop;
    }
    return { x, y };
  }

  function changed(el) {
    el.dispatchEvent(new Event("input", { bubbles: true, composed: true }));
    el.dispatchEvent(new Event("change", { bubbles: true }));
    return { done: true };
  }

  // fill makes a field ready for a text, or puts it there when keys cannot.
  function fill(n, text) {
    const found = part(n);
    if (found.problem) return found;
    const el = found.el, k = kind(el);
    if (el.disabled || el.readOnly) return { problem: "part " + n + " cannot be changed" };
    el.scrollIntoView({ block: "center", behavior: "instant" });
    if (k === "list" && el.options) {
      const want = squeeze(text, 500).toLowerCase(), all = [...el.options];
      const option = all.find(o => squeeze(o.label, 500).toLowerCase() === want) || all.find(o => o.value === text);
      if (!option) return { problem: "the list has no entry " + JSON.stringify(text) + "; it has: " + all.slice(0, 50).map(o => squeeze(o.label, 60)).join(" | ") };
      if (el.multiple) option.selected = true; else el.selectedIndex = option.index;
      return changed(el);
    }
    if (["checkbox", "radio", "file", "button", "link"].includes(k)) return { problem: "part " + n + " is no field for text but a " + k + "; click it" };
    if (el.tagName === "INPUT" && ["date", "time", "datetime-local", "month", "week", "color", "range"].includes(el.type)) {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(el, text);
      if (el.value !== text && el.type !== "color") return { problem: "a field of type " + el.type + " does not take " + JSON.stringify(text) };
      return changed(el);
    }
    el.focus();
    if (el.getRootNode().activeElement !== el) return { problem: "part " + n + " does not take text" };
    if (el.select) el.select();
    else el.ownerDocument.getSelection().selectAllChildren(el);
    return {};
  }

  function show(n) {
    const found = part(n);
    if (found.problem) return found;
    found.el.scrollIntoView({ block: "start", behavior: "instant" });
    return { done: true };
  }

  return { read, place, fill, show }[what](...args);
})
