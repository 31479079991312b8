// Encode with a model that `structhash export --to json` wrote. It needs no other file.
//
//   import { Encoder } from "./encoder.mjs";
//   const encoder = new Encoder(JSON.parse(text));
//   const code = encoder.encode(vector, { queries: true }); // Uint8Array, little bit order

const TYPES = {
  float32: [4, (view, at) => view.getFloat32(at, true)],
  float64: [8, (view, at) => view.getFloat64(at, true)],
};

/** A value of one row is a Float64Array. Two of them are combined number by number, or one has length 1. */
function combine(work) {
  return (a, b) => {
    if (a.length !== b.length && a.length !== 1 && b.length !== 1) {
      throw new Error(`lengths ${a.length} and ${b.length} do not go together: the file is damaged`);
    }
    const n = a.length === 1 ? b.length : a.length;
    const found = new Float64Array(n);
    for (let j = 0; j < n; j++) found[j] = work(a[a.length === 1 ? 0 : j], b[b.length === 1 ? 0 : j]);
    return found;
  };
}

function matmul(row, matrix, [height, width]) {
  const found = new Float64Array(width);
  for (let i = 0; i < height; i++) {
    for (let j = 0, at = i * width; j < width; j++, at++) found[j] += row[i] * matrix[at];
  }
  return found;
}

const OPERATIONS = {
  add: combine((a, b) => a + b),
  subtract: combine((a, b) => a - b),
  multiply: combine((a, b) => a * b),
  divide: combine((a, b) => a / b),
  minimum: combine(Math.min),
  maximum: combine(Math.max),
  power: combine(Math.pow),
  greater: combine((a, b) => (a > b ? 1 : 0)),
  matmul,
  exp: (a) => a.map(Math.exp),
  log: (a) => a.map(Math.log),
  sqrt: (a) => a.map(Math.sqrt),
  abs: (a) => a.map(Math.abs),
  row_sum: (a) => Float64Array.of(a.reduce((sum, each) => sum + each, 0)),
  row_max: (a) => Float64Array.of(a.reduce((most, each) => Math.max(most, each), -Infinity)),
  kth_largest: (a, [k]) => Float64Array.of(a.slice().sort()[a.length - k]),
  columns: (a, places) => places.map((place) => a[place]),
  concatenate: (...parts) => Float64Array.from(parts.flatMap((each) => Array.from(each))),
};

function read({ dtype, base64 }) {
  const text = atob(base64);
  const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const [size, number] = TYPES[dtype];
  const view = new DataView(bytes.buffer);
  return Float64Array.from({ length: bytes.length / size }, (_, at) => number(view, at * size));
}

export class Encoder {
  /** @param document The parsed JSON. */
  constructor(document) {
    this.about = document.about;
    this.arrays = {};
    this.shapes = {};
    for (const [name, array] of Object.entries(document.arrays)) {
      this.arrays[name] = read(array);
      this.shapes[name] = array.shape;
    }
  }

  /** Code of a row, or of a query: Uint8Array in little bit order. A prefix has the first bits. */
  encode(row, { queries = false } = {}) {
    const values = this.values(row, { queries });
    const code = new Uint8Array(Math.ceil(values.length / 8));
    values.forEach((value, bit) => {
      if (value > 0) code[bit >> 3] |= 1 << (bit & 7);
    });
    return code;
  }

  /** Real values of the bits: a bit is 1 where its value is above 0. */
  values(row, { queries = false } = {}) {
    const { n_features: width, n_bits: length, steps } = this.about;
    if (row?.length !== width || !Array.from(row).every(Number.isFinite)) {
      throw new Error(`give ${width} finite numbers`); // null is none, though Float64Array.from makes it 0
    }
    const X = Float64Array.from(row);
    const found = { ...this.arrays, X };
    let last = X;
    for (const [operation, name, ...inputs] of steps[queries ? "query_values" : "values"]) {
      const shapes = operation === "matmul" ? [this.shapes[inputs[1]]] : [];
      last = found[name] = OPERATIONS[operation](...inputs.map((each) => found[each]), ...shapes);
    }
    return last.slice(0, length);
  }

  /** Numbers of a query, one a bit. Their sum over the bits of a code that are 1 orders codes by distance. */
  coefficients(query) {
    const z = this.values(query, { queries: true });
    const mean = z.reduce((sum, each) => sum + Math.abs(each), 0) / z.length || 1;
    const weights = this.about.weights;
    return z.map((each, bit) => (-each / mean) * (weights ? weights[bit] : 1));
  }
}
