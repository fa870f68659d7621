// data.js: the run's data as the program packed them (src/report/columns.c), unpacked to columns.

const NONE = Number.NaN;

// An array has a `values` too, but a function.
const cellsOf = (column) => (Array.isArray(column) ? column : (column.values ?? column.of));

// A column is an array, {decimals, values}, or {of, names}; a number that is not there is NaN.
function numbers(column, count) {
    if (!column) return null;
    const scale = 10 ** (column.decimals ?? 0);
    const values = cellsOf(column);
    const out = new Float64Array(count).fill(NONE);
    for (let i = 0; i < count; i++) if (values[i] !== null) out[i] = values[i] / scale;
    return out;
}

function texts(column) {
    if (!column) return null;
    return column.names ? column.of.map((i) => (i === null ? null : column.names[i])) : column;
}

function table(columns, count, textual) {
    const out = { count };
    for (const [name, column] of Object.entries(columns))
        out[name] = textual.includes(name) ? texts(column) : numbers(column, count);
    return out;
}

const lengthOf = (column) => (column ? cellsOf(column).length : 0);

function readDepth(packed, nModels) {
    const count = lengthOf(packed.bin);
    if (!count) return null;
    const rows = table(packed, count, ['label']);
    const bins = Math.max(...rows.bin) + 1;
    const at = new Int32Array(nModels * bins).fill(-1); // row of [model, bin]
    const labels = Array(bins).fill('');
    for (let i = 0; i < count; i++) {
        at[rows.model[i] * bins + rows.bin[i]] = i;
        labels[rows.bin[i]] = rows.label?.[i] ?? '';
    }
    const shown = ['r_q', 'r_k', 'explained_variance', 'bias_strength', 'n_heads'];
    return {
        bins,
        labels,
        quantities: shown.filter((name) => rows[name]),
        value: (name, model, bin) => {
            const row = at[model * bins + bin];
            return row < 0 ? NONE : (rows[name]?.[row] ?? NONE);
        },
    };
}

function readPlasticity(packed, nHeads) {
    const count = lengthOf(packed.variant);
    const rows = table(packed, count, ['variant']);
    const of = Array(nHeads).fill(null); // rows of a head
    for (let i = 0; i < count; i++) if (rows.head[i] >= 0) (of[rows.head[i]] ??= []).push(i);
    return { rows, of };
}

// The oriented variant is the reference's; else the first that is there.
function plasticityColumn({ rows, of }, nHeads) {
    if (!rows.count) return null;
    const out = new Float64Array(nHeads).fill(NONE);
    for (let h = 0; h < nHeads; h++) {
        const row = of[h]?.find((i) => rows.variant[i] === 'diagonal_oriented') ?? of[h]?.[0];
        if (row !== undefined) out[h] = rows.ap_overall?.[row] ?? NONE;
    }
    return out;
}

// Heads of all models that stand at one place (layer, head), for their path through training.
function readPaths(heads) {
    const paths = new Map();
    for (let h = 0; h < heads.count; h++) {
        const key = `${heads.layer[h]}/${heads.head[h]}`;
        if (!paths.has(key)) paths.set(key, []);
        paths.get(key).push(h); // heads are sorted by model, so the path is in training order
    }
    return paths;
}

export function readData(packed) {
    const nModels = packed.models.name.length;
    const nHeads = packed.heads.layer.length;
    const models = table(packed.models, nModels, ['name', 'group']);
    const heads = table(packed.heads, nHeads, ['class', 'flags']);
    const components = packed.components;
    const qk = table(packed.qk, nHeads * components, []);
    const plasticity = readPlasticity(packed.plasticity, nHeads);
    heads.plasticity = plasticityColumn(plasticity, nHeads);
    const layersOf = new Float64Array(nModels); // the deepest layer seen
    const headsOf = Array.from({ length: nModels }, () => []);
    for (let h = 0; h < nHeads; h++) {
        const m = heads.model[h];
        headsOf[m].push(h);
        layersOf[m] = Math.max(layersOf[m], heads.layer[h]);
    }
    const paths = readPaths(heads);
    return {
        version: packed.version,
        revision: packed.revision,
        training: packed.training,
        manifest: packed.manifest ?? {},
        models,
        heads,
        headsOf,
        layersOf,
        components,
        depth: readDepth(packed.depth, nModels),
        plasticity,
        findings: table(packed.findings, lengthOf(packed.findings.sentence), [
            'subject',
            'quantity',
            'sentence',
        ]),
        figures: packed.figures,
        // A number of one PC of a head.
        pc: (name, head, pc) => qk[name]?.[head * components + pc] ?? NONE,
        has: (name) => Boolean(qk[name]),
        label: (head) => `L${heads.layer[head]} H${heads.head[head]}`,
        path: (head) => paths.get(`${heads.layer[head]}/${heads.head[head]}`),
        // The same head in another model of a training run, or -1.
        inModel(head, model) {
            return (
                paths
                    .get(`${heads.layer[head]}/${heads.head[head]}`)
                    .find((h) => heads.model[h] === model) ?? -1
            );
        },
    };
}
