// Parses mermaid diagrams with mermaid and prints the result for each file as a line of JSON.
//
//     npm ci && node check.mjs DIAGRAM...
//
// The exit code is 1 if a diagram cannot be parsed, is too large for GitHub, or reacts to clicks.
import { readFileSync } from 'node:fs';
import { JSDOM } from 'jsdom';

// Mermaid's sanitizer uses the global window at load time.
const { window } = new JSDOM('');
globalThis.window = window;
globalThis.document = window.document;
globalThis.Element = window.Element;
const { default: mermaid } = await import('mermaid');

const maxChars = 50000; // maxTextSize; the parser checks the number of edges

// Until they are drawn, labels have numeric entities in mermaid's own form.
const text = (label) =>
  (label ?? '').replace(/ﬂ°°(\d+)¶ß/g, (_, code) => String.fromCodePoint(Number(code)));

async function check(file) {
  const source = readFileSync(file, 'utf8');
  if (source.length > maxChars) {
    throw new Error(`${source.length} characters`);
  }
  const { config } = await mermaid.parse(source);
  if (Object.keys(config ?? {}).length > 0) {
    throw new Error(`configures mermaid: ${JSON.stringify(config)}`);
  }
  const { db } = await mermaid.mermaidAPI.getDiagramFromText(source);
  const vertices = db.getVertices(); // a plain object up to version 10
  const nodes = vertices instanceof Map ? [...vertices.values()] : Object.values(vertices);
  for (const n of nodes) {
    if (n.link !== undefined || n.haveCallback || n.classes.includes('clickable')) {
      throw new Error(`${n.id} can be clicked`);
    }
  }
  return {
    file,
    nodes: nodes.map((n) => ({ id: n.id, text: text(n.text), classes: n.classes })),
    edges: db.getEdges().map((e) => ({ from: e.start, to: e.end, stroke: e.stroke, type: e.type })),
    subgraphs: db.getSubGraphs().map((s) => text(s.title)),
  };
}

for (const file of process.argv.slice(2)) {
  try {
    console.log(JSON.stringify(await check(file)));
  } catch (e) {
    console.log(JSON.stringify({ file, error: String(e.message ?? e) }));
    process.exitCode = 1;
  }
}
