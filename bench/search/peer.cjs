// Runs the vector indexes of Node.js for the bench. It reads commands, a line of
// JSON each, and answers each with a line of JSON. Times are taken here, so that
// the pipe is no part of them, and are in nanoseconds.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const modules = require("node:module").createRequire(path.join(path.resolve(process.argv[2]), "peer.cjs"));

const K = 10;
let dim, stored, asked; // of the vectors at hand
let indexes = {}; // by library

const nanoseconds = () => Number(process.hrtime.bigint());
const rows = (flat) => flat.length / dim;
const row = (flat, i) => flat.subarray(i * dim, (i + 1) * dim);

function floats(file) {
  const b = fs.readFileSync(file);
  return new Float32Array(b.buffer, b.byteOffset, b.byteLength / 4);
}

// Each library builds an index, returns the questions in the form it takes, and
// searches.
const libraries = {
  hnswlib: {
    build({ m, construction }) {
      const index = new (modules("hnswlib-node").HierarchicalNSW)("l2", dim);
      index.initIndex(rows(stored), m, construction);
      let took = 0;
      for (let i = 0; i < rows(stored); i++) {
        const point = Array.from(row(stored, i));
        const start = nanoseconds();
        index.addPoint(point, i);
        took += nanoseconds() - start;
      }
      return { index, took };
    },
    question: (q) => Array.from(q),
    setEF: (index, ef) => index.setEf(ef),
    search: (index, q) => index.searchKnn(q, K).neighbors,
  },
  usearch: {
    // The number of candidates is set when an index is made, so it is made anew
    // from a file for each.
    build({ m, construction, file }) {
      const index = this.make(m, construction, construction);
      const keys = BigUint64Array.from({ length: rows(stored) }, (_, i) => BigInt(i));
      const start = nanoseconds();
      index.add(keys, stored, 0);
      const took = nanoseconds() - start;
      index.save(file);
      return { index: { m, construction, file }, took };
    },
    make: (m, construction, ef) => new (modules("usearch").Index)({
      dimensions: dim, metric: "l2sq", quantization: "f32", connectivity: m,
      expansion_add: construction, expansion_search: ef, multi: false,
    }),
    question: (q) => q,
    setEF(index, ef) {
      if (index.ef === ef) return;
      index.graph = this.make(index.m, index.construction, ef);
      index.graph.load(index.file);
      index.ef = ef;
    },
    search: (index, q) => Array.from(index.graph.search(q, K, 1).keys, Number),
  },
};

const commands = {
  load(c) {
    dim = c.dim;
    stored = floats(c.stored);
    asked = floats(c.asked);
    indexes = {};
    return {};
  },
  build(c) {
    const memory = process.memoryUsage().rss, cpu = process.cpuUsage();
    const { index, took } = libraries[c.library].build(c);
    const used = process.cpuUsage(cpu);
    const questions = Array.from({ length: rows(asked) }, (_, i) => libraries[c.library].question(row(asked, i)));
    indexes[c.library] = { index, questions, next: 0 };
    return { took, cpu: 1e3 * (used.user + used.system), memory: process.memoryUsage().rss - memory };
  },
  answers(c) {
    const library = libraries[c.library], { index, questions } = indexes[c.library];
    library.setEF(index, c.ef);
    return { ids: questions.map((q) => library.search(index, q)) };
  },
  pace(c) {
    const library = libraries[c.library], at = indexes[c.library];
    library.setEF(at.index, c.ef);
    const start = nanoseconds();
    for (let n = 0; ; ) {
      for (let i = 0; i < 16; i++, n++) {
        at.next = (at.next + 1) % at.questions.length;
        library.search(at.index, at.questions[at.next]);
      }
      const took = nanoseconds() - start;
      if (took >= c.duration) return { took: took / n };
    }
  },
  // What a call of hnswlib costs that finds nothing to search.
  call(c) {
    const index = new (modules("hnswlib-node").HierarchicalNSW)("l2", dim);
    index.initIndex(K);
    for (let i = 0; i < K; i++) index.addPoint(Array.from(row(stored, i)), i);
    const kept = indexes.hnswlib;
    indexes.hnswlib = { index, questions: kept.questions, next: 0 };
    const out = commands.pace({ library: "hnswlib", ef: K, duration: c.duration });
    indexes.hnswlib = kept;
    return out;
  },
};

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  let out;
  try {
    const command = JSON.parse(line);
    out = commands[command.op](command);
  } catch (err) {
    out = { error: String(err) };
  }
  process.stdout.write(JSON.stringify(out) + "\n");
});
