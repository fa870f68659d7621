// card.js: one head in full: spectrum, r per component, path through training, drift plane,
// plasticity.
import { axis, errorBars, makeChart, markAt, tooltip } from './charts.js';
import { CLASSES, R_K, R_Q, VARIANCE } from './colours.js';
import { byId, el, fixed, put, r, short, tableHead, whole, withError } from './dom.js';
import { phaseLines } from './player.js';
import { ALL } from './state.js';
import { colour } from './theme.js';

const BAR = 0.19; // half the distance of a pair of bars

const DRIFT = [
    [
        'bias_strength',
        'bias strength',
        'mean query on the drift axis times the slope of the keys; above 0 favours recent keys',
    ],
    ['r_q_a', 'r_q on axis a', 'queries along the direction of drift'],
    ['r_k_a', 'r_k on axis a', 'keys along the direction of drift'],
    ['alpha_q', 'slope of Q', 'per token'],
    ['alpha_k', 'slope of K', 'per token'],
    ['mu_q_a', 'mean Q on a', ''],
    ['mu_k_a', 'mean K on a', ''],
    ['mu_q_b', 'mean Q on b', ''],
    ['mu_k_b', 'mean K on b', ''],
    [
        'separation_strength',
        'separation',
        'share of the squared distance of Q and K that lies on axis b',
    ],
    ['var_frac_a', 'variance on a', 'share of the pooled variance'],
    ['var_frac_b', 'variance on b', 'share of the pooled variance'],
    ['plane_var_fraction', 'variance in the plane', 'share of the pooled variance'],
];

const PC0 = [
    [
        'pos_share_q',
        'positional share Q',
        'explained variance times r squared, summed over the PCs',
    ],
    [
        'pos_share_k',
        'positional share K',
        'explained variance times r squared, summed over the PCs',
    ],
    ['separation', 'Q/K separation', 'distance of the means on PC0'],
    ['fisher_ratio', 'Fisher ratio', 'squared distance of the means over the variances, on PC0'],
    ['bias_term', 'bias term', 'mean query times slope of the keys, on PC0'],
    ['interaction', 'interaction', 'product of the slopes, on PC0'],
];

function numberList(title, entries, data, h) {
    const shown = entries.filter(([name]) => Number.isFinite(data.heads[name]?.[h]));
    if (shown.length === 0) return null;
    const rows = shown.map(([name, label, about]) => {
        const se = data.heads[`se_${name}`]?.[h];
        const value = short(data.heads[name][h]);
        return el(
            'div',
            { title: about || null },
            el('dt', null, label),
            el(
                'dd',
                null,
                Number.isFinite(se) ? `${value} ± ${short(Number(se.toPrecision(2)))}` : value,
            ),
        );
    });
    return [el('h4', null, title), el('dl', { class: 'numbers' }, rows)];
}

function plasticityTable({ plasticity }, h) {
    const { rows, of } = plasticity;
    if (!of[h]) return null;
    const columns = [
        ['ap_overall', 'overall'],
        ['ap_first_20', 'first 20%'],
        ['ap_last_20', 'last 20%'],
        ['ap_drop', 'drop'],
    ];
    return [
        el(
            'h4',
            { title: 'how far the query decides which of two keys wins: 0 to 1' },
            'Attention plasticity',
        ),
        el(
            'table',
            { class: 'plain small' },
            tableHead(
                el('th', { class: 'text' }, 'variant'),
                columns.map(([, label]) => el('th', null, label)),
            ),
            el(
                'tbody',
                null,
                of[h].map((row) =>
                    el(
                        'tr',
                        null,
                        el('td', { class: 'text' }, rows.variant[row].replaceAll('_', ' ')),
                        columns.map(([name]) => el('td', null, fixed(rows[name]?.[row], 3))),
                    ),
                ),
            ),
        ),
    ];
}

function facts(data, h) {
    const { heads } = data;
    const notes = [];
    if (heads.stable?.[h] === 0) notes.push('not stable: without some document group PC0 turns');
    if (heads.flags?.[h]) notes.push(`numbers set by rule: ${heads.flags[h]}`);
    return [
        numberList('Position on PC0', PC0, data, h),
        numberList('Drift plane', DRIFT, data, h),
        plasticityTable(data, h),
        heads.n_q
            ? el(
                  'p',
                  { class: 'hint' },
                  `${whole(heads.n_q[h])} queries, ${whole(heads.n_k?.[h])} keys`,
              )
            : null,
        notes.map((note) => el('p', { class: 'hint warn' }, note)),
        heads.bias_strength
            ? null
            : el(
                  'p',
                  { class: 'hint' },
                  'Drift plane and plasticity need captured vectors or unit files; this run has a qk table only.',
              ),
    ].flat(2);
}

export function makeCard(data, state) {
    const { heads, models } = data;
    const place = byId('card');
    const title = el('div', { class: 'card-title' });
    const spectrumElement = el('div', { class: 'chart spectrum' });
    const pathElement = el('div', {
        class: 'chart path',
        hidden: !(data.training && models.count > 1),
    });
    const numbers = el('div', { class: 'card-numbers' });
    put(place, title, spectrumElement, pathElement, numbers);
    const spectrum = makeChart(spectrumElement);
    const path = makeChart(pathElement);
    const each = (name, h) =>
        Array.from({ length: data.components }, (_, pc) => data.pc(name, h, pc));

    function pcTip(pc, h) {
        return el(
            'div',
            { class: 'tip' },
            el('b', null, `PC${pc}`),
            el('div', null, `variance ${fixed(100 * data.pc('explained_variance', h, pc), 2)}%`),
            el('div', null, `r_q ${withError(data.pc('r_q', h, pc), data.pc('se_r_q', h, pc))}`),
            el('div', null, `r_k ${withError(data.pc('r_k', h, pc), data.pc('se_r_k', h, pc))}`),
        );
    }

    function bars(name, h, ink, offset, grid) {
        const values = each(name, h);
        const errors = each(`se_${name}`, h);
        const scale = name === 'explained_variance' ? 100 : 1;
        return [
            {
                type: 'bar',
                data: values.map((v) => (Number.isFinite(v) ? v * scale : null)),
                itemStyle: { color: ink, borderRadius: 2 },
                xAxisIndex: grid,
                yAxisIndex: grid,
                barGap: '8%',
                barCategoryGap: '24%',
                animation: false,
            },
            errorBars(
                values.map((v, pc) => [pc + offset, v * scale, errors[pc] * scale]),
                colour('--text'),
                { xAxisIndex: 2 + grid, yAxisIndex: grid },
            ),
        ];
    }

    function spectrumOption(h) {
        const names = Array.from({ length: data.components }, (_, pc) => String(pc));
        const hiddenAxis = (grid) => ({
            type: 'value',
            gridIndex: grid,
            min: -0.5,
            max: data.components - 0.5,
            show: false,
        });
        const caption = (name, grid, more) =>
            axis({
                type: 'value',
                gridIndex: grid,
                name,
                nameLocation: 'end',
                nameGap: 8,
                splitNumber: 2,
                axisLine: { show: false },
                splitLine: { show: true, lineStyle: { color: colour('--line') } },
                nameTextStyle: {
                    align: 'left',
                    padding: [0, 0, 0, -26],
                    color: colour('--muted'),
                    fontSize: 11,
                },
                ...more,
            });
        return {
            grid: [
                { left: 34, right: 6, top: 22, height: 62 },
                { left: 34, right: 6, top: 116, height: 92 },
            ],
            xAxis: [
                axis({ type: 'category', gridIndex: 0, data: names, axisLabel: { show: false } }),
                axis({
                    type: 'category',
                    gridIndex: 1,
                    data: names,
                    axisLine: { onZero: false, lineStyle: { color: colour('--line') } },
                    name: 'principal component',
                    nameLocation: 'middle',
                    nameGap: 20,
                }),
                hiddenAxis(0),
                hiddenAxis(1),
            ],
            yAxis: [
                caption('variance, %', 0, { min: 0 }),
                caption('r_q and r_k', 1, { min: -1, max: 1, interval: 1 }),
            ],
            tooltip: {
                ...tooltip((items) => pcTip(items[0].dataIndex, h)),
                trigger: 'axis',
                axisPointer: { type: 'shadow' },
            },
            series: [
                ...bars('explained_variance', h, VARIANCE, 0, 0),
                ...bars('r_q', h, R_Q, -BAR, 1),
                ...bars('r_k', h, R_K, BAR, 1),
            ].map((s) => (s.type === 'line' ? { ...s, tooltip: { show: false } } : s)),
        };
    }

    function pathOption(h) {
        const along = data.path(h);
        const line = (name, ink) => {
            const points = along.map((i) => [
                heads.model[i],
                data.pc(name, i, state.pc),
                data.pc(`se_${name}`, i, state.pc),
            ]);
            return [
                {
                    type: 'line',
                    data: points.map(([m, v]) => [m, v]),
                    symbol: 'circle',
                    symbolSize: 5,
                    itemStyle: { color: ink },
                    lineStyle: { color: ink, width: 2 },
                    animation: false,
                },
                errorBars(points, ink, { tooltip: { show: false } }),
            ];
        };
        const [q, qError, k, kError] = [...line('r_q', R_Q), ...line('r_k', R_K)];
        const tip = (items) => {
            const i = along.find((j) => heads.model[j] === items[0].value[0]);
            return el(
                'div',
                { class: 'tip' },
                el('b', null, models.name[heads.model[i]]),
                el(
                    'div',
                    null,
                    `r_q ${withError(data.pc('r_q', i, state.pc), data.pc('se_r_q', i, state.pc))}`,
                ),
                el(
                    'div',
                    null,
                    `r_k ${withError(data.pc('r_k', i, state.pc), data.pc('se_r_k', i, state.pc))}`,
                ),
                heads.class?.[i] ? el('div', null, heads.class[i]) : null,
            );
        };
        return {
            grid: { left: 34, right: 8, top: 24, bottom: 8 },
            xAxis: axis({
                type: 'value',
                min: -0.4,
                max: models.count - 0.6,
                interval: 1,
                axisLabel: { show: false },
                axisLine: { onZero: true, lineStyle: { color: colour('--line-strong') } },
            }),
            yAxis: axis({
                type: 'value',
                min: -1,
                max: 1,
                interval: 1,
                name: `path through training, PC${state.pc}`,
                nameGap: 8,
                nameTextStyle: {
                    align: 'left',
                    padding: [0, 0, 0, -26],
                    color: colour('--muted'),
                    fontSize: 11,
                },
                axisLine: { show: false },
                splitLine: { show: true, lineStyle: { color: colour('--line') } },
            }),
            tooltip: { ...tooltip(tip), trigger: 'axis' },
            series: [
                { ...q, markLine: phaseLines(data, 0) },
                qError,
                { ...k, markLine: markAt(state.model === ALL ? [] : [state.model]) },
                kError,
            ],
        };
    }

    function drawTitle(h) {
        const m = heads.model[h];
        const ink = CLASSES.find(([name]) => name === heads.class?.[h])?.[1];
        const value = (side) =>
            el(
                'span',
                { class: `big ${side}` },
                r(side),
                ` ${withError(data.pc(`r_${side}`, h, state.pc), data.pc(`se_r_${side}`, h, state.pc))}`,
            );
        const rope = { 1: 'RoPE', 0: 'NoPE' }[heads.rope?.[h]];
        put(
            title,
            el('h3', null, `Layer ${heads.layer[h]}, head ${heads.head[h]}`),
            el(
                'p',
                { class: 'hint name' },
                [
                    models.name[m],
                    Number.isFinite(heads.k_head[h]) ? `key head ${heads.k_head[h]}` : null,
                    rope,
                ]
                    .filter(Boolean)
                    .join(' · '),
            ),
            el(
                'div',
                { class: 'chips' },
                heads.class?.[h]
                    ? el(
                          'span',
                          { class: 'chip', style: { borderColor: ink } },
                          el('span', { class: 'swatch', style: { background: ink ?? '#999' } }),
                          heads.class[h],
                      )
                    : null,
                value('q'),
                value('k'),
            ),
        );
    }

    return {
        redraw() {
            const h = state.head;
            place.hidden = h < 0;
            if (h < 0) return;
            drawTitle(h);
            spectrum.setOption(spectrumOption(h), { replaceMerge: ['series'] });
            if (!pathElement.hidden) path.setOption(pathOption(h), { replaceMerge: ['series'] });
            put(numbers, facts(data, h));
        },
    };
}
