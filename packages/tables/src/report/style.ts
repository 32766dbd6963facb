/**
 * The style of reports: one column of text, figures as wide as they need, colours as custom
 * properties.
 */
export const style = `
:root { color-scheme: light dark; --paper: #ffffff; --ink: #1f2328; --faint: #6b737d;
  --line: #d8dde3; --soft: #f4f6f8;
  --data: #0072b2; --samples: #d55e00; --good: #00704f; --bad: #b3261e; --bad-soft: #fdecea;
    --good-soft: #e6f5ef; }
@media (prefers-color-scheme: dark) { :root { --paper: #15191e; --ink: #e6e9ec; --faint: #9aa4ae;
  --line: #343b43; --soft: #1d2329;
  --data: #56b4e9; --samples: #ff8a3d; --good: #4fd1a5; --bad: #ff8a80; --bad-soft: #3a1f1d;
    --good-soft: #14302a; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "DejaVu Sans", Verdana, Arial, sans-serif; }
main { max-width: 1130px; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
h1 { font-size: 2rem; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 0 0 .75rem; } h3 { font-size: 1rem; margin: 1.25rem 0 .5rem; }
.lead { color: var(--faint); margin: 0 0 1rem; }
section { margin-top: 2.25rem; padding-top: 1.5rem; border-top: 1px solid var(--line); }
p { max-width: 46rem; margin: .6rem 0; }
footer { margin-top: 2.5rem; color: var(--faint); font-size: .85rem; }
.verdict { border-radius: 8px; padding: .8rem 1rem; margin: 0; max-width: none; }
.verdict p, .verdict ul { margin: 0; max-width: none; }
.verdict.good { background: var(--good-soft); color: var(--good); }
.verdict.bad { background: var(--bad-soft); color: var(--bad); }
.wide { overflow-x: auto; margin: .6rem 0; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
th, td { text-align: left; padding: .3rem 1.1rem .3rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; }
td { white-space: nowrap; } .prose td { white-space: normal; }
th { color: var(--faint); font-weight: 600; } tr.bad td { color: var(--bad); }
figure { margin: 1rem 0; overflow-x: auto; }
figure svg { display: block; max-width: 100%; height: auto; }
.two { display: flex; flex-wrap: wrap; gap: 0 3rem; }
.bars { width: 16rem; }
.bar { display: block; height: .55rem; margin: .15rem 0; border-radius: 2px; min-width: 1px; }
.bar.data { background: var(--data); } .bar.samples { background: var(--samples); }
pre { background: var(--soft); border-radius: 8px; padding: .8rem 1rem; overflow-x: auto;
  font-size: .88rem; }
@media print { :root { color-scheme: light; --paper: #ffffff; --ink: #000000; --faint: #555555;
  --line: #cccccc; --soft: #f4f4f4;
  --data: #0072b2; --samples: #d55e00; --good: #00704f; --bad: #b3261e; --bad-soft: #ffffff;
    --good-soft: #ffffff; }
  body { font-size: 11pt; } main { max-width: none; padding: 0; }
  section { break-inside: avoid-page; } figure, table { break-inside: avoid; }
  .verdict { border: 1px solid currentColor; } }
`.trim();
