// findings.js: the measured sentences: the most telling ones as cards, all of them as a table.
import { byId, el, fixed, put, short, signed } from './dom.js';
import { boundaries } from './player.js';
import { makeTable } from './table.js';

const SIGNIFICANT = 2; // standard errors
const STEADY = 0.5; // |tau| of a trend
const MOST = 9; // cards
const TREND = [
    'mean_r_q',
    'mean_r_k',
    'mean_abs_r_k',
    'share_opposed',
    'share_position-dominated',
    'mean_explained_variance',
];

// What a subject is about: the models it leads to, as [from, to] or [model].
function subjectsOf({ models }) {
    const map = new Map();
    const last = models.count - 1;
    const step = (a, b) => map.set(`${models.name[a]} -> ${models.name[b]}`, [a, b]);
    if (last > 1) step(0, last);
    for (let m = 0; m < last; m++) step(m, m + 1);
    for (let m = 0; m <= last; m++) map.set(models.name[m], [m]);
    return map;
}

function rowsOf(data) {
    const { findings } = data;
    const subjects = subjectsOf(data);
    return Array.from({ length: findings.count }, (_, i) => ({
        subject: findings.subject?.[i] ?? '',
        quantity: findings.quantity?.[i] ?? '',
        value: findings.value?.[i] ?? NaN,
        se: findings.se?.[i] ?? NaN,
        z: findings.z?.[i] ?? NaN,
        sentence: findings.sentence?.[i] ?? '',
        about: subjects.get(findings.subject?.[i]),
    }));
}

const doubtful = (f) => Number.isFinite(f.z) && Math.abs(f.z) < SIGNIFICANT;
const size = (f) => Math.abs(f.value);
const bySize = (list) => [...list].sort((a, b) => size(b) - size(a));
const largest = (list) => [...list].sort((a, b) => b.value - a.value);

// Of a training run: what rises and falls, what happens where phases meet, what the end is like.
function tellingOfTraining(data, rows) {
    const last = data.models.count - 1;
    const of = (quantity) => rows.filter((f) => f.quantity === quantity);
    const starts = new Set(
        boundaries(data)
            .map(([m]) => m)
            .filter((m) => m > 0),
    );
    const isStep = (f) => f.about?.length === 2 && f.about[1] === f.about[0] + 1;
    const atBoundary = (f) => isStep(f) && starts.has(f.about[1]);
    const whole = (f) =>
        f.about?.length === 2 && f.about[0] === 0 && f.about[1] === last && last > 1;
    const end = (f) => f.about?.length === 1 && f.about[0] === last;
    const trends = TREND.flatMap((q) => of(`trend_${q}`)).filter(
        (f) => size(f) > STEADY && !doubtful(f),
    );
    const changes = bySize(
        [...of('change_mean_r_q'), ...of('change_mean_r_k'), ...of('change_mean_abs_r_k')].filter(
            (f) => !doubtful(f),
        ),
    );
    const steps = changes.filter(isStep);
    const flips = largest(of('share_sign_flips').filter(isStep));
    // What the step with the largest change of r_k is made of.
    const keys = steps.find((f) => f.quantity === 'change_mean_r_k');
    const parts = keys
        ? of('change_mean_r_k_flipped_sign').filter(
              (f) => f.subject === keys.subject && !doubtful(f),
          )
        : [];
    return [
        ['First to last', changes.filter(whole).slice(0, 1)],
        ['Trend', trends.slice(0, 2)],
        ['Phase boundary', changes.filter(atBoundary).slice(0, 2)],
        ['Within a phase', steps.filter((f) => !atBoundary(f)).slice(0, 1)],
        ['Heads that turn', parts],
        ['Sign flips', flips.slice(0, 1)],
        [
            'Depth, at the end',
            bySize(
                [...of('depth_gradient_mean_r_q'), ...of('depth_gradient_mean_r_k')]
                    .filter(end)
                    .filter((f) => !doubtful(f)),
            ).slice(0, 1),
        ],
        ['Beyond PC0', of('share_k_not_pc0').filter(end)],
    ];
}

// Of a study of models: the extremes among them.
function tellingOfModels(data, rows) {
    const of = (quantity) => rows.filter((f) => f.quantity === quantity && f.about);
    const many = data.models.count > 1;
    const extreme = (word, alone) => (many ? `${word} of ${data.models.count} models` : alone);
    const top = (quantity) => largest(of(quantity)).slice(0, 1);
    const most = (quantity) => top(quantity).filter((f) => f.value > 0);
    return [
        [
            many ? 'Steepest with depth' : 'Depth',
            bySize(of('depth_gradient_mean_r_q').filter((f) => !doubtful(f))).slice(0, 1),
        ],
        [
            many ? 'Steepest with depth' : 'Depth',
            bySize(of('depth_gradient_mean_r_k').filter((f) => !doubtful(f))).slice(0, 1),
        ],
        [extreme('Highest', 'Queries'), top('mean_r_q')],
        [extreme('Lowest'), many ? largest(of('mean_r_q')).slice(-1) : []],
        [extreme('Highest', 'Keys'), top('mean_abs_r_k')],
        [extreme('Most', 'Classes'), most('share_position-dominated')],
        [extreme('Most', 'Opposed keys'), most('share_opposed')],
        [extreme('Most', 'Beyond PC0'), most('share_k_not_pc0')],
        [extreme('Highest', 'Spectrum'), top('mean_explained_variance')],
    ];
}

// The number in large: shares in percent, changes with their sign, tau as such.
function headline(f) {
    const share = /(^|_)share_/.test(f.quantity);
    const change = /^(change|depth_gradient|trend)_/.test(f.quantity);
    const percent = (share || /explained_variance/.test(f.quantity)) && !/^trend_/.test(f.quantity);
    const scale = percent ? 100 : 1;
    const fine = f.se * scale < (percent ? 0.95 : 0.0095); // the error is worth a further digit
    const decimals = (percent ? 0 : 2) + (fine ? 1 : 0);
    const error = fixed(f.se * scale, decimals);
    const number = (change ? signed : fixed)(f.value * scale, decimals);
    const unit = !percent ? '' : change ? ' points' : '%';
    return {
        number: (/^trend_/.test(f.quantity) ? 'τ ' : '') + number + unit,
        error: Number(error) > 0 ? ` ± ${error}` : '',
    };
}

export function makeFindings(data, state) {
    const rows = rowsOf(data);
    const show = (f) => {
        state.goTo(f.about[f.about.length - 1]);
        byId('explore').scrollIntoView({ behavior: 'smooth' });
    };

    function card(kind, f) {
        const { number, error } = headline(f);
        return el(
            'article',
            { class: 'finding' },
            el('p', { class: 'kicker' }, kind),
            el('p', { class: 'number' }, number, el('small', null, error)),
            el('p', { class: 'sentence' }, f.sentence),
            f.about
                ? el('button', { type: 'button', class: 'link', onclick: () => show(f) }, 'See it')
                : null,
        );
    }

    const chosen = (data.training ? tellingOfTraining : tellingOfModels)(data, rows);
    const cards = chosen.flatMap(([kind, list]) => list.map((f) => card(kind, f))).slice(0, MOST);
    put(
        byId('telling'),
        cards.length ? cards : el('p', { class: 'hint' }, 'This run has no findings table.'),
    );

    const table = makeTable(
        byId('finding-table'),
        [
            {
                name: 'subject',
                label: 'Subject',
                text: true,
                value: (f) => f.subject,
                show: (f) => el('span', { class: 'name' }, f.subject),
            },
            {
                name: 'sentence',
                label: 'Finding',
                text: true,
                value: (f) => f.sentence,
                show: (f) => el('span', { class: 'long' }, f.sentence),
            },
            {
                name: 'quantity',
                label: 'Quantity',
                text: true,
                value: (f) => f.quantity,
                show: (f) => el('code', null, f.quantity),
            },
            { name: 'value', label: 'Value', value: (f) => f.value, show: (f) => short(f.value) },
            { name: 'se', label: '±', value: (f) => f.se, show: (f) => short(f.se) },
            { name: 'z', label: 'z', value: (f) => Math.abs(f.z), show: (f) => fixed(f.z, 1) },
        ],
        { perPage: 12, noun: 'findings', caption: 'All findings' },
    );
    const find = byId('find');
    const search = () => {
        const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
        table.setRows(
            rows.filter((f) => {
                const text = `${f.subject}\n${f.quantity}\n${f.sentence}`.toLowerCase();
                return words.every((word) => text.includes(word));
            }),
        );
    };
    find.addEventListener('input', search);
    search();
}
