/**
 * The colors are those of the editor's theme where it defines them; in a browser, those of the reader's preferences. In forced colors and in high
 * contrast, outlines replace shades.
 */
export const pageStyle = `
:root {
  color-scheme: light dark;
  --b: #fff; --f: #1f2328; --s: #59636e; --l: #d8dee4; --a: #0550ae; --bar: #3b78d8; --warm: #b35900; --calm: #768390;
  font: 14px/1.45 system-ui, -apple-system, 'Segoe UI', sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root { --b: #16191d; --f: #e4e8ec; --s: #9da7b1; --l: #333a42; --a: #79b8ff; --bar: #5b96ec; --warm: #e3954a; --calm: #8b96a2; }
}
@media (prefers-contrast: more) {
  :root { --s: var(--f); --l: var(--f); }
}
body {
  --bg: var(--vscode-editor-background, var(--b));
  --text: var(--vscode-foreground, var(--f));
  --soft: var(--vscode-descriptionForeground, var(--s));
  --line: var(--vscode-panel-border, var(--vscode-contrastBorder, var(--l)));
  --link: var(--vscode-textLink-foreground, var(--a));
  --floor: var(--vscode-charts-blue, var(--bar));
  --idle: var(--vscode-charts-yellow, var(--warm));
  --others: var(--vscode-descriptionForeground, var(--calm));
  --focus: var(--vscode-focusBorder, var(--link));
  box-sizing: border-box; max-width: 80rem; margin: 0 auto; padding: 1.5rem 1.5rem 3rem;
  background: var(--bg); color: var(--text); font-size: 1rem; font-variant-numeric: tabular-nums;
}
html { background: var(--vscode-editor-background, var(--b)); }
body.vscode-light { color-scheme: light; }
body.vscode-dark { color-scheme: dark; }
body.vscode-high-contrast a { text-decoration: underline; }
body.vscode-high-contrast { --soft: var(--text); --line: var(--vscode-contrastBorder, var(--text)); }
h1, h2, p, dl, dd, ul, ol, figure { margin: 0; padding: 0; }
h1 { font-size: 1.429rem; line-height: 1.25; font-weight: 600; overflow-wrap: anywhere; }
h2 { display: inline; font-size: 1rem; font-weight: 600; }
ul, ol { list-style: none; }
a { color: var(--link); text-decoration: none; overflow-wrap: anywhere; }
a:hover { text-decoration: underline; }
small, .unit, .notes, .reason, .line, caption, dt, .share { color: var(--soft); font-size: .857rem; font-weight: 400; }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 1px; }
[hidden] { display: none !important; }
header, .above { display: flex; flex-wrap: wrap; gap: .5rem 1.5rem; align-items: baseline; justify-content: space-between; }
button {
  min-height: 24px; padding: 0 .5rem; border: 1px solid var(--vscode-button-border, var(--line)); border-radius: 3px;
  background: transparent; color: inherit; font: inherit; cursor: pointer;
}
button:hover { background: var(--vscode-list-hoverBackground, color-mix(in srgb, var(--text) 8%, transparent)); }
.actions { display: flex; gap: .375rem; align-items: baseline; font-size: .857rem; }
.actions span { margin-left: .75rem; color: var(--soft); }
.totals { display: flex; flex-wrap: wrap; gap: .75rem 2rem; margin: 1.25rem 0 .75rem; }
.totals div { display: flex; flex-direction: column; }
.totals dd { font-size: 1.357rem; line-height: 1.35; font-weight: 600; }
.notes { max-width: 62rem; }
section { margin-top: 2rem; }
.charts { display: grid; grid-template-columns: repeat(auto-fit, minmax(15rem, 1fr)); gap: 2rem; }
figure { border-top: 1px solid var(--line); padding-top: .5rem; min-width: 0; }
figcaption { margin-bottom: .5rem; }
figure li { display: grid; grid-template-columns: 1fr auto; gap: 0 .75rem; margin-bottom: .5rem; line-height: 1.35; }
.parts li { grid-template-columns: 10px 1fr auto; gap: 0 .5rem; }
.name { overflow-wrap: anywhere; min-width: 0; }
.amount { white-space: nowrap; }
svg { display: block; }
.bar { grid-column: 1 / -1; width: 100%; height: 6px; margin-top: 2px; }
.stack { width: 100%; height: 18px; margin-bottom: .75rem; }
.key { align-self: center; width: 10px; height: 10px; }
.share { display: inline-block; min-width: 2.5em; text-align: right; }
.floor, .scaled { fill: var(--floor); }
.range, .scaled { fill-opacity: .35; }
.range { fill: var(--floor); }
.idle { fill: var(--idle); }
.others { fill: var(--others); fill-opacity: .6; }
.vscode-high-contrast .range, .vscode-high-contrast .scaled { fill-opacity: .15; stroke: var(--floor); vector-effect: non-scaling-stroke; }
.savings { border-top: 1px solid var(--line); margin-top: .5rem; }
.savings li { display: grid; grid-template-columns: 8rem 1fr; gap: 0 1.5rem; padding: .5rem 0; border-bottom: 1px solid var(--line); }
.savings .amount { font-weight: 600; text-align: right; }
.savings small { display: block; }
.savings div { min-width: 0; overflow-wrap: anywhere; }
.savings strong { font-weight: 600; margin-right: .5rem; }
.savings div p + p { color: var(--soft); }
.savings .fix { margin-top: .125rem; }
.fix::before { content: 'Fix: '; }
.fix button { margin-left: .25rem; color: var(--text); text-align: left; }
.above { margin-bottom: .5rem; }
input {
  width: 16rem; max-width: 60vw; box-sizing: border-box; min-height: 26px; padding: 0 .5rem; font: inherit; color: var(--vscode-input-foreground, inherit);
  background: var(--vscode-input-background, transparent); border: 1px solid var(--vscode-input-border, var(--line)); border-radius: 3px;
}
output { display: inline-block; margin-right: .75rem; color: var(--soft); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .929rem; }
caption { text-align: left; padding-bottom: .5rem; }
th, td { text-align: left; vertical-align: baseline; padding: .375rem .5rem; border-bottom: 1px solid var(--line); }
th:first-child, td:first-child { padding-left: 0; }
th:last-child, td:last-child { padding-right: 0; }
thead th { font-weight: 600; white-space: nowrap; border-bottom-color: var(--soft); vertical-align: bottom; }
thead button { border: 0; padding: 0; min-width: 24px; font-weight: 600; text-align: inherit; white-space: nowrap; }
[aria-sort] button::after { content: '\\25b2'; content: '\\25b2' / ''; font-size: .6em; vertical-align: .2em; margin-left: .4em; }
[aria-sort=descending] button::after { content: '\\25bc'; content: '\\25bc' / ''; }
.number { text-align: right; white-space: nowrap; }
tbody th { font-weight: 600; min-width: 13rem; overflow-wrap: anywhere; }
.file, .reason { display: block; font-size: .857rem; font-weight: 400; }
td { max-width: 16rem; overflow-wrap: break-word; }
.card { min-width: 8.5rem; }
tbody tr:hover { background: var(--vscode-list-hoverBackground, color-mix(in srgb, var(--text) 4%, transparent)); }
tfoot th, tfoot td { font-weight: 600; border-bottom: 0; border-top: 1px solid var(--soft); white-space: nowrap; }
@media (max-width: 34rem) {
  .savings li { grid-template-columns: 1fr; }
  .savings .amount { text-align: left; }
  .savings small { display: inline; }
}
@media (forced-colors: active) {
  .floor, .idle { fill: CanvasText; }
  .others { fill: CanvasText; fill-opacity: .5; }
  .range, .scaled { fill: Canvas; fill-opacity: 1; stroke: CanvasText; vector-effect: non-scaling-stroke; }
}
@media print {
  :root { color-scheme: light; --b: #fff; --f: #000; --s: #444; --l: #bbb; --a: #000; --bar: #3b78d8; --warm: #b35900; --calm: #768390; font-size: 10pt; }
  body { max-width: none; padding: 0; }
  .actions, .filter { display: none !important; }
  .scroll { overflow: visible; }
  li, tr, figure { break-inside: avoid; }
  svg { print-color-adjust: exact; }
}
`;
