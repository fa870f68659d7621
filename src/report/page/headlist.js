// headlist.js: the table of heads in focus, and its download.
import { byId, el, fixed, save, short, withError } from './dom.js';
import { makeTable } from './table.js';

const COMPONENT = ['r_q', 'r_k', 'explained_variance', 'se_r_q', 'se_r_k', 'se_explained_variance'];
const IN_FILE = [
    'rope',
    'n_q',
    'n_k',
    'pos_share_q',
    'pos_share_k',
    'separation',
    'fisher_ratio',
    'bias_term',
    'interaction',
    'r_q_a',
    'r_k_a',
    'alpha_q',
    'alpha_k',
    'mu_q_a',
    'mu_k_a',
    'mu_q_b',
    'mu_k_b',
    'separation_strength',
    'var_frac_a',
    'var_frac_b',
    'plane_var_fraction',
    'bias_strength',
    'se_bias_strength',
    'plasticity',
    'stable',
];

// A spreadsheet runs a cell that begins with one of these.
function textCell(text) {
    const guarded = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(guarded) ? `"${guarded.replaceAll('"', '""')}"` : guarded;
}

const numberCell = (value) => (Number.isFinite(value) ? String(Number(value.toPrecision(6))) : '');

function csvOf(data, state, list) {
    const { heads, models } = data;
    const numbers = IN_FILE.filter((name) => heads[name]);
    const components = COMPONENT.filter((name) => data.has(name));
    const lines = [
        [
            'model',
            data.training ? 'phase' : 'family',
            'layer',
            'head',
            'k_head',
            'class',
            'pc',
            ...components,
            ...numbers,
        ],
    ];
    for (const h of list)
        lines.push([
            textCell(models.name[heads.model[h]]),
            textCell(models.group[heads.model[h]] ?? ''),
            heads.layer[h],
            heads.head[h],
            numberCell(heads.k_head[h]),
            textCell(heads.class?.[h] ?? ''),
            state.pc,
            ...components.map((name) => numberCell(data.pc(name, h, state.pc))),
            ...numbers.map((name) => numberCell(heads[name][h])),
        ]);
    return `${lines.map((line) => line.join(',')).join('\r\n')}\r\n`;
}

// Of a training run: how far a head has come since the first checkpoint that has it.
function moved(data, state, name, h) {
    const first = data.path(h)[0];
    return first === h ? Number.NaN : data.pc(name, h, state.pc) - data.pc(name, first, state.pc);
}

function columnsOf(data, state) {
    const { heads, models } = data;
    const component = (name, label) => ({
        name,
        label,
        value: (h) => data.pc(name, h, state.pc),
        show: (h) =>
            data.has(`se_${name}`)
                ? withError(data.pc(name, h, state.pc), data.pc(`se_${name}`, h, state.pc))
                : fixed(data.pc(name, h, state.pc), 3),
    });
    const number = (name, label, write = (v) => fixed(v, 3)) =>
        heads[name] && {
            name,
            label,
            value: (h) => heads[name][h],
            show: (h) => write(heads[name][h]),
        };
    const shown = (h) =>
        el('input', {
            type: 'checkbox',
            'aria-label': `select ${data.label(h)}`,
            'data-head': h,
            onchange: () => state.toggle(h),
        });
    return [
        {
            name: 'selected',
            label: '',
            fixed: true,
            text: true,
            show: (h) => Object.assign(shown(h), { checked: state.selection.has(state.key(h)) }),
        },
        {
            name: 'layer',
            label: 'Head',
            text: true,
            value: (h) => data.label(h),
            show: (h) =>
                el(
                    'button',
                    { type: 'button', class: 'link', onclick: () => state.set({ head: h }) },
                    data.label(h),
                ),
        },
        {
            name: 'model',
            label: data.training ? 'Checkpoint' : 'Model',
            text: true,
            value: (h) => models.name[heads.model[h]],
            show: (h) => el('span', { class: 'name' }, models.name[heads.model[h]]),
        },
        heads.class && {
            name: 'class',
            label: 'Class',
            text: true,
            value: (h) => heads.class[h] ?? '',
            show: (h) => heads.class[h] ?? '',
        },
        heads.rope && {
            name: 'rope',
            label: 'RoPE',
            text: true,
            value: (h) => heads.rope[h],
            show: (h) => ({ 1: 'yes', 0: 'no' })[heads.rope[h]] ?? '',
        },
        component('r_q', 'r_q'),
        component('r_k', 'r_k'),
        component('explained_variance', 'Variance'),
        data.training &&
            data.models.count > 1 && {
                name: 'moved',
                label: 'Δ r_k',
                value: (h) => moved(data, state, 'r_k', h),
                show: (h) => fixed(moved(data, state, 'r_k', h), 2),
            },
        number('pos_share_q', 'Pos. share Q'),
        number('pos_share_k', 'Pos. share K'),
        number('bias_strength', 'Bias', short),
        number('plasticity', 'Plasticity'),
    ].filter(Boolean);
}

export function makeHeadList(data, state) {
    const table = makeTable(byId('head-table'), columnsOf(data, state), {
        perPage: 15,
        noun: 'heads',
        caption: 'Heads in focus',
        rowClass: (h) => (h === state.head ? 'here' : null),
    });
    // A press anywhere in a row shows the head, not only on its name.
    table.element.addEventListener('click', (event) => {
        const box = event.target.closest('tr')?.querySelector('[data-head]');
        if (box && !event.target.closest('input, button'))
            state.set({ head: Number(box.dataset.head) });
    });
    byId('download').addEventListener('click', () => {
        save('heads.csv', new Blob([csvOf(data, state, table.rows())], { type: 'text/csv' }));
    });
    let last = '';
    return {
        redraw(focus) {
            const focused = document.activeElement?.dataset?.head;
            const now = focus.join(' ');
            table.setRows(focus, now === last);
            last = now;
            if (focused) table.element.querySelector(`[data-head="${focused}"]`)?.focus();
        },
    };
}
