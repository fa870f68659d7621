// colours.js: what a head's colour can mean. A scheme is categories (each with a name, a colour and
// the heads in it) or a scale (a number per head, with its ends).

export const R_Q = '#3b82f6';
export const R_K = '#ef4444';
export const VARIANCE = '#8b5cf6';

export const CLASSES = [
    ['position-dominated', '#3b82f6'],
    ['Q-positional', '#6366f1'],
    ['K-positional', '#ec4899'],
    ['content-focused', '#10b981'],
    ['mixed', '#9ca3af'],
];

// As the figures have them (src/figures/colour.c): a family looks the same in both.
const CATEGORICAL = [
    '#3b82f6',
    '#ef4444',
    '#10b981',
    '#f59e0b',
    '#8b5cf6',
    '#0891b2',
    '#ec4899',
    '#65a30d',
    '#64748b',
    '#92400e',
];
const VIRIDIS = [
    '#440154',
    '#482878',
    '#3e4989',
    '#31688e',
    '#26828e',
    '#1f9e89',
    '#35b779',
    '#6ece58',
    '#b5de2b',
    '#fde725',
];

const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));

export function mix(from, to, share) {
    const a = rgb(from);
    const b = rgb(to);
    return `rgb(${a.map((x, i) => Math.round(x + (b[i] - x) * share)).join(',')})`;
}

// Black or white, whichever has more contrast (WCAG) on a colour as mix() gives it.
export function inkOn(background) {
    const linear = (x) => (x <= 0.04045 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4);
    const [red, green, blue] = background.match(/\d+/g).map((x) => linear(Number(x) / 255));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? '#000000' : '#ffffff';
}

export function viridis(share) {
    const at = Math.min(Math.max(share, 0), 1) * (VIRIDIS.length - 1);
    const low = Math.min(Math.floor(at), VIRIDIS.length - 2);
    return mix(VIRIDIS[low], VIRIDIS[low + 1], at - low);
}

function categories(name, label, values, known) {
    const names = known ? known.map(([n]) => n) : [...new Set(values)];
    const others = [...new Set(values)].filter((v) => !names.includes(v));
    const list = [...names, ...others].map((n, i) => ({
        name: n ?? 'not known',
        colour: known?.[i]?.[1] ?? CATEGORICAL[i % CATEGORICAL.length],
        value: n,
    }));
    const at = new Map(list.map((c, i) => [c.value, i]));
    return {
        name,
        label,
        categories: list,
        category: (h) => at.get(values[h]),
        colour: (h) => list[at.get(values[h])].colour,
    };
}

function scale(name, label, values) {
    const seen = Array.from(values).filter(Number.isFinite);
    const low = seen.reduce((a, b) => Math.min(a, b), Infinity);
    const high = seen.reduce((a, b) => Math.max(a, b), -Infinity);
    if (!(high > low)) return null;
    return {
        name,
        label,
        scale: { low, high },
        category: () => 0,
        colour: (h) =>
            Number.isFinite(values[h]) ? viridis((values[h] - low) / (high - low)) : '#999999',
    };
}

// Only what the data can tell apart.
export function schemes(data) {
    const { heads, models } = data;
    const each = (of) => Array.from({ length: heads.count }, (_, h) => of(h));
    const list = [];
    if (heads.class) list.push(categories('class', 'class', heads.class, CLASSES));
    list.push(
        scale(
            'layer',
            'depth (layer)',
            each((h) => heads.layer[h] / Math.max(1, data.layersOf[heads.model[h]])),
        ),
    );
    if (heads.rope)
        list.push(
            categories(
                'rope',
                'RoPE',
                each((h) => ({ 1: 'RoPE', 0: 'NoPE' })[heads.rope[h]] ?? null),
                [
                    ['RoPE', '#4477aa'],
                    ['NoPE', '#ee7733'],
                ],
            ),
        );
    if (models.group.some((g) => g !== null))
        list.push(
            categories(
                'group',
                data.training ? 'phase' : 'family',
                each((h) => models.group[heads.model[h]]),
            ),
        );
    list.push(
        categories(
            'model',
            data.training ? 'checkpoint' : 'model',
            each((h) => models.name[heads.model[h]]),
        ),
    );
    list.push(
        scale(
            'explained_variance',
            'explained variance of PC0',
            each((h) => data.pc('explained_variance', h, 0)),
        ),
    );
    if (heads.plasticity) list.push(scale('plasticity', 'plasticity', heads.plasticity));
    if (heads.bias_strength)
        list.push(scale('bias_strength', 'bias strength', heads.bias_strength));
    return list.filter(Boolean);
}
