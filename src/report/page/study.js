// study.js: the study at a glance: title, tiles, the models and what ran.
import { CLASSES } from './colours.js';
import { byId, el, fixed, large, put, r, tableHead, whole, withError } from './dom.js';

const isText = (value) => typeof value === 'string' && value !== '';
const isNumber = (value) => typeof value === 'number' && Number.isFinite(value);
const object = (value) =>
    value && typeof value === 'object' && !Array.isArray(value) ? value : {};

function titleOf(data) {
    const { name } = object(data.manifest.study);
    if (isText(name)) return name;
    return data.models.count === 1
        ? data.models.name[0]
        : data.training
          ? 'A training run'
          : `${data.models.count} models`;
}

// Manifests name models by label; a model that failed is in no table.
function factsOf(data) {
    const list = Array.isArray(data.manifest.models) ? data.manifest.models.map(object) : [];
    return { list, of: new Map(list.map((m) => [m.label, m])) };
}

function tiles(data) {
    const text = object(data.manifest.text);
    const groups = new Set(data.models.group.filter((g) => g !== null));
    const sizes = new Set(data.headsOf.map((list) => list.length));
    const even = data.models.count > 1 && sizes.size === 1;
    return [
        [
            data.training ? 'checkpoints' : data.models.count === 1 ? 'model' : 'models',
            whole(data.models.count),
        ],
        groups.size > 1 ? [data.training ? 'phases' : 'families', whole(groups.size)] : null,
        even ? ['heads each', whole([...sizes][0])] : ['heads', whole(data.heads.count)],
        ['components a head', whole(data.components)],
        isNumber(text.documents) ? ['documents', whole(text.documents)] : null,
        isNumber(text.tokens) ? ['tokens', large(text.tokens)] : null,
    ].filter(Boolean);
}

function classBar({ models }, m) {
    const parts = CLASSES.filter(([name]) => models[name]?.[m] > 0);
    const text = parts.map(([name]) => `${name} ${fixed(100 * models[name][m], 0)}%`).join(', ');
    return el(
        'div',
        { class: 'bar-of-classes', role: 'img', 'aria-label': text, title: text },
        parts.map(([name, ink]) =>
            el('span', { style: { background: ink, flexGrow: models[name][m] } }),
        ),
    );
}

function mean(data, side, m) {
    const value = data.models[`mean_r_${side}`]?.[m] ?? NaN;
    return withError(value, data.models[`se_r_${side}`]?.[m] ?? NaN);
}

function modelsTable(data) {
    const { models } = data;
    const { list, of } = factsOf(data);
    const fact = (m) => of.get(models.name[m]) ?? {};
    const context = (f) => f.max_length ?? f.context;
    const has = (pick) => list.some((f) => pick(f) !== undefined && pick(f) !== null);
    const columns = [
        [
            data.training ? 'Checkpoint' : 'Model',
            'text',
            (m) =>
                el(
                    'span',
                    { class: 'name strong', title: fact(m).checkpoint ?? null },
                    models.name[m],
                ),
        ],
        models.group.some((g) => g !== null) && [
            data.training ? 'Phase' : 'Family',
            'text',
            (m) => el('span', { class: 'name' }, models.group[m] ?? ''),
        ],
        ['Heads', null, (m) => whole(models.n_heads?.[m] ?? data.headsOf[m].length)],
        has(context) && ['Context', null, (m) => whole(context(fact(m)))],
        has((f) => f.rope_theta) && [
            'RoPE θ',
            null,
            (m) => (isNumber(fact(m).rope_theta) ? large(fact(m).rope_theta) : "config's"),
        ],
        has((f) => f.documents) && ['Documents', null, (m) => whole(fact(m).documents)],
        has((f) => f.tokens) && ['Tokens', null, (m) => large(fact(m).tokens)],
        models.mean_r_q && [['mean ', r('q')], null, (m) => mean(data, 'q', m)],
        models.mean_r_k && [['mean ', r('k')], null, (m) => mean(data, 'k', m)],
        models.mean_explained_variance && [
            'PC0 variance',
            null,
            (m) => `${fixed(100 * models.mean_explained_variance[m], 0)}%`,
        ],
        CLASSES.some(([name]) => models[name]) && ['Classes', 'text', (m) => classBar(data, m)],
    ].filter(Boolean);
    const failed = list.filter((f) => isText(f.status) && f.status !== 'done');
    return [
        tableHead(
            columns.map(([label, kind]) =>
                el('th', { scope: 'col', class: kind }, ...[label].flat(2)),
            ),
        ),
        el(
            'tbody',
            null,
            Array.from({ length: models.count }, (_, m) =>
                el(
                    'tr',
                    null,
                    columns.map(([, kind, show]) => el('td', { class: kind }, show(m))),
                ),
            ),
            failed.map((f) =>
                el(
                    'tr',
                    { class: 'failed' },
                    el(
                        'td',
                        { class: 'text' },
                        el('span', { class: 'name strong' }, String(f.label ?? '')),
                    ),
                    el(
                        'td',
                        { class: 'text', colspan: columns.length - 1 },
                        `${f.status}: ${f.reason ?? 'no reason given'}`,
                    ),
                ),
            ),
        ),
    ];
}

function legendOfClasses(data) {
    if (!CLASSES.some(([name]) => data.models[name])) return null;
    return el(
        'p',
        { class: 'hint classes' },
        CLASSES.map(([name, ink]) =>
            el('span', null, el('span', { class: 'swatch', style: { background: ink } }), name),
        ),
    );
}

// Whatever plain values the manifest has under these names.
function settings(data) {
    const rows = [];
    for (const name of ['text', 'capture', 'parts'])
        for (const [key, value] of Object.entries(object(data.manifest[name])))
            if (isText(value) || isNumber(value) || typeof value === 'boolean')
                rows.push([
                    name === 'parts' ? key : `${name}: ${key.replaceAll('_', ' ')}`,
                    isNumber(value) ? whole(value) : String(value),
                ]);
    for (const name of ['backend', 'threads'])
        if (isText(data.manifest[name]) || isNumber(data.manifest[name]))
            rows.push([
                name,
                data.manifest[name] === 0 ? 'all cores' : String(data.manifest[name]),
            ]);
    return rows;
}

export function drawStudy(data) {
    const title = titleOf(data);
    document.title = `${title} – qkscope`;
    byId('title').textContent = title;
    byId('kind').textContent = data.training
        ? 'Training study'
        : data.models.count === 1
          ? 'One model'
          : 'Study of models';
    byId('lead').textContent =
        'Where attention heads keep position: how queries and keys move along their shared principal components as a document goes on.';
    put(
        byId('tiles'),
        tiles(data).map(([label, value]) =>
            el('div', null, el('dd', null, value), el('dt', null, label)),
        ),
    );
    put(byId('models'), modelsTable(data));
    byId('models')
        .closest('.panel')
        .append(...[legendOfClasses(data)].filter(Boolean));
    const rows = settings(data);
    byId('settings').hidden = rows.length === 0;
    put(
        byId('settings'),
        el('h3', null, 'Settings'),
        el(
            'dl',
            { class: 'numbers wide' },
            rows.map(([key, value]) => el('div', null, el('dt', null, key), el('dd', null, value))),
        ),
    );
    byId('made').textContent =
        `Written by qkscope ${data.version}${data.revision ? ` (${data.revision})` : ''}. One file, no network: it can be kept and sent as it is.`;
}
